import type {
  LegacyCheckpoint,
  LegacyCoverageLine,
  LegacyOperation,
  LegacyProblem,
  LegacyRemark,
  LegacySource,
  LegacyTableCount,
  LegacyWindow,
} from '../../preload/contract.ts';
import { isolate } from './foreign.ts';
import { countOf, formatCount } from './numbers.ts';
import { formatShare } from './copies.ts';
import { status, type Status } from './status.ts';
import { formatDate, formatMinute, formatMonth, formatSecond, yearOf } from './times.ts';

/** What waits, in one sentence; null when nothing does. */
export function waitingSentence(waiting: number): string | null {
  if (waiting === 0) return null;
  const verb = waiting === 1 ? 'waits' : 'wait';
  return `${countOf(waiting, 'unfinished fetch', 'unfinished fetches')} of the first version ${verb} for your decision. Nothing starts by itself.`;
}

/** Where a fetch of the first version stands. `running`: the run that goes on with it, or replaces it, is at work now. */
export function checkpointStatus(
  checkpoint: Pick<LegacyCheckpoint, 'status' | 'pendingWindows'>,
  running: boolean,
): Status {
  switch (checkpoint.status) {
    case 'waiting':
      return status('warn', 'question', 'To decide');
    case 'kept':
      return status('quiet', 'waiting', 'Kept for later');
    case 'resumed':
      if (running) return status('busy', 'running', 'Resuming');
      return checkpoint.pendingWindows > 0
        ? status('warn', 'half', 'Resumed in part')
        : status('good', 'check', 'Resumed to its end');
    case 'replaced':
      return running ? status('busy', 'running', 'Being scanned') : status('quiet', 'check', 'Replaced by a scan');
  }
}

/** The stretch of time that windows lie in: "Jan 2021 – Mar 2023"; empty without windows. */
export function windowsSpan(windows: readonly LegacyWindow[], timeZone?: string): string {
  if (windows.length === 0) return '';
  const from = windows.reduce((least, { since }) => Math.min(least, since), Infinity);
  const to = windows.reduce((most, { until }) => Math.max(most, until), -Infinity);
  const [start, end] = [formatMonth(from, timeZone), formatMonth(to, timeZone)];
  return start === end ? start : `${start} – ${end}`;
}

/** When a fetch of the first version stopped, where that is not known. */
export const STOP_UNKNOWN = 'The first version was ended while it worked, and noted no time.';

/** The three things that can be done with an unfinished fetch of the first version. */
export type Choice = 'resume' | 'rescan' | 'keep';

/** What each choice does, in one plain sentence. */
export const choiceSentences: Readonly<Record<Choice, string>> = {
  resume:
    'Asks for the stretches that are left as the first version would have; this can find events, but never shows that a relay lacks one.',
  rescan:
    'Fetches the whole history of these relays in today’s way instead; what is archived is not lost, and the old fetch stays listed here as replaced.',
  keep: 'Changes nothing now: the old fetch stays in this list, and you are not asked about it again at each start.',
};

/** What the button of a choice says for so many fetches. */
export function choiceName(choice: Choice, count: number): string {
  const names: Record<Choice, [one: string, many: string]> = {
    resume: ['Resume', `Resume ${formatCount(count)}`],
    rescan: ['New scan', `New scan for ${formatCount(count)}`],
    keep: ['Keep for later', `Keep ${formatCount(count)} for later`],
  };
  return names[choice][count > 1 ? 1 : 0];
}

/** The tables of the first version, by what they hold. */
const tableNames: Readonly<Record<string, string>> = {
  accounts: 'Accounts',
  account_relays: 'Relays of the accounts',
  events: 'Signed events',
  publication_versions: 'Published relay lists',
  operations: 'Earlier runs',
  presence: 'Events seen on relays',
  coverage: 'What was said of relays',
};

/** What a table of the first version holds; its own name where that is not known. */
export function tableName(table: string): string {
  return tableNames[table] ?? isolate(table);
}

