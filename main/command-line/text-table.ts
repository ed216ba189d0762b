/** A column of a table on a terminal. */
export interface Column {
  title: string;
  align?: 'left' | 'right';
}

const GAP = '  ';

/** The lines of a table, titles first; the last column is not padded. Cells are printed as they are. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const all = [columns.map((column) => column.title), ...rows];
  const widths = columns.map((_, index) => Math.max(...all.map((row) => lengthOf(row[index] ?? ''))));
  return all.map((row) =>
    columns
      .map((column, index) => pad(row[index] ?? '', widths[index] ?? 0, column.align ?? 'left'))
      .join(GAP)
      .trimEnd(),
  );
}

/** Rows aligned as a table without titles. */
export function alignedLines(
  columns: readonly Omit<Column, 'title'>[],
  rows: readonly (readonly string[])[],
): string[] {
  return tableLines(
    columns.map((column) => ({ ...column, title: '' })),
    rows,
  ).slice(1);
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(Math.max(0, width - lengthOf(text)));
  return align === 'right' ? space + text : text + space;
}

function lengthOf(text: string): number {
  return [...text].length;
}
