import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { generateRows, writeFirstVersion } from '../legacy/generated-first-version.ts';
import { refuseOlderThan } from '../relays/behaviours/publishing.ts';
import { alice, buildHistory } from '../relays/event-builder.ts';
import { ScriptedRelay } from '../relays/scripted-relay.ts';
import { holdfast } from './built-command.ts';
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

it('keeps the pages of Sync and of an event within it, too', { timeout: 120_000 }, async ({ open }) => {
  const EARLY = 1_605_000_000;
  const history = buildHistory({ count: 24, from: 1_600_000_000, to: 1_700_000_000, kinds: [1, 7] });
  const refused = history.filter((event) => event.created_at < EARLY);
  const [source, strict] = [
    await ScriptedRelay.start({ events: history }),
    await ScriptedRelay.start({ behaviours: [refuseOlderThan(EARLY)] }),
  ];
  const dataDirectory = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  try {
    await holdfast(dataDirectory, 'account', 'add', alice.npub, '--write', source.url, '--write', strict.url);
    await holdfast(dataDirectory, 'fetch', alice.npub, '--quiet');
    const { page, problems, screenshot, close } = await open({
      host: 'browser',
      dataDirectory,
      size: { width: 640, height: 400 },
    });
    await page.getByRole('link', { name: /^Sync \(24\)/ }).click();
    const review = page.getByRole('button', { name: 'Review 24 copies…' });
    await review.waitFor();
    await screenshot('narrow-sync');
    expect(await misplaced(page)).toEqual([]);

    await review.click();
    const send = page.getByRole('button', { name: 'Send 24 copies to 1 relay' });
    await send.waitFor();
    await screenshot('narrow-review');
    expect(await misplaced(page)).toEqual([]);

    await send.click();
    await page.getByRole('heading', { level: 1, name: /Some refused/ }).waitFor({ timeout: 40_000 });
    const rows = page.getByRole('grid', { name: 'Deliveries' }).getByRole('row');
    await rows.getByText('Verified').first().waitFor();
    await screenshot('narrow-sync-run');
    expect(await misplaced(page)).toEqual([]);

    await page.getByRole('button', { name: `Rejected ${refused.length}` }).click();
    await rows.getByText('called invalid').first().waitFor();
    await rows.nth(1).press('Enter');
    await page.getByText('invalid: created_at too early').first().waitFor();
    await screenshot('narrow-delivery');
    expect(await misplaced(page)).toEqual([]);

    await page.getByRole('link', { name: refused[0]?.id ?? '' }).click();
    await page.getByRole('heading', { name: 'What was sent' }).waitFor();
    await page.getByText('invalid: created_at too early').first().waitFor();
    await screenshot('narrow-event');
    expect(await misplaced(page)).toEqual([]);

    await page.getByRole('link', { name: /^Sync \d+$/ }).click();
    await page.getByRole('heading', { level: 1, name: /^Sync \d+ Some refused/ }).waitFor();
    await page
      .getByRole('link', { name: /^npub1/ })
      .last()
      .click();
    await page.getByText(`${refused.length} copies were refused by`).waitFor();
    await screenshot('narrow-nothing-missing');
    expect(await misplaced(page)).toEqual([]);
    expect(problems).toEqual([]);
    await close();
  } finally {
    await Promise.all([source.stop(), strict.stop()]);
    await rm(dataDirectory, { recursive: true, force: true, maxRetries: 3 });
  }
});

it('keeps the pages on the first version within it, too', async ({ open }) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  try {
    writeFirstVersion(
      dataDirectory,
      generateRows({ accounts: 2, events: 20, checkpoints: 3, windows: 9, dirty: true }),
    );
    const { page, screenshot } = await open({ host: 'browser', dataDirectory, size: { width: 640, height: 400 } });
    await page
      .getByText(/unfinished fetches of the first version wait/)
      .first()
      .waitFor();
    expect(await misplaced(page)).toEqual([]);
    await page.getByRole('link', { name: 'Review' }).click();
    const rows = page.getByRole('treegrid').getByRole('row');
    await rows.nth(2).press('Enter');
    await page.getByText('events an answer').waitFor();
    await screenshot('narrow-legacy-review');
    expect(await misplaced(page)).toEqual([]);
    for (const [name, shown] of [
      ['What was brought over', 'Table by table'],
      [/^Remarks/, 'What became of it'],
      ['Earlier runs', 'Publication'],
    ] as const) {
      await page.getByRole('navigation', { name: 'Pages on the first version' }).getByRole('link', { name }).click();
      await page.getByText(shown).first().waitFor();
      await screenshot(`narrow-legacy-${shown.toLowerCase().replaceAll(' ', '-')}`);
      expect(await misplaced(page)).toEqual([]);
    }
  } finally {
    await rm(dataDirectory, { recursive: true, force: true, maxRetries: 3 });
  }
});
