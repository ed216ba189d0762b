/** A Unix second as exact text for sentences that are stored: `2022-03-03 10:15:02 UTC`. */
export function formatSecond(second: number): string {
  const date = new Date(second * 1000);
  if (Number.isNaN(date.getTime())) return `second ${second}`;
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
