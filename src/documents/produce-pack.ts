import { type DsarPackInput, packDeadline, packParameters, packReference } from '../../reports/dsar-pack/input.ts';
import { produceDsarPack } from '../../reports/dsar-pack/pack.ts';
import type { CaseReading } from '../cases/deps.ts';
import { loadPackCase } from '../cases/load-pack-case.ts';
import type { Readiness } from '../cases/readiness.ts';
import type { DocumentDeps, RegisteredDocument } from './deps.ts';
import { type FrameRequest, frameOf, type InvalidTime, madeBefore, type UnknownSource } from './frame.ts';
import { registerDocument } from './register.ts';

/** The pack of one case, asked for by someone. */
export interface PackRequest extends FrameRequest {
  readonly caseId: string;
  readonly actor: string;
}

export type PackOutcome =
  | ({
      readonly outcome: 'produced';
      readonly disclosure: DsarPackInput['disclosure'];
      /** What the case still lacks: the pack can be looked at before, and says so. */
      readonly readiness: Readiness;
    } & RegisteredDocument)
  | { readonly outcome: 'unknown-case'; readonly caseId: string }
  | InvalidTime
  | UnknownSource;

/** Produces the ZIP that answers a case and registers it. Errors: as {@link import('./produce-report.ts').produceReport}. */
export async function producePack(
  deps: DocumentDeps & { readonly cases: CaseReading },
  request: PackRequest,
  signal?: AbortSignal,
): Promise<PackOutcome> {
  const { caseId, actor } = request;
  await deps.catchUp();
  const row = await deps.read.selectFrom('cases').select('source').where('case_id', '=', caseId).executeTakeFirst();
  if (row === undefined) return { outcome: 'unknown-case', caseId };
  const { asOf } = request;
  const asked = { source: row.source, name: 'dsar-pack', format: 'zip', caseId };
  const before = asOf === undefined ? null : await madeBefore(deps, { ...asked, asOf }, {});
  const frame = await frameOf(deps, row.source, { asOf, madeAt: request.madeAt ?? before ?? undefined });
  if ('outcome' in frame) return frame;
  const found = await loadPackCase(deps.cases, caseId, frame.asOf, frame.generatedAt);
  if (found === null) return { outcome: 'unknown-case', caseId };
  const { view, disclosure, match, identity, systems, readiness } = found;
  const input: DsarPackInput = {
    ...frame,
    case: view.row,
    deadline: packDeadline(view.deadline),
    disclosure,
    match: { status: match.status, subjects: match.subjects },
    identity,
    systems,
    evidenceFolder: deps.evidenceFolder,
  };
  const facts = {
    actor,
    reference: packReference(input),
    name: 'dsar-pack',
    format: 'zip',
    asOf: input.asOf,
    caseId,
    parameters: packParameters(input),
  };
  const registered = await registerDocument(deps, row.source, facts, produceDsarPack(input), signal);
  return { outcome: 'produced', disclosure, readiness, ...registered };
}
