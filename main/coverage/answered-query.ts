import { sql, type RawBuilder } from 'kysely';

/** Of a query: the relay answered it to its end. One that failed, was refused or was cancelled has checked nothing. */
export const WAS_ANSWERED: RawBuilder<boolean> = sql<boolean>`(
  queries.ending in ('eose', 'eose-finish', 'eose-more', 'unpageable', 'neg-complete'))`;
