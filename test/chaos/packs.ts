import { expect } from 'vitest';
import { packJob } from '../../src/documents/document-jobs.ts';
import { documentPath } from '../../src/documents/register.ts';
import { listSoundErasures } from '../../src/ledger/erase.ts';
import { actionsOf, digestOfFile, filesIn, jobsOf, OFFICER, type Office, openRequest, withAttempts } from './office.ts';

/** Has packs made, each of a case of its own. */
export function makePacks(office: Office): Promise<void> {
  return office.repeatedly('pack', 1000, async (n) => {
    const caseId = await openRequest(office, `pack ${n}`, `pack-${n}@requester.example`);
    await office.context.jobs.enqueue(withAttempts(packJob(caseId, OFFICER)));
  });
}

/**
 * Each job of a pack made exactly one registered document, and every file in the folder of documents is whole and
 * registered, except drafts, which the nightly maintenance removes. Resolves with the figures.
 */
export async function checkPacks(office: Office): Promise<string> {
  const { documentsFolder } = office.context;
  const produced = await actionsOf(office, 'document.produced');
  const jobs = (await jobsOf(office, 'document')).filter(({ key }) => key?.startsWith('pack '));
  for (const { key, state, error, result } of jobs) {
    expect([state, error], key ?? '').toEqual(['done', null]);
    const caseId = key?.slice('pack '.length);
    const made = produced.filter(({ details }) => details['name'] === 'dsar-pack' && details['caseId'] === caseId);
    expect(made.map(({ object }) => object)).toEqual([(result as { documentId: string }).documentId]);
  }
  expect(jobs.length).toBeGreaterThan(0);

  const erased = await erasedDocuments(office);
  const registered = new Map<string, string>();
  for (const { object, details } of produced) {
    const { format, sha256 } = details as { format: string; sha256: string };
    const path = documentPath(documentsFolder, { documentId: object ?? '', format });
    if (erased.has(object ?? '')) continue;
    registered.set(path, sha256);
    expect(await digestOfFile(path), path).toBe(sha256);
  }
  const files = await filesIn(documentsFolder);
  const drafts = files.filter((name) => name.endsWith('.draft'));
  const others = files.filter((name) => !drafts.includes(name)).map((name) => `${documentsFolder}/${name}`);
  const unregistered = others.filter((path) => !registered.has(path));
  // Its name ends in the beginning of its hash: a file that was placed, but not yet registered, is whole.
  for (const path of unregistered)
    expect((await digestOfFile(path))?.slice(0, 16), path).toBe(/-([0-9a-f]{16})\.\w+$/.exec(path)?.[1]);
  return `packs: ${jobs.length}; files of documents: ${others.length}, ${unregistered.length} of them not registered, and ${drafts.length} drafts of killed processes`;
}

async function erasedDocuments({ context }: Office): Promise<ReadonlySet<string>> {
  const erasures = await listSoundErasures(context.store.read, context.ledger);
  return new Set(erasures.flatMap(({ documents }) => documents.map(({ documentId }) => documentId)));
}
