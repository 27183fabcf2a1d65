import { copyFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledFonts } from './fonts.ts';

/** Part of the build: `node dist/reports/render/bundle-fonts.js` puts the fonts of the large scripts, and their licences, and the verifier of packs beside the compiled program. */
const verifier = new URL('../verifier/', import.meta.url);
mkdirSync(verifier, { recursive: true });
for (const name of ['verify.mjs', 'verify.html', 'verify-export.mjs'])
  copyFileSync(new URL(`../../../reports/verifier/${name}`, import.meta.url), new URL(name, verifier));
const { resolve } = createRequire(import.meta.url);
const folder = fileURLToPath(new URL('./fonts/', import.meta.url));
mkdirSync(folder, { recursive: true });
for (const [name, file] of Object.entries(bundledFonts)) {
  const from = resolve(file);
  copyFileSync(from, `${folder}${name}.woff`);
  copyFileSync(`${dirname(dirname(from))}/LICENSE`, `${folder}${name}.LICENSE`);
}
