import { isUtf8 } from 'node:buffer';
import pc from 'picocolors';
import { sha256Hex } from '../crypto/hash.ts';
import type { Query } from '../store/store.ts';
import { counted, printable } from './command-io.ts';

/** One entry of the ledger in full. A body that is not UTF-8 is given as base64; both are null when it was erased. */
export interface ShownDelivery {
  readonly seq: number;
  readonly source: string;
  readonly sourceSeq: number;
  readonly kind: string;
  readonly receivedAt: string;
  readonly event: string | null;
  readonly outcome: string | null;
  readonly note: string | null;
  readonly repeats: { readonly count: number; readonly times: readonly string[] };
  readonly meta: unknown;
  readonly bytes: number | null;
  /** What the ledger holds of meta and body: SHA-256(tag ‖ salt ‖ SHA-256(meta) ‖ SHA-256(body)). */
  readonly commitment: string;
  /** What one needs besides the body to compute the commitment; null when it was erased. */
  readonly salt: string | null;
  readonly metaSha256: string | null;
  readonly bodyText: string | null;
  readonly bodyBase64: string | null;
  readonly leafHash: string;
  readonly erased: boolean;
}

/** Reads an entry and what was made of it; null when there is none. */
export async function loadDelivery(read: Query, seq: number): Promise<ShownDelivery | null> {
  const entry = await read.selectFrom('entries').selectAll().where('seq', '=', seq).executeTakeFirst();
  if (entry === undefined) return null;
  const history = await read.selectFrom('delivery_history').selectAll().where('seq', '=', seq).executeTakeFirst();
  const arrivals = await read.selectFrom('arrivals').selectAll().where('seq', '=', seq).executeTakeFirst();
  const { body, meta } = entry;
  const isText = body !== null && isUtf8(body);
  return {
    seq,
    source: entry.source,
    sourceSeq: entry.source_seq,
    kind: entry.kind,
    receivedAt: entry.received_at,
    event: history?.event ?? null,
    outcome: history?.outcome ?? null,
    note: history?.reason ?? null,
    repeats: {
      count: arrivals?.count ?? 0,
      times: arrivals === undefined ? [] : (JSON.parse(arrivals.times) as string[]),
    },
    meta: meta === null ? null : readMeta(meta),
    bytes: body?.length ?? null,
    commitment: entry.commitment.toString('hex'),
    salt: entry.salt?.toString('hex') ?? null,
    metaSha256: meta === null ? null : sha256Hex(meta),
    bodyText: isText ? body.toString('utf8') : null,
    bodyBase64: body === null || isText ? null : body.toString('base64'),
    leafHash: entry.leaf_hash.toString('hex'),
    erased: body === null,
  };
}

function readMeta(meta: Buffer): unknown {
  try {
    return JSON.parse(meta.toString('utf8'));
  } catch {
    return meta.toString('base64');
  }
}

const TEXT_SHOWN = 20_000;
const HEX_SHOWN = 512;

export function deliveryText(shown: ShownDelivery): string {
  const { repeats, note } = shown;
  return [
    pc.bold(`entry ${shown.seq}  ${shown.kind} of ${shown.source}, number ${shown.sourceSeq} there`),
    `received     ${shown.receivedAt}`,
    ...(shown.kind === 'webhook'
      ? [`event        ${printable(shown.event ?? 'unknown')} (${shown.outcome ?? 'not projected'})`]
      : []),
    ...(note === null ? [] : [`note         ${printable(note)}`]),
    ...(repeats.count === 0
      ? []
      : [
          `repeated     ${counted(repeats.count, 'time')}: ${repeats.times.slice(0, 5).join(', ')}${repeats.count > 5 ? ' …' : ''}`,
        ]),
    `leaf hash    ${shown.leafHash}`,
    `commitment   ${shown.commitment}`,
    ...(shown.erased
      ? ['', 'The content was erased; the position in the ledger is still proven.']
      : [
          `size         ${shown.bytes} bytes`,
          `meta         ${printable(JSON.stringify(shown.meta))}`,
          '',
          bodyPreview(shown),
        ]),
  ].join('\n');
}

function bodyPreview({ bodyText, bodyBase64 }: ShownDelivery): string {
  if (bodyText !== null) {
    const lines = bodyText.slice(0, TEXT_SHOWN).split('\n').map(printable).join('\n');
    return bodyText.length > TEXT_SHOWN
      ? `${lines}\n… ${bodyText.length - TEXT_SHOWN} more characters: use --json to see all of it`
      : lines;
  }
  const bytes = Buffer.from(bodyBase64 ?? '', 'base64');
  const lines =
    bytes
      .subarray(0, HEX_SHOWN)
      .toString('hex')
      .match(/.{1,64}/g) ?? [];
  return [`not text; in hex${bytes.length > HEX_SHOWN ? `, the first ${HEX_SHOWN} bytes` : ''}:`, ...lines].join('\n');
}
