import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Initiator } from '../../main/negentropy/initiator.ts';
import { NegentropyError } from '../../main/negentropy/negentropy-error.ts';
import { Responder } from '../../main/negentropy/responder.ts';
import { bytes, hex, idOf, itemSet } from './conversation.ts';

function saying(code: string): Error {
  return expect.objectContaining({ name: 'NegentropyError', code }) as Error;
}

const fingerprint = 'ab'.repeat(16);
const id = idOf('made up');

describe('A flawed message', () => {
  const flawed: [string, string, string][] = [
    ['nothing at all', '', 'empty-message'],
    ['a first byte that is no version', '00 0000 00', 'bad-version'],
    ['a first byte above all versions', '70', 'bad-version'],
    ['a bound and no mode', '61 0000', 'truncated'],
    ['half a fingerprint', `61 0000 01 ${'ab'.repeat(8)}`, 'truncated'],
    ['fewer IDs than announced', `61 0000 02 02 ${id}`, 'truncated'],
    ['2^64 - 1 announced IDs', '61 0000 02 81 ff ff ff ff ff ff ff ff 7f', 'truncated'],
    ['2^40 announced IDs', '61 0000 02 a0 80 80 80 80 00', 'truncated'],
    ['an ID prefix past the end', '61 01 20 aa', 'truncated'],
    ['an ID prefix of 33 bytes', `61 01 21 ${'00'.repeat(33)} 00`, 'bad-bound'],
    ['an ID prefix of 2^63 bytes', '61 01 81 80 80 80 80 80 80 80 80 00 00', 'bad-bound'],
    ['a timestamp of 2^64 - 1', '61 81 ff ff ff ff ff ff ff ff 7f 00 00 02 00 00', 'bad-bound'],
    [
      'a distance that leads over 64 bits',
      '61 81 ff ff ff ff ff ff ff ff 7f 00 00 81 ff ff ff ff ff ff ff ff 7f 00 00',
      'bad-bound',
    ],
    ['a range that ends before it begins', '61 05 01 80 00 01 01 7f 00', 'bounds-backwards'],
    ['a range after infinity', '61 0000 00 0500 00', 'bounds-backwards'],
    ['mode 3', '61 0000 03', 'bad-mode'],
    ['a mode of 2^40', '61 0000 a0 80 80 80 80 00', 'bad-mode'],
    ['a mode with a zero digit in front', '61 0000 80 01', 'bad-varint'],
    ['a timestamp of eleven digits', '61 81 80 80 80 80 80 80 80 80 80 00 00 00', 'bad-varint'],
  ];

  it.each(flawed)('with %s is refused by the responder, which goes on', (_, message, code) => {
    const responder = new Responder(itemSet([{ at: 1, id: idOf(1) }]));
    expect(() => responder.respond(bytes(message))).toThrow(saying(code));
    expect(hex(responder.respond(bytes('61 0000 02 00')))).toBe(`61 0000 02 01 ${idOf(1)}`.replaceAll(' ', ''));
  });

  it.each(flawed)('with %s ends the conversation of the initiator', (_, message, code) => {
    const initiator = new Initiator(itemSet([{ at: 1, id: idOf(1) }]));
    initiator.initiate();
    expect(() => initiator.reconcile(bytes(message))).toThrow(saying(code));
    expect(initiator.done).toBe(false);
    expect(() => initiator.reconcile(bytes('61'))).toThrow(saying('wrong-order'));
  });

  it('is refused as a whole, even where the answer has no room for what comes before the flaw', () => {
    const set = itemSet(Array.from({ length: 1_000 }, (_, index) => ({ at: index, id: idOf(index) })));
    const responder = new Responder(set, { frameLimit: 4096 });
    expect(() => responder.respond(bytes('61 877f00 02 00 0200 00 0000 03'))).toThrow(saying('bad-mode'));
  });
});

