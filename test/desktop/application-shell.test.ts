import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npubEncode } from 'nostr-tools/nip19';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { it } from './holdfast-test.ts';
import { desktopKind, newContext, startStandIn, type HostName } from './open-holdfast.ts';

/** The account of the secret key 1. */
const NPUB = npubEncode('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798');

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-shell-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Adds the account through the dialog, with a relay that nobody answers at, so that nobody is asked. */
async function addAccount(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add your first account' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add account' });
  await dialog.getByLabel('Public key').fill(NPUB);
  await dialog.getByLabel('Name').fill('grace');
  await dialog.getByLabel('Give relays; nobody is asked').check();
  await dialog.getByRole('textbox').last().fill('ws://127.0.0.1:9');
  await dialog.getByRole('button', { name: 'Add account' }).click();
  await dialog.waitFor({ state: 'hidden' });
}

describe.each<HostName>(['desktop', 'browser'])('the application in the %s', (host) => {
  it('opens, and invites to add an account', async ({ open }) => {
    const { page, problems, screenshot } = await open({ host });
    await page.getByRole('button', { name: 'Add your first account' }).waitFor();
    expect(await page.title()).toContain('Holdfast');
    await screenshot(`empty-${host}`);
    expect(problems).toEqual([]);
  });

  it('keeps an account that was added, also over a restart', async ({ open }) => {
    const dataDirectory = join(directory, host);
    const first = await open({ host, dataDirectory });
    await addAccount(first.page);
    await first.page.getByRole('heading', { name: 'grace' }).waitFor();
    await first.close();

    const second = await open({ host, dataDirectory, theme: 'dark' });
    await second.page.getByRole('navigation').getByText('grace').click();
    await second.page.getByRole('heading', { name: 'grace' }).waitFor();
    await second.screenshot(`account-${host}`);
    expect([...first.problems, ...second.problems]).toEqual([]);
  });

  it('lets the page do nothing but talk to Holdfast', async ({ open }) => {
    const { page } = await open({ host });
    const reached = await page.evaluate(async () => {
      const succeeds = (attempt: () => unknown): boolean => {
        try {
          attempt();
          return true;
        } catch {
          return false;
        }
      };
      return {
        node: ['require', 'process', 'module'].filter((name) => name in window),
        markup: succeeds(() => (document.createElement('div').innerHTML = '<img src=x onerror=alert(1)>')),
        script: succeeds(() => (document.createElement('script').textContent = 'alert(1)')),
        network: await fetch('https://example.com/').then(
          () => true,
          () => false,
        ),
      };
    });
    expect(reached).toEqual({ node: [], markup: false, script: false, network: false });
  });
});

describe('the desktop window', () => {
  it('leads nowhere else, and opens no other window', async ({ open }) => {
    const { page } = await open();
    const address = page.url();
    await page.evaluate(() => window.location.assign('https://example.com/'));
    await page.evaluate(() => window.open('https://example.com/'));
    await page.getByRole('button', { name: 'Add your first account' }).waitFor();
    expect(page.url()).toBe(address);
    await expect.poll(() => page.context().pages().length).toBe(1);
  });

  it('says that an address leads nowhere, and leads back', async ({ open }) => {
    const { page, problems, screenshot } = await open({ host: 'desktop' });
    await page.getByRole('button', { name: 'Add your first account' }).waitFor();
    await page.evaluate(() => {
      window.location.hash = '#/nonsense/\u202e<b>';
    });
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    expect(await page.title()).toContain('No such page');
    await screenshot('unknown-address');
    await page.getByRole('link', { name: 'Go to the start' }).click();
    await page.getByRole('button', { name: 'Add your first account' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('serves its page again when that is reloaded', async ({ open }) => {
    const { page, problems } = await open();
    await page.reload();
    await page.getByRole('button', { name: 'Add your first account' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('ends with exit code 0 when it is quit', async ({ open }) => {
    const { page, close } = await open();
    await page.getByRole('button', { name: 'Add your first account' }).waitFor();
    expect(await close()).toBe(0);
  });
});

describe('a desktop that cannot start', () => {
  it('says that the data directory is in use, and ends with exit code 1', async ({ open, skip }) => {
    skip(desktopKind === 'electron', 'Electron shows the running window instead');
    const { dataDirectory, page } = await open();
    const context = await newContext();
    const second = startStandIn(context, ['--data', dataDirectory]);
    expect(await second.exited).toBe(1);
    expect(second.errorBoxes).toHaveLength(1);
    expect(second.errorBoxes[0]?.content).toContain(dataDirectory);
    // The first one does not notice.
    await page.getByRole('button', { name: 'Add your first account' }).waitFor();
    await context.close();
  });

  it('says that the data directory cannot be used, and ends with exit code 1', async ({ open, skip }) => {
    expect(open).toBeDefined();
    skip(desktopKind === 'electron', 'an error box of Electron waits for a click');
    const file = join(directory, 'file');
    await writeFile(file, 'a file, where a directory is needed');
    const context = await newContext();
    const standIn = startStandIn(context, ['--data', file]);
    expect(await standIn.exited).toBe(1);
    expect(standIn.errorBoxes.map(({ content }) => content)).toEqual([expect.stringContaining(file)]);
    await context.close();
  });
});
