import type { Migration } from 'kysely/migration';
import { firstVersion } from './0001-first-version.ts';
import { rangeHistory } from './0002-range-history.ts';
import { presence } from './0003-presence.ts';
import { tagsIndexedLater } from './0004-tags-indexed-later.ts';
import { arrivedPages } from './0005-arrived-pages.ts';
import { sync } from './0006-sync.ts';
import { resumedRuns } from './0007-resumed-runs.ts';
import { reverifiedRuns } from './0008-reverified-runs.ts';
import { legacy } from './0009-legacy.ts';

/** All migrations by name, in order, forwards only. A released one never changes. */
export const migrationList: Record<string, Migration> = {
  '0001-first-version': firstVersion,
  '0002-range-history': rangeHistory,
  '0003-presence': presence,
  '0004-tags-indexed-later': tagsIndexedLater,
  '0005-arrived-pages': arrivedPages,
  '0006-sync': sync,
  '0007-resumed-runs': resumedRuns,
  '0008-reverified-runs': reverifiedRuns,
  '0009-legacy': legacy,
};
