import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { generateRows, writeFirstVersion } from '../legacy/generated-first-version.ts';
import {
  accountKey,
  checkpointOf,
  eventRow,
  LAST_USED,
  OLDEST,
  operationRow,
  presenceRow,
  type GivenRows,
} from '../legacy/first-version-rows.ts';
import { buildHistory } from '../relays/event-builder.ts';
import { ScriptedRelay } from '../relays/scripted-relay.ts';
import { holdfast, numberIn } from './built-command.ts';
import { it } from './holdfast-test.ts';

/** What the command line says of the unfinished fetches. */
interface ListedFetch {
  id: number;
  stoppedAt: number | null;
  pendingWindows: number;
  status: string;
}

const author = accountKey(0);
const history = buildHistory({ author, count: 60, from: OLDEST, to: LAST_USED - 1000, kinds: [1, 7] });
/** The archive has the first forty; the relay has the last fifty-five. */
const archived = history.slice(0, 40);
const onRelay = history.slice(5);
const WINDOWS = 4;

/** A database of the first version with one account on one relay, and unfinished fetches with four windows each. */
function rowsFor(url: string, fetches: number): GivenRows {
  return {
    accounts: [{ id: 1, pubkey: author.pubkey, label: 'mira', signer_ref: null, created_at: OLDEST }],
    account_relays: [{ account_id: 1, url, read: 1, write: 1, extra: 0 }],
    events: archived.map(eventRow),
    presence: archived.slice(10).map((event) => presenceRow(event.id, url, LAST_USED - 4000)),
    coverage: [
      {
        account_id: 1,
        relay_url: url,
        status: 'complete',
        oldest: OLDEST,
        newest: LAST_USED,
        event_count: 1204,
        updated_at: LAST_USED - 200,
      },
    ],
    operations: [
      operationRow('finished', 1, {}),
      ...Array.from({ length: fetches }, (_, index) =>
        operationRow(`left ${index}`, 1, {
          status: index === 0 ? 'running' : 'partial',
          finished_at: index === 0 ? null : LAST_USED - 10 * index,
          checkpoint: JSON.stringify(checkpointOf([url], WINDOWS)),
        }),
      ),
    ],
  };
}

const grid = (page: Page): Locator => page.getByRole('treegrid', { name: 'Unfinished fetches of the first version' });
const fetchRow = (page: Page, id: number): Locator => page.locator(`[data-row="checkpoint ${id}"]`);
const tick = (page: Page, id: number): Promise<void> => fetchRow(page, id).locator('[data-box]').click();
const choice = (page: Page, name: string): Locator =>
  page.getByRole('region', { name: 'Decide' }).getByRole('button', { name, exact: true });

async function listed(directory: string): Promise<ListedFetch[]> {
  const list: ListedFetch[] = JSON.parse(await holdfast(directory, 'legacy', 'list', '--json'));
  return list.sort((left, right) => left.id - right.id);
}

/** The command line is asked several times meanwhile, each time by a process of its own. */
const PATIENCE = { timeout: 120_000 };

let relay: ScriptedRelay;
let dataDirectory: string;
beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  relay = await ScriptedRelay.start({ events: onRelay });
});
afterEach(async () => {
  await relay.stop();
  await rm(dataDirectory, { recursive: true, force: true, maxRetries: 3 });
});

