import { afterAll, test } from 'vitest';
import { closeSharedChromium } from './chromium.ts';
import { openHoldfast, whyNot, type OpenHoldfast, type OpenOptions } from './open-holdfast.ts';

/**
 * `it` of the end-to-end tests: gives `open`, which opens the application as often as a test likes. What is still open
 * at the end is closed. Where there is no Chromium the test says so and is skipped.
 */
export const it = test.extend<{ open: (options?: OpenOptions) => Promise<OpenHoldfast> }>({
  open: async ({ skip }, use) => {
    if (whyNot !== null) skip(whyNot);
    const opened: OpenHoldfast[] = [];
    await use(async (options) => {
      const holdfast = await openHoldfast(options);
      opened.push(holdfast);
      return holdfast;
    });
    await Promise.all(opened.map((holdfast) => holdfast.close()));
  },
});

afterAll(closeSharedChromium);
