import type { CandidateRelay, CandidateTree, CoverageRelay } from '../../preload/contract.ts';
import { checkedTimes, type CheckedTimes } from '../coverage/checked.ts';
import { countOf, formatCount } from '../text/numbers.ts';

/** What may be said when no copy is offered: never more than was established. */
export interface Claim {
  title: string;
  sentence: string;
}

type Coverage = ReadonlyMap<string, CoverageRelay>;

/** Coverage by the URL of the relay. */
export function coverageByUrl(relays: readonly CoverageRelay[]): Coverage {
  return new Map(relays.map((relay) => [relay.url, relay]));
}

/**
 * That nothing is missing is said only when every write relay has answered and of every archived event that may be sent it is
 * known whether the relay has it.
 */
export function claimOf(tree: CandidateTree, coverage: Coverage): Claim {
  const { relays } = tree;
  const silent = relays.filter(({ url }) => answeredAt(coverage.get(url)) === null);
  if (silent.length === relays.length) {
    return {
      title: 'No relay has answered yet',
      sentence: 'Missing copies appear here by themselves when a fetch has shown what a relay does not have.',
    };
  }
  const unknown = whatIsUnknown(tree, silent.length);
  const refused = relays.reduce((sum, relay) => sum + relay.refused, 0);
  if (unknown.length > 0) {
    const but = refused === 0 ? '' : `, but ${countOf(refused, 'copy', 'copies')} that relays refused`;
    return {
      title: 'Nothing is known to be missing',
      sentence: `No completed comparison found anything missing that may be sent${but}. ${unknown.join(' ')}`,
    };
  }
  if (refused > 0) {
    return {
      title: 'Nothing is missing but what was refused',
      sentence: `The write relays lack ${countOf(refused, 'copy', 'copies')} that they refused, and no other that may be sent.`,
    };
  }
  const which = relays.length === 1 ? 'The write relay' : `Each of the ${formatCount(relays.length)} write relays`;
  return {
    title: 'Nothing is missing',
    sentence: `${which} had every archived event that may be sent, when it was checked last.`,
  };
}

/** What keeps from saying more, one sentence each. */
function whatIsUnknown({ relays, unchecked }: CandidateTree, silent: number): string[] {
  const sentences: string[] = [];
  if (silent > 0) sentences.push(`${countOf(silent, 'relay has', 'relays have')} not answered yet.`);
  const undetermined = relays.reduce((sum, relay) => sum + (relay.undetermined ?? 0), 0);
  if (relays.some((relay) => relay.undetermined === null)) {
    sentences.push('How many copies are undetermined is being counted.');
  } else if (undetermined > 0) {
    const whether = undetermined === 1 ? 'whether the relay has it' : 'whether relays have them';
    sentences.push(`Of ${countOf(undetermined, 'copy', 'copies')} it is not known ${whether}.`);
  }
  if (unchecked !== undefined) {
    const they = unchecked === 1 ? 'it' : 'they';
    sentences.push(`Of ${countOf(unchecked, 'event')} it is not checked yet whether ${they} may be sent.`);
  }
  return sentences;
}

/** What is known of one write relay, in a sentence, and since when. */
export interface Ground extends CheckedTimes {
  sentence: string;
}

/** On what it rests that a relay lacks nothing, as far as it does. */
export function groundOf(relay: CandidateRelay, coverage: CoverageRelay | undefined): Ground {
  const times = coverage === undefined ? { history: null, newer: null } : checkedTimes(coverage);
  return { ...times, sentence: `${historySentence(coverage, times)}${remark(relay)}` };
}

function historySentence(coverage: CoverageRelay | undefined, { history }: CheckedTimes): string {
  if (coverage === undefined || coverage.ranges.length === 0)
    return 'It was never asked, so what it lacks is not known.';
  if (history === null) return 'It has not answered yet, so nothing is known of it.';
  if (!coverage.historyComplete) return 'Its history was not walked to the end, so only what it returned is known.';
  const walk = coverage.ranges.find(
    (range) => range.status === 'complete' && range.since === null && range.checkedAt === history,
  );
  return walk?.strategy === 'negentropy'
    ? 'Its whole history was compared with the archive (NIP-77).'
    : 'Its whole history was walked to the end, page by page.';
}

function remark({ undetermined, refused }: CandidateRelay): string {
  const open = undetermined ?? 0;
  return [
    open === 0
      ? ''
      : ` ${countOf(open, 'event')} that it may or may not have ${open === 1 ? 'is' : 'are'} undetermined.`,
    refused === 0 ? '' : ` It lacks ${formatCount(refused)} that it refused.`,
  ].join('');
}

/** When the relay last told anything; null when it never did. */
function answeredAt(coverage: CoverageRelay | undefined): number | null {
  return coverage === undefined ? null : checkedTimes(coverage).history;
}
