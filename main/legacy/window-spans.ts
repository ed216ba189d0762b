import type { Window } from './window-walk.ts';

/** Windows that leave no second out between them, together. */
export interface WindowSpan extends Window {
  windows: Window[];
}

/**
 * Joins windows of one relay that follow each other or overlap: the old splitting left neighbours, and one span for all of
 * them is shown as one range. A second between two windows belongs to neither, and no span passes over it.
 *
 * @returns the spans, newest first; within a span its windows in the order given.
 */
export function joinWindows(windows: readonly Window[]): WindowSpan[] {
  const spans: Window[] = [];
  for (const { since, until } of windows.toSorted((a, b) => a.since - b.since)) {
    const last = spans.at(-1);
    if (last === undefined || since > last.until + 1) spans.push({ since, until });
    else last.until = Math.max(last.until, until);
  }
  return spans.reverse().map((span) => ({
    ...span,
    windows: windows.filter((window) => window.since >= span.since && window.until <= span.until),
  }));
}
