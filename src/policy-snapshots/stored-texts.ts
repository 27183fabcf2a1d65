import { formatPatch, type StructuredPatch, structuredPatch } from 'diff';
import type { Selectable } from 'kysely';
import { readPolicyText, withoutTokens } from '../policy-texts/policy-text.ts';
import { addSighting, sightingOf, type TextVersion, textAt } from '../policy-texts/text-versions.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';

/** A text with the policy of the first response that had it: the embed endpoint may show any policy of the type. */
export interface NamedVersion extends TextVersion {
  readonly policyId: string | null;
}

/** The successive texts of one target. */
export interface TargetTexts {
  /** `hosted:<policy id>` or `embed:<type>`. */
  readonly target: string;
  readonly versions: readonly NamedVersion[];
}

interface TextsQuery {
  readonly source: string;
  /** Null: only what the embed endpoint shows for the type. */
  readonly policyId: string | null;
  /** Null: the last known type of the policy. */
  readonly policyType?: string | null;
  /** Only what the ledger contained when it ended at this entry. */
  readonly asOf?: number;
}

/**
 * The fetched texts of a policy: those of its public page, then those of the embed endpoint for its type (which may
 * show another policy of that type). Each version has its hash (SHA-256), the entry that contains it, and the times
 * between which it appeared; `textAt` in policy-texts/text-versions.ts finds the text in force at a time. Targets never
 * fetched are left out.
 */
export async function loadPolicyTexts(read: Query, query: TextsQuery): Promise<readonly TargetTexts[]> {
  const type =
    query.policyType ?? (query.policyId === null ? null : await loadType(read, query.source, query.policyId));
  const targets = [
    ...(query.policyId === null ? [] : [`hosted:${query.policyId}`]),
    ...(type === null ? [] : [`embed:${type}`]),
  ];
  const texts: TargetTexts[] = [];
  for (const target of targets) {
    const versions = await loadVersions(read, query.source, target, query.asOf ?? null);
    if (versions.length > 0) texts.push({ target, versions });
  }
  return texts;
}

/** Folds the history, so that the result for an `asOf` never changes. */
async function loadVersions(
  read: Query,
  source: string,
  target: string,
  asOf: number | null,
): Promise<readonly NamedVersion[]> {
  let versions: readonly TextVersion[] = [];
  const named: (string | null)[] = [];
  let after = 0;
  for (;;) {
    const rows = await read
      .selectFrom('snapshot_history')
      .select(['seq', 'policy_id', 'text_sha256', 'body_seq', 'origin_from', 'origin_to', 'phase'])
      .where('source', '=', source)
      .where('target', '=', target)
      .where('seq', '>', after)
      .$if(asOf !== null, (query) => query.where('seq', '<=', asOf as number))
      .orderBy('seq')
      .limit(1000)
      .execute();
    for (const row of rows) {
      const before = versions.length;
      versions = addSighting(versions, sightingOf(row));
      if (versions.length > before) named.push(row.policy_id);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < 1000)
      return versions.map((version, place) => ({ ...version, policyId: named[place] ?? null }));
    after = last.seq;
  }
}

/** The type of a policy, as deliveries reported it; null: none did. */
export async function findReportedType(read: Query, source: string, policyId: string): Promise<string | null> {
  const reported = await read
    .selectFrom('policies')
    .select('policy_type')
    .where('source', '=', source)
    .where('policy_id', '=', policyId)
    .executeTakeFirst();
  return reported?.policy_type ?? null;
}

async function loadType(read: Query, source: string, policyId: string): Promise<string | null> {
  const reported = await findReportedType(read, source, policyId);
  if (reported !== null) return reported;
  const fetched = await read
    .selectFrom('snapshot_history')
    .select('policy_type')
    .where('source', '=', source)
    .where('target', '=', `hosted:${policyId}`)
    .where('policy_type', 'is not', null)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return fetched?.policy_type ?? null;
}

/** A stored response. */
export interface StoredText {
  readonly seq: number;
  readonly bytes: Buffer;
  readonly contentType: string | null;
  readonly bodySha256: string;
}

