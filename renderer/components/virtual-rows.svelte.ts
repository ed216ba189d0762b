import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualItem,
} from '@tanstack/svelte-virtual';
import { untrack } from 'svelte';

/** What a virtual list shows; the functions are read inside effects, so they may use runes. */
export interface VirtualRowsOptions {
  scroller(): HTMLElement | null;
  count(): number;
  /** What a row keeps when others come before it; without it that is its place, which costs nothing however long the list. */
  key?(index: number): string;
  /** The height of a row before it was measured, in pixels. */
  estimate(index: number): number;
  /** A row that stays rendered when it is scrolled away, because it has the focus; -1 for none. */
  pinned(): number;
}

/**
 * The rows as they are now, by key. Heights that are measured between a change of the rows and the next settings must
 * not mix keys of both, or two rows would share one.
 */
function identities(options: VirtualRowsOptions): { count: number; getItemKey?(index: number): string } {
  const { key } = options;
  if (key === undefined) return { count: options.count() };
  const keys = Array.from({ length: options.count() }, (_, index) => key(index));
  return { count: keys.length, getItemKey: (index) => keys[index] ?? String(index) };
}

/** The rows of a long list that are worth rendering. Made during a component's start, it lives as long as that. */
export class VirtualRows {
  #items = $state.raw<readonly VirtualItem[]>([]);
  #size = $state(0);
  readonly #virtualizer: Virtualizer<HTMLElement, HTMLElement>;

  constructor(options: VirtualRowsOptions) {
    const settings = () => ({
      ...identities(options),
      getScrollElement: () => options.scroller(),
      estimateSize: (index: number) => options.estimate(index),
      observeElementRect,
      observeElementOffset,
      scrollToFn: elementScroll,
      overscan: 8,
      rangeExtractor: (range: Parameters<typeof defaultRangeExtractor>[0]) => {
        const indexes = defaultRangeExtractor(range);
        const pinned = options.pinned();
        if (pinned < 0 || pinned >= range.count || indexes.includes(pinned)) return indexes;
        return [...indexes, pinned].sort((left, right) => left - right);
      },
      onChange: () => this.#refresh(),
    });
    this.#virtualizer = new Virtualizer<HTMLElement, HTMLElement>(untrack(settings));
    $effect(() => {
      const cleanup = this.#virtualizer._didMount();
      return cleanup;
    });
    $effect(() => {
      this.#virtualizer.setOptions(settings());
      options.scroller();
      options.pinned();
      untrack(() => {
        this.#virtualizer._willUpdate();
        this.#refresh();
      });
    });
  }

  #refresh(): void {
    this.#items = this.#virtualizer.getVirtualItems();
    this.#size = this.#virtualizer.getTotalSize();
  }

  /** The rows to render, with their index and their distance from the top. */
  get items(): readonly VirtualItem[] {
    return this.#items;
  }

  /** The height of the whole list in pixels. */
  get size(): number {
    return this.#size;
  }

  scrollTo(index: number): void {
    this.#virtualizer.scrollToIndex(index, { align: 'auto' });
  }

  /** An attachment for each row: measures it, now and whenever its height changes. */
  readonly measure = (row: HTMLElement): void => {
    this.#virtualizer.measureElement(row);
  };
}
