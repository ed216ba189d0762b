import type { ContractError } from '../../preload/contract.ts';
import { asContractError } from '../transport/connection.ts';

const PAGE = 100;

/** Pages that are asked for at a time; those that were scrolled past meanwhile are never asked for. */
const SIDE_BY_SIDE = 2;

/** One page of a list, and how long the whole list is. */
export interface ListPage<Item> {
  total: number;
  items: readonly Item[];
}

/** A long list that lies elsewhere, fetched in pages as they come into view. */
export class ListPages<Item> {
  readonly #load: (offset: number, limit: number) => Promise<ListPage<Item>>;
  readonly #onChange: () => void;
  readonly #pages = new Map<number, readonly Item[]>();
  readonly #stale = new Set<number>();
  readonly #asked = new Set<number>();
  readonly #failed = new Set<number>();
  #window: [first: number, last: number] = [0, 0];
  #total: number | null = null;
  #error: ContractError | null = null;

  /** `load` fetches a page; `onChange` is called whenever something arrived. */
  constructor(load: (offset: number, limit: number) => Promise<ListPage<Item>>, onChange: () => void) {
    this.#load = load;
    this.#onChange = onChange;
  }

  /** How long the list is; null until the first page came. */
  get total(): number | null {
    return this.#total;
  }

  /** Why a page could not be had; null when all came. */
  get error(): ContractError | null {
    return this.#error;
  }

  /** What stands at a place of the list; undefined while it is on its way. */
  at(index: number): Item | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** Asks for what these places hold, unless it is here. */
  want(first: number, last: number): void {
    this.#window = [Math.floor(first / PAGE), Math.floor(last / PAGE)];
    this.#ask();
  }

  /** Asks again for everything that comes into view; what is here stays until then. */
  refresh(): void {
    for (const page of this.#pages.keys()) this.#stale.add(page);
    this.#failed.clear();
    this.#error = null;
    this.#ask();
  }

  #ask(): void {
    const [first, last] = this.#window;
    for (let page = first; page <= last && this.#asked.size < SIDE_BY_SIDE; page += 1) {
      const settled = this.#pages.has(page) && !this.#stale.has(page);
      if (!settled && !this.#asked.has(page) && !this.#failed.has(page)) void this.#fetch(page);
    }
  }

  async #fetch(page: number): Promise<void> {
    this.#asked.add(page);
    this.#stale.delete(page);
    try {
      const found = await this.#load(page * PAGE, PAGE);
      this.#total = found.total;
      this.#pages.set(page, found.items);
    } catch (thrown) {
      this.#failed.add(page);
      this.#error = asContractError(thrown);
    }
    this.#asked.delete(page);
    this.#onChange();
    this.#ask();
  }
}
