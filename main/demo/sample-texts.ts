import type { Random } from '../platform/random.ts';
import { choose } from './seeded-choice.ts';

const moments = [
  'This morning', 'After the rain', 'Before anybody was up', 'On the way home', 'Between two meetings', 'Late last night',
  'At the market', 'Somewhere above the tree line', 'On the slow train', 'During lunch', 'First thing today', 'In the garden',
  'While the dough was rising', 'Halfway up the hill', 'On a bench by the river', 'In the workshop',
]; // prettier-ignore
const happenings = [
  'a heron stood in the stream for half an hour and ignored me', 'I finally got the sourdough to spring',
  'the old bicycle stopped squeaking, and I do not know why', 'three strangers helped me carry a bookshelf',
  'I found the bug: it was my own comment that lied', 'the fog lifted all at once', 'somebody played the cello with the window open',
  'the tomatoes decided to be ready, all of them', 'I read a chapter twice because it was that good',
  'the kettle and the smoke alarm had an argument', 'a child explained black holes to me, mostly right',
  'my neighbour gave me a jar of quince jelly', 'I fixed the hinge with the wrong screw and it holds',
  'the library had the one book I was looking for', 'I walked the long way round and it was worth it',
  'we counted eleven hedgehogs on the way', 'the bread came out lopsided and tasted wonderful',
  'I restored a backup just to see that it works, and it does', 'the radio played a song I had forgotten',
  'two swallows tried out the porch lamp as a home', 'the first frost drew ferns on the window',
  'I learned to darn a sock from a very patient video', 'the bakery ran out, so I baked', 'a letter came, on paper, with a stamp',
]; // prettier-ignore
const afterthoughts = [
  'Small things.', 'I will take it.', 'More of that, please.', 'Photo later, if I remember.', 'Notes to self: slow down.',
  'Worth getting up for.', 'I have no lesson here, I just liked it.', 'Ask me for the recipe.', 'Tea helped.',
  'Tomorrow I try again.', 'How was your day?', 'That is all. Good night!', 'I am still smiling.', 'Who else saw it?',
  'I wrote it down so that I keep it.', 'Ten out of ten.', '', '', '',
]; // prettier-ignore
const hashtags = ['baking', 'walking', 'books', 'garden', 'nostr', 'bicycle', 'birds', 'mending', 'weather', 'music'];
const answers = [
  'Yes, exactly that!', 'I tried it and it worked, thank you.', 'Oh, tell me more about the second part.', 'Safe travels!',
  'Congratulations, you earned it.', 'I would add a pinch of salt, otherwise perfect.', 'Ha, same here last week.',
  'I am not sure I agree, but I like how you put it.', 'Saved for the weekend.', 'That view!', 'Count me in for Thursday.',
  'It took me years to learn that.', 'Please give the dog my regards.', 'Here it is raining sideways, I am a little jealous.',
  'I looked it up: it is a redstart.', 'Good morning to you too ☀️',
]; // prettier-ignore
const reactions = ['+', '+', '+', '❤️', '🔥', '😂', '🙏', '🚲', '🥖', '👀'];

/** An article of the sample account: what it is called, and its text in Markdown. */
export interface SampleArticle {
  title: string;
  summary: string;
  text: string;
}

const articleSubjects = [
  ['Bread that waits for you', 'How a cold night does most of the kneading.', 'dough', 'the fridge'],
  ['A bicycle for twenty years', 'What to oil, what to leave alone, and when to ask somebody.', 'chain', 'the stand'],
  ['Keeping what you wrote', 'Copies, and the habit of checking that they can be read.', 'backup', 'a second place'],
  ['Walks under two hours', 'Seven loops that start at the station.', 'path', 'the map'],
  ['The patient garden', 'A year of doing less, and what grew anyway.', 'soil', 'the shed'],
  ['Reading slowly', 'Why I stopped counting books.', 'page', 'the armchair'],
  ['Mending as a hobby', 'Socks, jumpers, and a very small loom.', 'thread', 'the tin box'],
  ['Birds I can tell apart', 'A short list that got longer.', 'call', 'the notebook'],
] as const;

/** The text of an everyday note, now and then with a hashtag. */
export function noteText(random: Random): { text: string; hashtag: string | null } {
  const hashtag = random() < 0.3 ? choose(random, hashtags) : null;
  const sentence = `${choose(random, moments)} ${choose(random, happenings)}. ${choose(random, afterthoughts)}`.trim();
  return { text: hashtag === null ? sentence : `${sentence} #${hashtag}`, hashtag };
}

/** What the sample account answers to somebody. */
export function replyText(random: Random): string {
  return random() < 0.5
    ? choose(random, answers)
    : `${choose(random, answers)} ${choose(random, moments)} ${choose(random, happenings)}.`;
}

/** The content of a reaction (NIP-25). */
export function reactionText(random: Random): string {
  return choose(random, reactions);
}

/** An article with a few paragraphs around one of the account's subjects. */
export function article(random: Random): SampleArticle {
  const [title, summary, thing, place] = choose(random, articleSubjects);
  const paragraph = (): string =>
    Array.from({ length: 4 }, () => `${choose(random, moments)} ${choose(random, happenings)}.`).join(' ');
  const text = [
    `# ${title}`, summary,
    `## Where it begins`, paragraph(), `Everything starts with the ${thing}, and with leaving it alone long enough.`,
    `## What I do now`, paragraph(), `- look at the ${thing} first\n- then at ${place}\n- then go for a walk`,
    `## What I would tell myself`, paragraph(), `Keep the ${thing} simple. Write down what you changed.`,
  ].join('\n\n'); // prettier-ignore
  return { title, summary, text };
}
