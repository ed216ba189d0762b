import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AccountSummary, SyncPreview } from '../../preload/contract.ts';
import { acceptWithoutStoring, refuseOlderThan } from '../relays/behaviours/publishing.ts';
import { holdAnswers } from '../relays/behaviours/end-of-stored-events.ts';
import { alice, buildHistory } from '../relays/event-builder.ts';
import { Gate } from '../relays/gate.ts';
import { ScriptedRelay } from '../relays/scripted-relay.ts';
import { holdfast, numberIn, usedDirectory } from './built-command.ts';
import { it } from './holdfast-test.ts';
import type { HostName } from './open-holdfast.ts';

/** The candidates document of the command line. */
interface CandidatesDocument {
  account: string;
  total: number;
  relays: { url: string; count: number; refused: number; kinds: Record<string, number> }[];
}

async function keyIn(directory: string): Promise<string> {
  const accounts: AccountSummary[] = JSON.parse(await holdfast(directory, 'account', 'list', '--json'));
  return accounts[0]?.npub ?? '';
}

async function candidatesOf(key: string, directory: string): Promise<CandidatesDocument> {
  const document: CandidatesDocument = JSON.parse(await holdfast(directory, 'candidates', key, '--json'));
  return document;
}

const rowOf = (page: Page, key: string): Locator => page.locator(`[data-row="${key}"]`);
const missingIn = async (row: Locator): Promise<number> => numberIn(await row.locator('.number').innerText());
const syncTab = (page: Page): Locator => page.getByRole('link', { name: /^Sync( \(|$)/ });
const state = (page: Page, name: string): Locator =>
  page.getByRole('button', { name: new RegExp(`^${name} [\\d,]+$`) });

/** Compares every number of the Sync tree with the document. */
async function expectSameCopies(page: Page, document: CandidatesDocument): Promise<void> {
  expect(numberIn(await syncTab(page).innerText())).toBe(document.total);
  expect(await missingIn(rowOf(page, 'all'))).toBe(document.total);
  for (const { url, count, kinds } of document.relays) {
    const row = rowOf(page, `relay ${url}`);
    expect(await missingIn(row)).toBe(count);
    if (count === 0) continue;
    await row.press('ArrowRight');
    for (const [kind, copies] of Object.entries(kinds)) {
      expect(await missingIn(rowOf(page, `kind ${kind} ${url}`))).toBe(copies);
    }
    await row.press('ArrowLeft');
  }
}

const places: { host: HostName; theme: 'light' | 'dark' }[] = [
  { host: 'desktop', theme: 'light' },
  { host: 'browser', theme: 'dark' },
];

/** The command line is asked several times meanwhile, each time by a process of its own. */
const PATIENCE = { timeout: 120_000 };

describe('syncing the sample account', () => {
  it.for(places)(
    'sends what its relays lack, and verifies it, in the $host',
    PATIENCE,
    async ({ host, theme }, { open }) => {
      const { page, problems, screenshot } = await open({ host, demo: true, theme });
      await page.getByText(/^Fetch for mira:\s+complete/).waitFor({ timeout: 40_000 });
      const directory = await usedDirectory(page);
      await page.getByText(/copies are missing on/).waitFor();
      await page.getByRole('button', { name: 'Show in Sync' }).click();
      await rowOf(page, 'all').waitFor();
      const key = await keyIn(directory);
      const before = await candidatesOf(key, directory);
      expect(before.total).toBeGreaterThan(100);
      await expectSameCopies(page, before);
      await screenshot(`sync-tree-${host}-${theme}`);

      // One kind is enough: relays are sent to at a pace that all of it would make long.
      const reposts = { total: 0, relays: 0 };
      for (const { kinds } of before.relays) {
        reposts.total += kinds['6'] ?? 0;
        reposts.relays += kinds['6'] === undefined ? 0 : 1;
      }
      await rowOf(page, 'kind 6 ').hover();
      await rowOf(page, 'kind 6 ').getByRole('button', { name: 'Only this' }).click();
      await page.getByRole('button', { name: `Review ${reposts.total} copies…` }).click();
      const send = page.getByRole('button', { name: `Send ${reposts.total} copies to ${reposts.relays} relays` });
      await send.waitFor();
      const preview: SyncPreview = JSON.parse(
        await holdfast(directory, 'sync', key, '--kind', '6', '--dry-run', '--json'),
      );
      expect(preview.total).toBe(reposts.total);
      expect(await page.getByRole('heading', { level: 2 }).first().innerText()).toBe(
        `${preview.total} copies of ${preview.events} events to ${preview.relays.length} relays`,
      );
      await screenshot(`sync-review-${host}-${theme}`);
      await page.getByRole('button', { name: 'Back' }).click();
      await rowOf(page, 'all').waitFor();
      expect(await candidatesOf(key, directory)).toEqual(before);

      await page.getByRole('button', { name: /^Review .* copies…$/ }).click();
      await send.click();
      await page.getByRole('heading', { level: 1, name: /^Sync \d+ Complete/ }).waitFor();
      expect(numberIn(await state(page, 'Verified').innerText())).toBe(reposts.total);
      await page.getByText('Verified').last().waitFor();
      await screenshot(`sync-verified-${host}-${theme}`);

      await page.getByRole('link', { name: 'mira' }).last().click();
      await page.getByRole('link', { name: `Sync (${(before.total - reposts.total).toLocaleString('en')})` }).waitFor();
      await rowOf(page, 'all').waitFor();
      const after = await candidatesOf(key, directory);
      expect(after.total).toBe(before.total - reposts.total);
      await expectSameCopies(page, after);
      await screenshot(`sync-rest-${host}-${theme}`);
      expect(problems).toEqual([]);
    },
  );
});

describe('syncing to relays that differ', () => {
  const history = buildHistory({ count: 60, from: 1_600_000_000, to: 1_700_000_000, kinds: [1, 7] });
  const EARLY = 1_650_000_000;
  const early = history.filter((event) => event.created_at < EARLY && event.kind === 1).length;
  const notes = history.filter((event) => event.kind === 1).length;
  let source: ScriptedRelay;
  let liar: ScriptedRelay;
  let strict: ScriptedRelay;
  let dataDirectory: string;
  beforeAll(async () => {
    dataDirectory = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
    source = await ScriptedRelay.start({ events: history });
    liar = await ScriptedRelay.start({ behaviours: [acceptWithoutStoring()] });
    strict = await ScriptedRelay.start({ behaviours: [refuseOlderThan(EARLY)] });
  });
  afterAll(async () => {
    await Promise.all([source.stop(), liar.stop(), strict.stop()]);
    await rm(dataDirectory, { recursive: true, force: true, maxRetries: 3 });
  });

  it(
    'shows what each relay did, event by event, in its own words, and offers it no further',
    PATIENCE,
    async ({ open }) => {
      const writes = [source, liar, strict].flatMap(({ url }) => ['--write', url]);
      await holdfast(dataDirectory, 'account', 'add', alice.npub, ...writes);
      const { page, problems, screenshot } = await open({ host: 'browser', dataDirectory });
      await page.getByRole('button', { name: 'Fetch', exact: true }).click();
      await page.getByText(/^Fetch for .*:\s+complete/).waitFor();
      await syncTab(page).click();
      await rowOf(page, 'all').waitFor();
      expect(await missingIn(rowOf(page, 'all'))).toBe(120);

      // A kind is unticked for all relays at once; bad days are said at once, and nothing can be reviewed by them.
      await rowOf(page, 'kind 7 ').press('Space');
      const review = page.getByRole('button', { name: /^Review/ });
      expect(numberIn(await review.innerText())).toBe(notes * 2);
      await page.getByLabel('Created from').fill('2022-01-01');
      await page.getByLabel('to', { exact: true }).fill('2021-01-01');
      await page.getByText('The end, 1 Jan 2021, lies before the beginning, 1 Jan 2022.').waitFor();
      expect(await review.getAttribute('aria-disabled')).toBe('true');
      await page.getByRole('button', { name: 'Any time' }).click();
      await review.click();

      // While a relay keeps the answers to itself, the sync can be cancelled; what was verified is never sent again.
      const gate = new Gate();
      const release = strict.use(holdAnswers(gate));
      await page.getByRole('button', { name: `Send ${notes * 2} copies to 2 relays` }).click();
      await page.getByRole('heading', { level: 1, name: /Syncing/ }).waitFor();
      await page.getByText(/^syncing with \d relays? · \d+ verified of/).waitFor();
      await state(page, 'Rejected')
        .filter({ hasText: String(early) })
        .waitFor();
      await screenshot('sync-running');
      await page.getByRole('button', { name: 'Cancel' }).click();
      gate.open();
      release();
      await page.getByRole('heading', { level: 1, name: /Cancelled/ }).waitFor();
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('heading', { level: 1, name: /Some unverified/ }).waitFor({ timeout: 40_000 });
      expect(numberIn(await state(page, 'Verified').innerText())).toBe(notes - early);
      expect(numberIn(await state(page, 'Unverified').innerText())).toBe(notes);
      expect(numberIn(await state(page, 'Rejected').innerText())).toBe(early);
      await screenshot('sync-mixed');

      await state(page, 'Rejected').click();
      const rows = page.getByRole('grid').getByRole('row');
      await rows.getByText('called invalid').nth(3).waitFor();
      expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe(String(early + 1));
      await rows.nth(1).press('Enter');
      await page.getByText('invalid: created_at too early').first().waitFor();
      await page.getByText('Resume leaves it').waitFor();
      await screenshot('sync-history');
      await state(page, 'Rejected').click();
      await page.getByLabel('Reason').selectOption({ label: `accepted, but not returned (${notes})` });
      await rows.getByText('Unverified').nth(3).waitFor();

      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page
          .getByRole('button', { name: 'Export the report' })
          .click()
          .then(() => page.getByRole('menuitem', { name: 'Export as CSV' }).click()),
      ]);
      expect(download.suggestedFilename()).toMatch(/^holdfast-sync-\d+\.csv$/);

      // What was refused for good is offered on demand only, and the rest again.
      await page
        .getByRole('link', { name: /^npub1/ })
        .last()
        .click();
      await rowOf(page, 'all').waitFor();
      await page.getByText(`${early} copies were refused by`).waitFor();
      const document = await candidatesOf(alice.npub, dataDirectory);
      expect(document.relays.map(({ count, refused }) => [count, refused])).toEqual([
        [0, 0],
        [60, 0],
        [60 - notes, early],
      ]);
      await expectSameCopies(page, document);
      await screenshot('sync-refused');
      await page.getByRole('link', { name: 'Overview' }).click();
      await page.getByText(/copies were refused by .* for a lasting reason/).waitFor();
      await page.getByText(/The last sync is not finished/).waitFor();
      await screenshot('sync-attention');
      expect(problems).toEqual([]);
    },
  );
});