describe('unfinished fetches of the first version', () => {
  it('are asked about at the start, and each of the three choices does what it says', PATIENCE, async ({ open }) => {
    writeFirstVersion(dataDirectory, rowsFor(relay.url, 3));
    const { page, problems, screenshot } = await open({ host: 'desktop', dataDirectory });
    await page.getByText('3 unfinished fetches of the first version wait for your decision.').first().waitFor();
    await screenshot('legacy-prompt');
    const [first, second, third] = (await listed(dataDirectory)).map(({ id }) => id);
    if (first === undefined || second === undefined || third === undefined)
      throw new Error('Three fetches are missing.');

    await page.getByRole('link', { name: 'Review' }).click();
    await grid(page).waitFor();
    await grid(page).getByText('To decide').nth(3).waitFor();
    expect(await fetchRow(page, first).innerText()).toContain('not recorded');
    await screenshot('legacy-review');
    // Nothing starts by itself.
    expect(relay.requests()).toEqual([]);
    expect(await choice(page, 'Resume').getAttribute('aria-disabled')).toBe('true');

    await tick(page, third);
    await choice(page, 'Keep for later').click();
    await fetchRow(page, third).getByText('Kept for later').waitFor();
    expect((await listed(dataDirectory)).map(({ status }) => status)).toEqual(['waiting', 'waiting', 'kept']);
    expect(relay.requests()).toEqual([]);

    await tick(page, first);
    await choice(page, 'Resume').click();
    await fetchRow(page, first).getByText('Resumed to its end').waitFor();
    expect((await listed(dataDirectory))[0]).toMatchObject({ status: 'resumed', pendingWindows: 0 });
    await screenshot('legacy-resumed');
    // What was not returned is not missing: the five events that the relay lacks are no candidates by this.
    await page.getByRole('list', { name: 'Accounts' }).getByRole('link').first().click();
    await page.getByText(/^60 events/).waitFor();
    expect(await page.getByRole('link', { name: /^Sync/ }).innerText()).toBe('Sync');
    await page.getByRole('link', { name: 'Coverage' }).click();
    await page.locator(`[data-row="relay ${relay.url}"]`).press('ArrowRight');
    await page
      .getByText(/^The first version said on .*: complete, 1,204 events, .* It did not record how it knew/)
      .waitFor();
    await page.locator(`[data-row="relay ${relay.url}"]`).getByText('Never asked').waitFor();
    await page.locator(`[data-row="windows ${relay.url}"]`).getByText('All asked').waitFor();
    await screenshot('legacy-coverage');

    await page.getByRole('link', { name: /^First version/ }).click();
    await tick(page, second);
    await choice(page, 'New scan').click();
    await fetchRow(page, second).getByText('Replaced by a scan').waitFor({ timeout: 40_000 });
    expect((await listed(dataDirectory))[1]).toMatchObject({ status: 'replaced', pendingWindows: WINDOWS });
    await page.getByRole('link', { name: 'mira' }).first().click();
    await page.getByRole('link', { name: 'Sync (5)' }).waitFor();

    // What was kept can be decided later.
    await page.getByRole('link', { name: /^First version/ }).click();
    await tick(page, third);
    await choice(page, 'Resume').click();
    await fetchRow(page, third).getByText('Resumed to its end').waitFor();
    await screenshot('legacy-decided');
    expect(problems).toEqual([]);
  });

  it('are decided about several at once, and one that stops again is gone on with', PATIENCE, async ({ open }) => {
    writeFirstVersion(dataDirectory, rowsFor(relay.url, 50));
    const { page, problems, screenshot } = await open({ host: 'browser', dataDirectory, theme: 'dark' });
    await page.getByText('50 unfinished fetches of the first version wait').first().waitFor();
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByRole('link', { name: /^First version/ }).click();
    const ids = (await listed(dataDirectory)).map(({ id }) => id);
    // From the head of the group all are ticked; by keyboard some are unticked again.
    await page.locator('[data-row="group waiting"]').press('Space');
    await page.getByText(`All 50 fetches ticked: ${50 * WINDOWS} windows left on 1 relay.`).waitFor();
    await screenshot('legacy-review-50');
    await page.locator('[data-row="group waiting"]').press('End');
    await grid(page).locator(':focus').press('Space');
    await choice(page, 'Keep 49 for later').click();
    await page.getByText('49 fetches are kept for later.').waitFor();
    const left = (await listed(dataDirectory)).filter(({ status }) => status === 'waiting');
    expect(left).toHaveLength(1);
    expect(left[0]?.stoppedAt).toBeNull();

    await relay.stop();
    await tick(page, left[0]?.id ?? 0);
    await choice(page, 'Resume').click();
    await fetchRow(page, left[0]?.id ?? 0)
      .getByText('Resuming')
      .waitFor();
    await page.getByRole('button', { name: 'Show activity' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await fetchRow(page, left[0]?.id ?? 0)
      .getByText('Resumed in part')
      .waitFor();
    await screenshot('legacy-resumed-in-part');
    const [after] = (await listed(dataDirectory)).filter(({ id }) => id === left[0]?.id);
    expect(after).toMatchObject({ status: 'resumed', pendingWindows: WINDOWS });
    expect(ids).toHaveLength(50);
    expect(problems).toEqual([]);
  });
});

describe('what was brought over', () => {
  it('is reported table by table, and every row that had a problem can be looked at', PATIENCE, async ({ open }) => {
    writeFirstVersion(dataDirectory, generateRows({ accounts: 2, events: 40, dirty: true }));
    const { page, problems, screenshot } = await open({ host: 'browser', dataDirectory });
    await page.getByRole('link', { name: /^First version/ }).click();
    await page.getByRole('link', { name: 'What was brought over' }).click();
    await page.getByText('Done, with rows kept aside').waitFor();
    expect(await page.getByText('Adds up').count()).toBe(8);
    await screenshot('legacy-report-problems');
    const total = page.locator('tfoot td.number');
    const [before, ...parts] = (await total.allInnerTexts()).map(numberIn);
    expect(before).toBe(parts.reduce((sum, part) => sum + part, 0));
    await page.getByText('all of the first version’s data was copied to this file').waitFor();
    expect(await page.getByText(dataDirectory).count()).toBeGreaterThan(1);

    await page.getByRole('button', { name: 'Show the remarks', exact: true }).click();
    await page.getByRole('grid', { name: 'Remarks' }).waitFor();
    await page.getByLabel('What').selectOption({ label: 'Signed events' });
    await page.getByLabel('Problem').selectOption({ label: 'Bad signature' });
    await page.getByText('1 remark', { exact: true }).waitFor();
    await page.getByRole('grid', { name: 'Remarks' }).getByRole('row').nth(1).press('Enter');
    await page.getByText('so that nobody can tell who wrote it').waitFor();
    await page.getByText(/"first_seen_at": \d+/).waitFor();
    await screenshot('legacy-remarks');
    await page.getByRole('link', { name: 'Earlier runs' }).click();
    await page.getByText('Publication').first().waitFor();
    await screenshot('legacy-runs');
    expect(problems).toEqual([]);
  });

  it('comes from a chosen file too, once, and the file stays as it is', PATIENCE, async ({ open }) => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
    try {
      const path = writeFirstVersion(elsewhere, rowsFor(relay.url, 1), 'old.db');
      const { page, problems, screenshot } = await open({ host: 'desktop', dataDirectory });
      await page.getByRole('link', { name: 'Settings' }).click();
      const field = page.getByLabel('Path of the file');
      const start = page.getByRole('button', { name: 'Bring over' });
      expect(await page.getByRole('link', { name: /^First version/ }).count()).toBe(0);
      await field.fill(join(elsewhere, 'nothing.db'));
      await start.click();
      await page
        .locator('#first-version-said')
        .getByText(/nothing\.db/)
        .waitFor();
      await page.locator('#first-version-said').scrollIntoViewIfNeeded();
      await screenshot('legacy-import-refused');

      await field.fill(path);
      await start.click();
      await page
        .locator('#first-version-said')
        .getByText(/rows are accounted for/)
        .waitFor();
      await page.locator('#first-version-said').scrollIntoViewIfNeeded();
      await screenshot('legacy-import');
      await field.fill(path);
      await start.click();
      await page
        .locator('#first-version-said')
        .getByText(/Nothing was added/)
        .waitFor();
      await page.locator('#first-version-said').getByRole('link', { name: 'Report' }).click();
      await page.getByText('The chosen file was only read and stays exactly as it is').waitFor();
      await page.getByRole('link', { name: 'Unfinished fetches (1)' }).click();
      // A single one stands open, and ticked.
      await grid(page).getByText('500 events an answer').waitFor();
      expect(await choice(page, 'Resume').getAttribute('aria-disabled')).toBe('false');
      await screenshot('legacy-review-1');
      expect(problems).toEqual([]);
    } finally {
      await rm(elsewhere, { recursive: true, force: true, maxRetries: 3 });
    }
  });
});
