import { onTestFinished } from 'vitest';
import { openDatabase, type OpenDatabase } from '../../main/database/database-file.ts';
import { CarryOver } from '../../main/legacy/carry-over.ts';
import { readLegacySources } from '../../main/legacy/legacy-source-list.ts';
import { readRemarks } from '../../main/legacy/legacy-remarks.ts';
import type { LegacyRemark, LegacySource } from '../../preload/contract.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { pureVerifier } from '../fixtures/pure-verifier.ts';

/** The machine's time in these tests, Unix seconds. */
export const NOW = 1_700_000_000;

/** An archive's database that carries over, without an engine around it. */
export class LegacyRig {
  readonly database: OpenDatabase;
  readonly carryOver: CarryOver;
  readonly log: string[] = [];

  private constructor(database: OpenDatabase) {
    this.database = database;
    this.carryOver = new CarryOver({
      db: database.db,
      path: database.path,
      verifier: pureVerifier,
      clock: new FakeClock(NOW * 1000),
      log: (line) => this.log.push(line),
      onProgress: () => undefined,
    });
  }

  /** Opens the data directory and begins what is to be carried over. Closed after the test. */
  static async open(directory: string): Promise<LegacyRig> {
    const rig = new LegacyRig(await openDatabase({ directory, nowMs: NOW * 1000 }));
    onTestFinished(() => rig.close());
    await rig.carryOver.start();
    return rig;
  }

  async close(): Promise<void> {
    await this.carryOver.close();
    await this.database.close();
  }

  sources(): Promise<LegacySource[]> {
    return readLegacySources(this.database.db);
  }

  /** The newest source, when everything is done. */
  async finished(): Promise<LegacySource> {
    await this.carryOver.ended();
    const source = (await this.sources()).at(-1);
    if (source === undefined) throw new Error('there is no source');
    return source;
  }

  async remarks(source: number): Promise<LegacyRemark[]> {
    const { total, remarks } = await readRemarks(this.database.db, { source, offset: 0, limit: 10_000 });
    if (total !== remarks.length) throw new Error('not all remarks were read');
    return remarks;
  }
}
