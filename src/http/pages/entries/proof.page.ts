import { Readable } from 'node:stream';
import { proofFolder } from '../../../../reports/dsar-pack/proofs.ts';
import { renderZip } from '../../../../reports/render/zip.ts';
import { attachment } from '../parts/attachment.ts';
import { pagesWith } from '../parts/define-page.ts';
import { loadProof, type ProofNeeds } from './load-proof.ts';

const { file } = pagesWith<ProofNeeds | 'verifierKey'>();

/** The proof of an entry: the same files as `ledger prove` writes, under the newest checkpoint. */
const proof = file({
  path: '/entries/:seq/proof',
  rule: { who: 'read', source: 'entry', views: 'object' },
  async send({ context, params, reply }) {
    const { entry, ...proven } = await loadProof(context, params.seq, { content: true });
    return reply
      .header('content-disposition', attachment(`proof ${entry.seq}.zip`))
      .type('application/zip')
      .send(Readable.from(renderZip(proofFolder(context.verifierKey, [proven]), entry.receivedAt)));
  },
});

/** Its single file in the format of transparency logs, without the content. */
const tlogProof = file({
  path: '/entries/:seq/tlog-proof',
  rule: { who: 'read', source: 'entry' },
  async send({ context, params, reply }) {
    const { seq, tlogProof: proven } = await loadProof(context, params.seq, { content: false });
    return reply
      .header('content-disposition', attachment(`${seq}.tlog-proof`))
      .type('text/plain; charset=utf-8')
      .send(proven);
  },
});

export const routes = [proof, tlogProof];
