import { type DsarPackInput, gatherPack } from '../../reports/dsar-pack/gather.ts';
import { packFiles } from '../../reports/dsar-pack/pack.ts';
import { renderZip } from '../../reports/render/zip.ts';

/** A pack without proofs, as a ZIP. */
export async function* produceDsarPack(input: DsarPackInput): AsyncGenerator<Uint8Array> {
  yield* renderZip(packFiles(await gatherPack(input), null), input.generatedAt);
}
