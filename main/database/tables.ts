import type { Generated } from 'kysely';
import type {
  DeliveryReason,
  DeliveryState,
  DeliveryStep,
  LegacyCheckpointStatus,
  LegacyProblem,
  LegacyRemark,
  LegacySource,
  QueryEnding,
  RangeStatus,
  RunStatus,
  RunType,
  Strategy,
  StrategyChoice,
} from '../../preload/contract.ts';

/**
 * Row types of the current schema. What a row *means* stands beside each table in `migrations/`; the types of foreign
 * values (relay words, JSON columns) are text here and are parsed by the module that owns the table.
 */
export interface Tables {
  accounts: AccountsTable;
  account_relays: AccountRelaysTable;
  publication_versions: PublicationVersionsTable;
  relays: RelaysTable;
  event_ids: { ref: Generated<number>; id: Buffer };
  authors: AuthorsTable;
  events: EventsTable;
  event_tags: { name: string; value: string | Buffer; event_ref: number };
  settings: { name: string; value: string };
  runs: RunsTable;
  ranges: RangesTable;
  attempts: AttemptsTable;
  queries: QueriesTable;
  evidence: EvidenceTable;
  walk_kinds: { walk_id: number; kind: number; found: number };
  fetch_state: FetchStateTable;
  archive_sequence: { only_row: number; last: number };
  arrived_pages: ArrivedPagesTable;
  tag_index_state: { only_row: number; indexed_up_to: number };
  kind_probes: { relay_id: number; kind: number; refused: number; query_id: number };
  inventories: InventoriesTable;
  presence: PresenceTable;
  eligibility_state: { only_row: number; checked_up_to: number };
  exclusions: ExclusionsTable;
  expirations: { event_ref: number; author: number; kind: number; expires_at: number };
  deleted_events: { event_ref: number; author: number; request_ref: number };
  deleted_addresses: { request_ref: number; author: number; kind: number; identifier: string; until: number };
  versions: { event_ref: number; author: number; kind: number; identifier: string; created_at: number };
  vanish_requests: { author: number; relay_key: string; until: number; request_ref: number };
  deliveries: DeliveriesTable;
  delivery_steps: DeliveryStepsTable;
  legacy_sources: LegacySourcesTable;
  legacy_counts: LegacyCountsTable;
  legacy_remarks: LegacyRemarksTable;
  legacy_sightings: { relay_id: number; event_ref: number; observed_at: number; source_id: number };
  legacy_coverage_lines: LegacyCoverageLinesTable;
  legacy_checkpoints: LegacyCheckpointsTable;
  legacy_operations_kept: LegacyOperationsKeptTable;
}

interface AccountsTable {
  id: Generated<number>;
  /** 64 hex characters. */
  pubkey: string;
  label: string | null;
  signer_ref: string | null;
  created_at: number;
}

interface AccountRelaysTable {
  account_id: number;
  relay_id: number;
  url: string;
  read: number;
  write: number;
  extra: number;
  position: number;
}

interface PublicationVersionsTable {
  id: Generated<number>;
  account_id: number;
  kind: number;
  event_id: string;
  event_json: string;
  published_at: number;
  accepted_by: string;
}

interface RelaysTable {
  id: Generated<number>;
  key: string;
  url: string;
  observed_cap: number | null;
  accepted_limit: number | null;
  negentropy: Generated<string | null>;
  negentropy_until_ms: Generated<number | null>;
}

interface AuthorsTable {
  id: Generated<number>;
  pubkey: Buffer;
  events: Generated<number>;
  oldest: number | null;
  newest: number | null;
}

interface EventsTable {
  ref: number;
  author: number;
  kind: number;
  created_at: number;
  sig: Buffer;
  tags: string;
  content: string | Buffer;
  first_seen_at: number;
  sequence: Generated<number>;
}

interface RunsTable {
  id: Generated<number>;
  account_id: number;
  type: RunType;
  status: RunStatus;
  strategy: StrategyChoice;
  page_limit: number;
  boundary: number;
  sources: string;
  warnings: Generated<string>;
  started_at: number;
  finished_at: number | null;
  cancel_requested_at: number | null;
  narrowing: Generated<string | null>;
  resumed: Generated<0 | 1>;
  reverified_from_ms: Generated<number | null>;
  reverified_until_ms: Generated<number | null>;
  reverified_copies: Generated<number | null>;
  checkpoint_id: Generated<number | null>;
}

interface RangesTable {
  id: Generated<number>;
  account_id: number;
  relay_id: number;
  filter: string;
  since: number | null;
  until: number;
  purpose: Generated<'history' | 'read-back'>;
  checkpoint_id: Generated<number | null>;
}

