import {
  certificateParameters,
  certificateReference,
  type CertificateFormat,
  type ErasureFacts,
  produceCertificate,
} from '../../reports/erasure-certificate.ts';
import {
  type DocumentDeps,
  frameOf,
  type RefusedDocument,
  refusing,
  type RegisteredDocument,
  type UnknownSource,
} from '../documents/frame.ts';
import { registerDocument } from '../documents/register.ts';
import type { ErasureDecision, ErasureDone } from './erase.ts';
import type { ErasurePlan } from './plan.ts';

const scopes: Readonly<Record<ErasurePlan['by'], string>> = {
  entries: 'single records',
  subject: 'the records of one person',
  case: 'one request, with everything that was done about it',
  period: 'records of a period',
  retention: 'records whose retention ended',
};

/** Kinds of entries in words of a reader who knows no ledger. */
const kindWords: Readonly<Record<string, string>> = {
  'webhook consent.recorded': 'consent decisions, as the service reported them',
  'webhook consent.updated': 'changes of consent, as the service reported them',
  'webhook consent.withdrawn': 'withdrawals, as the service reported them',
  'consent-log': 'rows of the service’s consent log',
  'action consent.looked-up': 'records of look-ups of the person',
  'action consent.withdrawn-by-request': 'withdrawals that were carried out on request',
  'action case.opened': 'requests, as they were recorded',
  'action case.moved': 'steps in handling requests',
  'action document.produced': 'records of documents that were made',
};

/** What a certificate says of an erasure that was just carried out. */
export function factsOf(
  plan: ErasurePlan,
  { officer, confirmedBy, reason, law }: ErasureDecision,
  { seqs, erasedAt }: ErasureDone,
  lawName: string,
): ErasureFacts {
  const counts = new Map<string, number>();
  const count = (what: string, n: number) => {
    if (n > 0) counts.set(what, (counts.get(what) ?? 0) + n);
  };
  for (const { kind, what } of plan.entries) {
    const name = kind === 'consent-log' || what === null ? kind : `${kind} ${what}`;
    count(kindWords[name] ?? (what?.startsWith('dsar.') ? 'requests, as the service reported them' : name), 1);
  }
  count('documents that held them', plan.documents.length);
  count('files of banner evidence', plan.files.length);
  count('jobs', plan.jobs.length);
  count('deliveries that had been refused', plan.rejected.length);
  return {
    seqs,
    erasedAt,
    officer,
    confirmedBy,
    reason,
    law,
    lawName,
    scope: scopes[plan.by],
    erased: [...counts].map(([what, n]) => ({ what, count: n })),
    kept: plan.kept.map(({ what, why, seqs: of }) => ({ what, why, count: of.length })),
    residues: plan.residues.map(({ where, until }) => ({ where, until })),
    suppressed: plan.suppress.length > 0,
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
  const { source, erasure, format, actor } = request;
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
  return refusing(async () => ({
    outcome: 'produced',
    ...(await registerDocument(deps, source, facts, cited, produceCertificate(input))),
  }));
}
