import { z } from 'zod';
import type { EntryKind } from '../core/vocabulary.ts';
import { knownEvents } from '../core/vocabulary.ts';
import type { Query } from '../store/store.ts';

/**
 * What a SIEM receives about an entry: numbers, hashes and references that identify nobody. No content, sender headers,
 * personal names or addresses. `dedupeKey` is keyed and `commitment` salted, so neither lets anyone guess the content.
 */
export interface LedgerEvent {
  readonly seq: number;
  readonly receivedAt: string;
  readonly source: string;
  readonly sourceSeq: number;
  readonly kind: EntryKind;
  /**
   * For a delivery: its event if the service documents it, otherwise `other`. For an action: its name. For a call:
   * `generate.intent`, …
   */
  readonly name: string | null;
  /** Who acted: an account's id (`person`), `command-line`, `schedule`, …; null if nobody did, or if the name was only typed. */
  readonly actor: string | null;
  /** The outcome: the verdict on a signature, or how a call or fetch ended. */
  readonly outcome: string | null;
  /** Ids or hashes of what it concerns. */
  readonly refs: Readonly<Record<string, string | number>>;
  readonly bytes: number | null;
  readonly erased: boolean;
  /** Lower-case hex. */
  readonly dedupeKey: string;
  readonly commitment: string;
  readonly leafHash: string;
}

const PAGE = 500;

/** The events of the entries after `after` up to `upTo`, in order of seq, page by page. `source`: only this one. */
export async function* readEvents(
  read: Query,
  { after, upTo, source }: { readonly after: number; readonly upTo: number; readonly source: string | undefined },
): AsyncGenerator<readonly LedgerEvent[]> {
  for (let last = after; ; ) {
    let query = read
      .selectFrom('entries')
      .leftJoin('delivery_history', 'delivery_history.seq', 'entries.seq')
      .select((eb) => [
        'entries.seq',
        'entries.source',
        'entries.source_seq',
        'entries.kind',
        'entries.received_at',
        'entries.meta',
        'entries.dedupe_key',
        'entries.commitment',
        'entries.leaf_hash',
        'delivery_history.event',
        eb.fn<number | null>('length', ['entries.body']).as('bytes'),
        // Reads bodies only of entries that this program wrote itself, for the ids in them.
        eb
          .case()
          .when('entries.kind', 'in', ['action', 'erasure'])
          .then(eb.ref('entries.body'))
          .else(null)
          .end()
          .as('body'),
      ])
      .where('entries.seq', '>', last)
      .where('entries.seq', '<=', upTo)
      .orderBy('entries.seq')
      .limit(PAGE);
    if (source !== undefined) query = query.where('entries.source', '=', source);
    const rows = await query.execute();
    const end = rows.at(-1);
    if (end === undefined) return;
    yield rows.map((row) => ({
      seq: row.seq,
      receivedAt: row.received_at,
      source: row.source,
      sourceSeq: row.source_seq,
      kind: row.kind,
      ...tellOf(row.kind, fieldsOf(row.meta), fieldsOf(row.body), row.event),
      bytes: row.bytes === null ? null : Number(row.bytes),
      erased: row.meta === null,
      dedupeKey: row.dedupe_key.toString('hex'),
      commitment: row.commitment.toString('hex'),
      leafHash: row.leaf_hash.toString('hex'),
    }));
    last = end.seq;
  }
}

type Told = Pick<LedgerEvent, 'name' | 'actor' | 'outcome' | 'refs'>;
type Fields = Readonly<Record<string, unknown>>;

