import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';

const command = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));
const run = promisify(execFile);

/** What the built command line answers about a data directory, beside the application that has it open. */
export async function holdfast(dataDirectory: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [command, '--data', dataDirectory, ...args], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

/** The directory that the application says it uses; a demo has one of its own. */
export async function usedDirectory(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Settings' }).click();
  const directory = await page.locator('dt:has-text("Data directory") + dd').innerText();
  await page.goBack();
  return directory;
}

/** The first whole number in a text, thousands separators or not. */
export function numberIn(text: string): number {
  return Number(/\d[\d,]*/.exec(text)?.[0].replaceAll(',', '') ?? Number.NaN);
}
