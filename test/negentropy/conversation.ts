import { createHash } from 'node:crypto';
import { Initiator } from '../../main/negentropy/initiator.ts';
import { ItemSetBuilder } from '../../main/negentropy/item-set-builder.ts';
import type { ItemSet } from '../../main/negentropy/item-set.ts';
import { Responder } from '../../main/negentropy/responder.ts';

/** One item as tests write it: seconds, and an ID as hex. */
export interface TestItem {
  readonly at: number;
  readonly id: string;
}

/** An ID that looks like one, and is the same in every run. */
export function idOf(name: string | number): string {
  return createHash('sha256').update(String(name)).digest('hex');
}

export function itemSet(items: readonly TestItem[]): ItemSet {
  const builder = new ItemSetBuilder(items.length);
  for (const { at, id } of items) builder.addHex(at, id);
  return builder.build();
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

export function bytes(hexText: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hexText.replaceAll(/\s/g, ''), 'hex'));
}

export interface Outcome {
  readonly have: string[];
  readonly need: string[];
  readonly rounds: number;
  readonly sent: number[];
  readonly received: number[];
}

/** Lets our initiator talk with our responder until it is done. Limits are bytes, 0 for none. */
export function converse(
  ours: ItemSet,
  theirs: ItemSet,
  initiatorLimit = 0,
  responderLimit = 0,
  onRound?: (initiator: Initiator, have: string[], need: string[]) => void,
): Outcome {
  const initiator = new Initiator(ours, { frameLimit: initiatorLimit });
  const responder = new Responder(theirs, { frameLimit: responderLimit });
  const outcome = {
    have: [] as string[],
    need: [] as string[],
    rounds: 0,
    sent: [] as number[],
    received: [] as number[],
  };
  let message: Uint8Array | null = initiator.initiate();
  while (message !== null) {
    const answer = responder.respond(message);
    outcome.rounds += 1;
    outcome.sent.push(message.length);
    outcome.received.push(answer.length);
    const step = initiator.reconcile(answer);
    outcome.have.push(...step.have.toHex());
    outcome.need.push(...step.need.toHex());
    onRound?.(initiator, outcome.have, outcome.need);
    message = step.message;
  }
  return outcome;
}

/** IDs of `items` that are not among `others`, sorted. */
export function missingFrom(items: readonly TestItem[], others: readonly TestItem[]): string[] {
  const known = new Set(others.map(({ id }) => id));
  return [...new Set(items.map(({ id }) => id))].filter((id) => !known.has(id)).sort();
}
