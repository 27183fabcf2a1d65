import { type DsarPackInput, packParameters, packReference } from '../../reports/dsar-pack/input.ts';
import { produceDsarPack } from '../../reports/dsar-pack/pack.ts';
import type { Readiness } from '../cases/readiness.ts';
import { type CaseDocumentDeps, loadCaseInput, sourceOfCase, type UnknownCase } from './case-input.ts';
import {
  type FrameRequest,
  type InvalidTime,
  madeBefore,
  type RegisteredDocument,
  type UnknownSource,
} from './frame.ts';
import { type RefusedDocument, refusing } from './cited.ts';
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
  | UnknownCase
  | InvalidTime
  | RefusedDocument
  | UnknownSource;

/**
 * Produces the ZIP that answers a case and registers it. Its letter is the answer that was last made as a letter, else a draft.
 * Errors: as {@link import('./produce-report.ts').produceReport}.
 */
export async function producePack(
  deps: CaseDocumentDeps,
  request: PackRequest,
  signal?: AbortSignal,
): Promise<PackOutcome> {
  const { caseId, actor, asOf } = request;
  const source = await sourceOfCase(deps, caseId);
  if (source === null) return { outcome: 'unknown-case', caseId };
  const asked = { source, name: 'dsar-pack', format: 'zip', caseId };
  const before = asOf === undefined ? null : await madeBefore(deps, { ...asked, asOf }, {});
  const loaded = await loadCaseInput(deps, source, caseId, { asOf, madeAt: request.madeAt ?? before ?? undefined });
  if ('outcome' in loaded) return loaded;
  const { input, cited, found } = loaded;
  const fault = await deps.readModelsFault();
  if (fault !== null) return { outcome: 'refused', problem: fault };
  const facts = {
    actor,
    reference: packReference(input),
    name: 'dsar-pack',
    format: 'zip',
    asOf: input.asOf,
    caseId,
    parameters: packParameters(input),
  };
  return refusing(async () => {
    const registered = await registerDocument(deps, source, facts, cited, produceDsarPack(input), signal);
    return { outcome: 'produced', disclosure: found.disclosure, readiness: found.readiness, ...registered };
  });
}
