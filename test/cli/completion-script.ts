import { createCommandLine } from './command-line.ts';

/** The output of `completion` for a shell. */
export async function completionScript(shell: 'bash' | 'zsh' | 'fish'): Promise<string> {
  const { program, written } = await createCommandLine('completion', shell);
  await program.parseAsync(['node', 'consent-ledger', 'completion', shell]);
  return written();
}
