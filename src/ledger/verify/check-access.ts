import { type Action, ALL_ACCESS_ENDED, actionSchema } from '../../core/action.ts';
import type { Entry } from '../../crypto/entry.ts';
import { PEOPLES_SCHEDULES } from '../../jobs/schedule.ts';
import type { Query } from '../../store/store.ts';
import { entryFromRow } from '../read-entries.ts';
import type { Checking, Run } from './check-types.ts';
import { diagnoseEntry } from './entry-fault.ts';

/*
 * Accounts, API tokens, links of hand-overs and scheduled reports live in tables, because they change. Each change is an
 * entry, so what the entries say is compared with the tables: who may do what cannot be changed there in silence.
 */

/** What entries say of one thing: the last state before the reading began, and those that came while it went on. */
type Said = Map<string, string[]>;

/** A row that gives access, as the entries would have to say it. `sentence`: what is wrong if they do not. */
interface Found {
  readonly key: string;
  readonly state: string;
  /** It is a number, which may be higher. */
  readonly isLeast?: boolean;
  readonly sentence: string;
}

/** Compares the tables that decide about access with the entries about each change. */
export function beginAccess({ store, keys, highest, report }: Run): Checking {
  const said: Said = new Map();
  const note = createReader();
  /** The content of an erased entry is unknown, so a missing one proves nothing. */
  let isIncomplete = false;
  return {
    entry(entry) {
      isIncomplete ||= entry.kind === 'action' && entry.body === null;
      for (const [key, state] of note(entry)) said.set(key, [state]);
    },
    async end() {
      const rows = [
        ...(await accountsIn(store.read)),
        ...(await tokensIn(store.read)),
        ...(await handOversIn(store.read)),
        ...(await schedulesIn(store.read)),
      ];
      // What changes while the ledger is being read has its entry after the last one that is read.
      const later = store.read
        .selectFrom('entries')
        .selectAll()
        .where('seq', '>', highest)
        .where('kind', '=', 'action');
      for (const entry of (await later.execute()).map(entryFromRow))
        if (diagnoseEntry(entry, keys) === null)
          for (const [key, state] of note(entry)) said.set(key, [...(said.get(key) ?? []), state]);
      for (const row of rows)
        if (!isSaid(row, said.get(row.key), isIncomplete))
          report({ seq: null, fault: 'access-altered', sentence: row.sentence });
    },
  };
}

function isSaid(
  { state, isLeast = false }: Found,
  states: readonly string[] | undefined,
  isIncomplete: boolean,
): boolean {
  if (states === undefined) return isLeast || isIncomplete;
  return states.some((one) => (isLeast ? Number(state) >= Number(one) : state === one));
}

/** Both sides name the members in the same order. */
const textOf = (value: object) => JSON.stringify(value);
const GONE = 'gone';

/** Reads entries in their order; answers with what each says. */
function createReader(): (entry: Entry) => readonly (readonly [key: string, state: string])[] {
  const tokensOf = new Map<string, Set<string>>();
  const refused = new Map<string, number>();

  function person(action: Extract<Action, { personId: string; role: string }>) {
    const { personId, role, sources, detail } = action;
    const tokens = tokensOf.get(personId) ?? new Set();
    tokensOf.set(personId, tokens);
    const endTokens = () => [...tokens].map((id) => [`token ${id}`, GONE] as const);
    const account = [`account ${personId}`, textOf({ role, sources })] as const;
    switch (action.action) {
      case 'person.added':
        return [account, [`access ${personId}`, 'open'] as const];
      case 'person.changed':
        // With a detail: of the e-mail address. Its role is that of a moment before.
        return detail === null ? [account] : [];
      case 'person.enabled':
        return [[`access ${personId}`, 'open'] as const];
      case 'person.disabled':
        return [[`access ${personId}`, 'closed'] as const, ...endTokens()];
      case 'person.password-set':
        return detail?.endsWith(' link') === true || detail?.endsWith(ALL_ACCESS_ENDED) === true ? endTokens() : [];
      case 'person.link-created':
        return detail?.endsWith(ALL_ACCESS_ENDED) === true ? endTokens() : [];
      case 'person.token-created': {
        const [id = '', ...rest] = (detail ?? '').split(': ');
        tokens.add(id);
        return [[`token ${id}`, `${personId} ${rest.join(': ')}`] as const];
      }
      case 'person.token-revoked':
        return [[`token ${detail ?? ''}`, GONE] as const];
      default:
        return [];
    }
  }

  return (entry) => {
    const action = actionIn(entry);
    if (action === null) return [];
    if ('personId' in action && 'role' in action) return person(action);
    if ('handOverId' in action) {
      const { handOverId: id, caseId, documentId, sha256 } = action;
      switch (action.action) {
        case 'hand-over.created':
          return [
            [`hand-over ${id}`, textOf({ caseId, documentId, sha256, expiresAt: action.expiresAt ?? '' })],
            [`link ${id}`, 'open'],
          ];
        case 'hand-over.revoked':
          return [[`link ${id}`, 'closed']];
        case 'hand-over.code-refused':
          refused.set(id, (refused.get(id) ?? 0) + 1);
          return [[`failures ${id}`, String(refused.get(id))]];
        default:
          return [];
      }
    }
    if (!('scheduleId' in action)) return [];
    const { scheduleId, name, format, covers, cron, recipients } = action;
    const state = textOf({ source: entry.source, name, format, covers, cron, recipients });
    return [[`schedule ${scheduleId}`, action.action === 'document.schedule-added' ? state : GONE]];
  };
}

