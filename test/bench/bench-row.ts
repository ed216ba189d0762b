/** One line of the benchmark table: what was measured, and the bar that it has to meet. */
export interface BenchRow {
  name: string;
  /** The measured value, in `unit`. */
  measured: number;
  unit: string;
  /** Null for a value that has no bar of its own and explains another one. */
  bar: { atLeast: number } | { atMost: number } | null;
  /** Lowest and highest single measurement, where there were several. */
  spread: { lowest: number; highest: number } | null;
  /** One line on how it was measured. */
  note: string;
}

/** True when a row meets its bar, or has none. */
export function isMet({ measured, bar }: BenchRow): boolean {
  if (bar === null) return true;
  return 'atLeast' in bar ? measured >= bar.atLeast : measured <= bar.atMost;
}

/** The rows as an aligned table with a heading. */
export function benchTable(rows: readonly BenchRow[]): string {
  const heading = ['what', 'measured', 'bar', '', 'spread', 'note'];
  const cells = [heading, ...rows.map(cellsOf)];
  const widths = heading.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const isRight = (column: number): boolean => column === 1 || column === 2;
  const lines = cells.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return isRight(column) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
  return lines.join('\n');
}

function cellsOf(row: BenchRow): string[] {
  const { name, measured, unit, bar, spread, note } = row;
  const limit = bar === null ? '' : 'atLeast' in bar ? `≥ ${bar.atLeast}` : `≤ ${bar.atMost}`;
  const verdict = bar === null ? '' : isMet(row) ? 'ok' : 'MISSED';
  const range = spread === null ? '' : `${shown(spread.lowest)} – ${shown(spread.highest)}`;
  return [name, `${shown(measured)} ${unit}`.trim(), limit, verdict, range, note];
}

function shown(value: number): string {
  const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 20 ? 1 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

/** The middle one of some measurements; the mean of the two middle ones where their number is even. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  if (low === undefined || high === undefined) throw new Error('there is no median of nothing');
  return (low + high) / 2;
}

/** Lowest and highest of some measurements. */
export function spreadOf(values: readonly number[]): { lowest: number; highest: number } {
  return { lowest: Math.min(...values), highest: Math.max(...values) };
}
