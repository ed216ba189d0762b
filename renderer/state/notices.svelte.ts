/** A message about something that happened, shown beside the work and never over it. */
export interface Notice {
  id: number;
  tone: 'bad' | 'good';
  text: string;
  /** What to do, or what was kept. */
  advice: string | null;
}

const GOOD_NEWS_LASTS_MS = 6000;

/** The notices on screen. Failures stay until they are dismissed; good news leaves by itself. */
export class Notices {
  list = $state.raw<readonly Notice[]>([]);
  #nextId = 1;

  add(tone: Notice['tone'], text: string, advice: string | null = null): void {
    const id = this.#nextId++;
    const others = this.list.filter((notice) => notice.text !== text);
    this.list = [...others.slice(-3), { id, tone, text, advice }];
    if (tone === 'good') setTimeout(() => this.dismiss(id), GOOD_NEWS_LASTS_MS);
  }

  dismiss(id: number): void {
    this.list = this.list.filter((notice) => notice.id !== id);
  }
}