const problems: Readonly<Record<LegacyProblem, { word: string; sentence: string }>> = {
  'not-json': { word: 'Unreadable', sentence: 'What should be JSON cannot be read as such.' },
  'wrong-shape': {
    word: 'Not as expected',
    sentence: 'Something that belongs there is missing, or is of another form.',
  },
  'wrong-id': {
    word: 'Wrong ID',
    sentence: 'The ID does not belong to this content: it was changed after it was signed.',
  },
  'bad-signature': {
    word: 'Bad signature',
    sentence: 'The signature does not hold, so that nobody can tell who wrote it.',
  },
  'columns-disagree': {
    word: 'Columns disagree',
    sentence: 'What stands beside the signed event says something else than the event. The signed event counts.',
  },
  'unknown-version': { word: 'Unknown version', sentence: 'It was written by a version that is not known here.' },
  'future-time': { word: 'Time in the future', sentence: 'A time lies in the future, so it cannot be right.' },
  milliseconds: { word: 'Milliseconds', sentence: 'A time was written in milliseconds where seconds belong.' },
  'bad-url': { word: 'Bad address', sentence: 'A relay address cannot be read as one.' },
  'unknown-account': { word: 'Unknown account', sentence: 'It belongs to an account that is not in the old data.' },
  duplicate: { word: 'Duplicate', sentence: 'Another row says the same, so the two became one.' },
  'wrong-type': { word: 'Wrong type', sentence: 'A value is of another type than belongs there.' },
  contradiction: { word: 'Contradiction', sentence: 'Two values of the row cannot both be right.' },
};

/** Every problem that a remark can name, in the order in which they are offered. */
export const legacyProblems = Object.keys(problems) as LegacyProblem[];

/** A problem in a word or two. */
export function problemWord(problem: LegacyProblem): string {
  return problems[problem].word;
}

/** The same as a plain sentence. */
export function problemSentence(problem: LegacyProblem): string {
  return problems[problem].sentence;
}

/** What became of a row that has a remark. */
export function outcomeStatus(outcome: LegacyRemark['outcome']): Status {
  const outcomes: Record<LegacyRemark['outcome'], Status> = {
    aside: status('warn', 'stopped', 'Kept aside'),
    merged: status('quiet', 'half', 'Merged'),
    carried: status('good', 'check', 'Brought over'),
  };
  return outcomes[outcome];
}

/** The same in a sentence. */
export function outcomeSentence(outcome: LegacyRemark['outcome']): string {
  const sentences: Record<LegacyRemark['outcome'], string> = {
    aside: 'The row was not used. It is kept whole, as it stands below.',
    merged: 'The row says what another one says too, so the two became one.',
    carried: 'The row was brought over in spite of this; what cannot be right in it was left out.',
  };
  return sentences[outcome];
}

/** A database of the first version, by where it lies. */
export function sourceName(source: Pick<LegacySource, 'file'>): string {
  return source.file === null ? 'The first version’s own data, from this data directory' : isolate(source.file);
}

/** How far a database is brought over: "412,000 of 1,000,000 rows (41 %)". */
export function carriedSoFar({ done, total }: Pick<LegacySource, 'done' | 'total'>): string {
  return `${formatCount(done)} of ${countOf(total, 'row')} (${formatShare(done, total)})`;
}

/** The databases that are being brought over now. One that stopped on its way is none of them. */
export function carryingNow(sources: readonly LegacySource[]): LegacySource[] {
  return sources.filter(({ state, stoppedBecause }) => state === 'carrying' && stoppedBecause === null);
}

/** The line of the activity bar while data is brought over; null when none is. */
export function carryingLine(sources: readonly LegacySource[]): string | null {
  const open = carryingNow(sources);
  if (open.length === 0) return null;
  const sum = (name: 'done' | 'total'): number => open.reduce((total, source) => total + source[name], 0);
  return `Bringing over the first version: ${carriedSoFar({ done: sum('done'), total: sum('total') })}`;
}

/** What to do about a database that stopped on its way. */
export function stoppedAdvice({ file }: Pick<LegacySource, 'file'>): string {
  return file === null
    ? 'Nothing is lost. Holdfast goes on when it is started again.'
    : 'Nothing is lost. Holdfast goes on when it is started again, or when the file is chosen again in Settings.';
}

