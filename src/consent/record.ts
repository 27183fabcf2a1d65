import { randomBytes } from 'node:crypto';
import { type ConsentRecord, consentRecordOf, sealedText } from '../../reports/consent-record.ts';
import { createTextCitation, loadPolicyTextIntervals } from '../../reports/policy-texts.ts';
import type { CheckpointToPrint } from '../../reports/report.ts';
import { timelineOf } from '../core/consent-timeline.ts';
import { verifierKeyOf } from '../crypto/checkpoint.ts';
import { sha256Hex } from '../crypto/hash.ts';
import type { ControllerProfile } from '../law/profile.ts';
import { appendAction } from '../ledger/append-action.ts';
import { UntrustedEntry } from '../ledger/cited.ts';
import { createProver, type Prover, proofFiles } from '../ledger/prove-entry.ts';
import { createHistory } from '../store/queries/history.ts';
import { createBannerCitation } from '../store/queries/history-banners.ts';
import {
  END_OF_TIME,
  findSubject,
  fromSoundEntries,
  type LookUpDeps,
  recordLookUp,
  type Untrusted,
} from './look-up.ts';

interface RecordRequest {
  readonly source: string;
  /** The id of a decision or of its record, or the number of one of its entries. */
  readonly id: string;
  readonly actor: string;
  readonly asOf: number;
  readonly profile: ControllerProfile | null;
  readonly checkpoint: CheckpointToPrint | null;
}

type RecordOutcome =
  | { readonly outcome: 'found'; readonly record: ConsentRecord; readonly recorded: number }
  | { readonly outcome: 'not-found' }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** What writing and sealing a record needs. */
interface RecordDeps extends LookUpDeps {
  readonly seal: () => Promise<unknown>;
}

/**
 * One decision as a consent record in the form of ISO/IEC TS 27560. Also recorded as a look-up; a separate entry
 * contains the hash of the record, which includes the proof of that entry.
 */
export async function loadConsentRecord(deps: RecordDeps, request: RecordRequest): Promise<RecordOutcome | Untrusted> {
  const answer = await fromSoundEntries(deps, request.asOf, (sound) => recordOf(sound, createProver(deps), request));
  if (answer.outcome !== 'found') return answer;
  try {
    return { ...answer, record: await sealRecord(deps, request.source, answer.record) };
  } catch (error) {
    if (error instanceof UntrustedEntry) return { outcome: 'untrusted', problem: error.message };
    throw error;
  }
}

async function sealRecord(deps: RecordDeps, source: string, record: ConsentRecord): Promise<ConsentRecord> {
  const salt = randomBytes(32).toString('hex');
  const sha256 = sha256Hex(Buffer.from(sealedText(record, salt)));
  // The record contains this entry. The entry of the look-up says who requested it.
  const action = { action: 'consent.record-sealed' as const, actor: 'program', sha256 };
  const { seq } = await appendAction(deps.ledger, source, action, [action.action, sha256], deps.clock().toISOString());
  await deps.seal();
  const proof = await createProver(deps)(seq);
  if (proof.outcome === 'unproven') throw new UntrustedEntry(seq, proof.sentence);
  if (proof.inclusion === null) throw new UntrustedEntry(seq, 'it could not be sealed');
  const { tlogProof, meta, body } = proofFiles(proof.entry, proof.inclusion, true);
  const seal = {
    salt,
    entry: seq,
    meta: meta?.toString('utf8') ?? '',
    body: body?.toString('utf8') ?? '',
    tlog_proof: tlogProof,
    verifier_key: verifierKeyOf(proof.inclusion.head.origin, deps.keys.verifying),
  };
  return { ...record, evidence: { ...record.evidence, seal } };
}

/** `prove` reads neighbours of an entry that the record does not cite. */
async function recordOf(deps: LookUpDeps, prove: Prover, request: RecordRequest): Promise<RecordOutcome> {
  const { source, id, asOf, actor } = request;
  const decisionId = await findDecision(deps, request);
  if (decisionId === null) return { outcome: 'not-found' };
  const found = await findSubject(deps, { source, identifier: decisionId, asOf });
  if ('outcome' in found) return found;
  const timeline = timelineOf(found.rows);
  const decision = timeline.find((one) => one.decisionId === decisionId);
  if (decision === undefined) return { outcome: 'not-found' };
  const recorded = await recordLookUp(deps, { source, identifier: id, actor, at: null }, found);
  const history = createHistory(deps.store.read);
  const scope = { source, asOf };
  const policyId = decision.rows.find(({ policy_id }) => policy_id !== null)?.policy_id ?? null;
  const texts =
    policyId === null
      ? []
      : await loadPolicyTextIntervals(history.textLooks(scope, new Set([policyId])), decision.at, END_OF_TIME);
  const deliveries = decision.rows.filter(({ via }) => via === 'webhook').map(({ seq }) => seq);
  const proofs = await proveEntries(prove, decision.rows, request.checkpoint?.size);
  const record = consentRecordOf({
    ...scope,
    decision,
    signatures: await history.signatures(scope, deliveries),
    citation: createTextCitation(texts)({ policy_id: policyId, at: decision.at }),
    banner: createBannerCitation(await history.bannerEvidence(scope))(decision),
    profile: request.profile,
    checkpoint: request.checkpoint,
    proofs,
  });
  return { outcome: 'found', record, recorded };
}

/** Proves entries under the checkpoint printed in the record, if that covers them. Throws {@link UntrustedEntry}. */
async function proveEntries(
  prove: Prover,
  rows: readonly { readonly seq: number }[],
  size: number | undefined,
): Promise<ReadonlyMap<number, string>> {
  const proofs = new Map<number, string>();
  for (const { seq } of rows) {
    const proof = await prove(seq, size ?? 'first');
    if (proof.outcome === 'unproven') throw new UntrustedEntry(seq, proof.sentence);
    if (proof.inclusion !== null) proofs.set(seq, proofFiles(proof.entry, proof.inclusion, false).tlogProof);
  }
  return proofs;
}

async function findDecision(deps: LookUpDeps, { source, id, asOf }: RecordRequest): Promise<string | null> {
  const given = id.trim();
  const rows = deps.store.read
    .selectFrom('decision_history')
    .select('decision_id')
    .where('source', '=', source)
    .where('seq', '<=', asOf)
    .orderBy('seq')
    .orderBy('part')
    .limit(1);
  const byId = await rows.where('decision_id', 'in', [given, `r:${given}`]).executeTakeFirst();
  if (byId !== undefined) return byId.decision_id;
  if (!/^\d{1,15}$/.test(given)) return null;
  const bySeq = await rows.where('seq', '=', Number(given)).executeTakeFirst();
  return bySeq?.decision_id ?? null;
}
