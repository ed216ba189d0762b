import { describe, expect, it } from 'vitest';
import { ListPages } from '../../renderer/state/list-pages.ts';

/** A list of numbers whose pages are handed over one by one. */
function held(total: number) {
  const waiting: { offset: number; answer(): void; fail(): void }[] = [];
  let changes = 0;
  const pages = new ListPages<number>(
    (offset, limit) =>
      new Promise((resolve, reject) => {
        waiting.push({
          offset,
          answer: () =>
            resolve({ total, items: Array.from({ length: Math.min(limit, total - offset) }, (_, at) => offset + at) }),
          fail: () => reject({ code: 'internal', message: 'It broke.', details: null }),
        });
      }),
    () => (changes += 1),
  );
  const settle = async (act: (page: (typeof waiting)[number]) => void): Promise<void> => {
    const page = waiting.shift();
    if (page === undefined) throw new Error('Nothing is asked for.');
    act(page);
    for (let turn = 0; turn < 4; turn += 1) await Promise.resolve();
  };
  return { pages, waiting, settle, changes: () => changes };
}

describe('a list in pages', () => {
  it('asks for what comes into view, once, and knows its length from then on', async () => {
    const { pages, waiting, settle, changes } = held(250);
    expect(pages.total).toBeNull();
    pages.want(0, 20);
    pages.want(0, 30);
    expect(waiting.map(({ offset }) => offset)).toEqual([0]);
    await settle((page) => page.answer());
    expect([pages.total, pages.at(0), pages.at(99), pages.at(100), changes()]).toEqual([250, 0, 99, undefined, 1]);
    pages.want(0, 99);
    expect(waiting).toEqual([]);
    pages.want(240, 249);
    await settle((page) => page.answer());
    expect(pages.at(249)).toBe(249);
  });

  it('never asks for pages that were scrolled past meanwhile', async () => {
    const { pages, waiting, settle } = held(1000);
    pages.want(0, 450);
    expect(waiting.map(({ offset }) => offset)).toEqual([0, 100]);
    pages.want(900, 950);
    await settle((page) => page.answer());
    expect(waiting.map(({ offset }) => offset)).toEqual([100, 900]);
  });

  it('says why a page cannot be had, and asks for it again when it is told to', async () => {
    const { pages, waiting, settle } = held(10);
    pages.want(0, 0);
    await settle((page) => page.fail());
    expect([pages.error?.message, pages.total]).toEqual(['It broke.', null]);
    pages.want(0, 0);
    expect(waiting).toEqual([]);
    pages.refresh();
    expect(pages.error).toBeNull();
    await settle((page) => page.answer());
    expect(pages.total).toBe(10);
  });
});
