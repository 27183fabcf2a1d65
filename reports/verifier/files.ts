import { readFile } from 'node:fs/promises';

/**
 * The verifier for node, and the same as one page for a browser. Both are handed out with what they check; they share no code with this program.
 * They lie beside this file, and the build copies them beside the compiled one (render/bundle-fonts.ts).
 */
export async function loadVerifier(): Promise<{ readonly script: string; readonly page: string }> {
  const read = (name: string) => readFile(new URL(name, import.meta.url), 'utf8');
  const [script, shell] = await Promise.all([read('verify.mjs'), read('verify.html')]);
  // Nothing of the script may end the element that it stands in.
  const inline = script.replace(/^#!.*\n/, '').replaceAll('</script', '<\\/script');
  return { script, page: shell.replace('/* verify.mjs */\n', () => inline) };
}

/** What a checkpoint has to be signed by (c2sp.org/tlog-policy): the log alone, no witnesses. */
export function tlogPolicy(verifierKey: string): string {
  return `log ${verifierKey}\nquorum none\n`;
}
