import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { isoNow } from '../core/clock.ts';
import { erasureReasonCodes } from '../core/erasure.ts';
import type { Source } from '../core/source.ts';
import { openSealed, sealBytes } from '../crypto/keys.ts';
import type { ControllerProfile } from '../law/profile.ts';
import { readSetting, removeSetting, writeSetting } from '../store/settings.ts';
import type { Query, StoreTransaction } from '../store/store.ts';
import { type ErasureChoice, periodKinds } from './choose.ts';
import type { ErasureDeps, ErasurePlan } from './plan.ts';

/** Days after which a proposal that no second person has approved is removed. */
export const PROPOSAL_DAYS = 14;

const choiceSchema: z.ZodType<ErasureChoice> = z.discriminatedUnion('by', [
  z.object({ by: z.literal('entries'), entries: z.array(z.string()) }),
  z.object({ by: z.literal('subject'), source: z.string(), identifier: z.string(), withCases: z.boolean() }),
  z.object({ by: z.literal('case'), caseId: z.string() }),
  z.object({
    by: z.literal('period'),
    source: z.string().nullable(),
    from: z.string().nullable(),
    to: z.string(),
    kinds: z.array(z.enum(periodKinds)),
  }),
]);

const proposalSchema = z.object({
  choice: choiceSchema,
  /** Digest of the confirmed plan ({@link digestOfPlan}): if the plan changes, it must be confirmed again. */
  digest: z.string(),
  reason: z.enum(erasureReasonCodes),
  law: z.string(),
  despite: z.array(z.string()).readonly(),
  officer: z.string(),
  /** The proposer’s account; null: signed in by a one-time link. */
  personId: z.string().nullable(),
  at: z.string(),
  needsSecond: z.boolean(),
  /** The second person, once they have agreed. */
  confirmedBy: z.string().nullable(),
});

/** An erasure confirmed on a page but not yet carried out: it waits for a second person, or for its job. */
export interface ErasureProposal extends z.infer<typeof proposalSchema> {
  /** Sixteen hex digits; becomes the id of the erasure. */
  readonly id: string;
  /** The source to which it is limited; null: any. */
  readonly source: string | null;
}

/** Dependencies for reading proposals. */
export interface ProposalReading {
  readonly store: Pick<ErasureDeps['store'], 'read'>;
  readonly keys: { readonly instance: { readonly rest: Uint8Array } };
}

export type ProposalDeps = Pick<ErasureDeps, 'store' | 'clock'> & Pick<ProposalReading, 'keys'>;

const PREFIX = 'erasure-proposal ';
const storedSchema = z.object({ source: z.string().nullable(), sealed: z.string() });

/** Stores a new proposal, encrypted at rest because it may name a person. Removed once carried out or withdrawn. */
export async function keepProposal(
  deps: ProposalDeps,
  proposal: Omit<ErasureProposal, 'id' | 'at'>,
): Promise<ErasureProposal> {
  const kept = { ...proposal, id: randomBytes(8).toString('hex'), at: isoNow(deps.clock) };
  const { name, value } = rowOf(deps, kept);
  await writeSetting(deps.store, name, value);
  return kept;
}

/**
 * Replaces a stored proposal by this one, which the caller then starts in the same transaction. False: it was withdrawn
 * or started meanwhile.
 */
