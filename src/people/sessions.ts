import { randomBytes } from 'node:crypto';
import type { Insertable } from 'kysely';
import { type Clock, isoNow } from '../core/clock.ts';
import type { Role } from '../core/roles.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { hmacSha256 } from '../crypto/hash.ts';
import type { InstanceKeys } from '../crypto/keys.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Tables } from '../store/schema.ts';
import type { Store, StoreTransaction } from '../store/store.ts';
import { readCurrentSource } from './current-source.ts';

/** What accounts, links and sessions need. */
export interface PeopleDeps {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly keys: { readonly instance: InstanceKeys };
  readonly clock: Clock;
}

/** Hours after which a session ends, even if it is used: the limit of NIST SP 800-63B-4 §2.2.3 for AAL2. */
const SESSION_HOURS = 24;
/** Milliseconds without use after which a session ends: the limit of the same section. */
const IDLE_MS = 60 * 60_000;
/** The last use is recorded to the minute, to avoid writing a row for each request. */
const LAST_USE_MS = 60_000;
/** Days for which the account of an ended session is remembered, for forms that were open when it ended. */
export const ENDED_DAYS = 7;
const ID_BYTES = 32;
const idPattern = /^[A-Za-z0-9_-]{43}$/;

export interface NewSession {
  /** Only for the cookie: only its HMAC is stored. */
  readonly id: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

/** Who is signed in, and what they may do. */
export interface Session {
  /** The name used in ledger entries. */
  readonly officer: string;
  /** The name used on pages. */
  readonly name: string;
  /** Null: signed in by a one-time sign-in link, which counts as an owner. */
  readonly personId: string | null;
  readonly role: Role;
  /** Slugs of the sources that they may see; null: all. */
  readonly sources: readonly string[] | null;
  /** Slug of the source that the person works on (current-source.ts); null: on all. */
  readonly current: string | null;
  /** Identifies the session without giving access; forms are bound to it. */
  readonly handle: string;
}

/** The details of opening a session. */
export interface Opening {
  readonly officer: string;
  readonly personId: string | null;
  readonly way: string;
  readonly browser: string;
}

/** Generates a session that ends within a day, and its database row. */
export function newSession(
  deps: Pick<PeopleDeps, 'keys'>,
  { officer, personId, way, browser }: Opening,
  now: string,
): { readonly session: NewSession; readonly row: Insertable<Tables['sessions']> } {
  const expiresAt = new Date(Date.parse(now) + SESSION_HOURS * 3_600_000).toISOString();
  const id = randomBytes(ID_BYTES).toString('base64url');
  const row = {
    id_hash: idHash(deps, id),
    officer,
    person_id: personId,
    way,
    browser: browser.slice(0, 100),
    created_at: now,
    expires_at: expiresAt,
    last_used_at: null,
  };
  return { session: { id, expiresAt }, row };
}

/** Stores a new session and deletes those that ended long ago. */
export async function keepSession(tx: StoreTransaction, row: Insertable<Tables['sessions']>): Promise<void> {
  const before = new Date(Date.parse(row.created_at) - ENDED_DAYS * 86_400_000).toISOString();
  await tx.query.deleteFrom('sessions').where('expires_at', '<', before).execute();
  await tx.insertMany('sessions', [row]);
}

/**
 * The session of a cookie; null if there is none, it has ended, or its person was disabled. Role and sources are
 * current. `isUse`: whether a person caused the request, so that the session is not idle.
 */
export async function findSession(
  deps: Pick<PeopleDeps, 'store' | 'keys' | 'clock'>,
  id: string | undefined,
  isUse = true,
): Promise<Session | null> {
  if (id === undefined || !idPattern.test(id)) return null;
  const hash = idHash(deps, id);
  const now = isoNow(deps.clock);
  const row = await deps.store.read
    .selectFrom('sessions as s')
    .leftJoin('people as p', 'p.person_id', 's.person_id')
    .select(['s.officer', 's.person_id', 'p.person_id as found', 'p.name', 'p.role', 'p.sources', 'p.disabled_at'])
    .select(['s.created_at', 's.last_used_at'])
    .where('s.id_hash', '=', hash)
    .where('s.expires_at', '>', now)
    .executeTakeFirst();
  if (row === undefined) return null;
  const lastUsed = row.last_used_at ?? row.created_at;
  if (now >= idleAt(lastUsed)) return null;
  if (isUse) await noteUse(deps, hash, lastUsed, now);
  const handle = hash.toString('hex');
  const { officer } = row;
  if (row.person_id === null) {
    const current = await readCurrentSource(deps.store, { personId: null, officer });
    return { officer, name: officer, personId: null, role: 'owner', sources: null, current, handle };
  }
  if (row.found === null || row.role === null || row.name === null || row.disabled_at !== null) return null;
  const { name, role } = row;
  const [personId, sources] = [row.found, slugsOf(row.sources)];
  const chosen = await readCurrentSource(deps.store, { personId, officer });
  const current = sources === null || sources.includes(chosen ?? '') ? chosen : null;
  return { officer: actorOf(personId, name), name, personId, role, sources, current, handle };
}

/** The account of a session, even if it has ended by itself; null: signed out, revoked, or not of an account. */
export async function findSender(
  deps: Pick<PeopleDeps, 'store' | 'keys'>,
  id: string | undefined,
): Promise<string | null> {
  if (id === undefined || !idPattern.test(id)) return null;
  const row = await deps.store.read
    .selectFrom('sessions')
    .select('person_id')
    .where('id_hash', '=', idHash(deps, id))
    .executeTakeFirst();
  return row?.person_id ?? null;
}

/** When a session ends that is not used again, ISO 8601 UTC. */
function idleAt(lastUsed: string): string {
  return new Date(Date.parse(lastUsed) + IDLE_MS).toISOString();
}

/** Pages must be shown even if nothing can be written. */
async function noteUse({ store }: Pick<PeopleDeps, 'store'>, hash: Buffer, before: string, now: string): Promise<void> {
  if (Date.parse(now) - Date.parse(before) < LAST_USE_MS) return;
  await store
    .transaction(({ query }) =>
      query.updateTable('sessions').set({ last_used_at: now }).where('id_hash', '=', hash).execute(),
    )
    .catch(() => undefined);
}

/** How entries name a person: by name, and by the id that never changes. */
export function actorOf(personId: string, name: string): string {
  return `${name} (${personId})`;
}

/** The slugs in a row of `people`; null: all sources. */
export function slugsOf(sources: string | null): readonly string[] | null {
  return sources === null ? null : (JSON.parse(sources) as string[]);
}

/** Ends a session, with an entry about it in the same commit. */
export async function closeSession(deps: PeopleDeps, session: Pick<Session, 'officer' | 'handle'>): Promise<void> {
  await appendAction(
    deps.ledger,
    INSTALLATION,
    { action: 'session.closed', actor: session.officer, detail: null },
    ['session-closed', session.handle],
    isoNow(deps.clock),
    async ({ query }) => {
      await query.deleteFrom('sessions').where('id_hash', '=', Buffer.from(session.handle, 'hex')).execute();
    },
  );
}

/** A person's open sessions, newest first. */
export async function listSessions(deps: Pick<PeopleDeps, 'store' | 'clock'>, personId: string) {
  const rows = await deps.store.read
    .selectFrom('sessions')
    .select(['id_hash', 'way', 'browser', 'created_at', 'expires_at', 'last_used_at'])
    .where('person_id', '=', personId)
    .where('expires_at', '>', isoNow(deps.clock))
    .orderBy('created_at', 'desc')
    .execute();
  return rows
    .map(({ id_hash, way, browser, created_at: openedAt, expires_at, last_used_at }) => {
      const usedAt = last_used_at ?? openedAt;
      const idle = idleAt(usedAt);
      const endsAt = idle < expires_at ? idle : expires_at;
      return { handle: id_hash.toString('hex'), way, browser, openedAt, endsAt, usedAt };
    })
    .filter(({ endsAt }) => endsAt > isoNow(deps.clock));
}

function idHash(deps: Pick<PeopleDeps, 'keys'>, id: string): Buffer {
  return hmacSha256(deps.keys.instance.session, Buffer.from(id));
}
