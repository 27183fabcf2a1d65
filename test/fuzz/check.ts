import type { Reader } from './readers.ts';

/** Runs a reader on bytes. Throws any error other than its documented refusal, and if the result could not be stored. */
export async function check(reader: Reader, bytes: Buffer): Promise<void> {
  let result: unknown;
  try {
    result = await reader.run(bytes);
  } catch (error) {
    if (reader.refuses?.(error) === true) return;
    throw error;
  }
  if (reader.stored === true) assertWellFormed(result, 0);
}

function assertWellFormed(value: unknown, depth: number): void {
  if (typeof value === 'string') {
    if (!(value as string & { isWellFormed(): boolean }).isWellFormed())
      throw new Error(`a lone surrogate in ${JSON.stringify(value.slice(0, 100))}`);
  } else if (typeof value === 'object' && value !== null && depth < 20) {
    for (const [key, inner] of Object.entries(value)) {
      assertWellFormed(key, 0);
      assertWellFormed(inner, depth + 1);
    }
  }
}
