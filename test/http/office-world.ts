import { randomUUID } from 'node:crypto';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { type Context, openContext } from '../../src/context/context.ts';
import type { Role } from '../../src/core/roles.ts';
import { startServer } from '../../src/http/server.ts';
import { createLog } from '../../src/log/log.ts';
import { createSignInLink } from '../../src/people/links.ts';
import { hashPassword } from '../../src/people/passwords.ts';
import { invitePerson, openingOf } from '../../src/people/people.ts';
import { keepSession, newSession } from '../../src/people/sessions.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { deliver, environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

/** A server with its worker in this process, and a client that talks to it like a browser. */
export interface OfficeWorld {
  readonly context: Context;
  /** Its DATA_DIR. */
  readonly folder: string;
  readonly url: string;
  readonly adminUrl: string;
  /** Delivers a signed event of the source `default`; resolves with its seq once it is projected. */
  event(event: string, data: Record<string, unknown>): Promise<number>;
  /** Makes a one-time link; resolves with its token. */
  link(options?: { officer?: string; minutes?: number }): Promise<string>;
  setNow(iso: string): void;
  /** The actions of this name in the ledger. */
  actions(name: string): Promise<readonly { actor: string; object: string | null }[]>;
}

const profile = `
name: Acme GmbH
country: DE
region: BE
otherSystems:
  - { id: crm, name: CRM }
`;

/** `from`: the folder of a closed world on SQLite, a copy of which this one continues. */
export async function createOfficeWorld(
  env: Record<string, string> = {},
  options: { worker?: boolean; atEnd?: (work: () => Promise<unknown>) => void; from?: string } = {},
): Promise<OfficeWorld> {
  const { atEnd = (work: () => Promise<unknown>) => onTestFinished(async () => void (await work())) } = options;
  const folder = await temporaryFolder(atEnd);
  if (options.from !== undefined) await cp(options.from, folder, { recursive: true });
  if (env['CONTROLLER_FILE'] !== '') await writeFile(join(folder, 'controller.yaml'), profile);
  const config = loadConfig(
    environment(folder, {
      CONTROLLER_FILE: join(folder, 'controller.yaml'),
      SYNC_SCHEDULE: 'off',
      LOG_LEVEL: 'fatal',
      TIME_ZONE: 'Europe/Berlin',
      ...env,
    }),
    folder,
  );
  let shift = 0;
  const context = await openContext(config, createLog('fatal'), { clock: () => new Date(Date.now() + shift) });
  atEnd(() => context.close());
  const server = await startServer(context);
  atEnd(() => server.close());
  if (options.worker ?? true) {
    const worker = await startWorker(context);
    atEnd(async () => worker.stop());
  }
  return {
    context,
    folder,
    url: server.publicListener,
    adminUrl: server.adminUrl,
    async event(event, data) {
      const answer = await deliver(server.publicListener, JSON.stringify({ event, data }));
      if (answer.body.seq === undefined) throw new Error(`refused: ${answer.status}`);
      await context.projector.projected(answer.body.seq);
      return answer.body.seq;
    },
    async link(input = {}) {
      return (await createSignInLink(context, { ...input, actor: 'test' })).token;
    },
    setNow(iso) {
      shift = Date.parse(iso) - Date.now();
    },
    async actions(name) {
      await context.projector.catchUp();
      return context.store.read
        .selectFrom('action_history')
        .select(['actor', 'object'])
        .where('action', '=', name)
        .orderBy('seq')
        .execute();
    },
  };
}

/** A browser without scripts: keeps cookies, and sends forms with the hidden fields of their page. */
export interface Visitor {
  get(path: string): Promise<Page>;
  /** Sends any request with the visitor's cookies. */
  send(path: string, init: RequestInit): Promise<Page>;
  post(
    path: string,
    form: Record<string, string>,
    options?: { csrf?: string | null; headers?: Record<string, string>; json?: boolean; multipart?: FormData },
  ): Promise<Page>;
  /** Presses the button behind a one-time link. */
  signIn(token: string): Promise<Page>;
  readonly cookies: Map<string, string>;
}
export interface Page {
  readonly status: number;
  readonly text: string;
  readonly bytes: Buffer;
  readonly headers: Headers;
}

