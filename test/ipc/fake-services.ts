import type { Topic } from '../../preload/contract.ts';
import { methodSchemas, topicSchemas } from '../../main/ipc/argument-schemas.ts';
import type { ServiceTable, TopicTable } from '../../main/ipc/service-table.ts';

/** A topic that a test feeds by hand: `next` is what the coming snapshots are, `change` says that something changed. */
export class FakeTopic {
  readonly args: unknown[] = [];
  next: () => unknown = () => null;
  readonly #listeners = new Set<() => void>();

  get listeners(): number {
    return this.#listeners.size;
  }

  change(): void {
    for (const listener of this.#listeners) listener();
  }

  readonly source = {
    snapshot: async (args: unknown): Promise<never> => {
      this.args.push(args);
      return (await this.next()) as never;
    },
    onDidChange: (listener: () => void): (() => void) => {
      this.#listeners.add(listener);
      return () => this.#listeners.delete(listener);
    },
  };
}

/** A service table in which only the methods of `answers` answer. */
export function fakeMethods(answers: Partial<ServiceTable> = {}): ServiceTable {
  const unanswered = Object.fromEntries(
    Object.keys(methodSchemas).map((method) => [method, () => Promise.reject(new Error(`${method} was not expected`))]),
  );
  return { ...(unanswered as unknown as ServiceTable), ...answers };
}

/** A topic table with a hand-fed topic for every name. */
export function fakeTopics(): { topics: TopicTable; fed: Record<Topic, FakeTopic> } {
  const names = Object.keys(topicSchemas) as Topic[];
  const fed = Object.fromEntries(names.map((name) => [name, new FakeTopic()])) as Record<Topic, FakeTopic>;
  const topics = Object.fromEntries(names.map((name) => [name, fed[name].source])) as unknown as TopicTable;
  return { topics, fed };
}