describe('A foreign responder', () => {
  it('may close with an empty range at infinity after infinity', () => {
    const initiator = new Initiator(itemSet([]));
    initiator.initiate();
    const { message, need } = initiator.reconcile(bytes(`61 0000 02 01 ${id} 0000 01 ${fingerprint}`));
    expect({ message, need: need.toHex() }).toEqual({ message: null, need: [id] });
  });

  it('may hold events beyond 2^53 seconds', () => {
    const initiator = new Initiator(itemSet([{ at: 5, id: idOf(5) }]));
    initiator.initiate();
    // Up to second 2^60 (1 + 2^60 in nine digits) a list, the rest by a fingerprint.
    const { message, have, need } = initiator.reconcile(
      bytes(`61 90 80 80 80 80 80 80 80 01 00 02 01 ${id} 0000 01 ${fingerprint}`),
    );
    expect({ have: have.toHex(), need: need.toHex() }).toEqual({ have: [idOf(5)], need: [id] });
    // Asked next: all before it skipped, from there an empty list.
    expect(hex(message ?? bytes(''))).toBe('61 90 80 80 80 80 80 80 80 01 00 00 0000 02 00'.replaceAll(' ', ''));
  });

  it('may leave questions unanswered, which are asked again', () => {
    const set = itemSet(Array.from({ length: 320 }, (_, index) => ({ at: index, id: idOf(index) })));
    const initiator = new Initiator(set);
    const first = hex(initiator.initiate());
    // The first of 16 parts is skipped (up to second 20), the others get one fingerprint that is not ours.
    const { message } = initiator.reconcile(bytes(`61 15 00 00 0000 01 ${fingerprint}`));
    const firstRange = 2 * (2 + 1 + 16);
    expect(hex(message ?? bytes(''))).toBe(`61150000${first.slice(2 + firstRange)}`);
  });

  it('is asked by an empty list, not by a fingerprint, about a part where we hold nothing', () => {
    // A fingerprint of nothing could be matched by a responder that leaves out of its last fingerprint what it drops.
    const set = itemSet(Array.from({ length: 320 }, (_, index) => ({ at: index * 10, id: idOf(index) })));
    const first = new Initiator(set);
    const rest = hex(first.initiate()).slice(2 + 2 * (3 + 1 + 16));
    // Skipped up to second 195, after the last item of the first part, which ends at 200; the others stay open.
    const after = first.reconcile(bytes(`61 81 44 00 00 0000 01 ${fingerprint}`)).message;
    expect(hex(after ?? bytes(''))).toBe(`61 8144 00 00 0600 02 00 ${rest}`.replaceAll(' ', ''));

    const second = new Initiator(set);
    const whole = hex(second.initiate()).slice(2, 2 + 2 * (3 + 1 + 16));
    // One fingerprint reaches a little into the second part, to before its first item; all else is skipped.
    const before = second.reconcile(bytes(`61 81 49 02 00 01 01 ${fingerprint}`)).message;
    expect(hex(before ?? bytes(''))).toBe(`61 ${whole} 01 02 00 01 02 00`.replaceAll(' ', ''));
  });

  it('may find everything it was asked alike while the frame held only part of the questions', () => {
    const set = itemSet(Array.from({ length: 5_000 }, (_, index) => ({ at: index, id: idOf(index) })));
    const initiator = new Initiator(set, { frameLimit: 4096 });
    // Every one of the 16 ranges gets a fingerprint that is not ours: 256 questions, too many for one frame.
    initiator.initiate();
    // 5,000 = 8 · 313 + 8 · 312, as distances 1 + 313 = 2·128 + 58 and 1 + 312 = 2·128 + 57.
    const ranges = Array.from({ length: 15 }, (_, index) => `${index < 8 ? '823a' : '8239'}00 01 ${fingerprint}`);
    const { message } = initiator.reconcile(bytes(`61 ${ranges.join('')} 0000 01 ${fingerprint}`));
    expect(message).not.toBeNull();
    const open = initiator.openItems;
    const next = initiator.reconcile(bytes('61'));
    expect(next.message).not.toBeNull();
    expect(initiator.openItems).toBeLessThan(open);
    expect(initiator.reconcile(bytes('61')).message).toBeNull();
  });

  it('that speaks another version ends the conversation by a code of its own', () => {
    for (const version of ['60', '62', '6f']) {
      const initiator = new Initiator(itemSet([]));
      initiator.initiate();
      expect(() => initiator.reconcile(bytes(version))).toThrow(saying('unsupported-version'));
    }
  });

  it('cannot list IDs across questions', () => {
    const set = itemSet(Array.from({ length: 320 }, (_, index) => ({ at: index, id: idOf(index) })));
    const initiator = new Initiator(set);
    initiator.initiate();
    expect(() => initiator.reconcile(bytes(`61 0000 02 01 ${id}`))).toThrow(saying('unexpected-range'));
  });

  it('cannot keep a conversation going without moving', () => {
    for (const size of [0, 20, 320]) {
      const set = itemSet(Array.from({ length: size }, (_, index) => ({ at: index, id: idOf(index) })));
      const initiator = new Initiator(set);
      initiator.initiate();
      const same = (): void => {
        for (let round = 0; round < 5; round += 1) initiator.reconcile(bytes(`61 0000 01 ${fingerprint}`));
      };
      expect(same).toThrow(saying('no-progress'));
    }
  });

  it('cannot keep a conversation going by ever smaller steps', () => {
    const initiator = new Initiator(itemSet([]));
    initiator.initiate();
    const endless = (): void => {
      for (let round = 0; round < 10_000; round += 1) {
        // All before is skipped, one second more gets an empty list, and the rest is said to differ.
        const distance = round + 1;
        const digits = distance < 128 ? [distance] : [0x80 | (distance >> 7), distance & 0x7f];
        const skipped = `${hex(Uint8Array.from(digits))} 00 00`;
        initiator.reconcile(bytes(`61 ${skipped} 02 00 02 00 0000 01 ${fingerprint}`));
      }
    };
    expect(endless).toThrow(saying('no-progress'));
  });

  it('cannot name more events than it may', () => {
    const initiator = new Initiator(itemSet([]), { needLimit: 3 });
    initiator.initiate();
    const four = [1, 2, 3, 4].map(idOf).join('');
    expect(() => initiator.reconcile(bytes(`61 0000 02 04 ${four}`))).toThrow(saying('too-many-ids'));
  });

  it('cannot scatter the conversation over any number of ranges', () => {
    const initiator = new Initiator(itemSet([]));
    initiator.initiate();
    // Skipped and differing seconds in turn, 300,000 of each.
    const pair = bytes(`02 00 00 02 00 01 ${fingerprint}`);
    const answer = new Uint8Array(1 + 300_000 * pair.length);
    answer[0] = 0x61;
    for (let index = 0; index < 300_000; index += 1) answer.set(pair, 1 + index * pair.length);
    expect(() => initiator.reconcile(answer)).toThrow(saying('too-many-ranges'));
  });

  it('is counted once for an ID that it repeats in one list', () => {
    for (const repeats of [2, 100, 5_000]) {
      const initiator = new Initiator(itemSet([{ at: 1, id: idOf(1) }]));
      initiator.initiate();
      const digits = repeats < 64 ? [2 * repeats] : [0x80 | ((2 * repeats) >> 7), (2 * repeats) & 0x7f];
      const { have, need } = initiator.reconcile(
        bytes(`61 0000 02 ${hex(Uint8Array.from(digits))} ${`${id}${idOf(1)}`.repeat(repeats)}`),
      );
      expect({ have: have.toHex(), need: need.toHex() }).toEqual({ have: [], need: [id] });
    }
  });
});