export function createVisitor(adminUrl: string): Visitor {
  const cookies = new Map<string, string>();
  let csrf = '';
  const send = async (path: string, init: RequestInit = {}): Promise<Page> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = new Headers(init.headers);
    if (cookie !== '') headers.set('cookie', cookie);
    const response = await fetch(adminUrl + path, { ...init, redirect: 'manual', headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const bytes = Buffer.from(await response.arrayBuffer());
    const text = bytes.toString('utf8');
    csrf = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? csrf;
    return { status: response.status, text, bytes, headers: response.headers };
  };
  const visitor: Visitor = {
    cookies,
    get: (path) => send(path),
    send,
    post(path, form, options = {}) {
      const token = options.csrf === undefined ? csrf : options.csrf;
      if (options.multipart !== undefined) {
        if (token !== null) options.multipart.set('_csrf', token);
        return send(path, { method: 'POST', body: options.multipart });
      }
      const fields = token === null ? form : { ...form, _csrf: token };
      const body = options.json ? JSON.stringify(fields) : new URLSearchParams(fields);
      const type = options.json ? { 'content-type': 'application/json' } : {};
      return send(path, { method: 'POST', body, headers: { ...type, ...options.headers } });
    },
    async signIn(token) {
      await visitor.get(`/sign-in?token=${token}`);
      return visitor.post('/sign-in', { token });
    },
  };
  return visitor;
}

/** A signed-in visitor with an account of this role, without the cost of a password. */
export async function signedInAs(
  world: OfficeWorld,
  role: Role,
  options: { sources?: string[] | null; name?: string; email?: string } = {},
): Promise<Visitor & { readonly personId: string; readonly email: string }> {
  const { context } = world;
  const { sources = null, name = `Pat ${role}`, email = `${randomUUID()}@acme.example` } = options;
  const by = { officer: 'test', personId: null, role: 'owner' } as const;
  const invited = await invitePerson(context, { name, email, role, sources }, by);
  if (invited.outcome !== 'done') throw new Error(JSON.stringify(invited));
  const { personId } = invited.person;
  const now = context.clock().toISOString();
  const { session, row } = newSession(context, openingOf(invited.person, 'test', 'a test'), now);
  await context.store.transaction(async (tx) => {
    await tx.query.updateTable('people').set({ joined_at: now }).where('person_id', '=', personId).execute();
    await keepSession(tx, row);
  });
  const visitor = createVisitor(world.adminUrl);
  visitor.cookies.set(`consent_ledger_session_${context.instance}`, session.id);
  await visitor.get('/account');
  return { ...visitor, personId, email };
}

export const PASSWORD = 'plough amber tuesday kettle';

/** Gives an account the password {@link PASSWORD}. */
export async function setPassword({ context }: OfficeWorld, personId: string): Promise<void> {
  const password = await hashPassword(PASSWORD);
  await context.store.transaction((tx) =>
    tx.query.updateTable('people').set({ password }).where('person_id', '=', personId).execute(),
  );
}

/** A signed-in visitor. */
export async function signedIn(world: OfficeWorld, officer = 'Olga Officer'): Promise<Visitor> {
  const visitor = createVisitor(world.adminUrl);
  const page = await visitor.signIn(await world.link({ officer }));
  if (page.status !== 303) throw new Error(`not signed in: ${page.status}`);
  await visitor.get('/');
  return visitor;
}

/** Registers a document whose file is missing: authorised people learn that (409), others learn nothing. */
export function addDocumentWithoutFile(
  context: Context,
  { documentId, source, name, seq }: { documentId: string; source: string; name: string; seq: number },
): Promise<unknown> {
  const row = {
    ...{ document_id: documentId, source, name: 'delivery-log', format: 'json', file_name: `${name}.json` },
    ...{ sha256: '0'.repeat(64), bytes: 1, as_of: 1, case_id: null, parameters: '{}', actor: name, seq },
    ...{ created_at: context.clock().toISOString(), downloads: 0 },
  };
  return context.store.foldTransaction((tx) => tx.insertMany('documents', [row]));
}
