import { join, relative } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { moveCase } from '../../src/cases/move-case.ts';
import { producePack } from '../../src/documents/produce-pack.ts';
import { createHandOver } from '../../src/hand-over/hand-over.ts';
import { engine } from '../servers/databases.ts';
import { createOfficeWorld, createVisitor, type OfficeWorld, type Page, type Visitor } from './office-world.ts';
import { seedRequests } from './pages/seed.ts';

export const PUBLIC_URL = 'https://privacy.acme.example';
export const OFFICER = 'Olga Officer (p-00000001)';

/** Makes moves of a case as an officer does. */
export async function makeMoves(
  { context }: OfficeWorld,
  caseId: string,
  moves: readonly (readonly [string, Record<string, unknown>])[],
): Promise<void> {
  for (const [move, details] of moves) {
    const { version } = await context.store.read
      .selectFrom('cases')
      .select('version')
      .where('case_id', '=', caseId)
      .executeTakeFirstOrThrow();
    const moved = await moveCase(context.cases, { caseId, basedOn: version, move, details, actor: OFFICER });
    if (moved.outcome !== 'moved') throw new Error(`${move}: ${JSON.stringify(moved)}`);
    await context.projector.projected(moved.seq);
  }
}

/** The form of a case page with which a second person approves what the page shows. */
export function approvalIn(page: string, of = 'answer') {
  const [own = ''] = page.split('<form').filter((form) => form.includes('name="move" value="approve"'));
  const hidden = (name: string) => new RegExp(`name="${name}" value="(\\w+)"`).exec(own)?.[1] ?? '';
  return { move: 'approve', of, basedOn: hidden('basedOn'), seen: hidden('seen') };
}

export async function makePack({ context }: OfficeWorld, caseId: string) {
  const deps = { ...context.documents, cases: context.cases };
  const pack = await producePack(deps, { caseId, actor: OFFICER });
  if (pack.outcome !== 'produced') throw new Error(JSON.stringify(pack));
  await context.projector.projected(pack.seq);
  return pack;
}

/** A case ready to be answered, with its pack, in a world of its own. */
export async function createReadyCase(
  env: Record<string, string> = {},
  options: Parameters<typeof createOfficeWorld>[1] = { worker: false },
) {
  if (prepare === null) return makeReadyCase(env, options);
  const { folder, caseId, pack } = await prepare();
  const world = await createOfficeWorld({ PUBLIC_URL, ...env }, { ...options, from: folder });
  return { world, caseId, pack: { ...pack, path: join(world.folder, relative(folder, pack.path)) } };
}

async function makeReadyCase(env: Record<string, string>, options: Parameters<typeof createOfficeWorld>[1]) {
  return makeReadyCaseIn(await createOfficeWorld({ PUBLIC_URL, ...env }, options));
}

/** A case ready to be answered, with its pack. */
export async function makeReadyCaseIn(world: OfficeWorld) {
  const caseId = `default-${(await seedRequests(world)).access}`;
  await makeMoves(world, caseId, [
    ['start', {}],
    ['confirm-identity', { how: 'Logged in to the customer account' }],
    ['mark-system', { system: 'crm', result: 'nothing-found' }],
    ['mark-ready', {}],
  ]);
  return { world, caseId, pack: await makePack(world, caseId) };
}

type Prepared = Pick<Awaited<ReturnType<typeof makeReadyCase>>, 'caseId' | 'pack'> & { readonly folder: string };
let prepare: (() => Promise<Prepared>) | null = null;

/** For a suite with many ready cases: on SQLite it makes one, and each test opens a copy, at a quarter of the cost. */
export function copyReadyCases(): void {
  if (engine === 'postgres') return;
  let made: Promise<Prepared> | null = null;
  let removeFolder: (() => Promise<unknown>) | undefined;
  const make = async (): Promise<Prepared> => {
    const opened: (() => Promise<unknown>)[] = [];
    const { world, caseId, pack } = await makeReadyCase({}, { worker: false, atEnd: (work) => opened.push(work) });
    [removeFolder] = opened;
    for (const close of opened.slice(1).reverse()) await close();
    return { folder: world.folder, caseId, pack };
  };
  beforeAll(() => void (prepare = () => (made ??= make())));
  afterAll(async () => {
    prepare = null;
    await removeFolder?.();
  });
}

/** Hands the pack of a case over. */
export async function handOver({ context }: OfficeWorld, caseId: string, days?: number) {
  const input = { caseId, actor: OFFICER, publicUrl: PUBLIC_URL };
  const created = await createHandOver(context, { ...input, ...(days === undefined ? {} : { days }) });
  if (created.outcome !== 'created') throw new Error(JSON.stringify(created));
  await context.projector.projected(created.seq);
  return { ...created, token: created.link.slice(`${PUBLIC_URL}/h/`.length) };
}

/** The browser of a data subject. Redirects are relative to the page. */
export function createSubject(
  world: OfficeWorld,
  token: string,
): Visitor & { enter(code: string): Promise<Page>; follow(page: Page): Promise<Page> } {
  const visitor = createVisitor(world.url);
  return {
    ...visitor,
    async enter(code) {
      await visitor.get(`/h/${token}`);
      return visitor.post(`/h/${token}`, { do: 'code', code });
    },
    follow: (page) => visitor.get(new URL(page.headers.get('location') ?? '', `${world.url}/h/${token}`).pathname),
  };
}
