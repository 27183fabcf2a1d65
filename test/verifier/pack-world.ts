import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll } from 'vitest';
import { moveCase } from '../../src/cases/move-case.ts';
import { producePack } from '../../src/documents/produce-pack.ts';
import { createOfficeWorld, type OfficeWorld } from '../http/office-world.ts';
import { serveAuthority } from '../ledger/time-stamping-authority.ts';
import { startWitness } from '../ledger/witness-stand-in.ts';
import { temporaryFolder } from '../temporary.ts';

type AtEnd = (work: () => Promise<unknown>) => void;

export interface PackWorld {
  readonly world: OfficeWorld;
  readonly caseId: string;
  readonly path: string;
  readonly zip: Buffer;
  readonly verifierKey: string;
}

/** One pack for all tests of the calling suite that only read it, as `packOf` makes it. */
export function sharePack(): () => PackWorld {
  const opened: (() => Promise<unknown>)[] = [];
  let pack: PackWorld | null = null;
  beforeAll(async () => void (pack = await packOf(undefined, 'DE', undefined, (work) => opened.push(work))));
  afterAll(async () => {
    for (const close of opened.reverse()) await close();
  });
  return () => {
    if (pack === null) throw new Error('The pack is made before the first test.');
    return pack;
  };
}

/** A complete pack: two records of the requester, and the request. `beforePack` may change the ledger first. */
export async function packOf(
  beforePack: (world: OfficeWorld) => Promise<void> = () => Promise.resolve(),
  jurisdiction = 'DE',
  language?: string,
  atEnd?: AtEnd,
  env: Record<string, string> = {},
): Promise<PackWorld> {
  const world = await createOfficeWorld(env, { worker: false, ...(atEnd === undefined ? {} : { atEnd }) });
  const { context } = world;
  const choice = (n: number, analytics: boolean) => ({
    consent_id: `c-${n}`,
    banner_id: 'main',
    visitor_hash: 'v-1',
    timestamp: new Date(Date.now() - n * 1000).toISOString(),
    consent: { analytics },
  });
  await world.event('consent.recorded', choice(1, true));
  await world.event('consent.recorded', { ...choice(2, false), visitor_hash: 'v-2' });
  await world.event('consent.recorded', choice(3, false));
  await world.event('dsar.submitted', {
    request_id: 'r-1',
    type: 'access',
    jurisdiction,
    email: 'zoe@example.net',
    visitor_hash: 'v-1',
    language: language ?? 'en',
  });
  await context.projector.catchUp();
  const row = await context.store.read.selectFrom('cases').select(['case_id', 'version']).executeTakeFirstOrThrow();
  const details = { at: new Date().toISOString(), how: 'answered from the address of the request' };
  const move = { caseId: row.case_id, basedOn: row.version, move: 'confirm-identity', details, actor: 'Olga' };
  const moved = await moveCase(context.cases, move);
  if (moved.outcome !== 'moved') throw new Error(JSON.stringify(moved));
  await beforePack(world);
  // The read models are still those before an erasure that a test makes by hand.
  const deps = { ...context.documents, cases: context.cases, readModelsFault: () => Promise.resolve(null) };
  const pack = await producePack(deps, { caseId: row.case_id, actor: 'Olga' });
  if (pack.outcome !== 'produced') throw new Error(JSON.stringify(pack));
  const zip = await readFile(pack.path);
  return { world, caseId: row.case_id, path: pack.path, zip, verifierKey: context.verifierKey };
}

/** A pack whose request and records (entries 1, 3 and 4) a witness and an authority have seen before it is made. */
export async function witnessedPack(
  language?: string,
  signs?: readonly ('ed25519' | 'ml-dsa-44')[],
): Promise<PackWorld & { readonly key: string; readonly caFile: string }> {
  const file = join(await temporaryFolder(), 'witnesses');
  const authority = await serveAuthority();
  let key = '';
  const pack = await packOf(
    async ({ context }) => {
      const line = await startWitness('witness.example/1', context.verifierKey, signs === undefined ? {} : { signs });
      [key = ''] = line.split(' ');
      await writeFile(
        file,
        `witness first ${line}\ntimestamp tsa ${authority.caFile} ${authority.url}\ngroup both all first tsa\nquorum both\n`,
      );
      const seen = await context.witness();
      if (seen.outcome !== 'witnessed' || !seen.quorum) throw new Error(JSON.stringify(seen));
    },
    'DE',
    language,
    undefined,
    { WITNESSES: file },
  );
  return { ...pack, key, caFile: authority.caFile };
}

/** The files of a ZIP archive by name. */
export function filesOf(zip: Buffer): Map<string, Buffer> {
  return new Map(Object.entries(unzipSync(zip)).map(([name, content]) => [name, Buffer.from(content)]));
}
