import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * Bundles a test script into one file that Node runs by itself, for scripts that many processes run at once: loading
 * TypeScript would take each a second.
 */
export async function bundled(name: string): Promise<string> {
  const root = join(import.meta.dirname, '..');
  const outfile = join(root, 'dist/.tests', `${name.replaceAll('/', '-')}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, `${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  return outfile;
}
