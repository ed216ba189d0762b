/**
 * Pictures of the interface over the fixture world, to be looked at: `node test/renderer/screenshots.ts DIRECTORY
 * [NAME…]`. Needs Chromium at CHROMIUM or /usr/bin/chromium. Also prints what the page complained about, such as
 * violations of the content security policy.
 */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { NAMED_ONLY } from './fixture-event.ts';
import { hex } from './fixture-parts.ts';
import { serveFixture } from './serve-fixture.ts';

const directory = resolve(process.argv[2] ?? 'screenshots');
const wanted = process.argv.slice(3);

interface Shot {
  name: string;
  hash: string;
  query?: string;
  act?(page: Page): Promise<void>;
}

const openRow = async (page: Page, level: number, text: RegExp): Promise<void> => {
  const row = page.locator(`[role="row"][aria-level="${String(level)}"][aria-expanded]`).filter({ hasText: text });
  await row.first().click({ position: { x: 120, y: 10 }, timeout: 3000 });
  await page.waitForTimeout(150);
};

const shots = (alice: string, bob: string, carol: string, dora: string): Shot[] => [
  { name: 'welcome', hash: '#/', query: 'scene=empty' },
  { name: 'overview', hash: `#/account/${alice}/overview` },
  { name: 'overview-new', hash: `#/account/${bob}/overview` },
  { name: 'coverage-new', hash: `#/account/${bob}/coverage` },
  { name: 'coverage-one', hash: `#/account/${dora}/coverage` },
  { name: 'overview-one', hash: `#/account/${dora}/overview` },
  { name: 'overview-many', hash: `#/account/${carol}/overview` },
  {
    name: 'coverage-months',
    hash: `#/account/${alice}/coverage`,
    async act(page) {
      await openRow(page, 1, /archive\.long/);
      await openRow(page, 2, /By month/);
      await page.locator('[data-picture]').first().hover();
    },
  },
  {
    name: 'coverage-compared',
    hash: `#/account/${alice}/coverage`,
    async act(page) {
      await openRow(page, 1, /archive\.long/);
      await openRow(page, 2, /Beginning/);
      await openRow(page, 3, /3 attempts/);
      await openRow(page, 4, /Attempt \d+2 /);
      await openRow(page, 5, /Comparison/);
    },
  },
  {
    name: 'coverage-fallback',
    hash: `#/account/${alice}/coverage`,
    async act(page) {
      await openRow(page, 1, /relay-a/);
      await openRow(page, 2, /Beginning/);
      await openRow(page, 3, /2 attempts/);
      await openRow(page, 4, /Attempt 1000 /);
      await openRow(page, 4, /Attempt 1001 /);
    },
  },
  { name: 'coverage', hash: `#/account/${alice}/coverage` },
  {
    name: 'coverage-open',
    hash: `#/account/${alice}/coverage`,
    async act(page) {
      await openRow(page, 1, /relay-b/);
      await openRow(page, 2, /Beginning/);
      await openRow(page, 3, /kinds/);
    },
  },
  {
    name: 'coverage-attempts',
    hash: `#/account/${alice}/coverage`,
    async act(page) {
      await openRow(page, 1, /relay-b/);
      await openRow(page, 2, /Beginning/);
      await openRow(page, 3, /200 attempts/);
      await openRow(page, 4, /Attempt 2199 /);
      await openRow(page, 5, /Query \d+3 /);
    },
  },
  {
    name: 'coverage-menu',
    hash: `#/account/${alice}/coverage`,
    async act(page) {
      await openRow(page, 1, /caps-its-pages/);
      await openRow(page, 2, /Beginning/);
      await page
        .getByRole('button', { name: /Actions for the range/ })
        .first()
        .click();
      await page.waitForTimeout(150);
    },
  },
  { name: 'coverage-many', hash: `#/account/${carol}/coverage` },
  { name: 'relays', hash: `#/account/${alice}/relays` },
  {
    name: 'reset',
    hash: `#/account/${alice}/relays`,
    async act(page) {
      await page.getByRole('button', { name: 'Reset to published relays' }).click();
    },
  },
  {
    name: 'runs',
    hash: `#/account/${alice}/runs`,
    async act(page) {
      await page.getByRole('button', { name: /Recheck history 30/ }).click();
    },
  },
  {
    name: 'health',
    hash: '#/relays',
    async act(page) {
      await page.getByRole('button', { name: 'dead.example' }).click();
    },
  },
  { name: 'activity', hash: '#/activity' },
  {
    name: 'activity-bar',
    hash: `#/account/${bob}/coverage`,
    async act(page) {
      await page.getByRole('button', { name: 'Show activity' }).click();
    },
  },
  {
    name: 'activity-bar-ended',
    hash: `#/account/${alice}/overview`,
    query: 'scene=idle',
    async act(page) {
      await page.getByRole('button', { name: 'Show activity' }).click();
    },
  },
  { name: 'settings', hash: '#/settings' },
  { name: 'event', hash: '' },
  {
    name: 'event-to-range',
    hash: '',
    async act(page) {
      await page
        .getByRole('row', { name: /archive\.long/ })
        .getByRole('button', { name: /Query/ })
        .click();
      await page
        .getByRole('row', { name: /archive\.long/ })
        .getByRole('link', { name: 'Range' })
        .click();
      await page.getByText('Complete because').waitFor({ timeout: 3000 });
    },
  },
  { name: 'event-ask', hash: '#/event' },
  { name: 'event-unknown', hash: `#/event/${hex(12_345)}` },
  { name: 'event-named', hash: `#/event/${NAMED_ONLY}` },
  {
    name: 'add-account',
    hash: `#/account/${bob}/overview`,
    async act(page) {
      await page.getByRole('button', { name: 'Add account' }).click();
      await page.getByText('Give relays').click();
      await page.getByLabel('Public key').fill('nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5');
    },
  },
  {
    name: 'options',
    hash: `#/account/${bob}/overview`,
    async act(page) {
      await page.getByRole('button', { name: 'Strategy, page limit and relays' }).click();
    },
  },
  {
    name: 'palette',
    hash: `#/account/${alice}/overview`,
    async act(page) {
      await page.keyboard.press('Control+k');
      await page.keyboard.type('ali');
    },
  },
  { name: 'sync', hash: `#/account/${alice}/sync` },
  {
    name: 'sync-narrowed',
    hash: `#/account/${alice}/sync`,
    query: 'scene=idle',
    async act(page) {
      await page.getByRole('treeitem', { name: /relay-b/ }).press('ArrowRight');
      await page.getByRole('treeitem', { name: /relay-a/ }).press('Space');
      await page
        .getByRole('treeitem', { name: /Reaction 7 on all/ })
        .first()
        .press('Space');
      await page.getByLabel('Created from').fill('2025-02-01');
      await page.getByLabel('Include them').check();
      await page
        .getByRole('treeitem', { name: /Repost 6 on all/ })
        .first()
        .focus();
    },
  },
  {
    name: 'sync-bad-days',
    hash: `#/account/${alice}/sync`,
    async act(page) {
      await page.getByLabel('Created from').fill('2025-02-01');
      await page.getByLabel('to', { exact: true }).fill('2024-02-01');
    },
  },
  {
    name: 'sync-unticked',
    hash: `#/account/${alice}/sync`,
    query: 'scene=idle',
    async act(page) {
      await page.getByRole('treeitem', { name: /All relays/ }).press('Space');
    },
  },
  { name: 'sync-nothing', hash: `#/account/${dora}/sync` },
  { name: 'sync-new', hash: `#/account/${bob}/sync` },
  {
    name: 'sync-many',
    hash: `#/account/${carol}/sync`,
    async act(page) {
      await page.getByRole('treeitem', { name: /relay-02/ }).press('ArrowRight');
    },
  },
  { name: 'review', hash: `#/account/${alice}/sync/review` },
  {
    name: 'review-warnings',
    hash: `#/account/${alice}/sync`,
    query: 'scene=idle',
    async act(page) {
      await page.getByLabel('Include them').check();
      await page.getByRole('button', { name: /^Review/ }).click();
      await page.getByRole('button', { name: 'relay-b.example' }).click();
    },
  },
  { name: 'review-many', hash: `#/account/${carol}/sync/review` },
  { name: 'review-nothing', hash: `#/account/${dora}/sync/review` },
  { name: 'sync-running', hash: '#/sync/41', query: 'scene=syncing' },
  { name: 'sync-running-tab', hash: `#/account/${alice}/sync`, query: 'scene=syncing' },
  { name: 'sync-running-activity', hash: '#/activity', query: 'scene=syncing' },
  { name: 'sync-results', hash: '#/sync/40', query: 'scene=idle' },
  {
    name: 'sync-results-filtered',
    hash: '#/sync/40',
    query: 'scene=idle&deliveries=20000',
    async act(page) {
      await page.getByRole('button', { name: /^Rejected/ }).click();
      await page.getByRole('button', { name: /^Unverified/ }).click();
      await page.waitForTimeout(150);
      await page.getByRole('grid').getByRole('row').nth(3).click();
    },
  },
  {
    name: 'sync-results-deep',
    hash: '#/sync/40',
    query: 'scene=idle&deliveries=20000',
    async act(page) {
      await page.getByRole('grid').evaluate((list) => list.scrollTo(0, 320_000));
      await page.waitForTimeout(200);
    },
  },
  {
    name: 'sync-reverify',
    hash: '#/sync/40',
    query: 'scene=idle',
    async act(page) {
      await page.getByRole('button', { name: 'Re-verify…' }).click();
    },
  },
  {
    name: 'sync-run-row',
    hash: `#/account/${alice}/runs`,
    async act(page) {
      await page.getByRole('button', { name: /Sync 40/ }).click();
    },
  },
  { name: 'legacy-prompt', hash: `#/account/${alice}/overview`, query: 'scene=idle&legacy=many' },
  { name: 'legacy-news', hash: `#/account/${alice}/overview`, query: 'scene=idle&legacy=clean' },
  { name: 'legacy-one', hash: '#/legacy', query: 'scene=idle&legacy=one' },
  { name: 'legacy-many', hash: '#/legacy', query: 'scene=rich&legacy=many' },
  {
    name: 'legacy-several',
    hash: '#/legacy',
    query: 'scene=idle&legacy=many',
    async act(page) {
      const rows = page.getByRole('treegrid').getByRole('row');
      await rows.nth(3).locator('[data-box]').click();
      await rows.nth(4).locator('[data-box]').click();
      await rows.nth(6).locator('[data-box]').click();
      await rows.nth(4).click();
    },
  },
  {
    name: 'legacy-decided',
    hash: '#/legacy',
    query: 'scene=rich&legacy=many',
    async act(page) {
      await page.getByRole('treegrid').getByRole('row').nth(1).press('End');
      await page.getByRole('treegrid').getByRole('row').last().press('Enter');
    },
  },
  { name: 'legacy-empty', hash: '#/legacy', query: 'scene=idle' },
  { name: 'legacy-no-fetches', hash: '#/legacy', query: 'scene=idle&legacy=clean' },
  { name: 'legacy-report', hash: '#/legacy/report', query: 'scene=idle&legacy=many' },
  { name: 'legacy-report-clean', hash: '#/legacy/report', query: 'scene=idle&legacy=clean' },
  { name: 'legacy-report-file', hash: '#/legacy/report/2', query: 'scene=idle&legacy=several' },
  { name: 'legacy-carrying', hash: '#/legacy/report', query: 'scene=idle&legacy=carrying' },
  {
    name: 'legacy-carrying-bar',
    hash: `#/account/${alice}/overview`,
    query: 'scene=idle&legacy=carrying',
    async act(page) {
      await page.getByRole('button', { name: 'Show activity' }).click();
    },
  },
  { name: 'legacy-stopped', hash: `#/account/${alice}/overview`, query: 'scene=idle&legacy=stopped' },
  { name: 'legacy-report-stopped', hash: '#/legacy/report', query: 'scene=idle&legacy=stopped' },
  {
    name: 'legacy-remarks',
    hash: '#/legacy/remarks',
    query: 'scene=idle&legacy=many',
    async act(page) {
      await page.getByRole('grid').getByRole('row').nth(3).click();
    },
  },
  {
    name: 'legacy-remarks-filtered',
    hash: '#/legacy/remarks',
    query: 'scene=idle&legacy=many',
    async act(page) {
      await page.getByLabel('What').selectOption({ label: 'Signed events' });
      await page.getByLabel('Problem').selectOption({ label: 'Bad signature' });
      await page.getByRole('grid').getByText('Bad signature').nth(3).waitFor({ timeout: 3000 });
    },
  },
  { name: 'legacy-runs', hash: '#/legacy/runs', query: 'scene=idle&legacy=many' },
  {
    name: 'legacy-coverage',
    hash: `#/account/${alice}/coverage`,
    query: 'scene=idle&legacy=many',
    async act(page) {
      await openRow(page, 1, /relay-b/);
      await openRow(page, 2, /left by the first version/);
      await page
        .getByText('Unfinished')
        .first()
        .waitFor({ timeout: 100 })
        .catch(() => undefined);
      await openRow(page, 3, /Partial/);
    },
  },
  {
    name: 'legacy-import',
    hash: '#/settings',
    query: 'scene=idle&legacy=clean',
    async act(page) {
      await page.getByLabel('Path of the file').fill('/home/alice/notes.txt');
      await page.getByRole('button', { name: 'Bring over' }).click();
      await page.getByText('is no database').scrollIntoViewIfNeeded();
    },
  },
  { name: 'lost', hash: `#/account/${alice}/overview`, query: 'link=lost' },
];

