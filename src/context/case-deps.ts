import type { CaseWriting } from '../cases/deps.ts';
import { createRegimeTable } from '../core/regime-table.ts';
import type { RegimesFile } from '../core/regime-schema.ts';
import type { Context } from './contract.ts';

/** What the use-cases of cases need, out of an open installation. `file`: the deployment's own rules, where it has some. */
export function createCaseDeps(
  context: Pick<Context, 'store' | 'ledger' | 'clock' | 'config' | 'loadProfile'> & {
    readonly sources: Pick<Context['sources'], 'find'>;
  },
  file?: RegimesFile,
): CaseWriting {
  const { store, ledger, clock, config, sources } = context;
  return {
    store,
    ledger,
    clock,
    regimes: createRegimeTable(file),
    timeZone: config.timeZone,
    profileOf: (source) => context.loadProfile(sources.find(source)),
    recipeOf: (source) => sources.find(source)?.options.subjectRecipe ?? null,
  };
}
