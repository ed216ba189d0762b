import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** What a run of the test files came to. `skipped` are the reasons, one for each skipped test. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: string[];
}

/** Writes the counts of a run to the file named by HOLDFAST_TEST_COUNTS. */
export default class CountingReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts: Counts = { passed: 0, failed: unhandledErrors.length, skipped: [] };
    for (const module of modules) {
      // A file that could not be read at all counts too.
      counts.failed += module.errors().length;
      for (const test of module.children.allTests()) count(test, counts);
    }
    const file = process.env['HOLDFAST_TEST_COUNTS'];
    if (file !== undefined) writeFileSync(file, JSON.stringify(counts));
  }
}

function count(test: TestCase, counts: Counts): void {
  const result = test.result();
  switch (result.state) {
    case 'passed':
      counts.passed += 1;
      break;
    case 'skipped':
      counts.skipped.push(`${test.project.name}: ${result.note ?? whatWasSkipped(test)}`);
      break;
    case 'failed':
    case 'pending':
      counts.failed += 1;
      break;
  }
}

/** Where a whole suite is skipped its title says why; else the test's own name has to do. */
function whatWasSkipped(test: TestCase): string {
  let what = test.fullName;
  for (let { parent } = test; parent.type === 'suite'; { parent } = parent) {
    if (parent.state() === 'skipped') what = parent.name;
  }
  return what;
}
