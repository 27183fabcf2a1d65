import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Action, actionSchema } from '../core/action.ts';
import { isoNow } from '../core/clock.ts';
import { codeOf, VerificationFault } from '../core/errors.ts';
import { createTally } from '../crypto/hash.ts';
import { appendAction, assertAllowed, NotAllowed } from '../ledger/append-action.ts';
import { type Cited, UntrustedEntry } from '../ledger/cited.ts';
import { sha256OfFile } from '../ledger/evidence-files.ts';
import type { DocumentDeps, RegisteredDocument } from './begin-document.ts';

/** The facts registered about a document besides its bytes. */
type DocumentFacts = Omit<
  Extract<Action, { action: 'document.produced' }>,
  'action' | 'documentId' | 'sha256' | 'bytes'
> & {
  /** The reference printed in the document, a digest of all parameters of the request. */
  readonly reference: string;
};

/**
 * The path of a registered document: `<folder>/<document id>.<format>`. Throws VerificationFault for a name that leads
 * elsewhere: it comes from a table, in which somebody may have written another.
 */
export function documentPath(folder: string, document: { documentId: string; format: string }): string {
  if (!/^[\w-]+$/.test(document.documentId) || !/^\w+(\.\w+)*$/.test(document.format))
    throw new VerificationFault(
      `${JSON.stringify(`${document.documentId}.${document.format}`)} is not the name of a document: the table of documents or jobs was altered. Run \`consent-ledger ledger rebuild --check\`.`,
    );
  return join(folder, `${document.documentId}.${document.format}`);
}

/**
 * Writes a document to the folder of documents and registers its SHA-256 as an entry. Its id is the printed reference
 * and the beginning of its hash: different bytes make a different document with another name, and a stored one is never
 * overwritten. The file appears under its name only when it is complete and synced, and every entry from which it was
 * made was checked ({@link UntrustedEntry}). Throws NotAllowed if `allowedIf` refuses. Producing the same document again finds the existing file and entry,
 * as does producing another one with the same `formKey`.
 */
