import type { LegacySource } from '../../preload/contract.ts';
import { Fault } from '../platform/fault.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { waitForFirstVersion } from './first-version-wait.ts';
import { formatCount, formatQuantity, singleLine } from './plain-text.ts';
import { neverEmpty, withSession, type Invocation } from './session.ts';

/**
 * Brings a database of the first version over. One that was brought over before adds nothing, which is said and is no
 * failure. Interrupted, the next command goes on with it.
 *
 * @param path absolute.
 */
export async function importFirstVersion(call: Invocation, path: string): Promise<ExitCode> {
  return withSession(call, 'create', neverEmpty, async (session) => {
    let number: number;
    try {
      number = (await session.call('legacy.importFile', { path })).source;
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'nothing-to-do') throw error;
      const known = Number(error.details?.['source']);
      if (call.json) await call.out.document({ source: known, added: false, message: error.message });
      else await call.out.lines([singleLine(error.message)]);
      return EXIT.complete;
    }
    await session.unlessInterrupted(waitForFirstVersion(call, session.engine));
    const { sources, waiting } = await session.call('legacy.overview', {});
    const source = sources.find(({ id }) => id === number);
    if (source === undefined) throw new Error('what was imported is not among what was brought over');
    if (source.state !== 'done') {
      throw new Fault('storage', source.stoppedBecause ?? `${path} is not brought over yet.`, { path });
    }
    if (call.json) await call.out.document({ source: number, added: true, ...source });
    else await call.out.lines(sentences(source, waiting));
    return EXIT.complete;
  });
}

function sentences(source: LegacySource, waiting: number): string[] {
  const sum = (of: (table: LegacySource['tables'][number]) => number): number =>
    source.tables.reduce((total, table) => total + of(table), 0);
  const [carried, merged] = [sum((table) => table.carried), sum((table) => table.merged)];
  const [aside, information] = [sum((table) => table.aside), sum((table) => table.information)];
  const lines = [
    `Brought over ${formatQuantity(source.total, 'row')} of the first version: ${formatCount(carried)} new here, ` +
      `${formatCount(merged)} there already, ${formatCount(information)} as information, ${formatCount(aside)} kept aside.`,
  ];
  if (source.remarks > 0) {
    lines.push(`${formatQuantity(source.remarks, 'remark')}: “holdfast legacy report --remarks” lists them.`);
  }
  if (waiting > 0) {
    const fetches = formatQuantity(waiting, 'unfinished fetch', 'unfinished fetches');
    lines.push(`${fetches} to decide about: “holdfast legacy list”.`);
  }
  return lines;
}