describe('after a sync', () => {
  const EARLY = 1_605_000_000;
  const history = buildHistory({ count: 30, from: 1_600_000_000, to: 1_700_000_000 });
  const early = history.filter((event) => event.created_at < EARLY).length;
  let source: ScriptedRelay;
  let strict: ScriptedRelay;
  let dataDirectory: string;
  beforeAll(async () => {
    dataDirectory = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
    source = await ScriptedRelay.start({ events: history });
    strict = await ScriptedRelay.start({ behaviours: [refuseOlderThan(EARLY)] });
  });
  afterAll(async () => {
    await Promise.all([source.stop(), strict.stop()]);
    await rm(dataDirectory, { recursive: true, force: true, maxRetries: 3 });
  });

  it(
    'what was refused is sent again on demand, and what was verified is looked for again, without sending it',
    PATIENCE,
    async ({ open }) => {
      await holdfast(dataDirectory, 'account', 'add', alice.npub, '--write', source.url, '--write', strict.url);
      await holdfast(dataDirectory, 'fetch', alice.npub, '--quiet');
      const { page, problems, screenshot } = await open({ host: 'desktop', dataDirectory });
      const sent = (): number => strict.log.received('EVENT').length;
      const heading = (word: string): Locator =>
        page.getByRole('heading', { level: 1, name: new RegExp(`^Sync \\d+ ${word}`) });
      await syncTab(page).click();
      await page.getByRole('button', { name: 'Review 30 copies…' }).click();
      await page.getByRole('button', { name: 'Send 30 copies to 1 relay' }).click();
      await heading('Some refused').waitFor();
      expect(numberIn(await state(page, 'Rejected').innerText())).toBe(early);
      // What was refused is offered on demand, in the same tree as what is missing.
      await page
        .getByRole('link', { name: /^npub1/ })
        .last()
        .click();
      await page.getByText('Nothing is missing but what was refused').waitFor();
      await page.getByRole('checkbox', { name: /Include/ }).check();
      await page.getByText(`All ${early} missing copies, for 1 relay, ${early} of them refused before`).waitFor();
      expect(await missingIn(rowOf(page, `relay ${strict.url}`))).toBe(early);
      await screenshot('sync-refused-only');
      await page.getByRole('checkbox', { name: /Include/ }).uncheck();
      await page.getByRole('link', { name: 'Results' }).first().click();
      await heading('Some refused').waitFor();
      // Time alone does not change it, so nothing but the demand does.
      expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
      expect(sent()).toBe(30);

      const retry = page.getByRole('button', { name: `Send ${early} refused again` });
      await retry.click();
      await expect.poll(sent).toBe(30 + early);
      await heading('Some refused').waitFor();
      expect(numberIn(await state(page, 'Rejected').innerText())).toBe(early);

      strict.behave();
      await retry.click();
      await heading('Complete').waitFor();
      expect(numberIn(await state(page, 'Verified').innerText())).toBe(30);
      expect(await retry.count()).toBe(0);
      expect(sent()).toBe(30 + 2 * early);
      await page.getByText(', with a pause').waitFor();
      await screenshot('sync-retried');

      const lost = history[20]?.id;
      strict.behave({ name: 'has lost one', hides: ({ id }) => id === lost });
      const asked = strict.requests().length;
      await page.getByRole('button', { name: 'Re-verify…' }).click();
      await screenshot('sync-reverify');
      await page.getByRole('dialog', { name: 'Re-verify' }).getByLabel('Copies in the sample').fill('0');
      await page.getByText('A sample is a whole number from 1 to 30.').waitFor();
      await page.getByRole('radio', { name: /^All 30/ }).check();
      await page.getByRole('button', { name: 'Re-verify 30 copies' }).click();
      await heading('Some unverified').waitFor({ timeout: 40_000 });
      await page.getByText('30 copies read back again: 29 returned, 1 not returned any more').waitFor();
      expect(numberIn(await state(page, 'Verified').innerText())).toBe(29);
      expect(numberIn(await state(page, 'Unverified').innerText())).toBe(1);
      expect(strict.requests().length).toBeGreaterThan(asked);
      expect(sent()).toBe(30 + 2 * early);
      await state(page, 'Unverified').click();
      await page.getByRole('grid').getByRole('row').nth(1).press('Enter');
      await page.getByText(/It was returned at .*, and is not returned any more\./).waitFor();
      await screenshot('sync-reverified');
      expect(problems).toEqual([]);
    },
  );
});
