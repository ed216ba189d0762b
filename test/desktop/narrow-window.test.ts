import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { alice, buildHistory } from '../relays/event-builder.ts';
import { ScriptedRelay } from '../relays/scripted-relay.ts';
import { it } from './holdfast-test.ts';

let relay: ScriptedRelay;
beforeAll(async () => {
  relay = await ScriptedRelay.start({ events: buildHistory({ count: 120, from: 1_600_000_000, to: 1_700_000_000 }) });
});
afterAll(() => relay.stop());

/** What reaches out of the window or is cut off although it must be read. */
function misplaced(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const root = document.documentElement;
    if (root.scrollHeight > window.innerHeight) found.push('the page is taller than the window');
    for (const element of document.querySelectorAll<HTMLElement>('*')) {
      const scrolls = ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
      if (scrolls && element.scrollWidth > element.clientWidth) found.push(`${element.className} scrolls sideways`);
    }
    for (const element of document.querySelectorAll('header p, .badge .clip, [aria-haspopup="menu"]')) {
      const box = element.getBoundingClientRect();
      if (element.scrollWidth > element.clientWidth || box.right > window.innerWidth)
        found.push(`“${element.textContent}” is cut off`);
    }
    return found;
  });
}

it('keeps everything within the window at 200 % zoom', async ({ open }) => {
  const { page, screenshot } = await open({ host: 'browser', size: { width: 640, height: 400 } });
  await page.getByRole('button', { name: 'Add your first account' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add account' });
  await dialog.getByLabel('Public key').fill(alice.npub);
  await dialog.getByLabel('Give relays; nobody is asked').check();
  await dialog.getByRole('textbox').last().fill(relay.url);
  await dialog.getByRole('button', { name: 'Add account' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Fetch', exact: true }).click();
  await page.getByText('The whole history of the one source relay was walked to its end.').waitFor();
  await page.getByText(/last checked/).waitFor();
  await screenshot('narrow-overview');
  expect(await misplaced(page)).toEqual([]);

  await page.getByRole('link', { name: 'Coverage' }).click();
  const head = page.getByRole('treegrid').getByRole('row').first();
  const first = page.getByRole('treegrid').getByRole('row').nth(1);
  await first.waitFor();
  await screenshot('narrow-coverage');
  expect(await misplaced(page)).toEqual([]);
  const [above, below] = [await head.boundingBox(), await first.boundingBox()];
  const lowest = await head.evaluate((row) =>
    Math.max(...[...row.querySelectorAll('*')].map((each) => each.getBoundingClientRect().bottom)),
  );
  expect(lowest).toBeLessThanOrEqual(below?.y ?? 0);
  expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual((below?.y ?? 0) + 1);
});