function tellOf(kind: EntryKind, meta: Fields, body: Fields, event: string | null): Told {
  const nothing: Told = { name: null, actor: null, outcome: null, refs: {} };
  switch (kind) {
    case 'webhook':
      return {
        ...nothing,
        name: (knownEvents as readonly unknown[]).includes(event) ? event : 'other',
        outcome: word(meta['verdict']),
        refs: refsOf(meta, ['secretId']),
      };
    case 'consent-log':
      return { ...nothing, name: 'consent-log.row', refs: refsOf(meta, ['runId', 'page']) };
    case 'call': {
      const phase = word(meta['call']);
      const operation = word(meta['operation']);
      return {
        name: [operation, phase].filter((part) => part !== null).join('.') || null,
        actor: who(meta['actor']),
        outcome: word(meta['outcome']),
        refs: refsOf(meta, ['requestId', 'policyId', 'planId', 'status']),
      };
    }
    case 'snapshot':
      return {
        ...nothing,
        name: word(meta['what']),
        outcome: word(meta['outcome']),
        refs: refsOf(meta, ['fetchId', 'policyId', 'status', 'bodySha256']),
      };
    case 'action':
      return {
        ...nothing,
        name: word(meta['action']),
        actor: who(meta['actor']),
        refs: refsOf(body, [
          'caseId',
          'basedOn',
          'move',
          'documentId',
          'sha256',
          'asOf',
          'personId',
          'handOverId',
          'holdId',
        ]),
      };
    case 'erasure':
      return {
        ...nothing,
        name: word(body['by']),
        outcome: word(body['reason']),
        refs: {
          ...refsOf(body, ['id', 'law']),
          ...countOf('entries', body['seqs']),
          ...countOf('documents', body['documents']),
        },
      };
  }
}

const fieldsSchema = z.record(z.string(), z.unknown());

function fieldsOf(bytes: Buffer | null): Fields {
  if (bytes === null) return {};
  try {
    return fieldsSchema.parse(JSON.parse(bytes.toString('utf8')));
  } catch {
    return {};
  }
}

/** A word of our own vocabulary or an id: printable ASCII without spaces, and not an e-mail address. */
function word(value: unknown): string | null {
  return typeof value === 'string' && /^[\w.:/-]{1,128}$/.test(value) ? value : null;
}

function refsOf(fields: Fields, names: readonly string[]): Record<string, string | number> {
  const refs: Record<string, string | number> = {};
  for (const name of names) {
    const value = fields[name];
    const told = typeof value === 'number' ? value : word(value);
    if (told !== null) refs[name] = told;
  }
  return refs;
}

function countOf(name: string, list: unknown): Record<string, number> {
  return Array.isArray(list) ? { [name]: list.length } : {};
}

const programs = new Map([
  ['operator (command line)', 'command-line'],
  ['assistant (MCP, command line)', 'mcp'],
  ['sign-in page', 'sign-in-page'],
  ['schedule', 'schedule'],
  ['program', 'program'],
  ['service', 'service'],
]);

/** Extracts ids without names: entries name people as `Olga Officer (<id>)`, and with an API token `… by token <id>`. */
function who(actor: unknown): string | null {
  if (typeof actor !== 'string') return null;
  const program = programs.get(actor);
  if (program !== undefined) return program;
  const [, person, token] = PERSON.exec(actor) ?? [];
  if (person === undefined) return null;
  return token === undefined ? person : `${person}/${token}`;
}

const PERSON = /\((p-[0-9a-f]{8,64})\)(?: by token ([\w-]{1,64}))?$/;

/** Facility 13 (log audit) of RFC 5424, and its severities. */
const AUDIT = 13 * 8;
const [WARNING, NOTICE, INFORMATIONAL] = [4, 5, 6];

/** The event as an RFC 5424 message: one ASCII line with the JSON of the event as MSG. `host`: the sender. */
export function syslogLine(event: LedgerEvent, host: string): string {
  const severity = event.name === 'session.refused' ? WARNING : event.kind === 'erasure' ? NOTICE : INFORMATIONAL;
  const name = host.replaceAll(/[^\x21-\x7e]/g, '').slice(0, 255) || '-';
  return `<${AUDIT + severity}>1 ${event.receivedAt} ${name} consent-ledger - ${event.kind} - ${asciiJson(event)}`;
}

/**
 * A message as sent over TCP or TLS: prefixed with its length in bytes and a space (RFC 6587, 3.4.1; RFC 5425, 4.3). It
 * must be ASCII.
 */
export function octetCounted(line: string): string {
  return `${line.length} ${line}`;
}

/** JSON in pure ASCII, which every syslog reader accepts. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
