import { pagesWith } from '../parts/define-page.ts';
import { sendDocument } from './send-document.ts';

const { file } = pagesWith<
  'store' | 'keys' | 'instance' | 'sources' | 'documents' | 'projector' | 'ledger' | 'clock'
>();

/** A registered document as a file. */
const download = file({
  path: '/documents/:documentId/download',
  rule: { who: 'read', source: 'document' },
  send: ({ context, reply, params, by }) => sendDocument(context, reply, params.documentId, by.officer),
});

export const routes = [download];
