import type { OwnRegimes } from '../config/settings-files.ts';
import { type Action, actionSchema } from '../core/action.ts';
import type { Clock } from '../core/clock.ts';
import { StoreUnavailable } from '../core/errors.ts';
import { INSTALLATION, REGIMES } from '../core/vocabulary.ts';
import type { Entry } from '../crypto/entry.ts';
import { sha256Hex } from '../crypto/hash.ts';
import type { InstanceKeys } from '../crypto/keys.ts';
import type { RecordedRules, RecordedSince } from '../law/own-rules.ts';
import { createRegimeTable, type RegimeTable, regimeChanges } from '../law/regime-table.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { findEntry } from '../ledger/read-entries.ts';
import { diagnoseEntry } from '../ledger/verify/entry-fault.ts';
import type { Log } from '../log/log.ts';
import { loadFoldPosition } from '../projections/position.ts';
import type { Store } from '../store/store.ts';

/** The actor of entries that the program makes by itself. */
const PROGRAM = 'consent-ledger';
/** Differences of one regime that an entry names. */
const NAMED = 20;

interface OwnRegimesOptions {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly keys: Pick<InstanceKeys, 'append' | 'dedupe'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Null: the built-in rules apply. */
  readonly own: OwnRegimes | null;
}

type RegimesChanged = Extract<Action, { action: 'regimes.changed' }>;
interface Recorded {
  readonly seq: number;
  readonly at: string;
  readonly action: RegimesChanged;
}

/**
 * The deadline rules of an installation, and their entries: rules of its own are recorded before anything made with
 * them leaves, and wherever they are shown they name their entry.
 */
export async function createOwnRegimes({ store, ledger, keys, clock, log, own }: OwnRegimesOptions): Promise<{
  readonly regimes: RegimeTable;
  /**
   * Records the rules if they differ from the last recorded ones; once, however many processes start with them. If the
   * ledger accepts no entries, that is logged, and the next call tries again.
   */
  record(): Promise<void>;
}> {
  const changed = regimeChanges(own?.rules).map(({ id, differs, stated }) => ({
    id,
    sha256: sha256Hex(Buffer.from(stated, 'utf8')),
    differs: differs.length <= NAMED ? [...differs] : [...differs.slice(0, NAMED), `${differs.length - NAMED} more`],
  }));
  const sha256 = own?.sha256 ?? null;
  let recorded: RecordedRules = new Map();
  let isRecorded = false;

  function take(last: Recorded | null): void {
    recorded = new Map(changed.flatMap(({ id, ...rule }) => pairOf(id, sinceOf(last, { id, ...rule }))));
    isRecorded = last === null ? sha256 === null : isSame(last.action, { sha256, regimes: changed });
  }

  async function append(last: Recorded | null): Promise<void> {
    const at = clock().toISOString();
    const regimes = changed.map((rule) => ({ ...rule, since: sinceOf(last, rule) }));
    const basedOn = String(last?.seq ?? 0);
    const digest = sha256Hex(Buffer.from(JSON.stringify([sha256, regimes]), 'utf8'));
    await appendAction(
      ledger,
      INSTALLATION,
      { action: 'regimes.changed', actor: PROGRAM, sha256, regimes },
      ['regimes.changed', basedOn, digest],
      at,
    );
  }

  if (own !== null) take(await findLast(store, keys));
  return {
    regimes: createRegimeTable(own?.rules, () => recorded),
    async record() {
      if (isRecorded) return;
      try {
        const last = await findLast(store, keys);
        take(last);
        if (isRecorded) return;
        await append(last);
        take(await findLast(store, keys));
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        log.warn({ err: error }, 'the deadline rules of REGIMES_FILE could not be recorded yet');
      }
    },
  };
}

const pairOf = (id: string, since: RecordedSince | null) => (since === null ? [] : [[id, since] as const]);

/** Since when a rule has been the same; null: the last entry has another one, or none. */
function sinceOf(last: Recorded | null, { id, sha256 }: { readonly id: string; readonly sha256: string }) {
  const before = last?.action.regimes.find((rule) => rule.id === id && rule.sha256 === sha256);
  return last === null || before === undefined ? null : (before.since ?? { seq: last.seq, at: last.at });
}

function isSame(
  last: RegimesChanged,
  now: Pick<RegimesChanged, 'sha256'> & {
    readonly regimes: readonly { readonly id: string; readonly sha256: string }[];
  },
): boolean {
  const textOf = ({ sha256, regimes }: typeof now) =>
    JSON.stringify([sha256, regimes.map((rule) => [rule.id, rule.sha256])]);
  return textOf(last) === textOf(now);
}

/** The last entry about rules: of those not folded yet, or else as the read models list them. Entries that are altered count for nothing. */
async function findLast({ read }: Store, keys: OwnRegimesOptions['keys']): Promise<Recorded | null> {
  const folded = (await loadFoldPosition(read, 'projector'))?.seq ?? 0;
  const later = await read
    .selectFrom('entries')
    .select(['seq', 'meta'])
    .where('seq', '>', folded)
    .where('source', '=', INSTALLATION)
    .where('kind', '=', 'action')
    .orderBy('seq', 'desc')
    .execute();
  const listed = await read
    .selectFrom('action_history')
    .select('seq')
    .where('object', '=', REGIMES)
    .where('action', '=', 'regimes.changed')
    .where('source', '=', INSTALLATION)
    .orderBy('seq', 'desc')
    .execute();
  const unfolded = later.filter(({ meta }) => meta?.includes('"regimes.changed"') === true);
  for (const { seq } of [...unfolded, ...listed]) {
    const entry = await findEntry(read, seq);
    const found = entry === null ? null : recordedIn(entry, keys);
    if (found !== null) return found;
  }
  return null;
}

function recordedIn(entry: Entry, keys: OwnRegimesOptions['keys']): Recorded | null {
  if (diagnoseEntry(entry, keys) !== null || !Buffer.isBuffer(entry.body)) return null;
  const action = actionSchema.safeParse(JSON.parse(entry.body.toString('utf8'))).data;
  return action?.action === 'regimes.changed' ? { seq: entry.seq, at: entry.receivedAt, action } : null;
}
