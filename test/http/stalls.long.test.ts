import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rules } from '../../src/http/rules.ts';
import type { Store } from '../../src/store/store.ts';
import { runIn } from '../cli/command-line.ts';
import { cliPath } from '../serving.ts';
import { openStoreIn, temporaryFolder } from '../temporary.ts';
import { createVisitor, type Visitor } from './office-world.ts';

/** No request of anyone who is signed in may keep the public listener from answering for longer than this: milliseconds of CPU time. */
const LONGEST_MS = 100;
/** Time for what a request has started, such as a job in the same process. */
const SETTLE_MS = 40;

const monitor = fileURLToPath(new URL('stall-monitor.js', import.meta.url));
const ending: (() => Promise<unknown>)[] = [];
let server: ChildProcess;
let store: Store;
let stalls: string;
let owner: Visitor;
let adminUrl: string;
let token: string;
/** The entry of the largest delivery. */
let largest: number;
let signInAgain: () => Promise<void>;

beforeAll(async () => {
  const folder = await temporaryFolder((work) => ending.push(work));
  stalls = join(folder, 'stalls');
  await writeFile(stalls, '');
  const password = await fillByDemo(folder);
  // A service that refuses the key: what asks it ends at once.
  const service = createServer((_, response) => response.writeHead(401).end('{}'));
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  ending.push(async () => service.close());
  const origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const env = {
    PATH: process.env.PATH ?? '',
    NODE_OPTIONS: `--import=${monitor}`,
    STALLS: stalls,
    PORT: '0',
    ADMIN_PORT: '0',
  };
  server = spawn(process.execPath, [cliPath, 'serve', '--json'], {
    cwd: join(folder, 'demo'),
    env: {
      ...env,
      PRIVATE_ALLOWED_HOSTS: '127.0.0.1',
      SERVICE_BASE_URL: `${origin}/api/v1`,
      SERVICE_SITE_URL: origin,
      LOG_LEVEL: 'fatal',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: server.stdout ?? process.stdin }), 'line')) as [string];
  const { publicUrl, ...facts } = JSON.parse(line) as { adminUrl: string; publicUrl: string };
  ({ adminUrl } = facts);
  await deliverLargest(publicUrl, await readFile(join(folder, 'demo', '.env'), 'utf8'));
  store = await openStoreIn(join(folder, 'demo', 'data'));
  ending.push(() => store.close());
  owner = createVisitor(adminUrl);
  signInAgain = () => signIn(password);
  await signInAgain();
  const args = ['token', 'api', 'owner@demo.example', '--for', 'a test', '--scope', 'administer', '--json'];
  const made = await runIn(join(folder, 'demo'), args, { env: { PATH: process.env.PATH ?? '' } });
  token = (JSON.parse(made.stdout) as { secret: string }).secret;
}, 120_000);
afterAll(async () => {
  server.kill('SIGTERM');
  await once(server, 'close');
  for (const work of ending.reverse()) await work();
});

/** Signed deliveries as large as are taken, and many of the size whose fields are examined. */
async function deliverLargest(publicUrl: string, env: string): Promise<void> {
  const secret = /^WEBHOOK_SECRETS=(.*)$/m.exec(env)?.[1] ?? '';
  const body = (nth: number, fields: number) => {
    const data = Object.fromEntries(
      Array.from({ length: fields }, (_, n) => [`field_${n}`, { name: `n${n}`, value: n % 2 === 0, list: [nth, 'x'] }]),
    );
    return JSON.stringify({ event: nth % 2 === 0 ? 'consent.recorded' : 'something.else', data });
  };
  const bodies = Array.from({ length: 70 }, (_, nth) => body(nth, nth < 60 ? 250 : 17_000));
  for (const sent of bodies) {
    const answer = await fetch(`${publicUrl}/webhooks/default`, {
      method: 'POST',
      body: sent,
      headers: {
        'content-type': 'application/json',
        'x-service-signature': createHmac('sha256', secret).update(sent).digest('hex'),
      },
    });
    if (answer.status !== 200) throw new Error(`refused: ${answer.status}`);
    largest = ((await answer.json()) as { seq: number }).seq;
  }
}

