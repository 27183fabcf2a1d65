import {
  type CertificateFormat,
  certificateParameters,
  certificateReference,
  type ErasureFacts,
  produceCertificate,
} from '../../reports/erasure-certificate.ts';
import type { Erasure, ErasureSummary } from '../core/erasure.ts';
import {
  type DocumentDeps,
  frameOf,
  type RefusedDocument,
  type RegisteredDocument,
  refusing,
  type UnknownSource,
} from '../documents/begin-document.ts';
import { registerDocument } from '../documents/register.ts';
import { listUncheckedErasures } from '../ledger/erase.ts';
import { createProver, type ProofOptions } from '../ledger/prove-entry.ts';

const scopes: Readonly<Record<Erasure['by'], string>> = {
  entries: 'single records',
  subject: 'the records of one person',
  case: 'one request, with everything done about it',
  period: 'records of a period',
  retention: 'records whose retention period ended',
};

type CertifiableErasure =
  | { readonly facts: ErasureFacts; readonly source: string | null }
  | { readonly problem: string };

/**
 * The facts for a certificate of the last recorded erasure, or a sentence saying why there can be none. Its entries are
 * checked.
 */
export async function lastErasure(deps: ProofOptions, nameOf: (law: string) => string): Promise<CertifiableErasure> {
  const all = await listUncheckedErasures(deps.store.read);
  const last = all.findLast(({ summary }) => summary !== undefined);
  return last === undefined
    ? { problem: 'No certificate: the ledger records no erasure.' }
    : recordedErasure(deps, nameOf, last.id);
}

/** The same for the erasure with this id, in however many runs it was carried out. */
export async function recordedErasure(
  deps: ProofOptions,
  nameOf: (law: string) => string,
  id: string,
): Promise<CertifiableErasure> {
  const all = await listUncheckedErasures(deps.store.read);
  const parts = all.filter((one) => one.id === id && one.firstMadeAt === null);
  const [head] = parts;
  if (head?.summary === undefined) return { problem: 'No certificate: the ledger records no erasure.' };
  const prove = createProver(deps);
  for (const { seq } of parts) {
    const proof = await prove(seq);
    if (proof.outcome === 'unproven')
      return { problem: `No certificate: entry ${seq} cannot be relied on: ${proof.sentence}.` };
  }
  const { summary } = head;
  const erased = parts.reduce((sum, { seqs }) => sum + seqs.length, 0);
  if (erased !== summary.entries)
    return {
      problem: `No certificate: ${erased} of ${summary.entries} entries were erased when it was interrupted. Run the same erasure again with --yes and --certificate.`,
    };
  const entry = await deps.store.read
    .selectFrom('entries')
    .select('source')
    .where('seq', '=', head.seqs[0] ?? head.seq)
    .executeTakeFirst();
  const facts = erasureFactsOf(head, summary, {
    seqs: parts.map(({ seq }) => seq),
    erasedAt: head.receivedAt,
    lawName: nameOf(head.law),
    suppressed: head.suppress.length > 0,
  });
  return { facts, source: head.suppress[0]?.source ?? (head.seqs.length > 0 ? (entry?.source ?? null) : null) };
}

/** The facts that a certificate states about an erasure. */
export function erasureFactsOf(
  { officer, confirmedBy, reason, law, by }: Pick<Erasure, 'officer' | 'confirmedBy' | 'reason' | 'law' | 'by'>,
  { erased, kept, residues }: ErasureSummary,
  done: Pick<ErasureFacts, 'seqs' | 'erasedAt' | 'lawName' | 'suppressed'>,
): ErasureFacts {
  const { seqs, erasedAt, lawName, suppressed } = done;
  return {
    ...{ seqs, erasedAt, officer, confirmedBy, reason, law, lawName },
    ...{ scope: scopes[by], erased, kept, residues, suppressed },
  };
}

type Certified = ({ readonly outcome: 'produced' } & RegisteredDocument) | RefusedDocument | UnknownSource;

/** Makes the certificate and registers it as a document of the source. */
export async function produceErasureCertificate(
  deps: DocumentDeps,
  request: {
    readonly source: string;
    readonly erasure: ErasureFacts;
    readonly format: CertificateFormat;
    readonly actor: string;
  },
): Promise<Certified> {
  return refusing(() => makeCertificate(deps, request));
}

async function makeCertificate(
  deps: DocumentDeps,
  { source, erasure, format, actor }: Parameters<typeof produceErasureCertificate>[1],
): Promise<Certified> {
  const framed = await frameOf(deps, source, {});
  if ('outcome' in framed)
    return framed.outcome === 'invalid' ? { outcome: 'refused', problem: framed.problem } : framed;
  const { cited, ...frame } = framed;
  const input = { ...frame, erasure, format };
  const facts = {
    actor,
    reference: certificateReference(input),
    name: 'erasure-certificate',
    format,
    asOf: input.asOf,
    caseId: null,
    parameters: certificateParameters(input),
  };
  const registered = await registerDocument(deps, source, facts, cited, produceCertificate(input));
  return { outcome: 'produced', ...registered };
}
