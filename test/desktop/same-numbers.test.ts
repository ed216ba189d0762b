import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { AccountSummary, CoverageRange, CoverageTree, SignedEvent } from '../../preload/contract.ts';
import { holdfast, numberIn, usedDirectory } from './built-command.ts';
import { it } from './holdfast-test.ts';
import type { HostName } from './open-holdfast.ts';

/** The coverage document of the command line: the tree of the contract, with attempts and their queries inside. */
interface CoverageDocument extends Pick<CoverageTree, 'account' | 'archive'> {
  relays: { url: string; ranges: (CoverageRange & { attempts: { queries: unknown[] }[] })[] }[];
}

async function documentOf(dataDirectory: string): Promise<CoverageDocument> {
  const accounts: Pick<AccountSummary, 'npub'>[] = JSON.parse(
    await holdfast(dataDirectory, 'account', 'list', '--json'),
  );
  const document: CoverageDocument = JSON.parse(
    await holdfast(dataDirectory, 'coverage', accounts[0]?.npub ?? '', '--json'),
  );
  return document;
}

/** What the activity bar says once the fetch of the sample account has ended. */
const ENDED = /^Fetch for mira:\s+complete/;

/**
 * Whether the second relay of the demo forgot the event, as it did one of every five stretches of 17 days. The oldest
 * such events came before the third relay began, whose walk is not finished, so that nothing is known about them there.
 */
function isForgotten({ created_at }: SignedEvent): boolean {
  return Math.floor(created_at / 86_400 / 17) % 5 === 3;
}

const rowOf = (page: Page, key: string): Locator => page.locator(`[data-row="${key}"]`);

async function unfold(row: Locator): Promise<void> {
  await row.focus();
  if ((await row.getAttribute('aria-expanded')) === 'false') await row.press('ArrowRight');
}

async function numbersIn(row: Locator): Promise<number[]> {
  return (await row.locator('.number').allInnerTexts()).map(numberIn);
}

/** Compares every number of a range's rows, its kinds and its attempts with the document. */
async function expectSameRange(page: Page, range: CoverageDocument['relays'][number]['ranges'][number]): Promise<void> {
  const row = rowOf(page, `range ${range.id}`);
  expect(await numbersIn(row)).toEqual([range.found, range.fetched]);
  await unfold(row);
  const kinds = Object.entries(range.kinds);
  if (kinds.length > 0) {
    await unfold(rowOf(page, `kinds ${range.id}`));
    const shown: [string, number][] = [];
    for (const [kind] of kinds) shown.push([kind, (await numbersIn(rowOf(page, `kind ${range.id} ${kind}`)))[0] ?? -1]);
    expect(shown).toEqual(kinds);
    await rowOf(page, `kinds ${range.id}`).press('ArrowLeft');
  }
  const queries = range.attempts.reduce((sum, attempt) => sum + attempt.queries.length, 0);
  const attempts = await rowOf(page, `attempts ${range.id}`).innerText();
  expect(attempts.match(/\d+/g)?.map(Number)).toEqual([range.attempts.length, queries]);
  await row.focus();
  await row.press('ArrowLeft');
}

async function expectSameNumbers(page: Page, document: CoverageDocument): Promise<void> {
  expect(numberIn(await page.locator('header p').first().innerText())).toBe(document.archive.events);
  expect(numberIn(await page.getByText(/unique events? archived/).innerText())).toBe(document.archive.events);
  for (const relay of document.relays) {
    const row = rowOf(page, `relay ${relay.url}`);
    // Ranges of a relay that bring nothing new add nothing, so that the relay's number is that of its one other range.
    const filled = relay.ranges.filter((range) => range.found > 0);
    expect(filled).toHaveLength(1);
    expect(await numbersIn(row)).toEqual([filled[0]?.found, filled[0]?.fetched]);
    await unfold(row);
    for (const range of relay.ranges) await expectSameRange(page, range);
    await row.focus();
    await row.press('ArrowLeft');
  }
}

describe.each<HostName>(['desktop', 'browser'])('the %s and the command line', (host) => {
  it('show the same numbers, also after a second fetch', async ({ open }) => {
    const { page, problems } = await open({ host, demo: true, size: { width: 1280, height: 1400 } });
    await page.getByText(ENDED).waitFor();
    const directory = await usedDirectory(page);
    await page.getByRole('link', { name: 'Coverage' }).click();
    await page.getByRole('treegrid').getByRole('row').nth(3).waitFor();
    const first = await documentOf(directory);
    expect(first.archive.events).toBeGreaterThan(100);
    expect(first.relays).toHaveLength(3);
    await expectSameNumbers(page, first);

    await page.getByRole('button', { name: 'Fetch', exact: true }).click();
    await page.getByText(/^Fetch for mira:\s+\w+, 0 newly archived/).waitFor();
    const second = await documentOf(directory);
    expect(second.relays.map((relay) => relay.ranges.length)).toEqual([2, 2, 2]);
    await expectSameNumbers(page, second);
    expect(problems).toEqual([]);
  });

  it('know where an event of the sample account is, and where it is not', async ({ open }) => {
    const { page, problems, screenshot } = await open({ host, demo: true });
    await page.getByText(ENDED).waitFor();
    const directory = await usedDirectory(page);
    const lines = (await holdfast(directory, 'export', '--kind', '1')).split('\n').filter((line) => line !== '');
    const events: SignedEvent[] = JSON.parse(`[${lines.join(',')}]`);
    const forgotten = events.filter(isForgotten).sort((left, right) => left.created_at - right.created_at)[0];
    await page.getByRole('link', { name: 'Where is an event?' }).first().click();
    await page.getByLabel('Event ID').fill(forgotten?.id ?? '');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('heading', { name: /^Present on 1 relay.*absent from 2/ }).waitFor();
    const states = await page.locator('tbody tr td:nth-child(2)').allInnerTexts();
    expect(states.map((state) => state.trim())).toEqual(['Present', 'Absent', 'Absent']);
    await page
      .getByText(forgotten?.content ?? '')
      .first()
      .waitFor();
    await screenshot(`demo-whereabouts-${host}`);
    expect(problems).toEqual([]);
  });
});