/** Makes the installation of `demo` in the folder; resolves with the owner's password. */
async function fillByDemo(folder: string): Promise<string> {
  const demo = spawn(process.execPath, [cliPath, 'demo', '--folder', join(folder, 'demo')], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let password = '';
  for await (const line of createInterface({ input: demo.stdout })) {
    password = /owner@demo\.example +(\S+)/.exec(line)?.[1] ?? password;
    if (line.startsWith('Serving.')) break;
  }
  demo.kill('SIGTERM');
  await once(demo, 'close');
  return password;
}

async function signIn(password: string): Promise<void> {
  await owner.get('/sign-in');
  const page = await owner.post('/sign-in', { email: 'owner@demo.example', password });
  if (page.status !== 303) throw new Error(`not signed in: ${page.status} ${page.text}`);
}

type Element = DefaultTreeAdapterTypes.Element;

interface Field {
  readonly name: string;
  readonly value: string;
  /** `free`: a text of the person's own; `file`; `set`: one of the values that the page offers. */
  readonly kind: 'free' | 'file' | 'date' | 'set';
  readonly longest: number;
}
interface Form {
  readonly action: string;
  readonly isPost: boolean;
  readonly isMultipart: boolean;
  readonly fields: readonly Field[];
}

function elementsOf(node: DefaultTreeAdapterTypes.ParentNode): Element[] {
  return node.childNodes.flatMap((child) => ('tagName' in child ? [child, ...elementsOf(child)] : []));
}

const attributeOf = (element: Element, name: string) => element.attrs.find((one) => one.name === name)?.value;

/** The links and forms of a page. */
function contentOf(html: string, path: string): { links: string[]; forms: Form[] } {
  const all = elementsOf(parse(html));
  const links = all.flatMap((element) => (element.tagName === 'a' ? [attributeOf(element, 'href') ?? ''] : []));
  const forms = all
    .filter(({ tagName }) => tagName === 'form')
    .map((form): Form => {
      const inside = elementsOf(form);
      return {
        action: attributeOf(form, 'action') ?? path,
        isPost: /^post$/i.test(attributeOf(form, 'method') ?? ''),
        isMultipart: attributeOf(form, 'enctype') === 'multipart/form-data',
        fields: inside.flatMap((element) => fieldOf(element)),
      };
    });
  return { links, forms };
}

function fieldOf(element: Element): Field[] {
  const name = attributeOf(element, 'name');
  if (name === undefined || name === '_csrf' || !['input', 'select', 'textarea'].includes(element.tagName)) return [];
  const type = attributeOf(element, 'type') ?? 'text';
  const longest = Number(attributeOf(element, 'maxlength') ?? 40_000);
  const field = (kind: Field['kind'], value: string) => [{ name, value, kind, longest }];
  if (element.tagName === 'select') {
    const options = elementsOf(element).filter(({ tagName }) => tagName === 'option');
    const chosen = options.find((one) => attributeOf(one, 'selected') !== undefined) ?? options.at(-1);
    return field('set', chosen === undefined ? '' : (attributeOf(chosen, 'value') ?? ''));
  }
  if (type === 'file') return field('file', '');
  if (element.tagName === 'textarea' || ['text', 'search', 'url', 'email'].includes(type)) return field('free', '');
  if (type === 'date') return field('date', '');
  return field('set', attributeOf(element, 'value') ?? 'on');
}

/** Texts that are costly for one part or another, as long as a field may be. */
const texts: Readonly<Record<string, (length: number) => string>> = {
  spaces: (length) => `a${' '.repeat(length - 2)}b`,
  ranges: (length) => '1-99999999,'.repeat(length / 11),
  lines: (length) => 'x,"y\n'.repeat(length / 5),
  markup: (length) => '<a '.repeat(length / 3),
  nested: (length) => '['.repeat(length / 2) + ']'.repeat(length / 2),
  letters: (length) => 'é'.repeat(length / 2),
};

/** A ZIP file whose members all decompress to `bytes` zeros. */
function zipOf(members: number, bytes: number): Buffer {
  const packed = deflateRawSync(Buffer.alloc(bytes), { level: 9 });
  const parts: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (let nth = 0; nth < members; nth += 1) {
    const name = Buffer.from(`file-${nth}`);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes, 18);
    common.writeUInt16LE(name.length, 22);
    parts.push(Buffer.from('PK\x03\x04', 'latin1'), common, name, packed);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    central.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, rest, name);
    offset += 30 + name.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(members, 8);
  end.writeUInt16LE(members, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, directory, end]);
}

