import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Action } from '../core/action.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { DocumentDeps, RegisteredDocument } from './deps.ts';

/** What is registered of a document besides its bytes. */
export type DocumentFacts = Omit<Extract<Action, { action: 'document.produced' }>, 'action' | 'sha256' | 'bytes'>;

/** Where a registered document lies: `<folder>/<document id>.<format>`. */
export function documentPath(folder: string, document: { documentId: string; format: string }): string {
  return join(folder, `${document.documentId}.${document.format}`);
}

/**
 * Writes a document to the folder of documents and registers its SHA-256 as an entry. The file appears under its name only when it is
 * whole and synced. Producing the same document again writes the same bytes and finds its entry there.
 */
export async function registerDocument(
  deps: Pick<DocumentDeps, 'ledger' | 'clock' | 'folder' | 'assertHeld' | 'registeredIn'>,
  source: string,
  facts: DocumentFacts,
  content: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<RegisteredDocument> {
  const { folder, ledger, clock } = deps;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = documentPath(folder, facts);
  // Not the process id: in containers that share the folder they are all the same.
  const draft = `${path}.${randomUUID()}.draft`;
  const hash = createHash('sha256');
  let bytes = 0;
  const file = await open(draft, 'wx', 0o600);
  try {
    for await (const chunk of content) {
      signal?.throwIfAborted();
      hash.update(chunk);
      bytes += chunk.length;
      await file.writeFile(chunk);
    }
    await file.datasync();
    await file.close();
    await deps.assertHeld?.();
    await rename(draft, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(draft, { force: true });
    throw error;
  }
  const sha256 = hash.digest('hex');
  const action = { action: 'document.produced' as const, ...facts, sha256, bytes };
  const registered = (seq: number) => ({ documentId: facts.documentId, path, sha256, bytes, asOf: facts.asOf, seq });
  const { registeredIn } = deps;
  const { seq } = await appendAction(
    ledger,
    source,
    action,
    ['document.produced', facts.documentId, sha256],
    clock().toISOString(),
    registeredIn &&
      (async (tx, [appended]) => {
        if (appended !== undefined) await registeredIn(tx, registered(appended.seq));
      }),
  );
  return registered(seq);
}

/** Hours after which nobody is writing on a draft any more. */
const DRAFT_HOURS = 24;

/** Removes drafts that processes left behind which were killed while writing: they hold what the document would have held. How many. */
export async function removeOldDrafts(folder: string, now: Date): Promise<number> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  let removed = 0;
  for (const name of names.filter((one) => one.endsWith('.draft'))) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (found === null || now.getTime() - found.mtimeMs < DRAFT_HOURS * 3_600_000) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}
