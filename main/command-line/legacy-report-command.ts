import type { Command } from 'commander';
import type { LegacyRemark, LegacySource } from '../../preload/contract.ts';
import { parseNumber } from './argument-parsers.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { formatCount, formatQuantity, formatTime, singleLine } from './plain-text.ts';
import { withSession, type Invocation, type RunCommand, type Session } from './session.ts';
import { tableLines } from './text-table.ts';

interface ReportOptions {
  remarks?: boolean;
  row?: number;
}

const REMARKS_AT_A_TIME = 1000;

/** Adds `report` to the commands on the first version. */
export function addLegacyReportCommand(legacy: Command, run: RunCommand): void {
  legacy
    .command('report')
    .description('what became of the first version’s database, table by table')
    .option('--remarks', 'also every row that was kept aside, merged, or is worth a remark')
    .option('--row <n>', 'only the whole row of this remark, as JSON', parseNumber)
    .action((options: ReportOptions) => run((call) => report(call, options)));
}

async function report(call: Invocation, options: ReportOptions): Promise<ExitCode> {
  const whenEmpty = async (): Promise<ExitCode> => {
    if (call.json) await call.out.document([]);
    else await call.out.lines([NOTHING]);
    return EXIT.complete;
  };
  return withSession(call, 'read', whenEmpty, async (session) => {
    if (options.row !== undefined) {
      const { text } = await session.call('legacy.row', { remark: options.row });
      await call.out.lines([text]);
      return EXIT.complete;
    }
    const { sources } = await session.call('legacy.overview', {});
    if (sources.length === 0) return whenEmpty();
    if (call.json) await call.out.document(await Promise.all(sources.map((source) => documentOf(session, source))));
    for (const source of call.json ? [] : sources) await printSource(call, session, source, options.remarks === true);
    return sources.every(({ state }) => state === 'done') ? EXIT.complete : EXIT.partial;
  });
}

const NOTHING = 'Nothing of the first version was brought over here.';

async function documentOf(session: Session, source: LegacySource): Promise<Record<string, unknown>> {
  return { ...source, remarks: await allRemarks(session, source.id) };
}

async function allRemarks(session: Session, source: number): Promise<LegacyRemark[]> {
  const all: LegacyRemark[] = [];
  for (;;) {
    const { total, remarks } = await session.call('legacy.remarks', {
      source,
      offset: all.length,
      limit: REMARKS_AT_A_TIME,
    });
    all.push(...remarks);
    if (remarks.length === 0 || all.length >= total) return all;
  }
}

async function printSource(
  call: Invocation,
  session: Session,
  source: LegacySource,
  withRemarks: boolean,
): Promise<void> {
  const right = { align: 'right' } as const;
  const lines = [
    titleOf(source),
    ...tableLines(
      [
        { title: 'table' },
        { title: 'rows', ...right },
        { title: 'brought over', ...right },
        { title: 'there already', ...right },
        { title: 'kept aside', ...right },
        { title: 'as information', ...right },
      ],
      source.tables.map(({ table, before, carried, merged, aside, information }) => [
        table,
        ...[before, carried, merged, aside, information].map(formatCount),
      ]),
    ),
    ...howToGoBack(source),
  ];
  if (source.remarks > 0 && !withRemarks) {
    lines.push(`${formatQuantity(source.remarks, 'remark')} on rows: “holdfast legacy report --remarks” lists them.`);
  }
  await call.out.lines(lines);
  if (!withRemarks) return;
  for (const { id, table, row, problem, outcome, detail } of await allRemarks(session, source.id)) {
    await call.out.lines([
      `${id}  ${table} ${singleLine(row)}: ${problem}, ${OUTCOMES[outcome]}. ${singleLine(detail)}`,
    ]);
  }
}

const OUTCOMES: Record<LegacyRemark['outcome'], string> = {
  aside: 'kept aside',
  merged: 'merged with another row',
  carried: 'brought over all the same',
};

function titleOf(source: LegacySource): string {
  const what = source.file === null ? 'The first version’s database' : singleLine(source.file);
  if (source.state === 'done') {
    return `${what}: all ${formatQuantity(source.total, 'row')} looked at by ${formatTime(source.finishedAt)}.`;
  }
  const why = source.stoppedBecause === null ? '' : ` It stopped: ${singleLine(source.stoppedBecause)}`;
  return `${what}: ${formatCount(source.done)} of ${formatQuantity(source.total, 'row')} looked at so far.${why}`;
}

function howToGoBack({ file, copy }: LegacySource): string[] {
  if (file !== null) return ['The file itself was only read and is as it was.'];
  if (copy === null) return ['The copy of the database as it was is not beside the archive any more.'];
  return [
    `The database as it was is kept in ${singleLine(copy)}.`,
    'To go back: close Holdfast, put that copy in place of holdfast.db, and start the first version.',
  ];
}
