import { type SnapshotMeta, snapshotMetaSchema } from '../policy-texts/snapshot.ts';
import { addSighting, sightingOf, type TextVersion } from '../policy-texts/text-versions.ts';
import type { Query } from '../store/store.ts';
import { historyColumns, joinKey, KeysBySource, storableText } from './columns.ts';
import { appendTo, type ProjectedEntry, type Projection, quarantineRows, type Row, replaceIn } from './projection.ts';

/**
 * Texts of policies as fetched: every fetch, and for each target its successive texts. Everything comes from the
 * entry's meta, which records what was found at the time; bodies are not read again.
 */
export const snapshots: Projection = {
  name: 'snapshots',
  tables: ['snapshot_history', 'policy_texts'],
  async fold(state, batch) {
    const history: Row<'snapshot_history'>[] = [];
    const unreadable: Row<'quarantine'>[] = [];
    for (const entry of batch) {
      if (entry.kind !== 'snapshot') continue;
      const parsed = snapshotMetaSchema.safeParse(entry.meta);
      if (parsed.success) history.push(historyRow(entry, parsed.data));
      else unreadable.push(fault(entry));
    }
    const texts = await foldTexts(state, history);
    return [appendTo('snapshot_history', history), replaceIn('policy_texts', texts), quarantineRows(unreadable)].filter(
      ({ rows }) => rows.length > 0,
    );
  },
};

async function foldTexts(state: Query, history: readonly Row<'snapshot_history'>[]): Promise<Row<'policy_texts'>[]> {
  const looks = history.filter(({ what }) => what === 'policy');
  if (looks.length === 0) return [];
  const keys = new KeysBySource();
  for (const { source, target } of looks) keys.add(source, target);
  const known = new Map<string, Row<'policy_texts'>[]>();
  for (const row of await state
    .selectFrom('policy_texts')
    .selectAll()
    .where(keys.where('target'))
    .orderBy('version')
    .execute()) {
    const key = joinKey(row.source, row.target);
    known.set(key, [...(known.get(key) ?? []), row]);
  }
  const touched = new Map<string, Row<'policy_texts'>>();
  for (const look of looks) {
    const key = joinKey(look.source, look.target);
    const rows = known.get(key) ?? [];
    const before = rows.map(versionOf);
    const after = addSighting(before, sightingOf(look));
    const next = after.map((version, place) =>
      version === before[place] ? (rows[place] as Row<'policy_texts'>) : textRow(look, version, rows[place]),
    );
    next.forEach((row, place) => {
      if (row !== rows[place]) touched.set(joinKey(key, String(row.version)), row);
    });
    known.set(key, next);
  }
  return [...touched.values()];
}

/** Reads a version from its row. */
function versionOf(row: Row<'policy_texts'>): TextVersion {
  return {
    version: row.version,
    textSha256: row.text_sha256,
    bodySeq: row.body_seq,
    firstSeq: row.first_seq,
    lastSeq: row.last_seq,
    notBefore: row.not_before,
    firstSeen: row.first_seen,
    lastSeen: row.last_seen,
    settled: row.settled === 1,
    sightings: row.sightings,
  };
}

/** What it says about the policy comes from the first sighting that said it. */
function textRow(
  look: Row<'snapshot_history'>,
  version: TextVersion,
  before: Row<'policy_texts'> | undefined,
): Row<'policy_texts'> {
  return {
    source: look.source,
    target: look.target,
    version: version.version,
    policy_type: before === undefined ? look.policy_type : before.policy_type,
    policy_id: before === undefined ? look.policy_id : before.policy_id,
    text_sha256: version.textSha256,
    body_seq: version.bodySeq,
    first_seq: version.firstSeq,
    last_seq: version.lastSeq,
    not_before: version.notBefore,
    first_seen: version.firstSeen,
    last_seen: version.lastSeen,
    settled: version.settled ? 1 : 0,
    sightings: version.sightings,
  };
}

function historyRow(entry: ProjectedEntry, meta: SnapshotMeta): Row<'snapshot_history'> {
  const text = (value: string | null) => (value === null ? null : storableText(value));
  return {
    ...historyColumns(entry),
    what: meta.what,
    fetch_id: meta.fetchId,
    why: meta.why,
    phase: meta.phase,
    target: storableText(meta.target),
    policy_type: text(meta.policyType),
    policy_id: text(meta.policyId),
    status: meta.status,
    outcome: meta.outcome,
    unchanged: meta.equals === null ? 0 : 1,
    url: meta.url,
    bytes: meta.bytes,
    body_sha256: meta.bodySha256,
    body_seq: meta.equals?.seq ?? entry.seq,
    text_sha256: meta.textSha256,
    text_form: meta.textForm,
    content_type: text(meta.headers.contentType),
    date_header: text(meta.headers.date),
    age: meta.headers.age,
    etag: text(meta.headers.etag),
    origin_from: meta.originFrom,
    origin_to: meta.originTo,
    findings: meta.findings === null ? null : JSON.stringify(meta.findings),
  };
}

function fault(entry: ProjectedEntry): Row<'quarantine'> {
  return {
    seq: entry.seq,
    source: entry.source,
    event: 'snapshot',
    reason: 'not a snapshot that this version knows',
    received_at: entry.receivedAt,
  };
}
