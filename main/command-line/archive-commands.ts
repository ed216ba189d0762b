import { createReadStream, fstatSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { ImportReport, SignedEvent } from '../../preload/contract.ts';
import type { ExportSelection } from '../engine-api.ts';
import { isDatabaseFile } from '../legacy/first-version-file.ts';
import { Fault } from '../platform/fault.ts';
import { parseKey, unknownAccount } from './account-lookup.ts';
import { collectKind, parseSince, parseUntil } from './argument-parsers.ts';
import { EXIT } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import { importFirstVersion } from './import-first-version.ts';
import { JsonArray } from './json-array.ts';
import { formatCount, formatQuantity, singleLine } from './plain-text.ts';
import { interrupted, neverEmpty, withSession } from './session.ts';
import type { Invocation, RunCommand } from './session.ts';
import { textLines } from './text-lines.ts';

interface ExportOptions {
  kind?: number[];
  since?: number;
  until?: number;
}

/** Adds `import` and `export` to the program. */
export function addArchiveCommands(program: Command, run: RunCommand): void {
  program
    .command('import')
    .description('archive signed events from a file, one JSON event per line, or bring over a first-version database')
    .argument('<file>', 'the file, or - for standard input')
    .addHelpText(
      'after',
      '\nA database of the first version is recognised by what it holds: everything in it is brought over, and the file\n' +
        'stays as it is. “holdfast legacy report” tells what became of it.\n\n' +
        'Otherwise every event is checked. Bad lines are reported by number on standard error, the good ones are kept.\n\n' +
        'Exit code: 0 when the input was read to its end, also when some lines were bad (with --json, “bad” counts\n' +
        'them); 1 when it held nothing but bad lines; 3 when it was interrupted.',
    )
    .action((file: string) => run((call) => importFile(call, file)));

  program
    .command('export')
    .description('write archived events to standard output, one JSON event per line, oldest first')
    .argument('[key]', 'only events of this account: npub, nprofile or 64 hexadecimal characters')
    .option('--kind <n>', 'only this kind (repeatable)', collectKind)
    .option('--since <t>', 'not older than this: Unix seconds or a date', parseSince)
    .option('--until <t>', 'not newer than this: Unix seconds or a date', parseUntil)
    .addHelpText(
      'after',
      '\nBounds are inclusive; a date without a time means the whole day in UTC. With --json the output is one array.\n\n' +
        'Examples:\n  holdfast export > everything.jsonl\n' +
        '  holdfast export npub1… --kind 1 --kind 30023 --since 2024-01-01 --until 2024-12-31',
    )
    .action((key: string | undefined, options: ExportOptions) =>
      run((call) => exportEvents(call, key === undefined ? undefined : parseKey(key), options)),
    );
}

async function importFile(call: Invocation, file: string): Promise<ExitCode> {
  const { signal } = call.interruption;
  const name = file === '-' ? 'standard input' : file;
  if (file !== '-' && (await isDatabaseFile(file))) return importFirstVersion(call, resolve(file));
  // Before the archive is opened: a file that is not there changes nothing.
  const input = file === '-' ? standardInput(call) : await openFile(file);
  input.setEncoding('utf8');
  const stopReading = (): void => void input.destroy();
  signal.addEventListener('abort', stopReading, { once: true });
  try {
    return await withSession(call, 'create', neverEmpty, async ({ engine }) => {
      const reported = new Set<number>();
      const tellProblems = ({ problems }: ImportReport): void => {
        for (const { line, message } of problems) {
          if (reported.has(line)) continue;
          reported.add(line);
          call.messages.event({ type: 'problem', file, line, message });
          if (!call.json) call.messages.raw(`holdfast: ${singleLine(name)}, line ${line}: ${singleLine(message)}\n`);
        }
      };
      const report = await engine.importLines(textLines(chunksOf(input, file, signal), signal), tellProblems);
      tellProblems(report);
      await printImportReport(call, report, name);
      if (signal.aborted) return EXIT.partial;
      return report.bad > 0 && report.newlyArchived + report.alreadyArchived === 0 ? EXIT.failed : EXIT.complete;
    });
  } finally {
    signal.removeEventListener('abort', stopReading);
    input.destroy();
  }
}

function standardInput(call: Invocation): Readable {
  if (isNullDevice(call.host.stdin)) {
    throw new Fault(
      'invalid-argument',
      'Standard input is closed, so there is nothing to import. Name a file, or pipe events into the command.',
    );
  }
  if (call.host.stdin.isTTY === true) call.messages.note('reading events from the terminal; Ctrl-D ends the input');
  return call.host.stdin;
}

/** Where the system runs a command without an input, the null device stands in for one that is closed. */
function isNullDevice(stream: Readable): boolean {
  if (!('fd' in stream) || typeof stream.fd !== 'number') return false;
  try {
    const [input, nothing] = [fstatSync(stream.fd), statSync(devNull)];
    return input.isCharacterDevice() && nothing.isCharacterDevice() && input.rdev === nothing.rdev;
  } catch {
    return false;
  }
}

async function openFile(path: string): Promise<Readable> {
  try {
    const handle = await open(path, 'r');
    if ((await handle.stat()).isDirectory()) {
      await handle.close();
      throw new Fault('invalid-argument', `${path} is a directory, not a file with events.`, { path });
    }
    return createReadStream(path, { fd: handle, highWaterMark: 256 * 1024 });
  } catch (error) {
    if (error instanceof Fault) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new Fault('invalid-argument', `There is no file ${path}.`, { path }, error);
    }
    throw unreadable(path, error);
  }
}

