import type { Random } from '../platform/random.ts';
import { choose, namedHex, seededRandom } from './seeded-choice.ts';
import { article, noteText, reactionText, replyText } from './sample-texts.ts';

/** An event before its author has signed it. */
export interface EventTemplate {
  kind: number;
  created_at: number;
  tags: string[][];
  content: string;
}

export const SECONDS_OF_A_DAY = 86_400;
const DAYS_OF_THE_STORY = 4 * 365;
const FIRST_HOUR = 6;
const WAKING_HOURS = 17;
const FRIENDS = Array.from({ length: 40 }, (_, index) => namedHex(`friend ${index} of the sample account`));

/** One day in so many somebody's client reacts to a whole thread at once. */
const DAYS_BETWEEN_BURSTS = 850;
/** As many as the shortest pages of the demo's relays can still carry. */
const REACTIONS_OF_A_BURST = 40;
/** One day in so many a note goes out that reaches a single relay. */
const DAYS_BETWEEN_LONE_NOTES = 400;

/** The text of the notes that reached a single relay. */
export const LONE_NOTE = 'Sent from the train, with one bar of signal. Who knows where this ends up.';

/** What the sample account calls itself. */
export const SAMPLE_NAME = 'mira';

/**
 * The public life of the sample account: about four years up to `now` (Unix seconds), oldest first. Every day is made
 * from its own date, so that a demo started an hour or a month later tells the same story, only longer.
 */
export function* sampleHistory(now: number): Generator<EventTemplate> {
  const today = Math.floor(now / SECONDS_OF_A_DAY);
  for (let day = today - DAYS_OF_THE_STORY; day <= today; day++) {
    for (const template of storyOfDay(day)) if (template.created_at <= now) yield template;
  }
}

function storyOfDay(day: number): EventTemplate[] {
  const random = seededRandom(`sample day ${day}`);
  const events: EventTemplate[] = [];
  const at = (): number => day * SECONDS_OF_A_DAY + Math.floor((FIRST_HOUR + random() * WAKING_HOURS) * 3600);

  if (day % 365 === 40) events.push(profile(day, at()));
  if (day % 45 === 7) events.push(contacts(day, at()));
  if (day % 120 === 60) events.push({ kind: 10000, created_at: at(), tags: [['t', 'spoilers']], content: '' });
  if (day % 42 === 11) events.push(longForm(random, at()));
  if (day % DAYS_BETWEEN_BURSTS === 300) events.push(...burst(at()));
  if (day % DAYS_BETWEEN_LONE_NOTES === 210) events.push({ kind: 1, created_at: at(), tags: [], content: LONE_NOTE });

  for (let count = busyness(random, day); count > 0; count--) events.push(everyday(random, at()));
  return events.sort((a, b) => a.created_at - b.created_at);
}

/** Most days are quiet, some weeks are not, and every season has its own pace. */
function busyness(random: Random, day: number): number {
  const season = 0.75 + 0.55 * Math.sin(day / 29);
  const week = seededRandom(`sample week ${Math.floor(day / 7)}`)() < 0.12 ? 3 : 1;
  return Math.floor(-Math.log(1 - random()) * 2 * season * week);
}

function everyday(random: Random, createdAt: number): EventTemplate {
  const friend = choose(random, FRIENDS);
  const theirNote = namedHex(`note at ${createdAt} of ${friend}`);
  const choice = random();
  if (choice < 0.42) {
    const { text, hashtag } = noteText(random);
    return { kind: 1, created_at: createdAt, tags: hashtag === null ? [] : [['t', hashtag]], content: text };
  }
  if (choice < 0.62) {
    const tags = [['e', theirNote, '', 'root'], ['p', friend]]; // prettier-ignore
    return { kind: 1, created_at: createdAt, tags, content: replyText(random) };
  }
  const about = [['e', theirNote], ['p', friend]]; // prettier-ignore
  if (choice < 0.9) {
    return { kind: 7, created_at: createdAt, tags: [...about, ['k', '1']], content: reactionText(random) };
  }
  if (choice < 0.97) return { kind: 6, created_at: createdAt, tags: about, content: '' };
  if (choice < 0.985) {
    const source = [['r', `https://example.com/reading/${createdAt % 997}`]];
    return { kind: 9802, created_at: createdAt, tags: source, content: noteText(random).text };
  }
  return { kind: 1111, created_at: createdAt, tags: [['E', theirNote], ['K', '30023'], ...about, ['k', '30023']], content: replyText(random) }; // prettier-ignore
}

/** A whole thread liked at once: nearly as many events in one second as relay C puts on a page. */
function burst(createdAt: number): EventTemplate[] {
  return Array.from({ length: REACTIONS_OF_A_BURST }, (_, index) => {
    const friend = FRIENDS[index % FRIENDS.length] ?? '';
    const about = [['e', namedHex(`reply ${index} at ${createdAt}`)], ['p', friend], ['k', '1']]; // prettier-ignore
    return { kind: 7, created_at: createdAt, tags: about, content: '+' };
  });
}

function profile(day: number, createdAt: number): EventTemplate {
  const years = ['Bread, birds, bicycles.', 'Bread, birds, bicycles, and now bees.', 'Slow walks and lopsided bread.'];
  const content = { name: SAMPLE_NAME, display_name: 'Mira', about: years[Math.floor(day / 365) % years.length], website: 'https://example.com/mira' }; // prettier-ignore
  return { kind: 0, created_at: createdAt, tags: [], content: JSON.stringify(content) };
}

function contacts(day: number, createdAt: number): EventTemplate {
  const known = 8 + (Math.floor(day / 45) % (FRIENDS.length - 8));
  return { kind: 3, created_at: createdAt, tags: FRIENDS.slice(0, known).map((friend) => ['p', friend]), content: '' };
}

function longForm(random: Random, createdAt: number): EventTemplate {
  const { title, summary, text } = article(random);
  const identifier = title.toLowerCase().replaceAll(/[^a-z]+/g, '-');
  const tags = [['d', identifier], ['title', title], ['summary', summary], ['published_at', String(createdAt)]]; // prettier-ignore
  return { kind: 30023, created_at: createdAt, tags, content: text };
}
