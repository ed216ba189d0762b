import type { Settings } from '../../preload/contract.ts';

const KEY = 'holdfast-theme';

/**
 * Applies a theme and keeps it in this browser, so that the next start has it before the settings arrive. The
 * settings of the data directory remain the truth.
 */
export function applyTheme(theme: Settings['theme'], view: Window): void {
  if (theme === 'system') delete view.document.documentElement.dataset['theme'];
  else view.document.documentElement.dataset['theme'] = theme;
  try {
    view.localStorage.setItem(KEY, theme);
  } catch {
    // Storage may be denied; then the first paint follows the system, and nothing else is lost.
  }
}

/** Applies the theme of the last start, if it is known. */
export function recallTheme(view: Window): void {
  try {
    const theme = view.localStorage.getItem(KEY);
    if (theme === 'light' || theme === 'dark') view.document.documentElement.dataset['theme'] = theme;
  } catch {
    // As above.
  }
}
