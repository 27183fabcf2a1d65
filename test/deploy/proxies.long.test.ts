// SQLite only: these tests are about the proxies in front of the listeners.
import { spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../client/client.ts';
import { untilThere } from '../cli/command-line.ts';
import { selfSigned } from '../cli/self-signed.ts';
import { findFreePort } from '../servers/own-process.ts';
import { SECRET, type Serving, startServing } from '../serving.ts';
import { openStoreIn, temporaryFolder } from '../temporary.ts';

const root = join(import.meta.dirname, '../..');
const PUBLIC = 'ledger.example.org';
const OFFICE = 'office.ledger.example.org';
const MIB = 1024 ** 2;
/** An address that may open the officer's pages in these tests, and one that may not. */
const [INSIDE, OUTSIDE] = ['127.0.0.1', '127.0.0.2'];

/** A proxy started with its file from the repository. */
interface Proxy {
  readonly name: string;
  /** Turns the file into one with several receivers, following its own comments. */
  readonly several: (text: string, listeners: readonly string[]) => string;
  /** Replacements for ports, files and networks of the example; each original has to occur in it. */
  readonly replaced: (at: Place) => readonly (readonly [string, string])[];
  readonly file: string;
  /** Its request logs, in the folder of the test. */
  readonly logs: readonly string[];
  /** The command that starts it in the foreground with the written file. */
  readonly command: (at: Place, text: string) => Promise<readonly [string, ...string[]]>;
}
interface Place {
  readonly folder: string;
  readonly port: number;
  readonly publicListener: string;
  readonly adminListener: string;
}

const CERTIFICATE = '/etc/ssl/consent-ledger/fullchain.pem';
const KEY = '/etc/ssl/consent-ledger/privkey.pem';

const proxies: readonly Proxy[] = [
  {
    name: 'nginx',
    file: 'deploy/nginx/consent-ledger.conf',
    logs: ['access.log', 'error.log'],
    several: (text, listeners) =>
      text.replace('    server 127.0.0.1:8080;\n', listeners.map((one) => `    server ${one};\n`).join('')),
    replaced: ({ folder, port, publicListener, adminListener }) => [
      ['listen 443 ', `listen ${port} `],
      // Not every machine has IPv6.
      ['listen [::]:443 ', `# listen [::]:443 `],
      [`${CERTIFICATE};`, `${folder}/cert.pem;`],
      [`${KEY};`, `${folder}/key.pem;`],
      ['127.0.0.1:8080;', `${publicListener};`],
      ['127.0.0.1:8081;', `${adminListener};`],
      ['allow 127.0.0.0/8;', `allow ${INSIDE};`],
      ['/var/log/nginx/error.log', `${folder}/error.log`],
    ],
    async command({ folder }, text) {
      await writeFile(`${folder}/site.conf`, text);
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (of) => `${of}_temp_path ${folder}/${of};`,
      );
      const main = [
        ...(process.getuid?.() === 0 ? ['user root;'] : []),
        'daemon off;',
        `pid ${folder}/nginx.pid;`,
        'error_log stderr;',
        'events {}',
        `http { access_log ${folder}/access.log; ${temporary.join(' ')} include ${folder}/site.conf; }`,
      ];
      await writeFile(`${folder}/nginx.conf`, main.join('\n'));
      return ['nginx', '-e', 'stderr', '-c', `${folder}/nginx.conf`];
    },
  },
  {
    name: 'caddy',
    file: 'deploy/caddy/Caddyfile',
    logs: [],
    several: (text, listeners) =>
      text
        .replace('\treverse_proxy 127.0.0.1:8080\n', '')
        .replace(/^\t# reverse_proxy [^{]*\{[^}]*\}$/m, (block) =>
          block.replaceAll(/^\t# /gm, '\t').replace('127.0.0.1:8080 127.0.0.1:8082', listeners.join(' ')),
        ),
    replaced: ({ folder, port, publicListener, adminListener }) => [
      ['\tservers {', `\tadmin off\n\tauto_https disable_redirects\n\thttps_port ${port}\n\tservers {`],
      [`# tls ${CERTIFICATE} ${KEY}`, `tls ${folder}/cert.pem ${folder}/key.pem`],
      ['\treverse_proxy 127.0.0.1:8080\n', `\treverse_proxy ${publicListener}\n`],
      ['\treverse_proxy 127.0.0.1:8081\n', `\treverse_proxy ${adminListener}\n`],
      ['remote_ip private_ranges', `remote_ip ${INSIDE}`],
    ],
    async command({ folder }, text) {
      await writeFile(`${folder}/Caddyfile`, text);
      return ['caddy', 'run', '--adapter', 'caddyfile', '--config', `${folder}/Caddyfile`];
    },
  },
];

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: readonly Buffer[];
  /** The address of this machine that the request comes from. */
  readonly from?: string;
}