/** The bytes of a text by the entry that saw it, even if it was unchanged; null: no such snapshot, or it was erased. */
export async function loadStoredText(read: Query, source: string, seq: number): Promise<StoredText | null> {
  const row = await read
    .selectFrom('snapshot_history')
    .innerJoin('entries', 'entries.seq', 'snapshot_history.body_seq')
    .select(['entries.seq as seq', 'entries.body as body', 'content_type', 'body_sha256'])
    .where('snapshot_history.source', '=', source)
    .where('snapshot_history.seq', '=', seq)
    .executeTakeFirst();
  if (row === undefined || row.body === null) return null;
  return { seq: row.seq, bytes: row.body, contentType: row.content_type, bodySha256: row.body_sha256 };
}

/** What an entry of a source saw of a target; null: it is not a fetch of this source. */
export async function findFetch(
  read: Query,
  source: string,
  seq: number,
): Promise<{ readonly target: string; readonly textSha256: string | null } | null> {
  const row = await read
    .selectFrom('snapshot_history')
    .select(['target', 'text_sha256 as textSha256'])
    .where('source', '=', source)
    .where('seq', '=', seq)
    .executeTakeFirst();
  return row ?? null;
}

/** A change of a policy that a delivery reported. `at`: ISO 8601 UTC. */
export interface ReportedChange {
  readonly seq: number;
  readonly at: string;
  readonly change: string;
  readonly policyId: string;
}

/** Changes reported by deliveries while these texts of a target replaced one another, oldest first, the first 20. */
export async function loadReportedChanges(
  read: Query,
  source: string,
  target: string,
  possible: readonly TextVersion[],
): Promise<readonly ReportedChange[]> {
  const [first, last] = [possible[0], possible.at(-1)];
  if (first === undefined || last === undefined || possible.length === 1) return [];
  const name = target.slice(target.indexOf(':') + 1);
  return read
    .selectFrom('policy_history')
    .select(['seq', 'at', 'change', 'policy_id as policyId'])
    .where('source', '=', source)
    .where(target.startsWith('hosted:') ? 'policy_id' : 'policy_type', '=', name)
    .where('change', '!=', 'created')
    .where('at', '>=', first.lastSeen)
    .where('at', '<=', last.firstSeen)
    .orderBy('seq')
    .limit(20)
    .execute();
}

/** An entry that contains certain bytes of a target. */
interface SameBytes {
  readonly seq: number;
  readonly textSha256: string | null;
  readonly textForm: string | null;
}