/** The longest period that there is, or a long one that a report takes. */
function dateOf(name: string, kind: string): string {
  const isBegin = /from|since|after/.test(name);
  if (kind === 'ranges') return isBegin ? '0001-01-01' : '9999-12-31';
  return isBegin ? '1990-01-01' : '2089-12-31';
}

/** Files for an upload: as large as the largest that any page takes, or much larger once unpacked. */
const files: Readonly<Record<string, () => readonly [name: string, bytes: Buffer]>> = {
  spaces: () => ['large.pdf', Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(20 << 20)])],
  ranges: () => ['packed.zip', zipOf(60, 4 << 20)],
  lines: () => ['lines.csv', Buffer.from('name,slug\n'.repeat((5 << 20) / 10))],
  markup: () => ['page.html', Buffer.from('<a '.repeat((5 << 20) / 3))],
  nested: () => ['deep.json', Buffer.from('['.repeat(2 << 20) + ']'.repeat(2 << 20))],
  letters: () => ['members.zip', zipOf(20_000, 10)],
  policies: () => [
    'policies.csv',
    linesOf('policy_type,jurisdiction,language,business_name', 'privacy,DE,en,Name', 9999),
  ],
  sources: () => ['sources.csv', linesOf('slug,name,banners,webhook_secrets', 'client-', 999)],
};

/** A CSV file that is valid where its page takes one, with nearly as many lines and bytes as it takes. */
function linesOf(head: string, line: string, count: number): Buffer {
  const rest = head.startsWith('slug')
    ? (n: number) => `,Client ${n},bnr_${n},a-secret-of-client-${n}-${'x'.repeat(20)}`
    : () => '';
  const filling = head.startsWith('slug') ? '' : 'x'.repeat(400);
  return Buffer.from([head, ...Array.from({ length: count }, (_, n) => `${line}${n}${rest(n)}${filling}`)].join('\n'));
}

const least = <M extends { readonly ms: number }>(all: readonly [M, ...M[]]): M =>
  all.reduce((best, one) => (one.ms < best.ms ? one : best));

/** Waits for the jobs that were started. One that failed may wait for hours before it is tried again. */
async function untilIdle(): Promise<void> {
  for (;;) {
    const jobs = await store.read.selectFrom('jobs').select(['state', 'attempts']).execute();
    if (!jobs.some(({ state, attempts }) => state === 'running' || (state === 'waiting' && attempts === 0))) return;
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  }
}

async function stallsSince(start: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const text = (await readFile(stalls, 'utf8')).slice(start);
  return Math.max(0, ...text.split('\n').map(Number));
}

const sizeOfStalls = async () => (await readFile(stalls)).length;
const patternOf = (method: string, path: string): string | null =>
  Object.keys(rules)
    .filter((route) => route.startsWith(`${method} `))
    .sort((a, b) => a.split(':').length - b.split(':').length)
    .find((route) =>
      new RegExp(`^${route.slice(method.length + 1).replaceAll(/:\w+/g, '[^/]+')}$`).test(path.split('?')[0] ?? ''),
    ) ?? null;

/** What would end the visit or wait: signing out, streams, and a sync, which tries an hour long. */
const apart =
  /^(?:GET|POST) (?:\/sign-out|\/account\/(?:password|sessions|tokens\/revoke)|\/sync|\/sources\/:slug\/sync|\/api\/v1\/syncs|.*\/events|\/mcp)$/;

