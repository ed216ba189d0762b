/** A value as the first version's file holds it: its columns took any type. Whole numbers that are not exact stay bigint. */
export type OldValue = string | number | bigint | Buffer | null;

/** One row of a table of the first version. */
export interface OldRow {
  rowid: bigint;
  values: Readonly<Record<string, OldValue>>;
}

/** The value of a column; null for one that the row does not have. */
export function valueOf(row: OldRow, column: string): OldValue {
  return row.values[column] ?? null;
}

/** The value when it is text, or null. */
export function textOf(row: OldRow, column: string): string | null {
  const value = valueOf(row, column);
  return typeof value === 'string' ? value : null;
}

/** The value when it is a whole number that JavaScript holds exactly, or null. */
export function integerOf(row: OldRow, column: string): number | null {
  const value = valueOf(row, column);
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

/**
 * The whole row as JSON, so that what is kept aside can be looked at as it was. What JSON cannot hold is written as
 * `{"blob": hex}`, `{"real": text}` or `{"integer": text}`.
 */
export function rowAsJson(row: OldRow): string {
  return JSON.stringify(Object.fromEntries(Object.entries(row.values).map(([name, value]) => [name, asJson(value)])));
}

function asJson(value: OldValue): unknown {
  if (Buffer.isBuffer(value)) return { blob: value.toString('hex') };
  if (typeof value === 'bigint') return { integer: String(value) };
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
    return { real: realAsText(value) };
  return value;
}

function realAsText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** A value in a sentence; text from a file of others is cut where it is long. */
export function shown(value: OldValue): string {
  if (value === null) return 'nothing';
  if (Buffer.isBuffer(value)) return value.length === 1 ? '1 byte' : `${value.length} bytes`;
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

const LONGEST_SHOWN = 120;
