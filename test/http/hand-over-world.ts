import { moveCase } from '../../src/cases/move-case.ts';
import { producePack } from '../../src/documents/produce-pack.ts';
import { createHandOver } from '../../src/hand-over/hand-over.ts';
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

export async function makePack({ context }: OfficeWorld, caseId: string) {
  const deps = { ...context.documents, cases: context.cases };
  const pack = await producePack(deps, { caseId, actor: OFFICER });
  if (pack.outcome !== 'produced') throw new Error(JSON.stringify(pack));
  await context.projector.projected(pack.seq);
  return pack;
}

/** A case ready to be answered, with its pack. */
export async function createReadyCase(
  env: Record<string, string> = {},
  options: Parameters<typeof createOfficeWorld>[1] = { worker: false },
) {
  const world = await createOfficeWorld({ PUBLIC_URL, ...env }, options);
  const caseId = `default-${(await seedRequests(world)).access}`;
  await makeMoves(world, caseId, [
    ['start', {}],
    ['confirm-identity', { how: 'Logged in to the customer account' }],
    ['mark-system', { system: 'crm', result: 'nothing-found' }],
    ['mark-ready', {}],
  ]);
  return { world, caseId, pack: await makePack(world, caseId) };
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