const worst = new Map<string, { ms: number; with: string; statuses: Set<number> }>();
/** The longest stretch in which the server did nothing but this, with the jobs that it started. */
async function measure(route: string, what: string, work: () => Promise<{ readonly status: number }>): Promise<void> {
  const once = async () => {
    const before = await sizeOfStalls();
    const { status } = await work();
    if (status === 401) await signInAgain();
    await untilIdle();
    return { status, ms: await stallsSince(before) };
  };
  const first = await once();
  // What is loaded or compiled once for the whole process, and collecting garbage, is not the request's.
  const { status, ms } = first.ms > LONGEST_MS / 2 ? least([first, await once(), await once()]) : first;
  const known = worst.get(route) ?? { ms: 0, with: '', statuses: new Set() };
  known.statuses.add(status);
  worst.set(route, known.ms < ms ? { ...known, ms, with: `${what} (${status})` } : known);
}

/** Opens pages from Today on, a few of each address, and collects their forms. */
async function visitAll(): Promise<ReadonlyMap<string, Form>> {
  const forms = new Map<string, Form>();
  const opened = new Map<string, number>();
  const seen = new Set<string>();
  const waiting = [
    '/',
    `/entries/${largest}`,
    '/account',
    '/people',
    '/documents/check',
    '/documents/export',
    '/sources/import',
    '/readings',
  ];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (seen.has(path) || !path.startsWith('/') || path.startsWith('//')) continue;
    seen.add(path);
    const route = patternOf('GET', path);
    if (route === null || apart.test(route) || (opened.get(route) ?? 0) >= 3) continue;
    opened.set(route, (opened.get(route) ?? 0) + 1);
    let text = '';
    const to = path;
    await measure(route, to, async () => {
      const page = await owner.get(to);
      if ((page.headers.get('content-type') ?? '').startsWith('text/html')) ({ text } = page);
      return page;
    });
    const content = contentOf(text, path.split('?')[0] ?? '');
    waiting.push(...content.links.map((link) => link.split('#')[0] ?? ''));
    for (const form of content.forms) {
      const at = patternOf(form.isPost ? 'POST' : 'GET', form.action) ?? '';
      if (!apart.test(at)) forms.set(`${at} ${form.fields.map(({ name }) => name).join()}`, form);
    }
  }
  return forms;
}