async function* chunksOf(input: Readable, file: string, signal: AbortSignal): AsyncGenerator<string> {
  try {
    for await (const chunk of input) yield String(chunk);
  } catch (error) {
    // What was read before an interrupt is imported; the file itself is not at fault.
    if (!signal.aborted) throw unreadable(file === '-' ? 'Standard input' : file, error);
  }
}

function unreadable(what: string, error: unknown): Fault {
  const why = error instanceof Error ? error.message : String(error);
  return new Fault('storage', `${what} cannot be read: ${why}.`, null, error);
}

async function printImportReport(call: Invocation, report: ImportReport, name: string): Promise<void> {
  const { read, newlyArchived, alreadyArchived, bad, problems } = report;
  if (call.json) {
    await call.out.document({ read, newlyArchived, alreadyArchived, bad, problems });
    return;
  }
  if (bad > problems.length) {
    const more = formatQuantity(bad - problems.length, 'further bad line');
    call.messages.raw(`holdfast: ${singleLine(name)}: ${more} not shown\n`);
  }
  await call.out.lines([
    `Read ${formatQuantity(read, 'line')}: ${formatCount(newlyArchived)} newly archived, ` +
      `${formatCount(alreadyArchived)} already archived, ${formatCount(bad)} bad.`,
  ]);
}

async function exportEvents(
  call: Invocation,
  account: string | undefined,
  { kind: kinds, since, until }: ExportOptions,
): Promise<ExitCode> {
  if (since !== undefined && until !== undefined && since > until) {
    throw new Fault('invalid-argument', '--since is later than --until.', { since, until });
  }
  const selection: ExportSelection = {
    ...(account === undefined ? {} : { account }),
    ...(kinds === undefined ? {} : { kinds }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
  const whenEmpty = async (): Promise<ExitCode> => {
    if (account !== undefined) throw unknownAccount(account);
    if (call.json) await call.out.document([]);
    return EXIT.complete;
  };
  return withSession(call, 'read', whenEmpty, async ({ engine }) => {
    await writeEvents(call, engine.exportEvents(selection));
    return EXIT.complete;
  });
}

async function writeEvents(call: Invocation, events: AsyncIterable<SignedEvent>): Promise<void> {
  const array = new JsonArray(call.out);
  for await (const event of events) {
    if (call.interruption.signal.aborted) throw interrupted();
    const wanted = call.json ? await array.add(event) : await call.out.write(`${JSON.stringify(event)}\n`);
    if (!wanted) return;
  }
  if (call.json) await array.end();
}
