/**
 * How smoothly the results of a sync scroll: `node test/renderer/scroll-frames.ts [DELIVERIES]`. Scrolls the list by
 * small steps and by leaps and prints how long frames and tasks took, beside the same for a page that does nothing.
 * Numbers for a person to read, not a test: they depend on the machine.
 */
import type { Page } from 'playwright-core';
import { serveFixture } from './serve-fixture.ts';

const deliveries = Number(process.argv[2] ?? 100_000);

/** The times between frames and the tasks over 50 ms while the list is scrolled `frames` times by `step` pixels. */
async function scrolled(page: Page, step: number, frames: number): Promise<string> {
  const { gaps, tasks } = await page.getByRole('grid').evaluate(
    async (list, move) => {
      const found: { gaps: number[]; tasks: number[] } = { gaps: [], tasks: [] };
      const observer = new PerformanceObserver((entries) => {
        for (const entry of entries.getEntries()) found.tasks.push(entry.duration);
      });
      observer.observe({ entryTypes: ['longtask'] });
      const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
      let before = await frame();
      for (let count = 0; count < move.frames; count += 1) {
        list.scrollTop += move.step;
        const now = await frame();
        found.gaps.push(now - before);
        before = now;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
      observer.disconnect();
      return found;
    },
    { step, frames },
  );
  const sorted = gaps.sort((left, right) => left - right);
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  const long = tasks.map((task) => task.toFixed(0)).join(', ');
  return `frames p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms; tasks over 50 ms: ${long || 'none'}`;
}

const { origin, browser, close } = await serveFixture();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${origin}?scene=idle&deliveries=${deliveries}#/sync/40`);
  await page.getByRole('grid').getByRole('row').nth(5).waitFor();
  await page.waitForTimeout(500);
  for (const [name, step] of [
    ['standing still', 0],
    ['by a third of a row', 10],
    ['by three rows', 96],
    ['by a screen', 450],
    ['by leaps', 22_000],
  ] as const) {
    console.log(`${name}: ${await scrolled(page, step, 120)}`);
    await page.waitForTimeout(300);
  }
  const text = await page.getByRole('grid').getByRole('row').nth(5).innerText();
  console.log(`a row at the end: ${text.replace(/\s+/g, ' ')}`);
} finally {
  await close();
}