async function submit(form: Form, kind: string): Promise<{ readonly status: number }> {
  const free = form.fields.filter((field) => field.kind === 'free').length;
  // Fields without a limit of their own share that of the body: 64 KiB where a page sets no other.
  const text = (longest: number) =>
    (texts[kind] ?? texts['letters'])?.(Math.max(20, Math.min(longest, form.isPost ? 60_000 / free : 2000))) ?? '';
  const filled = form.fields.map(({ kind: is, name, value, longest }) => [
    name,
    is === 'free' ? text(longest) : is === 'date' ? dateOf(name, kind) : value,
  ]);
  if (!form.isPost) {
    const query = new URLSearchParams(filled);
    return owner.get(`${form.action.split('?')[0]}?${query.toString()}`.slice(0, 12_000));
  }
  if (!form.isMultipart) return owner.post(form.action, Object.fromEntries(filled) as Record<string, string>);
  const multipart = new FormData();
  for (const { name, kind: is } of form.fields) {
    const [fileName, bytes] = files[kind]?.() ?? ['', Buffer.alloc(0)];
    if (is === 'file') multipart.append(name, new Blob([new Uint8Array(bytes)]), fileName);
    else multipart.append(name, filled.find(([one]) => one === name)?.[1] ?? '');
  }
  return owner.post(form.action, {}, { multipart });
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** Values without which the API would answer before it looks at the others. */
const values: Readonly<Record<string, unknown>> = { source: 'default', sources: ['default'] };

/** The largest value that fits the schema, of at most about `room` bytes. */
function largestOf(schema: Schema, kind: string, room: number, named = ''): unknown {
  if (named in values) return values[named];
  if (named === 'from' || named === 'to') return dateOf(named, kind);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum.at(-1);
  const choice = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choice !== undefined)
    return largestOf(choice[Object.keys(texts).indexOf(kind) % choice.length] ?? {}, kind, room, named);
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
  if (type === 'object') {
    const own = Object.entries(schema.properties ?? {});
    return Object.fromEntries(own.map(([name, one]) => [name, largestOf(one, kind, room / own.length, name)]));
  }
  if (type === 'array') {
    const one = largestOf(schema.items ?? {}, kind, 40);
    const fit = Math.floor(room / (JSON.stringify(one).length + 1));
    return Array.from({ length: Math.max(1, Math.min(schema.maxItems ?? fit, fit)) }, () => one);
  }
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return schema.maximum ?? 1_000_000_000;
  if (schema.format === 'date-time') return '2026-11-01T00:00:00.000Z';
  if (schema.format === 'date') return '2026-11-01';
  const length = Math.max(4, Math.min(schema.maxLength ?? room, room));
  return (texts[kind]?.(length) ?? '').slice(0, length);
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

async function callApi(): Promise<void> {
  const described = (await (await fetch(`${adminUrl}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const headers = { authorization: `Bearer ${token}` };
  const cases = (await (await fetch(`${adminUrl}/api/v1/cases`, { headers })).json()) as {
    items: { caseId: string }[];
  };
  const documents = (await (await fetch(`${adminUrl}/api/v1/documents`, { headers })).json()) as {
    items: { documentId: string }[];
  };
  const known: Readonly<Record<string, string>> = {
    caseId: cases.items[0]?.caseId ?? '',
    documentId: documents.items[0]?.documentId ?? '',
    ...{ slug: 'default', seq: '100', task: 'crm' },
  };
  for (const [path, operations] of Object.entries(described.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const route = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
      if (apart.test(route) || !/^(?:GET|POST) /.test(route)) continue;
      for (const kind of Object.keys(texts)) {
        const query = new URLSearchParams(
          (operation.parameters ?? [])
            .filter((one) => one.in === 'query' && one.name !== 'cursor')
            .map(({ name, schema }) => [name, String(largestOf(schema, kind, 500, name))]),
        );
        const address = `${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? 'none')}?${query.toString()}`;
        const schema = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
        const body = schema === undefined ? null : JSON.stringify(largestOf(schema, kind, 40_000));
        await measure(route, kind, async () => {
          const answer = await fetch(adminUrl + address, {
            method: method.toUpperCase(),
            headers: {
              ...headers,
              ...(body === null ? {} : { 'content-type': 'application/json' }),
              'idempotency-key': `${kind}-${route}`.replaceAll(/[^\w-]/g, '-').slice(0, 60),
            },
            ...(body === null ? {} : { body }),
          });
          await answer.arrayBuffer();
          return answer;
        });
      }
    }
  }
}

it('no page, form, upload or call of the API keeps the server busy for longer than a tenth of a second', async () => {
  const forms = await visitAll();
  await callApi();
  for (const form of forms.values()) {
    const route = patternOf(form.isPost ? 'POST' : 'GET', form.action) ?? form.action;
    for (const kind of Object.keys(form.isMultipart ? files : texts))
      await measure(route, kind, () => submit(form, kind));
  }
  const slowest = [...worst].sort(([, a], [, b]) => b.ms - a.ms);
  if (process.env['STALL_TABLE'] !== undefined)
    await writeFile(
      process.env['STALL_TABLE'],
      slowest
        .map(([route, { ms, with: what, statuses }]) => `${ms} ${route} ${what} [${[...statuses].join()}]\n`)
        .join(''),
    );
  expect(slowest.length).toBeGreaterThan(100);
  expect(slowest.filter(([, { ms }]) => ms > LONGEST_MS)).toEqual([]);
}, 600_000);