await mkdir(directory, { recursive: true });
const { origin, browser, close } = await serveFixture();
try {
  for (const theme of ['light', 'dark'] as const) {
    for (const [width, height] of [
      [1280, 800],
      [900, 700],
      // What 1280 × 800 leaves at 200 % zoom.
      [640, 400],
    ] as const) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        reducedMotion: 'reduce',
      });
      const page = await context.newPage();
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning')
          console.log(`${message.type()}: ${message.text()}`);
      });
      page.on('pageerror', (error) => console.log(`page error: ${error.message}\n${error.stack ?? ''}`));
      await page.goto(`${origin}?start#/`);
      const links = page.getByRole('list', { name: 'Accounts' }).getByRole('link');
      await links.first().waitFor();
      const keys = await links.evaluateAll((found) =>
        found.map((link) => link.getAttribute('href')?.split('/')[2] ?? ''),
      );
      for (const shot of shots(keys[0] ?? '', keys[1] ?? '', keys[2] ?? '', keys[3] ?? '')) {
        if (wanted.length > 0 && !wanted.includes(shot.name)) continue;
        let hash = shot.hash;
        if (shot.hash === '') {
          await page.goto(`${origin}?lists#/account/${keys[0] ?? ''}/relays`);
          hash = (await page.locator('a[href^="#/event/"]').first().getAttribute('href')) ?? '';
        }
        await page.goto(`${origin}?shot=${shot.name}&${shot.query ?? ''}${hash}`);
        await page.waitForTimeout(250);
        try {
          await shot.act?.(page);
        } catch (error) {
          console.log(`${shot.name}: ${String(error).split('\n').slice(0, 3).join(' ')}`);
        }
        await page.waitForTimeout(200);
        await page.screenshot({ path: join(directory, `${shot.name}-${theme}-${String(width)}.png`) });
      }
      await context.close();
    }
  }
} finally {
  await close();
}
