import type { Selectable } from 'kysely';
import { isOpen } from '../cases/moves.ts';
import type { Source } from '../core/source.ts';
import { dateIn, earlierDate, startOfDay } from '../core/zoned-days.ts';
import { type ControllerProfile, type RetentionPeriod, retentionPeriodOf } from '../law/profile.ts';
import { type RegimeTable, regimeOf } from '../law/regime-table.ts';
import { chunksOf } from '../ledger/erase.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';
import { carryOut, type ErasureDone } from './erase.ts';
import { listHolds } from './holds.ts';
import { type ErasureDeps, type ErasurePlan, planErasure } from './plan.ts';

/** Kinds of data whose retention the controller may set, per profile (`retention`) and thus per source. */
const retentionKinds = ['deliveries', 'decisions', 'cases', 'packs', 'accessLog'] as const;
type RetentionKind = (typeof retentionKinds)[number];

interface Rule {
  /** What is kept, and when the period starts. */
  readonly what: string;
  readonly from: string;
  readonly ground: string;
}

/**
 * What is kept, from when, and why; the usual periods are in the controller profile. Proof is kept no longer than necessary (EDPB 05/2020 §107); California requires requests to be
 * kept for 24 months (11 CCR 7101).
 */
const retentionRules: Readonly<Record<RetentionKind, Rule>> = {
  deliveries: {
    what: 'consent deliveries that the consent log confirms',
    from: 'receipt',
    ground: 'the pulled row is the proof from then on (EDPB 05/2020 §107)',
  },
  decisions: {
    what: 'a visitor’s consent decisions on a banner',
    from: 'the end of the consent granted: the last decision, or its expiry',
    ground: 'proof of consent while it is relied on, then for claims (GDPR Art. 7(1), 17(3)(e))',
  },
  cases: {
    what: 'data subject requests and everything done about them',
    from: 'closing, or the last step after the answer',
    ground: 'proof of how requests were answered (GDPR Art. 5(2); 11 CCR 7101: at least 24 months)',
  },
  packs: {
    what: 'packs that answered requests; their hashes stay',
    from: 'the last download, otherwise the closing of the request',
    ground: 'delivery; a pack can be made again',
  },
  accessLog: {
    what: 'look-ups, views of records, and downloads at this source',
    from: 'when they happened',
    ground: 'tracing who saw what (GDPR Art. 5(1)(f), 32)',
  },
};

const CALIFORNIA = { months: 24 } as const;
const accessActions = ['consent.looked-up', 'record.viewed', 'document.downloaded', 'document.mailed'];

/** One kind of data at one source: how long it is kept, and what is due. */
export interface Retained {
  readonly source: string;
  readonly kind: RetentionKind;
  readonly what: string;
  readonly from: string;
  readonly ground: string;
  readonly period: RetentionPeriod;
  /** Whether the controller set it; otherwise it is the usual one. */
  readonly isSet: boolean;
  /** Data whose period started before this time is due; null: kept for ever. */
  readonly before: string | null;
  readonly due: DueItems;
}
interface DueItems {
  readonly seqs: readonly number[];
  readonly caseIds: readonly string[];
  readonly documentIds: readonly string[];
}

export interface RetentionDeps extends ErasureDeps {
  readonly timeZone: string;
  readonly regimes: RegimeTable;
  readonly listSources: () => readonly Source[];
  readonly loadProfile: (source: Source | null) => Promise<ControllerProfile | null>;
}

/**
 * For every source: how long each kind is kept, and what is due now. Data without a source (sign-ins, accounts) is
 * kept.
 */
export async function reviewRetention(deps: RetentionDeps, only: string | null = null): Promise<readonly Retained[]> {
  await deps.projector.catchUp();
  const sources = deps.listSources().filter(({ slug }) => only === null || slug === only);
  const reviewed: Retained[] = [];
  for (const source of sources) {
    const profile = await deps.loadProfile(source);
    for (const kind of retentionKinds) reviewed.push(await review(deps, source.slug, kind, profile));
  }
  return reviewed;
}

/** Retention under a profile, without looking at what is due. */
export function retentionUnder(
  profile: ControllerProfile | null,
): readonly Pick<Retained, 'kind' | 'what' | 'from' | 'ground' | 'period' | 'isSet'>[] {
  return retentionKinds.map((kind) => {
    const { what, from, ground } = retentionRules[kind];
    const isSet = profile?.retention?.[kind] !== undefined;
    return { kind, what, from, ground, period: retentionPeriodOf(profile, kind), isSet };
  });
}

