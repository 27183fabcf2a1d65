import { connect } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createOfficeWorld, signedIn } from './office-world.ts';
import { seedRequests } from './pages/seed.ts';

/** One form of a page: its address, and its fields with their values. */
interface Form {
  readonly action: string;
  readonly isPost: boolean;
  readonly isMultipart: boolean;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

const unescaped = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');

function formsOf(page: string, path: string): Form[] {
  return page
    .split('<form')
    .slice(1)
    .map((part) => {
      const [inside = ''] = part.split('</form');
      const attribute = (tag: string, name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
      const [head = ''] = inside.split('>');
      const fields = [...inside.matchAll(/<(?:input|textarea|select)\b[^>]*>(?:<option[^>]*>)?/g)].flatMap(([tag]) => {
        const name = attribute(tag, 'name');
        return name === undefined ? [] : [[name, unescaped(attribute(tag, 'value') ?? '')] as const];
      });
      return {
        action: unescaped(attribute(head, 'action') ?? path),
        isPost: /method="post"/i.test(head),
        isMultipart: head.includes('multipart'),
        fields,
      };
    });
}

const hostile = [
  ...[
    '',
    ' ',
    '\0',
    'a\0b',
    '%00',
    '%ED%A0%80',
    '\u{1f600}'.repeat(60),
    '\u202e\u2028',
    '-1',
    '0',
    '1e999',
    '9'.repeat(30),
    'NaN',
    'null',
    '[]',
    '{}',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    '../../etc/passwd',
    "' OR 1=1 --",
    '<script>',
    '2026-02-30',
    '2026-02-30T25:61',
    '+275760-09-13T00:00',
    '-271821-04-20T00:00',
    '9999-12-31T23:59',
    '0001-01-01T00:00',
    '2026-03-29T02:30',
  ],
  'x'.repeat(9000),
];
const bodies: readonly (readonly [type: string, body: string])[] = [
  ['application/x-www-form-urlencoded', '%zz=%&&==&_csrf'],
  ['application/x-www-form-urlencoded', '__proto__=x&constructor=y&_csrf=a&_csrf=b'],
  ['application/x-www-form-urlencoded', 'a=b&'.repeat(5000)],
  ['application/json', '{"_csrf":'],
  ['application/json', '{"__proto__":{"x":1},"move":{"toString":null}}'],
  ['application/json', '['.repeat(5000) + ']'.repeat(5000)],
  ['multipart/form-data', 'x'],
  ['multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="__proto__"\r\n\r\n1\r\n--x--'],
  [
    'multipart/form-data; boundary=x',
    '--x\r\nContent-Disposition: form-data; name="file"; filename="a\0\u{1f600}"\r\n\r\n1',
  ],
  ['text/plain', 'x'],
  ['', 'x'],
  ['application/json; charset=utf-7', '"\ud800"'],
];

/** Sends a raw request, since fetch would repair a broken one. Resolves with the status of the response. */
function send(address: string, head: string, body: Buffer): Promise<number> {
  const { port, hostname, host } = new URL(address);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)));
    const fixed = `Host: ${host}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(Buffer.concat([Buffer.from(head + fixed, 'latin1'), body]));
  });
}

test('the admin listener answers hostile fields, bodies, cookies and addresses of every page with a refusal, never with an internal error', async () => {
  const world = await createOfficeWorld();
  const caseId = `default-${(await seedRequests(world)).access}`;
  await world.context.sources.add({ slug: 'bolt', webhookSecrets: ['a-signing-secret-of-bolt'] }, 'test');
  const olga = await signedIn(world);
  const pages = [
    '/',
    '/cases',
    '/cases/new',
    `/cases/${caseId}`,
    `/cases/${caseId}/letter?step=acknowledgement`,
    '/banners',
    '/consent',
    '/deadline',
    '/sources/new',
    '/documents/schedules',
    '/settings/profile',
    '/policies/generate',
    '/policies/bulk',
    '/settings/retention',
    '/sources/bolt',
    '/sources/bolt/fields',
  ];
  const forms = new Map<string, Form>();
  let csrf = '';
  for (const path of pages) {
    const page = await olga.get(path);
    expect([path, page.status]).toEqual([path, 200]);
    csrf = /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? csrf;
    for (const form of formsOf(page.text, path))
      forms.set(JSON.stringify([form.action, form.fields.map(([name]) => name)]), form);
  }
  // Signing out would end the test, and a sync has no service.
  const tried = [...forms.values()].filter(({ action }) => action !== '/sign-out' && !action.endsWith('/sync'));
  expect(tried.length).toBeGreaterThan(12);
  const failed: unknown[] = [];
  const cookie = [...olga.cookies].map(([name, value]) => `${name}=${value}`).join('; ');

  const fill = fc.tuple(
    fc.constantFrom(...tried),
    fc.array(fc.option(fc.constantFrom(...hostile), { freq: 2 }), { minLength: 20, maxLength: 20 }),
  );
  for (const [form, values] of fc.sample(fill, { numRuns: 60, seed: 3 })) {
    const filled = form.fields.map(([name, value], place): [string, string] => [
      name,
      ['_csrf', 'move', 'basedOn'].includes(name) ? (name === '_csrf' ? csrf : value) : (values[place % 20] ?? value),
    ]);
    let body: FormData | URLSearchParams = new URLSearchParams(filled);
    if (form.isMultipart) {
      body = new FormData();
      for (const [name, value] of filled)
        if (name === 'file')
          body.append(name, new Blob([value || 'a text']), values[0] ?? `${'\u{1f600}'.repeat(101)}.jpeg`);
        else body.append(name, value);
    }
    const address = new URL(form.action, world.adminUrl);
    if (!form.isPost) address.search = (body as URLSearchParams).toString();
    const answer = await fetch(address, {
      redirect: 'manual',
      headers: { cookie },
      ...(form.isPost ? { method: 'POST', body } : {}),
    });
    await answer.arrayBuffer();
    if (answer.status >= 500) failed.push([answer.status, form.action, filled]);
  }

  const actions = [...new Set(tried.filter(({ isPost }) => isPost).map(({ action }) => action))];
  for (const action of actions)
    for (const [type, body] of bodies) {
      const head = `POST ${action} HTTP/1.1\r\nCookie: ${cookie}\r\n${type === '' ? '' : `Content-Type: ${type}\r\n`}`;
      const status = await send(world.adminUrl, head, Buffer.from(body, 'utf8'));
      if (status >= 500 || status === 0) failed.push([status, action, type, body.slice(0, 60)]);
    }

  const paths = [
    '/cases/%00',
    '/cases/%ED%A0%80',
    '/cases/%zz',
    `/cases/${'a'.repeat(3000)}`,
    '/cases/__proto__',
    '/documents/%00/download',
    '/banners/evidence/99999999999999999999/file',
    '/banners/evidence/-1/file',
    '/banners/evidence/1.5/file',
    '/deadline?kind=access&kind=x&place[]=1',
    '/cases?source=__proto__',
    '/?done=constructor',
    '/cases?source=%00',
    `/cases/${caseId}?done=__proto__`,
    `/cases/${caseId}/letter?step=toString&language=__proto__`,
    '//',
    '/%2e%2e/',
    '/sign-in?token=%00',
  ];
  for (const path of paths) {
    const status = await send(world.adminUrl, `GET ${path} HTTP/1.1\r\nCookie: ${cookie}\r\n`, Buffer.alloc(0));
    if (status >= 500 || status === 0) failed.push([status, path]);
  }
  const cookies = [
    '',
    '=',
    ';;;',
    'session',
    '__proto__=x',
    `x=${'y'.repeat(8000)}`,
    'a="\\',
    '%00=%ZZ',
    '\x80\xff=\xfe',
    cookie.replace(/=[^;]*/g, '=%ED%A0%80'),
    cookie.replace(/=[^;]*/g, '='),
    `${cookie}; ${cookie}`,
    cookie.replaceAll('=', '=\0'),
  ];
  for (const one of cookies)
    for (const path of ['/', '/sign-in']) {
      const status = await send(world.adminUrl, `GET ${path} HTTP/1.1\r\nCookie: ${one}\r\n`, Buffer.alloc(0));
      if (status >= 500 || status === 0) failed.push([status, path, one.slice(0, 60)]);
    }
  expect(failed).toEqual([]);
});
