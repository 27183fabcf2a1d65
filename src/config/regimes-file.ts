import { UsageError } from '../core/errors.ts';
import { type RegimesFile, regimesFileSchema } from '../core/regime-schema.ts';
import { loadYamlFile } from './yaml-file.ts';

/**
 * Reads the deployment's own rules (docs/deadlines.md, Changing the rows). Throws UsageError with every problem: a deadline computed by
 * other rules than were meant would be worse than no start.
 */
export async function loadRegimesFile(path: string): Promise<RegimesFile> {
  const loaded = await loadYamlFile('Regimes file', path, regimesFileSchema);
  if (loaded.outcome === 'invalid') throw new UsageError(loaded.problems);
  return loaded.value;
}
