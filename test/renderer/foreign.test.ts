import { describe, expect, it } from 'vitest';
import { isolate, tamed, visibleControls } from '../../renderer/text/foreign.ts';
import { relayName, splitName } from '../../renderer/text/names.ts';
import { localTimes, sentenceParts } from '../../renderer/text/told-times.ts';

const OVERRIDE = '\u202e';

describe('text that others wrote', () => {
  it('shows what cannot be seen, and leaves line breaks, emoji and other scripts alone', () => {
    expect(visibleControls(`a${OVERRIDE}b\u0000\u200b`)).toBe('a\\u202eb\\u0000\\u200b');
    for (const text of ['two\nlines\tand a tab', '👩‍👩‍👧', 'שלום', 'naïve']) expect(visibleControls(text)).toBe(text);
  });

  it('keeps JSON the same JSON', () => {
    const value = { content: `x${OVERRIDE}\u2069y` };
    expect(JSON.parse(visibleControls(JSON.stringify(value)))).toEqual(value);
  });

  it('cannot leave its isolate', () => {
    const isolated = isolate(`\u05d0\u2069${OVERRIDE}`);
    expect(isolated).toBe('\u2068\u05d0\\u2069\\u202e\u2069');
    expect(isolate('plain words')).toBe('plain words');
  });

  it('is tamed inside a sentence, whose own isolates stay', () => {
    expect(tamed(`${isolate('\u05d0')}: it said ${OVERRIDE}no\u2069`)).toBe(
      '\u2068\u05d0\u2069: it said \\u202eno\\u2069',
    );
  });

  it('cannot hide in the name of a relay', () => {
    expect(relayName(`wss://good.example/${OVERRIDE}live`)).toBe('good.example/\\u202elive');
  });
});

describe('a long name', () => {
  it('keeps its end, because hosts begin alike', () => {
    const name = 'archive.long-and-descriptive-relay-name.example/inbox';
    const { head, tail } = splitName(name);
    expect(head + tail).toBe(name);
    expect(tail).toBe('xample/inbox');
    expect(splitName('127.0.0.1:45123')).toEqual({ head: '127.0.0.1:45123', tail: '' });
  });
});

describe('times in recorded sentences', () => {
  const sentence = 'The second 2022-03-03 23:15:02 UTC holds more; so does 2022-03-04 00:00:00 UTC.';

  it('are told in local time, with UTC at hand', () => {
    expect(localTimes(sentence, 'Europe/Berlin')).toBe(
      'The second 4 Mar 2022 00:15:02 holds more; so does 4 Mar 2022 01:00:00.',
    );
    expect(sentenceParts(sentence, 'UTC').filter((part) => part.utc !== null)).toEqual([
      { text: '3 Mar 2022 23:15:02', utc: '2022-03-03 23:15:02 UTC' },
      { text: '4 Mar 2022 00:00:00', utc: '2022-03-04 00:00:00 UTC' },
    ]);
  });

  it('are left alone where no calendar holds them', () => {
    expect(localTimes('2022-13-45 99:99:99 UTC', 'UTC')).toBe('2022-13-45 99:99:99 UTC');
    expect(sentenceParts('')).toEqual([]);
  });
});