/** The newest entry that contains these bytes and has not been erased; null: they have to be stored. */
export async function findSameBytes(
  read: Query,
  source: string,
  target: string,
  bodySha256: string,
): Promise<SameBytes | null> {
  const row = await read
    .selectFrom('snapshot_history')
    .innerJoin('entries', 'entries.seq', 'snapshot_history.seq')
    .select(['snapshot_history.seq as seq', 'text_sha256 as textSha256', 'text_form as textForm'])
    .where('snapshot_history.source', '=', source)
    .where('target', '=', target)
    .where('body_sha256', '=', bodySha256)
    .where('unchanged', '=', 0)
    .where('entries.body', 'is not', null)
    .orderBy('snapshot_history.seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** One side of a comparison, with its name in the diff. */
interface DiffSide {
  readonly name: string;
  readonly text: StoredText;
}

/** `diff`: unified, empty if the texts are equal. `too-different`: abandoned after five seconds. */
type TextDiff = { readonly outcome: 'diff'; readonly diff: string } | { readonly outcome: 'too-different' };

/** Maximum time for a comparison on the command line, milliseconds. */
const TIMEOUT_MS = 5000;

/**
 * Compares two stored texts line by line: the visible text, or with `raw` the stored responses (as UTF-8). Tokens in
 * addresses are left out in both cases.
 */
export function diffTexts(before: DiffSide, after: DiffSide, { raw }: { readonly raw: boolean }): TextDiff {
  const patch = patchOf(before, after, { raw, timeoutMs: TIMEOUT_MS });
  if (patch === null) return { outcome: 'too-different' };
  return { outcome: 'diff', diff: patch.hunks.length === 0 ? '' : formatPatch(patch).replace(/^=+\n/, '') };
}

function patchOf(
  before: DiffSide,
  after: DiffSide,
  { raw, timeoutMs }: { readonly raw: boolean; readonly timeoutMs: number },
): StructuredPatch | null {
  const [older, newer] = [before, after].map((side) => linesOf(side.text, raw)) as [string, string];
  const options = { context: 3, timeout: timeoutMs };
  return structuredPatch(before.name, after.name, older, newer, undefined, undefined, options) ?? null;
}

/** A part where two texts differ, with a few lines around it. */
interface DifferentStretch {
  /** Line in the newer text, from 1. */
  readonly line: number;
  /** Line by line, side by side; null: no line on this side. Equal texts: unchanged. */
  readonly rows: readonly { readonly older: string | null; readonly newer: string | null }[];
}

/** Compares the visible text of two stored texts for display side by side; null: too different to compare within `timeoutMs`. */
export function compareSideBySide(
  older: StoredText,
  newer: StoredText,
  timeoutMs: number,
): readonly DifferentStretch[] | null {
  const side = (text: StoredText) => ({ name: '', text });
  const patch = patchOf(side(older), side(newer), { raw: false, timeoutMs });
  return patch?.hunks.map(({ newStart, lines }) => ({ line: newStart, rows: pairLines(lines) })) ?? null;
}

/** Pairs the lines of a unified diff: each removed line with the line that replaced it. */
function pairLines(lines: readonly string[]): DifferentStretch['rows'] {
  const rows: { older: string | null; newer: string | null }[] = [];
  let [removed, added]: [string[], string[]] = [[], []];
  const flush = () => {
    for (let place = 0; place < Math.max(removed.length, added.length); place += 1)
      rows.push({ older: removed[place] ?? null, newer: added[place] ?? null });
    [removed, added] = [[], []];
  };
  for (const line of lines) {
    const text = line.slice(1);
    if (line.startsWith('-')) removed.push(text);
    else if (line.startsWith('+')) added.push(text);
    else if (line.startsWith(' ')) {
      flush();
      rows.push({ older: text, newer: text });
    }
  }
  flush();
  return rows;
}

/** A text as in the read model. */
export type TextRow = Selectable<Tables['policy_texts']>;

/** The texts of a target (`hosted:<policy id>`, `embed:<type>`) before a version, newest first, at most `limit`. */
export function loadTextPage(
  read: Query,
  { source, target, before, limit }: { source: string; target: string; before: number | null; limit: number },
): Promise<readonly TextRow[]> {
  let query = read.selectFrom('policy_texts').selectAll().where('source', '=', source).where('target', '=', target);
  if (before !== null) query = query.where('version', '<', before);
  return query.orderBy('version', 'desc').limit(limit).execute();
}

/** The text of a target that was in force at a time (ISO 8601 UTC). Reads three texts, however many there are. */
export async function findTextAt(read: Query, source: string, target: string, at: string) {
  const texts = read.selectFrom('policy_texts').selectAll().where('source', '=', source).where('target', '=', target);
  const newest = await texts.where('first_seen', '<=', at).orderBy('version', 'desc').limit(1).executeTakeFirst();
  const version = newest?.version ?? 0;
  const rows = await texts
    .where('version', '>=', version - 1)
    .where('version', '<=', version + 1)
    .orderBy('version')
    .execute();
  return textAt(
    rows.map((row) => ({ ...row, firstSeen: row.first_seen, lastSeen: row.last_seen })),
    at,
  );
}

/** The text seen by an entry, with its bytes; null: the entry contains no policy text of this source. */
export async function loadTextOfEntry(read: Query, source: string, seq: number) {
  const look = await read
    .selectFrom('snapshot_history')
    .select(['seq', 'target', 'text_sha256', 'body_seq', 'origin_to'])
    .where('source', '=', source)
    .where('seq', '=', seq)
    .where('what', '=', 'policy')
    .executeTakeFirst();
  if (look === undefined) return null;
  const text = await read
    .selectFrom('policy_texts')
    .selectAll()
    .where('source', '=', source)
    .where('target', '=', look.target)
    .where('first_seq', '<=', seq)
    .where('last_seq', '>=', seq)
    .where('text_sha256', look.text_sha256 === null ? 'is' : '=', look.text_sha256)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return { look, version: text ?? null, stored: await loadStoredText(read, source, seq) };
}

function linesOf({ bytes, contentType }: StoredText, raw: boolean): string {
  const text = raw
    ? withoutTokens(bytes.toString('utf8')).replace(/></g, '>\n<')
    : readPolicyText(bytes, contentType).lines.join('\n');
  return text.endsWith('\n') ? text : `${text}\n`;
}
