import { sql, type RawBuilder } from 'kysely';

/**
 * What makes an unfinished range nothing to be done any more: the number of a range of the same filter on the same relay
 * that covers every second of it and was completed later, else null. What the range's own attempts came to stays as it
 * was recorded. Windows of the first version close nothing, however they ended: they prove no completeness.
 *
 * An SQL expression over `ranges` and `attempts`, where the attempt is the latest of the range. The runs of an account
 * come one after another, so of two attempts on a relay the one with the higher number is the later one.
 */
export const CLOSED_BY: RawBuilder<number | null> = sql<number | null>`(
  case when attempts.status in ('partial', 'failed') or attempts.status = 'complete' and attempts.fetched < attempts.found then
    (select wider.id from ranges as wider
      join attempts as completing on completing.range_id = wider.id and completing.status = 'complete'
      where wider.account_id = ranges.account_id and wider.relay_id = ranges.relay_id and wider.id <> ranges.id
        and wider.filter = ranges.filter and wider.checkpoint_id is null
        and wider.until >= ranges.until and (wider.since is null or wider.since <= ranges.since)
        and completing.id > attempts.id
      order by completing.id limit 1)
  end)`;
