import { readFileSync, writeFileSync } from 'node:fs';
import * as v from 'valibot';

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where the window was when it closed. */
export interface WindowState {
  bounds: Rectangle;
  maximized: boolean;
}

export const MINIMUM_SIZE = { width: 720, height: 480 };
const DEFAULT_SIZE = { width: 1280, height: 820 };

const coordinate = v.pipe(v.number(), v.integer(), v.minValue(-100_000), v.maxValue(100_000));
const schema = v.object({
  bounds: v.object({ x: coordinate, y: coordinate, width: coordinate, height: coordinate }),
  maximized: v.boolean(),
});

/** Reads the remembered state; null when there is none or it is damaged. Never throws. */
export function readWindowState(file: string): WindowState | null {
  try {
    const parsed = v.safeParse(schema, JSON.parse(readFileSync(file, 'utf8')));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}

/** Remembers the state. Failure is no more than a window that opens in its usual place. */
export function writeWindowState(file: string, state: WindowState): void {
  try {
    writeFileSync(file, JSON.stringify(state));
  } catch {
    // The data directory may have become read-only; the archive says so where it matters.
  }
}

/**
 * Where to open the window: where it was, if a good part of its title bar still lies on a display (displays come and
 * go), and never larger than that display; otherwise in the middle of the first display.
 * @param displays the usable areas, the primary display first
 */
export function windowBounds(remembered: WindowState | null, displays: Rectangle[]): Rectangle {
  const home = displays[0] ?? { x: 0, y: 0, ...DEFAULT_SIZE };
  if (remembered !== null) {
    const display = displays.find((area) => showsTitleBar(remembered.bounds, area));
    if (display !== undefined) return { ...remembered.bounds, ...fitted(remembered.bounds, display) };
  }
  const size = fitted(remembered?.bounds ?? DEFAULT_SIZE, home);
  return {
    x: Math.round(home.x + (home.width - size.width) / 2),
    y: Math.round(home.y + (home.height - size.height) / 2),
    ...size,
  };
}

function showsTitleBar(bounds: Rectangle, area: Rectangle): boolean {
  const visible = Math.min(bounds.x + bounds.width, area.x + area.width) - Math.max(bounds.x, area.x);
  return visible >= 160 && bounds.y >= area.y && bounds.y <= area.y + area.height - 40;
}

function fitted(size: { width: number; height: number }, area: Rectangle): { width: number; height: number } {
  return {
    width: Math.min(Math.max(size.width, MINIMUM_SIZE.width), Math.max(area.width, MINIMUM_SIZE.width)),
    height: Math.min(Math.max(size.height, MINIMUM_SIZE.height), Math.max(area.height, MINIMUM_SIZE.height)),
  };
}
