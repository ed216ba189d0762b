import type { ServiceTable } from '../ipc/service-table.ts';
import { readLegacyOperations, readRemarkedRow, readRemarks } from '../legacy/legacy-remarks.ts';
import { requireOwner, type EngineParts } from './engine-parts.ts';

const ROWS_PER_ANSWER = 100;

/** The contract's methods on what became of the first version's rows. */
export function legacyReportMethods(
  parts: EngineParts,
): Pick<ServiceTable, 'legacy.remarks' | 'legacy.row' | 'legacy.operations' | 'legacy.importFile'> {
  const { reading, carryOver } = parts;
  return {
    'legacy.remarks': ({ source, table, problem, offset, limit }) =>
      readRemarks(reading, { source, table, problem, offset: offset ?? 0, limit: limit ?? ROWS_PER_ANSWER }),
    'legacy.row': async ({ remark }) => ({ text: await readRemarkedRow(reading, remark) }),
    'legacy.operations': ({ source, offset, limit }) =>
      readLegacyOperations(reading, { source, offset: offset ?? 0, limit: limit ?? ROWS_PER_ANSWER }),
    'legacy.importFile': async ({ path }) => {
      requireOwner(parts);
      return { source: await carryOver.importFile(path) };
    },
  };
}
