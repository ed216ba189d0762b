import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { holdAnswers } from '../relays/behaviours/end-of-stored-events.ts';
import { alice, buildHistory } from '../relays/event-builder.ts';
import { Gate } from '../relays/gate.ts';
import { ScriptedRelay } from '../relays/scripted-relay.ts';
import { it } from './holdfast-test.ts';
import type { HostName } from './open-holdfast.ts';

const HISTORY = buildHistory({ count: 240, from: 1_600_000_000, to: 1_700_000_000, kinds: [1, 7] });

async function addAlice(page: Page, relayUrl: string): Promise<void> {
  await page.getByRole('button', { name: 'Add your first account' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add account' });
  await dialog.getByLabel('Public key').fill(alice.npub);
  await dialog.getByLabel('Name').fill('alice');
  await dialog.getByLabel('Give relays; nobody is asked').check();
  await dialog.getByRole('textbox').last().fill(relayUrl);
  await dialog.getByRole('button', { name: 'Add account' }).click();
  await dialog.waitFor({ state: 'hidden' });
}

describe.each<HostName>(['desktop', 'browser'])('fetching in the %s', (host) => {
  let relay: ScriptedRelay;
  beforeAll(async () => {
    relay = await ScriptedRelay.start({ events: HISTORY });
  });
  afterAll(() => relay.stop());

  it.for(['light', 'dark'] as const)('shows a complete fetch of the sample account in %s', async (theme, { open }) => {
    const { page, problems, screenshot } = await open({ host, demo: true, theme });
    await page.getByRole('heading', { name: 'mira' }).waitFor();
    await page.getByText('The whole history of all 3 source relays was walked to its end.').waitFor();
    await screenshot(`demo-overview-${host}-${theme}`);
    await page.getByRole('link', { name: 'Coverage' }).click();
    const rows = page.getByRole('treegrid').getByRole('row');
    await rows.nth(3).waitFor();
    await rows.nth(1).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByText('Beginning').first().waitFor();
    await screenshot(`demo-coverage-${host}-${theme}`);
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByText('Complete').first().waitFor();
    await screenshot(`demo-runs-${host}-${theme}`);
    expect(problems).toEqual([]);
  });

  it('shows live progress, cancels, keeps what came, and resumes to the end', async ({ open }) => {
    const { page, problems, screenshot } = await open({ host });
    await addAlice(page, relay.url);
    const gate = new Gate();
    gate.release(2);
    const release = relay.use(holdAnswers(gate));
    await page.getByRole('button', { name: 'Fetch', exact: true }).click();
    await page.getByText(/1 relay fetching/).waitFor();
    await page
      .getByText(/199|200/)
      .first()
      .waitFor();
    await screenshot(`running-${host}`);
    await page.getByRole('button', { name: 'Show activity' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    gate.open();
    release();
    await page.getByRole('region', { name: 'Activity' }).getByText('What had arrived is kept').first().waitFor();
    await page.getByRole('link', { name: 'Coverage' }).click();
    await page.getByText('Partial').first().waitFor();
    await screenshot(`cancelled-${host}`);
    await page.getByRole('link', { name: 'Runs' }).click();
    await page
      .getByRole('button', { name: /Resume/ })
      .first()
      .click();
    await page.getByText('Complete').first().waitFor();
    await page.getByText(/240 events/).waitFor();
    await screenshot(`resumed-${host}`);
    expect(problems).toEqual([]);
  });
});