export async function replaceProposal(
  tx: StoreTransaction,
  deps: Pick<ProposalDeps, 'keys'>,
  proposal: ErasureProposal,
): Promise<boolean> {
  const { name, value } = rowOf(deps, proposal);
  if (await isStarted(tx.query, proposal.id)) return false;
  const { numUpdatedRows } = await tx.query
    .updateTable('settings')
    .set({ value })
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

function rowOf({ keys }: Pick<ProposalDeps, 'keys'>, { id, source, ...rest }: ErasureProposal) {
  const name = `${PREFIX}${id}`;
  const sealed = sealBytes(keys.instance.rest, Buffer.from(JSON.stringify(rest)), name).toString('base64');
  return { name, value: JSON.stringify({ source, sealed }) };
}

/** Withdraws a proposal. False: there is none, or it was approved meanwhile. */
export function withdrawProposal({ store }: Pick<ProposalDeps, 'store'>, id: string): Promise<boolean> {
  return store.transaction(async ({ query }) => {
    if (await isStarted(query, id)) return false;
    const { numDeletedRows } = await query
      .deleteFrom('settings')
      .where('name', '=', `${PREFIX}${id}`)
      .executeTakeFirstOrThrow();
    return numDeletedRows === 1n;
  });
}

async function isStarted(query: Query, id: string): Promise<boolean> {
  const job = await query
    .selectFrom('jobs')
    .select('id')
    .where('kind', '=', 'erase')
    .where('job_key', '=', id)
    .executeTakeFirst();
  return job !== undefined;
}

/** Null: unknown id, or encrypted by another installation. */
export async function findProposal(deps: ProposalDeps, id: string): Promise<ErasureProposal | null> {
  const value = /^[0-9a-f]{16}$/.test(id) ? await readSetting(deps.store, `${PREFIX}${id}`) : null;
  return value === null ? null : opened(deps, id, value);
}

/** Every proposal, oldest first. */
async function listProposals(deps: ProposalReading): Promise<readonly ErasureProposal[]> {
  const rows = await stored(deps.store.read);
  return rows
    .flatMap(({ name, value }) => opened(deps, name.slice(PREFIX.length), value) ?? [])
    .sort((a, b) => (a.at < b.at ? -1 : 1));
}

/** The proposals not approved yet, oldest first. */
export async function listWaitingProposals(deps: ProposalReading): Promise<readonly ErasureProposal[]> {
  const proposals = await listProposals(deps);
  if (proposals.length === 0) return [];
  const ids = proposals.map(({ id }) => id);
  const started = await deps.store.read
    .selectFrom('jobs')
    .select('job_key')
    .where('kind', '=', 'erase')
    .where('job_key', 'in', ids)
    .execute();
  return proposals.filter(({ id }) => !started.some(({ job_key: key }) => key === id));
}

export async function removeProposal({ store }: Pick<ProposalDeps, 'store'>, id: string): Promise<void> {
  await removeSetting(store, `${PREFIX}${id}`);
}

/** Removes proposals that expired or can no longer be decrypted, unless their job is still known; returns how many. */
export async function removeOldProposals(deps: ProposalDeps): Promise<number> {
  const before = new Date(deps.clock().getTime() - PROPOSAL_DAYS * 86_400_000).toISOString();
  let removed = 0;
  for (const { name, value } of await stored(deps.store.read)) {
    const id = name.slice(PREFIX.length);
    const proposal = opened(deps, id, value);
    if (proposal !== null && proposal.at >= before) continue;
    if (await withdrawProposal(deps, id)) removed += 1;
  }
  return removed;
}

/** The source to which an erasure, proposed or done, is limited; null: any source, or unknown id. */
export async function sourceOfErasure(store: Pick<ErasureDeps['store'], 'read'>, id: string): Promise<string | null> {
  const job = await store.read
    .selectFrom('jobs')
    .select('payload')
    .where('kind', '=', 'erase')
    .where('job_key', '=', id)
    .executeTakeFirst();
  const value = job?.payload ?? (await readSetting(store, `${PREFIX}${id}`));
  return value === null ? null : z.object({ source: z.string().nullable() }).parse(JSON.parse(value)).source;
}

function stored(query: Query) {
  return query.selectFrom('settings').select(['name', 'value']).where('name', 'like', `${PREFIX}%`).execute();
}

function opened({ keys }: ProposalReading, id: string, value: string): ErasureProposal | null {
  const { source, sealed } = storedSchema.parse(JSON.parse(value));
  const plain = openSealed(keys.instance.rest, Buffer.from(sealed, 'base64'), `${PREFIX}${id}`);
  return plain === null ? null : { id, source, ...proposalSchema.parse(JSON.parse(plain.toString('utf8'))) };
}

/** SHA-256 of everything a plan erases, hex: ensures that exactly what was confirmed is erased. */
export function digestOfPlan({ entries, documents, files, rejected, suppress, needs, kept }: ErasurePlan): string {
  const parts = [
    entries.map(({ seq }) => seq),
    documents.map(({ documentId }) => documentId),
    [...files].sort(),
    [...rejected].sort((a, b) => a - b),
    suppress.map(({ source, subject }) => `${source} ${subject}`).sort(),
    needs.map(({ name }) => name).sort(),
    kept.flatMap(({ seqs }) => seqs),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Sources of a plan whose controller profile requires a second officer (`erasureNeedsSecondOfficer`). Throws UsageError for a profile with problems. */
export async function sourcesNeedingSecondOfficer(
  deps: {
    readonly sources: { findAny(slug: string): Source | null };
    readonly loadProfile: (source: Source | null) => Promise<ControllerProfile | null>;
  },
  { entries, suppress }: ErasurePlan,
): Promise<readonly string[]> {
  const needing: string[] = [];
  for (const slug of new Set([...entries, ...suppress].map(({ source }) => source)))
    if ((await deps.loadProfile(deps.sources.findAny(slug)))?.erasureNeedsSecondOfficer === true) needing.push(slug);
  return needing;
}