export async function registerDocument(
  deps: Pick<
    DocumentDeps,
    'read' | 'ledger' | 'clock' | 'folder' | 'proofs' | 'assertHeld' | 'allowedIf' | 'registeredIn' | 'formKey'
  >,
  source: string,
  facts: DocumentFacts,
  cited: Cited,
  content: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<RegisteredDocument> {
  const { folder, ledger, clock } = deps;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Not the process id, which is the same in all containers that share the folder.
  const ending = `${randomUUID()}.draft`;
  let draft = join(folder, `${facts.reference}.${ending}`);
  const tally = createTally();
  let bytes = 0;
  let sha256 = '';
  let documentId = '';
  let path = '';
  const file = await open(draft, 'wx', 0o600);
  try {
    for await (const chunk of tally.pass(content)) {
      signal?.throwIfAborted();
      await file.writeFile(chunk);
    }
    await file.datasync();
    await file.close();
    await cited.assertSound(deps.proofs);
    await deps.assertHeld?.();
    ({ bytes, sha256 } = tally.total());
    documentId = `${facts.reference}-${sha256.slice(0, 16)}`;
    path = documentPath(folder, { documentId, format: facts.format });
    const named = `${path}.${ending}`;
    await rename(draft, named);
    draft = named;
    await place(draft, path, sha256);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(draft, { force: true });
    throw error;
  }
  const { reference: _, ...recorded } = facts;
  const action = { action: 'document.produced' as const, ...recorded, documentId, sha256, bytes };
  const { asOf, parameters } = facts;
  const registered = (seq: number) => ({ documentId, path, sha256, bytes, asOf, seq, parameters });
  const { allowedIf, registeredIn } = deps;
  const { outcome, seq } = await appendAction(
    ledger,
    source,
    action,
    deps.formKey ?? ['document.produced', documentId, sha256],
    clock().toISOString(),
    async (tx, [appended]) => {
      await cited.assertThere(tx.query, ledger);
      if (appended !== undefined && allowedIf !== undefined) await assertAllowed(allowedIf, tx, appended);
      if (appended !== undefined) await registeredIn?.(tx, registered(appended.seq));
    },
  ).catch(async (error: unknown) => {
    // The same document was registered before, and the erasure removed it; or it was never registered.
    if (error instanceof UntrustedEntry || error instanceof NotAllowed)
      await Promise.all([path, draft].map((one) => rm(one, { force: true })));
    throw error;
  });
  await rm(draft, { force: true });
  if (outcome !== 'duplicate' || deps.formKey === undefined) return registered(seq);
  const first = await documentOfForm(deps, source, deps.formKey);
  if (first === null) throw new UntrustedEntry(seq, 'the document of this form was erased');
  if (first.documentId !== documentId) await rm(path, { force: true });
  return first;
}

/** The document that was registered with the key of a form; null: none, or its entry was erased. */
export async function documentOfForm(
  { read, ledger, folder }: Pick<DocumentDeps, 'read' | 'ledger' | 'folder'>,
  source: string,
  formKey: readonly string[],
): Promise<RegisteredDocument | null> {
  const row = await read
    .selectFrom('entries')
    .select(['seq', 'body'])
    .where('source', '=', source)
    .where('kind', '=', 'action')
    .where('dedupe_key', '=', Buffer.from(ledger.keyOf('action', ...formKey)))
    .executeTakeFirst();
  if (row?.body == null) return null;
  const action = actionSchema.parse(JSON.parse(row.body.toString('utf8')));
  if (action.action !== 'document.produced') return null;
  const { documentId, sha256, bytes, asOf, parameters } = action;
  return { documentId, path: documentPath(folder, action), sha256, bytes, asOf, seq: Number(row.seq), parameters };
}

/**
 * Gives a finished draft its name. The draft stays beside it as a second name of the same file until the document is
 * registered, so that what a killed process left can be told from a document ({@link removeOldDrafts}). Another file
 * under this name is put aside, not lost.
 */
async function place(draft: string, path: string, sha256: string): Promise<void> {
  const present = await sha256OfFile(path);
  if (present !== null && present !== sha256) await rename(path, `${path}.altered-${randomUUID().slice(0, 8)}`);
  const second = `${draft}.draft`;
  try {
    await link(draft, second);
  } catch (error) {
    if (!isWithoutLinks(error)) throw error;
    return rename(draft, path);
  }
  await rename(second, path);
}

/** Some network shares have no hard links. */
function isWithoutLinks(error: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES'].includes(codeOf(error));
}

/** Hours after which a draft is certainly abandoned. */
const DRAFT_HOURS = 24;

/**
 * Removes drafts of processes that were killed while writing, because they contain what the document would have
 * contained; also a document that has its name already but was never registered. Returns their number.
 */
export async function removeOldDrafts({
  folder,
  now,
  isRegistered,
}: {
  readonly folder: string;
  readonly now: Date;
  readonly isRegistered: (documentId: string) => Promise<boolean>;
}): Promise<number> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  let removed = 0;
  for (const name of names.filter((one) => one.endsWith('.draft'))) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (found === null || now.getTime() - found.mtimeMs < DRAFT_HOURS * 3_600_000) continue;
    const [, document, documentId = ''] = /^(([\w-]+)\.\w+(?:\.\w+)*?)\.[0-9a-f-]{36}\.draft$/.exec(name) ?? [];
    const placed = document === undefined ? null : await stat(join(folder, document)).catch(() => null);
    // The same file under two names: the process ended between placing and registering, or right after.
    if (document !== undefined && placed?.ino === found.ino && !(await isRegistered(documentId)))
      await removeFile(join(folder, document), found.ino);
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}

/** Removes a file unless another one has taken its name: a process may be making the same document again. */
async function removeFile(path: string, inode: number): Promise<void> {
  const aside = `${path}.${randomUUID()}.removed.draft`;
  const isThere = await rename(path, aside).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    },
  );
  if (!isThere) return;
  if ((await stat(aside)).ino === inode) await rm(aside, { force: true });
  else await rename(aside, path);
}

/** Records the download of a document. Each counts: also repeats of one person. */
export async function recordDownload(
  { ledger, clock }: Pick<DocumentDeps, 'ledger' | 'clock'>,
  {
    source,
    ...download
  }: Omit<Extract<Action, { action: 'document.downloaded' }>, 'action'> & { readonly source: string },
): Promise<void> {
  const action = { action: 'document.downloaded' as const, ...download };
  const keyParts = ['document.downloaded', download.documentId, randomUUID()];
  await appendAction(ledger, source, action, keyParts, isoNow(clock));
}
