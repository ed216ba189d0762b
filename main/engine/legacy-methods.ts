import type { LegacyOverview } from '../../preload/contract.ts';
import type { ServiceTable, TopicTable } from '../ipc/service-table.ts';
import { readLegacySources } from '../legacy/legacy-source-list.ts';
import { requireOwner, type EngineParts } from './engine-parts.ts';

type LegacyMethods = Pick<ServiceTable, 'legacy.overview' | 'legacy.resume' | 'legacy.rescan' | 'legacy.keep'>;

/** The contract's methods on what the first version left unfinished. */
export function legacyMethods(parts: EngineParts): LegacyMethods {
  const { checkpoints: service, carryOver } = parts;
  return {
    'legacy.overview': () => overview(parts),
    'legacy.resume': async ({ checkpoints }) => {
      requireOwner(parts);
      carryOver.requireDone();
      return { runs: await service.resume(checkpoints) };
    },
    'legacy.rescan': async ({ checkpoints }) => {
      requireOwner(parts);
      carryOver.requireDone();
      return { runs: await service.rescan(checkpoints) };
    },
    'legacy.keep': async ({ checkpoints }) => {
      requireOwner(parts);
      carryOver.requireDone();
      return { kept: await service.keep(checkpoints) };
    },
  };
}

/** How far the first version is brought over, and what waits for a decision. */
export function legacyTopic(parts: EngineParts): Pick<TopicTable, 'legacy'> {
  return {
    legacy: {
      snapshot: () => overview(parts),
      onDidChange: (listener) => parts.changes.on('legacy', listener),
    },
  };
}

async function overview({ reading, checkpointList }: EngineParts): Promise<LegacyOverview> {
  const checkpoints = await checkpointList.read(reading);
  return {
    sources: await readLegacySources(reading),
    checkpoints,
    waiting: checkpoints.filter(({ status }) => status === 'waiting').length,
  };
}