/** The server of an installation and a proxy in front of it; retried if another process took a port first. */
async function startBehind(proxy: Proxy, receivers = 1, attempt = 1): ReturnType<typeof startOnce> {
  try {
    return await startOnce(proxy, receivers);
  } catch (error) {
    if (attempt === 3 || !/address already in use|EADDRINUSE/i.test(String(error))) throw error;
    return startBehind(proxy, receivers, attempt + 1);
  }
}

async function startOnce(proxy: Proxy, count: number) {
  const data = await temporaryFolder();
  const folder = await temporaryFolder();
  const profile = 'name: Acme GmbH\ncountry: DE\nrequestForm: true\nrequestFormOn: ["https://www.shop.example"]\n';
  await writeFile(join(folder, 'controller.yaml'), profile);
  await writeFile(join(folder, 'cert.pem'), selfSigned.cert);
  await writeFile(join(folder, 'key.pem'), selfSigned.key);
  const committed = readFileSync(join(root, proxy.file), 'utf8');
  // The settings that the example itself names as required.
  const settings = [...committed.matchAll(/^# {3}([A-Z_]+)=(\S+)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  expect(settings.map(([name]) => name)).toEqual(['TRUST_PROXY', 'PUBLIC_URL', 'ADMIN_HOSTS', 'ADMIN_URL']);
  const [port, publicPort, adminPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const env = {
    ...(Object.fromEntries(settings) as Record<string, string>),
    CONTROLLER_FILE: join(folder, 'controller.yaml'),
    DATABASE_URL: '',
  };
  const ports = [publicPort, ...(count > 1 ? [await findFreePort()] : [])];
  const start = (place: number) =>
    startServing(
      data,
      { ...env, PORT: String(ports[place]), ADMIN_PORT: place === 0 ? String(adminPort) : '0' },
      [],
      count > 1 ? ['--no-worker', '--drain', '15'] : [],
    );
  const receivers: Serving[] = [];
  for (const place of ports.keys()) receivers.push(await start(place));
  const at: Place = {
    folder,
    port,
    publicListener: `127.0.0.1:${publicPort}`,
    adminListener: `127.0.0.1:${adminPort}`,
  };
  let text =
    count === 1
      ? committed
      : proxy.several(
          committed,
          ports.map((one) => `127.0.0.1:${one}`),
        );
  for (const [from, to] of proxy.replaced(at)) {
    expect(committed, `${proxy.file} has ${from}`).toContain(from);
    text = text.replaceAll(from, to);
  }
  const [program, ...args] = await proxy.command(at, text);
  await mkdir(join(folder, 'home'));
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH ?? '', HOME: join(folder, 'home') },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  let ended: string | null = null;
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  child.on('error', (error) => (ended = `${error.message}: install the Debian package of ${proxy.name}`));
  child.on('exit', () => (ended ??= said));
  onTestFinished(async () => {
    if (child.exitCode !== null || child.pid === undefined) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });

  const ask = (host: string, path: string, { method = 'GET', headers = {}, body = [], from = INSIDE }: Asked = {}) =>
    new Promise<Reply>((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          path,
          method,
          servername: host,
          localAddress: from,
          rejectUnauthorized: false,
          agent: false,
          headers: { host, ...headers },
        },
        (response) => {
          let answer = '';
          response.on('data', (chunk) => (answer += String(chunk)));
          response.on('error', reject);
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text: answer }),
          );
        },
      );
      // Data sent after an early response is refused.
      sent.on('error', reject);
      for (const part of body) sent.write(part);
      sent.end();
    });
  const deliver = (parts: readonly Buffer[], more: Record<string, string> = {}) => {
    const signature = createHmac('sha256', SECRET).update(Buffer.concat(parts)).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-service-signature': signature, ...more };
    return ask(PUBLIC, '/webhooks/default', { method: 'POST', headers, body: parts });
  };
  await untilThere(async () => {
    if (ended !== null) throw new Error(`${proxy.name} ended: ${ended}`);
    return ask(PUBLIC, '/readyz').then(
      ({ status }) => (status === 200 ? true : null),
      () => null,
    );
  });
  return { ask, deliver, data, folder, receivers, start };
}