async function review(
  deps: RetentionDeps,
  source: string,
  kind: RetentionKind,
  profile: ControllerProfile | null,
): Promise<Retained> {
  const { what, from, ground } = retentionRules[kind];
  const isSet = profile?.retention?.[kind] !== undefined;
  const period = retentionPeriodOf(profile, kind);
  const before = 'forEver' in period ? null : boundary(deps, period);
  const due = before === null ? nothing : await dueOf[kind](deps, source, before);
  return { source, kind, what, from, ground, period, isSet, before, due };
}

/** Days begin in the controller's time zone. */
function boundary({ clock, timeZone }: RetentionDeps, period: { days: number } | { months: number }): string {
  return startOfDay(earlierDate(dateIn(clock().toISOString(), timeZone), period), timeZone);
}

const nothing: DueItems = { seqs: [], caseIds: [], documentIds: [] };
type Finder = (deps: RetentionDeps, source: string, before: string) => Promise<DueItems>;

const dueOf: Readonly<Record<RetentionKind, Finder>> = {
  async deliveries({ store }, source, before) {
    const rows = await store.read
      .selectFrom('decision_history as told')
      .select(['told.seq', 'told.part'])
      .where('told.source', '=', source)
      .where('told.via', '=', 'webhook')
      .where('told.received_at', '<', before)
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('decision_history as pulled')
            .select('pulled.seq')
            .where('pulled.source', '=', source)
            .whereRef('pulled.decision_id', '=', 'told.decision_id')
            .where('pulled.via', '=', 'pull'),
        ),
      )
      .execute();
    return { ...nothing, seqs: await wholeEntries(store.read, rows) };
  },

  // While any consent is in force, its whole history is the proof.
  async decisions({ store, clock }, source, before) {
    const now = clock().toISOString();
    const pairs = await store.read
      .selectFrom('decisions')
      .select(['subject', 'banner_id', 'at', 'stands', 'expires_at'])
      .where('source', '=', source)
      .where('at', '<', before)
      .execute();
    const ended = pairs.filter(
      ({ stands, expires_at: expires }) => stands === '[]' || (expires !== null && expires < now && expires < before),
    );
    const due: EventRow[] = [];
    for (const { subject, banner_id: bannerId } of ended) {
      const own = store.read
        .selectFrom('decision_history')
        .select('decision_id')
        .where('source', '=', source)
        .where('subject', '=', subject)
        .where((eb) => (bannerId === '' ? eb('banner_id', 'is', null) : eb('banner_id', '=', bannerId)));
      const rows = await store.read
        .selectFrom('decision_history')
        .select(['seq', 'part'])
        .where('source', '=', source)
        .where('decision_id', 'in', own)
        .execute();
      due.push(...rows);
    }
    return { ...nothing, seqs: await wholeEntries(store.read, due) };
  },

  async cases(deps, source, before) {
    const rows = await deps.store.read
      .selectFrom('cases')
      .innerJoin('entries', 'entries.seq', 'cases.last_seq')
      .select(['case_id', 'state', 'closed_at', 'jurisdiction', 'entries.received_at'])
      .where('cases.source', '=', source)
      .execute();
    const floor = boundary(deps, CALIFORNIA);
    const caseIds = rows
      .filter(({ state, closed_at: closedAt, received_at: lastAt, jurisdiction }) => {
        const least = jurisdiction?.startsWith('US-CA') === true && floor < before ? floor : before;
        return !isOpen(state) && (closedAt ?? lastAt) < least;
      })
      .map((row) => row.case_id);
    const seqs: number[] = [];
    for (const chunk of chunksOf(caseIds))
      seqs.push(
        ...(await deps.store.read.selectFrom('case_history').select('seq').where('case_id', 'in', chunk).execute()).map(
          ({ seq }) => seq,
        ),
      );
    return { ...nothing, seqs, caseIds };
  },

  async packs({ store }, source, before) {
    const rows = await store.read
      .selectFrom('documents')
      .leftJoin('cases', 'cases.case_id', 'documents.case_id')
      .select((eb) => [
        'document_id',
        'documents.case_id',
        'cases.closed_at',
        eb
          .selectFrom('action_history')
          .select(({ fn }) => fn.max('action_history.received_at').as('at'))
          .whereRef('action_history.object', '=', 'documents.document_id')
          .where('action_history.action', '=', 'document.downloaded')
          .as('downloaded'),
      ])
      .where('documents.source', '=', source)
      .where('documents.name', '=', 'dsar-pack')
      .where('documents.erased_at', 'is', null)
      .execute();
    const holds = await listHolds(store.read);
    const isHeld = (caseId: string | null) =>
      holds.some(
        (hold) =>
          hold.about === null &&
          (hold.sourceSlug === null || hold.sourceSlug === source) &&
          (hold.caseId === null || hold.caseId === caseId),
      );
    const due = rows.filter((row) => ((row.downloaded ?? row.closed_at) || '9999') < before && !isHeld(row.case_id));
    return { ...nothing, documentIds: due.map((row) => row.document_id) };
  },

  async accessLog({ store }, source, before) {
    const rows = await store.read
      .selectFrom('action_history')
      .select('seq')
      .where('source', '=', source)
      .where('action', 'in', accessActions)
      .where('received_at', '<', before)
      .execute();
    return { ...nothing, seqs: rows.map(({ seq }) => seq) };
  },
};

