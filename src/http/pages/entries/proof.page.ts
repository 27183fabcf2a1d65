import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { proofFolder } from '../../../../reports/dsar-pack/proofs.ts';
import { renderZip } from '../../../../reports/render/zip.ts';
import type { Context } from '../../../context.ts';
import { CodedError } from '../../../core/errors.ts';
import type { Entry } from '../../../crypto/entry.ts';
import { type ProofFiles, proofFiles, proveEntry } from '../../../ledger/prove-entry.ts';
import { attachment } from '../parts/attachment.ts';

/** Downloads of the proof of an entry: the same files as `ledger prove` writes, under the newest checkpoint. */
export async function entryProofRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get<{ Params: { seq: string } }>('/entries/:seq/proof', async (request, reply) => {
    const { entry, ...proven } = await loadProof(context, request.params.seq, { content: true });
    return reply
      .header('content-disposition', attachment(`proof ${entry.seq}.zip`))
      .type('application/zip')
      .send(Readable.from(renderZip(proofFolder(context.verifierKey, [proven]), entry.receivedAt)));
  });

  app.get<{ Params: { seq: string } }>('/entries/:seq/tlog-proof', async (request, reply) => {
    const { seq, tlogProof } = await loadProof(context, request.params.seq, { content: false });
    return reply
      .header('content-disposition', attachment(`${seq}.tlog-proof`))
      .type('text/plain; charset=utf-8')
      .send(tlogProof);
  });
}

interface Proven extends ProofFiles {
  readonly seq: number;
  /** Size of the checkpoint. */
  readonly size: number;
  readonly entry: Entry;
}

/** Throws `not_found`, or `conflict` if the entry is not sealed yet or was altered. */
export async function loadProof(context: Context, seq: string, options: { content: boolean }): Promise<Proven> {
  const number = /^\d{1,15}$/.test(seq) ? Number(seq) : 0;
  const { read } = context.store;
  const found = await read.selectFrom('entries').select('seq').where('seq', '=', number).executeTakeFirst();
  if (found === undefined) throw new CodedError('not_found', 'Unknown entry.');
  const proof = await proveEntry(context, number, 'witnessed');
  if (proof.outcome === 'unproven')
    throw new CodedError('conflict', `Entry ${number} cannot be proven: ${proof.sentence}. Tell an admin.`);
  const { entry, inclusion } = proof;
  if (inclusion === null)
    throw new CodedError(
      'conflict',
      `Entry ${number} is not sealed yet, so it has no proof. Try again in five minutes, or make a checkpoint.`,
    );
  // A service may repeat the API key in its response to a call.
  const withContent = options.content && entry.kind !== 'call';
  return { seq: number, size: inclusion.head.size, entry, ...proofFiles(entry, inclusion, withContent) };
}
