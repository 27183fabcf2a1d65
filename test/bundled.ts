import { join } from 'node:path';
import { build } from 'esbuild';

/** A script of the tests as one file that Node runs by itself. For processes of which many start at once: TypeScript would take each a second to load. */
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