type EventRow = Pick<Selectable<Tables['decision_history']>, 'seq' | 'part'>;

/** The entries of which everything is due: a delivery with several events is kept until all of them are. */
async function wholeEntries(read: Query, due: readonly EventRow[]): Promise<readonly number[]> {
  const parts = new Map<number, Set<number>>();
  for (const { seq, part } of due) parts.set(seq, (parts.get(seq) ?? new Set()).add(part));
  for (const chunk of chunksOf([...parts.keys()])) {
    const several = await read
      .selectFrom('delivery_history')
      .select(['seq', 'events'])
      .where('seq', 'in', chunk)
      .where('events', '>', 1)
      .execute();
    for (const { seq, events } of several) if ((parts.get(seq)?.size ?? 0) < events) parts.delete(seq);
  }
  return [...parts.keys()];
}

/** What would be erased at a source, without what holds and open requests protect. Null: nothing. */
export async function planRetention(
  deps: RetentionDeps,
  reviewed: readonly Retained[],
): Promise<{ readonly plan: ErasurePlan; readonly held: readonly string[] } | null> {
  let seqs = new Set(reviewed.flatMap(({ due }) => due.seqs));
  const documentIds = [...new Set(reviewed.flatMap(({ due }) => due.documentIds))];
  const held = new Set<string>();
  for (;;) {
    if (seqs.size + documentIds.length === 0) return null;
    const plan = await planErasure(deps, { by: 'retention', seqs, documentIds });
    const against = new Set([...plan.refusals.map(({ seq }) => seq), ...plan.needs.flatMap((need) => need.seqs)]);
    for (const { name } of plan.needs) held.add(name);
    if (against.size === 0) return { plan, held: [...held] };
    const left = new Set([...seqs].filter((seq) => !against.has(seq)));
    if (left.size === seqs.size)
      throw new Error(`retention cannot continue: ${JSON.stringify(plan.refusals.slice(0, 3))}`);
    seqs = left;
  }
}

export interface RetentionRun {
  readonly source: string;
  readonly erased: ErasureDone | null;
  /** Holds and open requests that kept something. */
  readonly held: readonly string[];
}

/**
 * Erases what is due at every source whose controller profile has the part `retention`; at other sources nothing is
 * erased automatically. `officer`: `schedule`, or the person who ran it. Idempotent.
 */
export async function runRetention(
  deps: RetentionDeps,
  officer: string,
  only: string | null = null,
): Promise<readonly RetentionRun[]> {
  const runs: RetentionRun[] = [];
  for (const source of deps.listSources().filter(({ slug }) => only === null || slug === only)) {
    const profile = await deps.loadProfile(source);
    if (profile?.retention === undefined) continue;
    const planned = await planRetention(deps, await reviewRetention(deps, source.slug));
    if (planned === null) {
      runs.push({ source: source.slug, erased: null, held: [] });
      continue;
    }
    const law = profile.homeRegime ?? regimeOf(deps.regimes, profile.country ?? '')?.id ?? 'eu-gdpr';
    const decision = { officer, confirmedBy: null, reason: 'retention' as const, law, despite: [] };
    const done = await carryOut(deps, planned.plan, decision);
    if (done.outcome === 'refused') throw new Error(done.problems.join(' '));
    const { outcome: _, ...erased } = done;
    runs.push({ source: source.slug, erased, held: planned.held });
  }
  return runs;
}
