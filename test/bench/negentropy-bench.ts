/*
 * The bars of negentropy. run.ts takes the rows; `node test/bench/negentropy-bench.ts` prints them alone.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { benchTable, median, spreadOf, type BenchRow } from './bench-row.ts';
import type { Comparison, Million } from './negentropy-subject.ts';

const subjectFile = fileURLToPath(new URL('negentropy-subject.ts', import.meta.url));

/** Runs one subject in a process of its own, so that neither memory nor compiled code of another one counts. */
async function measure(subject: 'holdfast' | 'nostr-tools' | 'million', runs: number): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [subjectFile, subject, String(runs)]);
  return JSON.parse(stdout);
}

/**
 * 100,000 items, 1 % different on each side, from rows to the end of the conversation: the median CPU time of nostr-tools'
 * client over ours. Each is fed what it takes by nature (ours bytes, as the archive holds IDs; theirs hex), and both read
 * the same answers. `runs` of each count, after ten that do not, in each of so many pairs of fresh `processes`: what the
 * engine compiles and where memory lies differ from process to process, and what else the machine does from moment to
 * moment, so that the two of a pair run one after the other and the median pair counts.
 */
export async function benchNegentropyInitiator(runs: number, processes: number): Promise<BenchRow[]> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let pair = 0; pair < processes; pair += 1) {
    const our = (await measure('holdfast', runs)) as Comparison;
    const their = (await measure('nostr-tools', runs)) as Comparison;
    if (our.have !== their.have || our.need !== their.need) throw new Error('the two initiators disagree');
    ours.push(median(our.cpu));
    theirs.push(median(their.cpu));
  }
  const ratios = theirs.map((their, pair) => their / (ours[pair] ?? Infinity));
  return [
    {
      name: 'negentropy, 100,000 items, 1 % different: initiator against nostr-tools',
      measured: median(ratios),
      unit: '× faster',
      bar: { atLeast: 25 },
      spread: spreadOf(ratios),
      note: `CPU time, ${processes} pairs of processes, median of ${runs} runs in each: insert, seal and reconcile, after 10 to warm up`,
    },
    cpuRow('our initiator', ours),
    cpuRow("nostr-tools' initiator", theirs),
  ];
}

function cpuRow(who: string, medians: readonly number[]): BenchRow {
  const note = 'CPU time, medians of the processes';
  return { name: `  ${who}`, measured: median(medians), unit: 'ms', bar: null, spread: spreadOf(medians), note };
}

/** 1,000,000 items, 1 % different on each side: build, then reconcile; once, in a process that has done neither before. */
export async function benchNegentropyMillion(): Promise<BenchRow[]> {
  const { buildMs, initiatorMs, responderMs, peakBytes, have, need } = (await measure('million', 1)) as Million;
  if (have !== 10_000 || need !== 10_000) throw new Error('the reconciliation of a million items went wrong');
  const parts = [buildMs, initiatorMs, responderMs].map(Math.round);
  return [
    {
      name: 'negentropy, 1,000,000 items: build, then reconcile',
      measured: (buildMs + initiatorMs + responderMs) / 1000,
      unit: 's',
      bar: { atMost: 2 },
      spread: null,
      note: `build ${parts[0]} ms, initiator ${parts[1]} ms, responder in the same process ${parts[2]} ms`,
    },
    {
      name: 'negentropy, 1,000,000 items: memory',
      measured: peakBytes / 1e6,
      unit: 'MB',
      bar: { atMost: 200 },
      spread: null,
      note: 'growth of resident memory from before the build to its highest point, messages included',
    },
  ];
}

/** All rows of negentropy; `runs` is how many runs of each initiator count in each of how many `processes`. */
export async function benchNegentropy(runs = 21, processes = 5): Promise<BenchRow[]> {
  return [...(await benchNegentropyInitiator(runs, processes)), ...(await benchNegentropyMillion())];
}

if (import.meta.main) console.log(benchTable(await benchNegentropy()));