function actionIn({ kind, body }: Entry): Action | null {
  if (kind !== 'action' || !Buffer.isBuffer(body) || !MENTIONS.some((words) => body.includes(words))) return null;
  try {
    return actionSchema.safeParse(JSON.parse(body.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}

const MENTIONS = ['"personId"', '"handOverId"', '"scheduleId"'];

async function accountsIn(read: Query): Promise<readonly Found[]> {
  const rows = await read
    .selectFrom('people')
    .select(['person_id', 'name', 'role', 'sources', 'disabled_at'])
    .execute();
  return rows.flatMap(({ person_id: id, name, role, sources, disabled_at: disabledAt }): Found[] => [
    {
      key: `account ${id}`,
      state: textOf({ role, sources: parsed(sources) }),
      sentence: `the role or the sources of the account of ${JSON.stringify(name)} (${id}) in the database are not those that the ledger recorded`,
    },
    // One that is closed in the database gives no access.
    ...(disabledAt === null
      ? [
          {
            key: `access ${id}`,
            state: 'open',
            sentence: `the account of ${JSON.stringify(name)} (${id}) was disabled according to the ledger, but not in the database`,
          },
        ]
      : []),
  ]);
}

async function tokensIn(read: Query): Promise<readonly Found[]> {
  const rows = await read.selectFrom('api_tokens').selectAll().execute();
  return rows.map((row) => {
    const sources = parsed(row.sources);
    const reach = Array.isArray(sources) ? sources.join(', ') : 'every source of the person';
    return {
      key: `token ${row.token_id}`,
      state: `${row.person_id} ${row.scope}, ${reach}, until ${row.expires_at}`,
      sentence: `the API token ${row.token_id} in the database is not one that the ledger recorded, or was ended: its person, scope, sources or time differ`,
    };
  });
}

async function handOversIn(read: Query): Promise<readonly Found[]> {
  const rows = await read.selectFrom('hand_overs').selectAll().execute();
  const found: Found[] = [];
  for (const row of rows) {
    const { hand_over_id: id, case_id: caseId, document_id: documentId, sha256, expires_at: expiresAt } = row;
    found.push({
      key: `hand-over ${id}`,
      state: textOf({ caseId, documentId, sha256, expiresAt }),
      sentence: `the hand-over ${id} in the database has another case, document or end than the ledger recorded`,
    });
    found.push({
      key: `failures ${id}`,
      state: String(row.failures),
      isLeast: true,
      sentence: `more wrong codes were entered for the hand-over ${id} than the database counts`,
    });
    if (row.revoked_at === null)
      found.push({
        key: `link ${id}`,
        state: 'open',
        sentence: `the link of the hand-over ${id} was revoked according to the ledger, but not in the database`,
      });
  }
  return found;
}

async function schedulesIn(read: Query): Promise<readonly Found[]> {
  const rows = await read
    .selectFrom('schedules')
    .select(['name', 'cron', 'payload'])
    .where('kind', '=', PEOPLES_SCHEDULES)
    .execute();
  return rows.map(({ name: id, cron, payload }) => {
    const { source, name, format, covers, recipients } = { ...(parsed(payload) as Readonly<Record<string, unknown>>) };
    return {
      key: `schedule ${id}`,
      state: textOf({ source, name, format, covers, cron, recipients }),
      sentence: `the scheduled report ${id} in the database is not one that the ledger recorded, or was removed: its report, times or recipients differ`,
    };
  });
}

/** Null for null, and for text that is not JSON. */
function parsed(text: string | null): unknown {
  try {
    return text === null ? null : (JSON.parse(text) as unknown);
  } catch {
    return null;
  }
}
