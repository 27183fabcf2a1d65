import { noLegalAdvice } from '../closing.ts';
import type { PackContext, WrittenFile } from './context.ts';

/** What the files are, as plain text. */
export async function* readme({ input }: PackContext, written: readonly WrittenFile[]): AsyncGenerator<Uint8Array> {
  const lines = [
    `Answer to request ${input.case.case_id}${input.sample ? ' (SAMPLE)' : ''}`,
    '',
    'Start with the letter. This pack covers consent and policy records only.',
    '',
    ...written.map(({ name, what }) => `${name.padEnd(18)} ${what}`),
    `${'manifest.json'.padEnd(18)} all files with their SHA-256, and how to verify them`,
    '',
    noLegalAdvice,
    '',
  ];
  yield Buffer.from(lines.join('\r\n'), 'utf8');
}
