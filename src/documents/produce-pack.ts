import { type DsarPackInput, packIdOf } from '../../reports/dsar-pack/input.ts';
import { produceDsarPack } from '../../reports/dsar-pack/pack.ts';
import type { CaseReading } from '../cases/deps.ts';
import { loadPackCase } from '../cases/load-pack-case.ts';
import type { Readiness } from '../cases/readiness.ts';
import type { DocumentDeps, RegisteredDocument } from './deps.ts';
import { frameOf, type UnknownSource } from './frame.ts';
import { registerDocument } from './register.ts';

/** The pack of one case, asked for by someone. */
export interface PackRequest {
  readonly caseId: string;
  readonly actor: string;
  /** Makes it again as it was when the ledger ended at this entry. */
  readonly asOf?: number | undefined;
}

export type PackOutcome =
  | ({
      readonly outcome: 'produced';
      readonly disclosure: DsarPackInput['disclosure'];
      /** What the case still lacks: the pack can be looked at before, and says so. */
      readonly readiness: Readiness;
    } & RegisteredDocument)
  | { readonly outcome: 'unknown-case'; readonly caseId: string }
  | UnknownSource;

/** Produces the ZIP that answers a case and registers it. Errors: as {@link import('./produce-report.ts').produceReport}. */
export async function producePack(
  deps: DocumentDeps & { readonly cases: CaseReading },
  request: PackRequest,
  signal?: AbortSignal,
): Promise<PackOutcome> {
  const { caseId, actor, asOf } = request;
  await deps.catchUp();
  const row = await deps.read.selectFrom('cases').select('source').where('case_id', '=', caseId).executeTakeFirst();
  if (row === undefined) return { outcome: 'unknown-case', caseId };
  const frame = await frameOf(deps, row.source, asOf);
  if ('outcome' in frame) return frame;
  const found = await loadPackCase(deps.cases, caseId, frame.asOf, frame.generatedAt);
  if (found === null) return { outcome: 'unknown-case', caseId };
  const { view, disclosure, match, identity, systems, readiness } = found;
  const input: DsarPackInput = {
    ...frame,
    case: view.row,
    deadline: view.deadline,
    disclosure,
    match: { status: match.status, subjects: match.subjects },
    identity,
    systems,
  };
  const facts = {
    actor,
    documentId: packIdOf(input),
    name: 'dsar-pack',
    format: 'zip',
    asOf: input.asOf,
    caseId,
    parameters: {
      source: row.source,
      disclosure,
      timeZone: input.timeZone,
      language: input.language,
      sample: input.sample,
    },
  };
  const registered = await registerDocument(deps, row.source, facts, produceDsarPack(input), signal);
  return { outcome: 'produced', disclosure, readiness, ...registered };
}
