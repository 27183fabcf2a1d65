import { onTestFinished } from 'vitest';
import type { RequestFact } from '../../receivers/dsar.ts';
import type { Occurred } from '../../receivers/occurred.ts';
import { applyMove, type CaseMoved, type CaseRow, openCaseFromRequest } from '../../src/cases/fold.ts';
import { type CaseView, type CaseWriting, viewCase } from '../../src/cases/view.ts';
import type { extendWithdrawals } from '../../src/cases/withdrawal.ts';
import type { SubjectRecipe } from '../../src/core/subject.ts';
import { createJobs } from '../../src/jobs/jobs.ts';
import { type ControllerProfile, profileSchema } from '../../src/law/profile.ts';
import { createRegimeTable, type RegimeTable } from '../../src/law/regime-table.ts';
import { createProjector } from '../../src/projections/run.ts';
import type { Store } from '../../src/store/store.ts';
import { rules } from '../projections/world.ts';
import { temporaryLedger } from '../temporary.ts';

export const RECEIVED = '2026-07-01T14:02:00.000Z';

export function profile(more: Record<string, unknown> = {}): ControllerProfile {
  return profileSchema.parse({
    name: 'Acme GmbH',
    country: 'DE',
    region: 'BE',
    otherSystems: [
      { id: 'crm', name: 'CRM' },
      { id: 'shop', name: 'Shop' },
    ],
    ...more,
  });
}

export function request(more: Partial<RequestFact> = {}): RequestFact {
  const occurred: Occurred = { at: RECEIVED, basis: 'payload', counts: true };
  return {
    type: 'request',
    requestId: 'r-1',
    kind: 'access',
    kindAsGiven: 'access',
    requesterName: 'Ada Lovelace',
    requesterEmail: 'ada@example.org',
    subject: null,
    jurisdiction: 'DE',
    language: 'de',
    message: null,
    occurred,
    ...more,
  };
}

/** A case as the fold opens it, to be moved without a ledger. */
export function openedCase(more: Partial<RequestFact> = {}): CaseRow {
  return openCaseFromRequest(request(more), { seq: 7, source: 'acme', receivedAt: '2026-07-01T14:03:00.000Z' }).row;
}

export function action(row: CaseRow, move: string, details: Record<string, unknown> = {}): CaseMoved {
  return {
    action: 'case.moved',
    actor: 'officer@acme.example',
    caseId: row.case_id,
    basedOn: row.version,
    move,
    details: details as CaseMoved['details'],
  };
}

/** Applies moves one after the other; fails on a refusal. */
export function moved(
  row: CaseRow,
  ...moves: readonly (readonly [string, Record<string, unknown>?, string?])[]
): CaseRow {
  let current = row;
  for (const [move, details = {}, recordedAt = '2026-07-02T09:00:00.000Z'] of moves) {
    const entry = { seq: current.last_seq + 1, source: current.source, receivedAt: recordedAt };
    const outcome = applyMove(current, action(current, move, details), entry);
    if (outcome.outcome === 'refused') throw new Error(outcome.reason);
    current = outcome.row;
  }
  return current;
}

export const regimes: RegimeTable = createRegimeTable();

export function view(row: CaseRow, more: { profile?: ControllerProfile | null; now?: string } = {}): CaseView {
  return viewCase(row, {
    regimes,
    timeZone: 'Europe/Berlin',
    profile: profile(),
    now: '2026-07-03T09:00:00.000Z',
    ...more,
  });
}

export interface CasesWorld {
  readonly deps: CaseWriting;
  readonly extending: Parameters<typeof extendWithdrawals>[0];
  readonly store: Store;
  /** Brings the read models up to the end of the ledger. */
  catchUp(): Promise<void>;
  setNow(iso: string): void;
}

/** Cases over a real ledger and store. */
export async function createCasesWorld(
  options: { profile?: ControllerProfile | null; recipe?: SubjectRecipe | null } = {},
): Promise<CasesWorld> {
  const { store, ledger } = await temporaryLedger();
  const projector = createProjector(rules(store));
  onTestFinished(() => projector.close());
  let now = '2026-07-03T09:00:00.000Z';
  const theProfile = options.profile === undefined ? profile() : options.profile;
  const catchUp = async () => {
    await projector.catchUp();
  };
  const deps: CaseWriting = {
    store,
    ledger,
    regimes,
    timeZone: 'Europe/Berlin',
    clock: () => new Date(now),
    jobs: createJobs({ store, clock: () => new Date(now) }),
    profileOf: () => theProfile,
    recipeOf: () => options.recipe ?? null,
  };
  return {
    store,
    deps,
    extending: { ...deps, catchUp },
    catchUp,
    setNow: (iso) => {
      now = iso;
    },
  };
}