describe('An initiator', () => {
  it('takes its steps in order', () => {
    const initiator = new Initiator(itemSet([]));
    expect(() => initiator.reconcile(bytes('61'))).toThrow(saying('wrong-order'));
    initiator.initiate();
    expect(() => initiator.initiate()).toThrow(saying('wrong-order'));
    expect(initiator.reconcile(bytes('61')).message).toBeNull();
    expect(initiator.done).toBe(true);
    expect(() => initiator.reconcile(bytes('61'))).toThrow(saying('wrong-order'));
  });

  it.each([-1, 1, 4_095, 4_096.5, Number.NaN, Infinity])('refuses a frame limit of %s', (frameLimit) => {
    expect(() => new Initiator(itemSet([]), { frameLimit })).toThrow(saying('bad-limit'));
    expect(() => new Responder(itemSet([]), { frameLimit })).toThrow(saying('bad-limit'));
  });
});

describe('Damaged conversations', () => {
  const ours = itemSet(Array.from({ length: 400 }, (_, index) => ({ at: index >> 2, id: idOf(index) })));
  const theirs = itemSet(Array.from({ length: 400 }, (_, index) => ({ at: index >> 2, id: idOf(index * 3) })));
  const damage = fc.array(
    fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }), kind: fc.constantFrom('set', 'cut', 'insert') }),
    { minLength: 1, maxLength: 4 },
  );
  type Damage = { at: number; byte: number; kind: string }[];

  function damaged(message: Uint8Array, changes: Damage): Uint8Array {
    const out = [...message];
    for (const { at, byte, kind } of changes) {
      const place = at % (out.length + 1);
      if (kind === 'set' && place < out.length) out[place] = byte;
      if (kind === 'cut') out.splice(place, 1 + (byte % 40));
      if (kind === 'insert') out.splice(place, 0, byte);
    }
    return Uint8Array.from(out);
  }

  function onlyNegentropyErrors(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (!(error instanceof NegentropyError)) throw error;
    }
  }

  it('end on both sides, and by nothing but a NegentropyError', () => {
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 6 }), fc.boolean(), (plan, limited) => {
        const limits = { frameLimit: limited ? 4096 : 0 };
        const initiator = new Initiator(ours, limits);
        const responder = new Responder(theirs, limits);
        onlyNegentropyErrors(() => {
          let message: Uint8Array | null = initiator.initiate();
          for (let round = 0; message !== null; round += 1) {
            expect(round).toBeLessThan(2_000);
            const answer: Uint8Array = responder.respond(damaged(message, plan[(2 * round) % plan.length] ?? []));
            message = initiator.reconcile(damaged(answer, plan[(2 * round + 1) % plan.length] ?? [])).message;
          }
        });
      }),
      { numRuns: 1_000, seed: 80 },
    );
  });

  it('survive bytes that were never a message', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (noise) => {
        const message = Uint8Array.from([0x61, ...noise]);
        onlyNegentropyErrors(() => new Responder(theirs).respond(message));
        const initiator = new Initiator(ours);
        initiator.initiate();
        onlyNegentropyErrors(() => initiator.reconcile(message));
      }),
      { numRuns: 2_000, seed: 81 },
    );
  });
});
