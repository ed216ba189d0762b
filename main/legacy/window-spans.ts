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
  const spans: (Window & { members: { window: Window; place: number }[] })[] = [];
  const placed = windows.map((window, place) => ({ window, place }));
  for (const member of placed.toSorted((a, b) => a.window.since - b.window.since)) {
    const { since, until } = member.window;
    const last = spans.at(-1);
    if (last === undefined || since > last.until + 1) spans.push({ since, until, members: [member] });
    else {
      last.until = Math.max(last.until, until);
      last.members.push(member);
    }
  }
  return spans.reverse().map(({ since, until, members }) => ({
    since,
    until,
    windows: members.sort((a, b) => a.place - b.place).map(({ window }) => window),
  }));
}
