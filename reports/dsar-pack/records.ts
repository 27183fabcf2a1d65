import { sha256Hex } from '../../src/crypto/hash.ts';
import type { DecisionRow } from '../../src/store/queries/history-decisions.ts';
import type { PackContext, PackPart } from './context.ts';
import { withholdsIdentifiers } from './withheld.ts';

const AT_ONCE = 200;

/**
 * The records exactly as they were received: a faithful copy (GDPR Art. 15(3)), one JSON line per record. Not under a law that bars
 * identifiers from the answer: exact bytes cannot be searched for them without being changed.
 */
export const records: PackPart = (context) =>
  context.disclosure === 'full' && !withholdsIdentifiers(context.input)
    ? { name: 'records.jsonl', what: 'the records exactly as they were received, one a line', content: lines(context) }
    : null;

async function* lines(context: PackContext): AsyncGenerator<Uint8Array> {
  let page: DecisionRow[] = [];
  for await (const row of context.decisions()) {
    page.push(row);
    if (page.length < AT_ONCE) continue;
    yield* linesOf(context, page);
    page = [];
  }
  yield* linesOf(context, page);
}

/**
 * With each record what checks it against the ledger: its commitment is SHA-256(tag ‖ salt ‖ SHA-256(meta) ‖ SHA-256(body)), see
 * docs/architecture.md, Checking a commitment.
 */
async function* linesOf({ input }: PackContext, page: readonly DecisionRow[]): AsyncGenerator<Uint8Array> {
  const seqs = page.map(({ seq }) => Number(seq));
  for (const entry of await input.history.rawEntries(input, seqs)) {
    const said = {
      entry: Number(entry.seq),
      kind: entry.kind,
      received: entry.received_at,
      commitment: entry.commitment.toString('hex'),
      ...(entry.body === null || entry.meta === null || entry.salt === null
        ? { erased: true }
        : { salt: entry.salt.toString('hex'), meta_sha256: sha256Hex(entry.meta), ...bodyOf(entry.body) }),
    };
    yield Buffer.from(`${JSON.stringify(said)}\n`, 'utf8');
  }
}

/** The text where the bytes are UTF-8, so that the commitment can be recomputed from it; else base64. */
function bodyOf(body: Buffer): { body: string } | { body_base64: string } {
  const text = body.toString('utf8');
  return Buffer.from(text, 'utf8').equals(body) ? { body: text } : { body_base64: body.toString('base64') };
}