/** Whether the rows of a table add up: each was brought over, merged, kept aside or kept as information. */
export function addsUp(count: LegacyTableCount): boolean {
  return count.before === count.carried + count.merged + count.aside + count.information;
}

/** All tables of a source together. */
export function totalOf(tables: readonly LegacyTableCount[]): LegacyTableCount {
  const total: LegacyTableCount = { table: '', before: 0, carried: 0, merged: 0, aside: 0, information: 0 };
  for (const table of tables) {
    for (const name of ['before', 'carried', 'merged', 'aside', 'information'] as const) total[name] += table[name];
  }
  return total;
}

/** What came of a database, in a sentence that claims no more than the counts show. */
export function reportSentence(source: LegacySource): { tone: 'good' | 'warn' | 'bad'; text: string } {
  const rows = countOf(totalOf(source.tables).before, 'row');
  const { aside } = totalOf(source.tables);
  if (!source.tables.every(addsUp)) {
    return {
      tone: 'bad',
      text: `The numbers below do not add up for every table, so that something of the ${rows} may be missing.`,
    };
  }
  const all = `All ${rows} are accounted for.`;
  if (source.remarks === 0) return { tone: 'good', text: `${all} None of them had a problem.` };
  const remarks = `${countOf(source.remarks, 'remark')} ${source.remarks === 1 ? 'says' : 'say'} what was wrong with some of them`;
  return aside === 0
    ? { tone: 'good', text: `${all} ${remarks}; none had to be kept aside.` }
    : { tone: 'warn', text: `${all} ${remarks}; ${countOf(aside, 'row was', 'rows were')} kept aside, whole.` };
}

/** What the first version said of a relay. It is information about the past, and says so. */
export function legacyLine(line: LegacyCoverageLine, timeZone?: string): string {
  const parts = [isolate(line.status), countOf(line.events, 'event')];
  const span = yearSpan(line.oldest, line.newest, timeZone);
  if (span !== null) parts.push(span);
  const noted = line.updatedAt === null ? '' : ` on ${formatDate(line.updatedAt, timeZone)}`;
  return `The first version said${noted}: ${parts.join(', ')}. It did not record how it knew, so nothing follows from it.`;
}

function yearSpan(oldest: number | null, newest: number | null, timeZone?: string): string | null {
  if (oldest === null && newest === null) return null;
  if (oldest === null) return `up to ${yearOf(newest ?? 0, timeZone)}`;
  if (newest === null) return `from ${yearOf(oldest, timeZone)} on`;
  const [start, end] = [yearOf(oldest, timeZone), yearOf(newest, timeZone)];
  return start === end ? String(start) : `${start}–${end}`;
}

/** How a run of the first version ended, by the word that it noted itself. */
export function operationStatus({ status: word }: Pick<LegacyOperation, 'status'>): Status {
  const known: Record<string, Status> = {
    completed: status('quiet', 'check', 'Completed'),
    partial: status('quiet', 'half', 'Partial'),
    failed: status('quiet', 'cross', 'Failed'),
    cancelled: status('quiet', 'stopped', 'Cancelled'),
    // It was ended while it worked, so that this is what it noted last.
    running: status('quiet', 'question', 'Ended while it ran'),
  };
  return known[word] ?? status('quiet', 'question', isolate(word));
}

/** What a run of the first version did. */
export function operationName({ type }: Pick<LegacyOperation, 'type'>): string {
  const known: Record<string, string> = { fetch: 'Fetch', publish: 'Publication' };
  return known[type] ?? isolate(type);
}

/** A moment that the first version noted, exactly; or that it did not. */
export function notedTime(second: number | null, timeZone?: string): string {
  return second === null ? 'not recorded' : formatSecond(second, timeZone);
}

/** The same to the minute, for rows. */
export function notedMinute(second: number | null, timeZone?: string): string {
  return second === null ? 'not recorded' : formatMinute(second, timeZone);
}