interface AttemptsTable {
  id: Generated<number>;
  range_id: number;
  run_id: number;
  walk_id: number;
  prior_id: number | null;
  continued: number;
  strategy: Strategy;
  status: RangeStatus;
  page_limit: number;
  cursor: number | null;
  checkpoint: string;
  reason: string | null;
  pages: Generated<number>;
  found: Generated<number>;
  fetched: Generated<number>;
  received: Generated<number>;
  newly_archived: Generated<number>;
  invalid: Generated<number>;
  started_at: number;
  completed_at: number | null;
}

interface QueriesTable {
  id: Generated<number>;
  attempt_id: number;
  type: 'REQ' | 'NEG';
  request: string;
  sent_at_ms: number;
  completed_at_ms: number;
  ending: QueryEnding;
  message: string | null;
  received: number;
  valid: number;
  unique_count: number;
  new_count: number;
  walk_id: number;
  covered_from: Generated<number | null>;
  covered_until: Generated<number | null>;
  compared_up_to: Generated<number | null>;
}

interface ArrivedPagesTable {
  walk_id: number;
  request: string;
  sent_at_ms: number;
  completed_at_ms: number;
  ending: 'eose' | 'eose-more';
  received: number;
  events: string;
}

interface EvidenceTable {
  walk_id: number;
  event_ref: number;
  query_id: number;
  present: Generated<number>;
  latest_query_id: Generated<number | null>;
}

interface FetchStateTable {
  account_id: number;
  relay_id: number;
  history_complete: number;
  forward_boundary: number | null;
}

interface InventoriesTable {
  walk_id: number;
  account_id: number;
  relay_id: number;
  covered_from: number | null;
  covered_until: number;
  first_observed_at_ms: number;
  last_observed_at_ms: number;
}

interface PresenceTable {
  relay_id: number;
  event_ref: number;
  present: number;
  observed_at_ms: number;
  query_id: number | null;
  kind: number | null;
  author: Generated<number | null>;
}

interface ExclusionsTable {
  event_ref: number;
  author: number;
  kind: number;
  reason: 'ephemeral' | 'never-sent' | 'deleted' | 'superseded' | 'protected';
}

interface DeliveriesTable {
  id: Generated<number>;
  run_id: number;
  relay_id: number;
  event_ref: number;
  kind: number;
  created_at: number;
  position: number;
  state: DeliveryState;
  reason: DeliveryReason | null;
  message: string | null;
  duplicate: Generated<number>;
  lasting: Generated<number>;
  answered: Generated<number>;
  attempts: Generated<number>;
  looks: Generated<number>;
  sent_at_ms: number | null;
  verified_at_ms: number | null;
}

interface DeliveryStepsTable {
  id: Generated<number>;
  delivery_id: number;
  type: DeliveryStep['type'];
  at_ms: number;
  completed_at_ms: number | null;
  outcome: DeliveryStep['outcome'];
  message: string | null;
  query_id: number | null;
}

interface LegacySourcesTable {
  id: Generated<number>;
  file: string | null;
  fingerprint: string | null;
  state: LegacySource['state'];
  total: number;
  done: Generated<number>;
  cursor_table: string | null;
  cursor_row: number | null;
  copy: string | null;
  stopped_because: string | null;
  accounts_before: Generated<number>;
  started_at: number;
  finished_at: number | null;
}

interface LegacyCountsTable {
  source_id: number;
  table_name: string;
  before: number;
  carried: Generated<number>;
  merged: Generated<number>;
  aside: Generated<number>;
  information: Generated<number>;
}

interface LegacyRemarksTable {
  id: Generated<number>;
  source_id: number;
  table_name: string;
  row_key: string;
  problem: LegacyProblem;
  detail: string;
  outcome: LegacyRemark['outcome'];
  row_json: string;
}

interface LegacyCoverageLinesTable {
  account_id: number;
  relay_id: number;
  status: string;
  oldest: number | null;
  newest: number | null;
  event_count: number;
  updated_at: number | null;
  source_id: number;
}

interface LegacyCheckpointsTable {
  id: Generated<number>;
  source_id: number;
  operation_id: string;
  account_id: number;
  status: LegacyCheckpointStatus;
  window_limit: number;
  completed_windows: number;
  events_seen: number;
  windows: string;
  started_at: number | null;
  stopped_at: number | null;
  run_id: number | null;
  decided_at: number | null;
}

interface LegacyOperationsKeptTable {
  source_id: number;
  operation_id: string;
  account_id: number;
  type: string;
  status: string;
  settings: string;
  started_at: number | null;
  finished_at: number | null;
  error: string | null;
}
