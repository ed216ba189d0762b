import * as v from 'valibot';

/**
 * What Resume needs besides the cursor. It is written in the transaction of each page, so it is never ahead of the
 * archive. `version` keeps checkpoints of different strategies from being mistaken for one another.
 */
const checkpointSchema = v.object({
  version: v.literal('paging-1'),
  largestPage: v.number(),
  pages: v.number(),
  boundaryKnown: v.boolean(),
  saturatedSeconds: v.array(v.number()),
  probing: v.nullable(v.number()),
  rechecking: v.nullable(v.object({ resumeAt: v.nullable(v.number()) })),
  exclusiveUntil: v.boolean(),
  verifying: v.nullable(v.object({ since: v.number(), cursor: v.number() })),
  /** Checkpoints of the first versions do not say so. */
  reachedEnd: v.optional(v.boolean(), false),
  /** True when nothing but another limit or strategy can finish the walk. */
  unpageable: v.boolean(),
});

export type WalkCheckpoint = v.InferOutput<typeof checkpointSchema>;

/** Reads a stored checkpoint; null when it is of another strategy or version, which must then not be resumed by paging. */
export function readCheckpoint(text: string): WalkCheckpoint | null {
  try {
    const parsed = v.safeParse(checkpointSchema, JSON.parse(text));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}
