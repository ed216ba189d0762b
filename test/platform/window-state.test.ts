import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readWindowState, windowBounds, writeWindowState } from '../../main/platform/window-state.ts';

const directory = mkdtempSync(join(tmpdir(), 'holdfast-window-state-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const laptop = { x: 0, y: 0, width: 1440, height: 900 };
const second = { x: 1440, y: 0, width: 1920, height: 1080 };

describe('where the window opens', () => {
  it('is the middle of the first display, the first time', () => {
    expect(windowBounds(null, [laptop, second])).toEqual({ x: 80, y: 40, width: 1280, height: 820 });
  });

  it('is where it was', () => {
    const bounds = { x: 1500, y: 100, width: 1000, height: 700 };
    expect(windowBounds({ bounds, maximized: false }, [laptop, second])).toEqual(bounds);
  });

  it('is the first display again when the other one is gone', () => {
    const bounds = { x: 1500, y: 100, width: 1000, height: 700 };
    expect(windowBounds({ bounds, maximized: false }, [laptop])).toEqual({ x: 220, y: 100, width: 1000, height: 700 });
  });

  it('is never larger than the display', () => {
    const bounds = { x: 0, y: 0, width: 5000, height: 3000 };
    expect(windowBounds({ bounds, maximized: false }, [laptop])).toEqual(laptop);
  });
});

describe('the remembered state', () => {
  it('is read as it was written', () => {
    const file = join(directory, 'window.json');
    const state = { bounds: { x: -5, y: 0, width: 900, height: 600 }, maximized: true };
    writeWindowState(file, state);
    expect(readWindowState(file)).toEqual(state);
  });

  it.each(['', 'null', '{"bounds":{"x":"0"}}', '{"bounds":{"x":1e9,"y":0,"width":1,"height":1},"maximized":false}'])(
    'is nothing when the file holds %j',
    (text) => {
      const file = join(directory, 'damaged.json');
      writeFileSync(file, text);
      expect(readWindowState(file)).toBeNull();
    },
  );

  it('is nothing when there is no file, and a place that cannot be written is no failure', () => {
    expect(readWindowState(join(directory, 'none.json'))).toBeNull();
    expect(() =>
      writeWindowState(join(directory, 'none', 'window.json'), { bounds: laptop, maximized: false }),
    ).not.toThrow();
  });
});