describe.each(proxies)('$name in front of the program', (proxy) => {
  test('passes a delivery on byte for byte, up to BODY_LIMIT and no further', async () => {
    const { deliver, data } = await startBehind(proxy);
    const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const awkward = [
      Buffer.from('\ufeff{"event":"consent.recorded","name":"Ŝ\\u0000 😀\\r\\n"}\r\n\t \n\n'),
      Buffer.concat([Buffer.from('--boundary\r\n%00%0d%0a+&amp;\0\r\n.\r\n'), every]),
      Buffer.from('0\r\n\r\nPOST /webhooks/default HTTP/1.1\r\nContent-Length: 5\r\n\r\n'),
      randomBytes(MIB),
    ];
    for (const body of awkward) expect(await deliver([body])).toMatchObject({ status: 200 });
    // In chunks, without a length in any header.
    const pieces = ['{"event":', ' "ping" ', '}'].map((text) => Buffer.from(text));
    expect(await deliver(pieces, { 'transfer-encoding': 'chunked' })).toMatchObject({ status: 200 });
    // The proxy itself responds, and reads the rest of the body: if the response got lost, the sender would deliver
    // again.
    for (let n = 0; n < 10; n += 1)
      expect((await deliver([randomBytes(MIB + 1)], { 'content-length': String(MIB + 1) })).status).toBe(413);

    const store = await openStoreIn(data);
    const rows = await store.read
      .selectFrom('entries')
      .select('body')
      .where('kind', '=', 'webhook')
      .orderBy('seq')
      .execute();
    await store.close();
    const kept = rows.map(({ body }) => Buffer.from(body as Uint8Array));
    expect(kept.map((body) => body.length)).toEqual([...awkward, Buffer.concat(pieces)].map((body) => body.length));
    expect([...awkward, Buffer.concat(pieces)].every((body, n) => body.equals(kept[n] as Buffer))).toBe(true);
  });

  test('passes on the sender’s address, whatever the sender claims', async () => {
    const { ask } = await startBehind(proxy);
    const statuses: number[] = [];
    for (let n = 0; n < 61; n += 1) {
      const forged = { 'x-forwarded-for': `198.51.100.${n}`, forwarded: `for=198.51.100.${n}` };
      statuses.push((await ask(PUBLIC, '/r/default', { headers: forged, from: '127.0.0.3' })).status);
    }
    expect(statuses.slice(0, 60).every((status) => status === 200)).toBe(true);
    expect(statuses[60]).toBe(429);
    expect((await ask(PUBLIC, '/r/default', { from: '127.0.0.4' })).status).toBe(200);
  });

  test('lets the program decide who may show the request form in a frame', async () => {
    const { ask, folder } = await startBehind(proxy);
    const form = await ask(PUBLIC, '/r/default?subject=visitor-17');
    expect(form.headers['content-security-policy']).toContain('frame-ancestors https://www.shop.example;');
    expect(form.headers['x-frame-options']).toBeUndefined();
    expect(form.headers['strict-transport-security']).toContain('max-age=31536000');
    const pack = await ask(PUBLIC, '/h/not-the-token-of-a-pack');
    expect(pack.status).toBe(404);
    expect(pack.headers['x-frame-options']).toBe('SAMEORIGIN');
    // The query of such an address is in no log.
    for (const name of proxy.logs) {
      const log = readFileSync(join(folder, name), 'utf8');
      expect(log).not.toMatch(/visitor-17|not-the-token/);
    }
  });

  test('serves the officers’ pages only under their own name and to their own networks', async () => {
    const { ask } = await startBehind(proxy);
    const page = await ask(OFFICE, '/sign-in');
    expect(page.status).toBe(200);
    expect(page.text).toContain('Sign in');
    // The program knows that the browser came over TLS.
    expect(String(page.headers['set-cookie'])).toMatch(/Secure/i);
    expect((await ask(OFFICE, '/sign-in', { from: OUTSIDE })).status).toBe(403);
    expect((await ask(OFFICE, '/metrics')).status).toBe(404);
    expect((await ask(PUBLIC, '/sign-in')).status).toBe(404);
    expect((await ask(PUBLIC, '/metrics')).status).toBe(404);
    // A name inside TLS that differs from the outer one, and a header that a browser did not send.
    const forged = { 'x-forwarded-host': OFFICE };
    expect((await ask(PUBLIC, '/sign-in', { headers: { host: 'evil.example' } })).text).not.toContain('Sign in');
    expect((await ask(PUBLIC, '/sign-in', { headers: forged })).status).toBe(404);
    expect((await ask(OFFICE, '/sign-in', { headers: { 'x-forwarded-host': 'evil.example' } })).status).toBe(200);
    await expect(ask('evil.example', '/sign-in')).rejects.toThrow(/alert|reset/i);
  });

  test('fails no delivery while two receivers are restarted one after the other', async () => {
    const { deliver, data, receivers, start } = await startBehind(proxy, 2);
    let loading = true;
    const statuses: number[] = [];
    const clients = Array.from({ length: 4 }, async (_, client) => {
      for (let at = 0; loading; at += 1) {
        const body = Buffer.from(JSON.stringify({ event: 'ping', name: `${client}/${at}` }));
        statuses.push((await deliver([body])).status);
        await delay(20);
      }
    });
    for (const [place, receiver] of receivers.entries()) {
      expect(await receiver.stop()).toBe(0);
      receivers[place] = await start(place);
      // Until the proxy checks again (7 s) or retries (10 s).
      await delay(11_000);
    }
    if (proxy.name === 'nginx') {
      // If a receiver is killed during a request, the proxy sends the request to the other one.
      await receivers[0]?.kill();
      await delay(2000);
    }
    loading = false;
    await Promise.all(clients);
    expect(statuses.length).toBeGreaterThan(500);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    const store = await openStoreIn(data);
    const { count } = await store.read
      .selectFrom('entries')
      .select((eb) => eb.fn.countAll().as('count'))
      .where('kind', '=', 'webhook')
      .executeTakeFirstOrThrow();
    await store.close();
    expect(Number(count)).toBe(statuses.length);
  });

  test('is not taken for the API by its TypeScript client', async () => {
    const { ask, receivers } = await startBehind(proxy);
    const connect = (host: string, from: string) => {
      const through = async (input: string | URL | Request): Promise<Response> => {
        const { method, url, headers } = new Request(input);
        const path = url.slice(`https://${host}`.length);
        const {
          status,
          text,
          headers: had,
        } = await ask(host, path, { method, from, headers: Object.fromEntries(headers) });
        return new Response(text === '' ? null : text, { status, headers: had as Record<string, string> });
      };
      return createClient({ url: `https://${host}`, token: 'clt_wrong', fetch: through });
    };
    const codeAt = async (host: string, from = INSIDE) => {
      const { data, error } = await connect(host, from).GET('/api/v1/cases');
      expect(data).toBeUndefined();
      expect(error?.detail).toMatch(/\S \S/);
      return [error?.status, error?.code];
    };
    expect(await codeAt(OFFICE)).toEqual([401, 'sign_in_required']);
    expect(await codeAt(OFFICE, OUTSIDE)).toEqual([403, 'unexpected_response']);
    expect(await codeAt(PUBLIC)).toEqual([404, 'unexpected_response']);
    await receivers[0]?.stop();
    expect(await codeAt(OFFICE)).toEqual([502, 'unexpected_response']);
  });

  test('accepts an upload to be checked, far beyond BODY_LIMIT', async () => {
    const { ask } = await startBehind(proxy);
    const body = [Buffer.alloc(2 * MIB)];
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    // Without a session it is redirected to the sign-in, by the program and not by the proxy.
    const reply = await ask(OFFICE, '/documents/check', { method: 'POST', headers, body });
    expect(reply.status).toBe(401);
    expect(reply.text).toContain('Sign in');
  });
});
