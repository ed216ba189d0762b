import * as v from 'valibot';

const windowSchema = v.object({ since: v.number(), until: v.number() });

/**
 * What Resume needs of windows that the first version left: those still to be asked, in order, and the seconds that held
 * more events than an answer could carry. It is written in the transaction of each answer, so no window is ever lost.
 */
const checkpointSchema = v.object({
  version: v.literal('legacy-windows-1'),
  pending: v.array(windowSchema),
  full: v.array(v.number()),
});

export type WindowsCheckpoint = v.InferOutput<typeof checkpointSchema>;

/** Reads a stored checkpoint; null when it is of another strategy or version. */
export function readWindowsCheckpoint(text: string): WindowsCheckpoint | null {
  try {
    const parsed = v.safeParse(checkpointSchema, JSON.parse(text));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}
