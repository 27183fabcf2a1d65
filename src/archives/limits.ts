/** What a file from outside may unpack to in total, in bytes. A consent audit of a million decisions has 200 MB. */
export const UNPACKED_BYTES = 1024 ** 3;

/** A file from outside that unpacks to more than its reader allows. */
export class TooLarge extends Error {}

/** Passes chunks on. Throws {@link TooLarge} as soon as there are more than `most` bytes. */
export async function* atMost<Chunk extends Uint8Array>(
  most: number,
  source: AsyncIterable<Chunk>,
): AsyncGenerator<Chunk> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > most) throw new TooLarge(`it unpacks to more than ${most} bytes`);
    yield chunk;
  }
}
