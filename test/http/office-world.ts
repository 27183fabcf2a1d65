import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { type Context, openContext } from '../../src/context.ts';
import { startWorker } from '../../src/context/worker.ts';
import { createSignInLink } from '../../src/http/auth/sign-in-links.ts';
import { startServer } from '../../src/http/server.ts';
import { createLog } from '../../src/log.ts';
import { deliver, environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

/** A server with its worker in this process, and a way to talk to it as a browser does. */
export interface OfficeWorld {
  readonly context: Context;
  readonly url: string;
  readonly adminUrl: string;
  /** Delivers a signed event of the source `default`; resolves with its seq once it is projected. */
  event(event: string, data: Record<string, unknown>): Promise<number>;
  /** Makes a one-time link; its token. */
  link(options?: { officer?: string; minutes?: number }): Promise<string>;
  setNow(iso: string): void;
  /** What the ledger has of actions, by name. */
  actions(name: string): Promise<readonly { actor: string; object: string | null }[]>;
}

const profile = `
name: Acme GmbH
country: DE
region: BE
otherSystems:
  - { id: crm, name: CRM }
`;

export async function createOfficeWorld(
  env: Record<string, string> = {},
  options: { worker?: boolean } = {},
): Promise<OfficeWorld> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'controller.yaml'), profile);
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
  onTestFinished(() => context.close());
  const server = await startServer(context);
  onTestFinished(() => server.close());
  if (options.worker ?? true) {
    const worker = await startWorker(context);
    onTestFinished(() => worker.stop());
  }
  return {
    context,
    url: server.publicUrl,
    adminUrl: server.adminUrl,
    async event(event, data) {
      const answer = await deliver(server.publicUrl, JSON.stringify({ event, data }));
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

/** A browser without scripts: keeps cookies, sends forms with what their page says. */
export interface Visitor {
  get(path: string): Promise<Page>;
  post(
    path: string,
    form: Record<string, string>,
    options?: { csrf?: string | null; headers?: Record<string, string>; json?: boolean },
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
    post(path, form, options = {}) {
      const token = options.csrf === undefined ? csrf : options.csrf;
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

/** A visitor who is signed in. */
export async function signedIn(world: OfficeWorld, officer = 'Olga Officer'): Promise<Visitor> {
  const visitor = createVisitor(world.adminUrl);
  const page = await visitor.signIn(await world.link({ officer }));
  if (page.status !== 303) throw new Error(`not signed in: ${page.status}`);
  await visitor.get('/');
  return visitor;
}
