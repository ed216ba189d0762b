import { CompiledQuery, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** Powers of two: any number of rows goes in by few statements, and few different ones have to be prepared. */
const ROWS_PER_STATEMENT = [128, 64, 32, 16, 8, 4, 2, 1];

/**
 * Inserts rows by statements whose text is made once. For a page of events, composing the text anew, or taking the values
 * apart from JSON within SQLite, costs more than the inserting itself.
 */
export class RowInsertion {
  readonly #statements: readonly { rows: number; text: string }[];

  /** `ending` is what follows the values, such as a conflict clause. */
  constructor(table: keyof Tables, columns: readonly string[], ending = '') {
    const row = `(${columns.map(() => '?').join(', ')})`;
    this.#statements = ROWS_PER_STATEMENT.map((rows) => {
      const values = Array.from({ length: rows }, () => row).join(', ');
      return { rows, text: `insert into ${table} (${columns.join(', ')}) values ${values} ${ending}` };
    });
  }

  /** Inserts rows of values in the order of the columns. */
  async insert(trx: Transaction<Tables>, rows: readonly (readonly unknown[])[]): Promise<void> {
    let start = 0;
    for (const { rows: size, text } of this.#statements) {
      for (; rows.length - start >= size; start += size) {
        await trx.executeQuery(CompiledQuery.raw(text, rows.slice(start, start + size).flat()));
      }
    }
  }
}
