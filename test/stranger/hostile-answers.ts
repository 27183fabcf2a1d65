import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

/** The request that a command of the companion sends. */
export interface Meeting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  /** Number of earlier requests of the same source. */
  readonly nth: number;
  readonly origin: string;
  /** The key of the request, which must never appear in output. */
  readonly key: string;
}

/**
 * The command to run: list, log (sync), generate, bulk, publish, embed and hosted (policy snapshot), mcp (generate by
 * MCP); openapi: the check of the API description.
 */
export type Target = 'list' | 'log' | 'generate' | 'bulk' | 'publish' | 'embed' | 'hosted' | 'openapi' | 'mcp';

/** One way in which no sound service answers. */
export interface HostileAnswer {
  readonly name: string;
  readonly at: Target;
  readonly respond: (meeting: Meeting) => void;
  /** How the command must end; default: ill. With `either` both are right. */
  readonly ends?: 'well' | 'ill' | 'either';
}

type Respond = HostileAnswer['respond'];
type Named = Readonly<Record<string, Respond>>;

const MIB = 1024 * 1024;

/** Inflates to 100 MiB. Compressed only once, because compressing also blocks the command in the same process. */
const bombs = once(() => {
  const zeros = Buffer.alloc(100 * MIB);
  const gzip = gzipSync(zeros);
  return { gzip, br: brotliCompressSync(zeros, { params: { 1: 4 } }), gzipInGzip: gzipSync(gzip) };
});

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Sends exactly these bytes on the connection, then ends it. */
const raw =
  (bytes: string | Buffer, more: 'end' | 'stay' | 'reset' = 'end'): Respond =>
  ({ response }) => {
    const { socket } = response;
    if (socket === null) return;
    if (more === 'reset') return void socket.resetAndDestroy();
    socket.write(bytes);
    if (more === 'end') socket.end();
  };

const answer =
  (status: number, body: string | Buffer, headers: Record<string, string | readonly string[]> = {}): Respond =>
  ({ response }) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers } as Record<string, string>);
    response.end(body);
  };

const ok = (body: string | Buffer, headers: Record<string, string> = {}) => answer(200, body, headers);
const json = (value: unknown) => ok(JSON.stringify(value));
const refused = (status: number, headers: Record<string, string> = {}) =>
  answer(status, '{"error":{"code":"x","message":"No."}}', headers);

/** Sends parts one after another, for ever. */
const drip =
  (part: string, everyMs = 20, head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n'): Respond =>
  ({ response }) => {
    const { socket } = response;
    if (socket === null) return;
    socket.write(head);
    const timer = setInterval(() => socket.write(part), everyMs);
    socket.on('close', () => clearInterval(timer));
  };

/** Sends as much as the other side reads. */
const flood =
  (part: Buffer, head: string): Respond =>
  ({ response }) => {
    const { socket } = response;
    if (socket === null) return;
    const pour = () => {
      while (!socket.destroyed && socket.write(part));
    };
    socket.write(head);
    socket.on('drain', pour);
    pour();
  };

const page = '{"data":[],"next_cursor":null}';
const head = (headers: string) => `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`;
const flipped = (bytes: Buffer) => {
  const broken = Buffer.from(bytes);
  const place = Math.floor(broken.length / 2);
  broken[place] = (broken[place] ?? 0) ^ 0xff;
  return broken;
};
const rows = JSON.stringify({ data: Array.from({ length: 300 }, (_, id) => ({ id })), next_cursor: null });

const bodies: Named = {
  nothing: ok(''),
  'white space': ok(' \n'.repeat(1000)),
  'a page of HTML': ok('<!doctype html><h1>Sign in</h1><script>alert(1)</script>', { 'content-type': 'text/html' }),
  'HTML that says it is JSON': ok('<!doctype html><h1>Sign in</h1>'),
  'plain text': ok('OK', { 'content-type': 'text/plain' }),
  null: ok('null'),
  true: ok('true'),
  'a number': ok('42'),
  'a number beyond all': ok('1e999999999'),
  'a number of a million digits': ok('9'.repeat(MIB)),
  'a string': ok('"data"'),
  'a string of 10 MiB': ok(`"${'x'.repeat(10 * MIB)}"`),
  'arrays 200,000 deep': ok('['.repeat(200_000) + ']'.repeat(200_000)),
  'objects 100,000 deep': ok('{"data":'.repeat(100_000) + '1' + '}'.repeat(100_000)),
  'brackets that never close': ok('['.repeat(MIB)),
  'an object with something else': json({ status: 'maintenance', until: 'tomorrow' }),
  'an error with 200': json({ error: { code: 'unauthorized', message: 'No.' } }),
  'a prototype': ok('{"__proto__":{"data":[],"policies":[],"id":"x"},"status":"ok"}'),
  'a constructor': ok('{"constructor":{"prototype":{"data":[]}},"status":"ok"}'),
  'data that is a number': ok('{"data":5,"policies":5,"id":{},"items":5}'),
  'data that is an object': ok('{"data":{"a":1},"policies":{"a":1},"id":[1]}'),
  'data twice': ok('{"data":"x","policies":"x","data":5,"policies":5}'),
  'half of it': ok('{"data":[{"id":"a"},{"id":'),
  'two documents': ok(`{"status":"ok"}\n{"status":"ok"}`),
  'single quotes and NaN': ok("{'data': NaN}"),
  'a call of a function': ok('callback({"data":[]})'),
  'UTF-16': ok(Buffer.from(page, 'utf16le'), { 'content-type': 'application/json; charset=utf-16le' }),
  'UTF-16 with a mark': ok(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(page, 'utf16le')])),
  'UTF-32': ok(Buffer.from([...page].flatMap((letter) => [letter.charCodeAt(0), 0, 0, 0]))),
  'bytes that are no UTF-8': ok(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
  'NUL bytes': ok(Buffer.alloc(4096)),
  'lone surrogates': ok('{"status":"\\ud800\\udfff\\udc00"}'),
  '100,000 keys': ok(`{${Array.from({ length: 100_000 }, (_, nth) => `"k${nth}":1`).join(',')}}`),
  'a key of 5 MiB': ok(`{"${'k'.repeat(5 * MIB)}":1}`),
};

const encodings: Named = {
  'gzip with a flipped byte': ok(flipped(gzipSync(rows)), { 'content-encoding': 'gzip' }),
  'deflate with a flipped byte': ok(flipped(deflateSync(rows)), { 'content-encoding': 'deflate' }),
  'br with a flipped byte': ok(flipped(brotliCompressSync(rows)), { 'content-encoding': 'br' }),
  'gzip cut off': ok(gzipSync(rows).subarray(0, 60), { 'content-encoding': 'gzip' }),
  'gzip of 100 MiB': (meeting) => ok(bombs().gzip, { 'content-encoding': 'gzip' })(meeting),
  'br of 100 MiB': (meeting) => ok(bombs().br, { 'content-encoding': 'br' })(meeting),
  'gzip in gzip of 100 MiB': (meeting) => ok(bombs().gzipInGzip, { 'content-encoding': 'gzip, gzip' })(meeting),
  'no gzip that says it is': ok(page, { 'content-encoding': 'gzip' }),
  'no br that says it is': ok(page, { 'content-encoding': 'br' }),
  'an encoding that was not requested': ok(page, { 'content-encoding': 'zstd' }),
  'ten encodings': ok(page, { 'content-encoding': Array.from({ length: 10 }, () => 'gzip').join(', ') }),
  'an encoding with a long name': ok(page, { 'content-encoding': 'x'.repeat(5000) }),
};

const framing: Named = {
  'more announced than sent': raw(`${head('Content-Length: 1000')}{"data":[]`),
  'a length below zero': raw(head('Content-Length: -1') + page),
  'a length that is a word': raw(head('Content-Length: many') + page),
  'a length beyond all': raw(head('Content-Length: 99999999999999999999') + page, 'stay'),
  'a length of 10 GiB': raw(head('Content-Length: 10737418240') + page, 'stay'),
  'two lengths': raw(head('Content-Length: 5\r\nContent-Length: 30') + page),
  'a length and chunks': raw(`${head('Content-Length: 30\r\nTransfer-Encoding: chunked')}zz\r\n`),
  'a chunk longer than it is': raw(`${head('Transfer-Encoding: chunked')}ffff\r\n${page}\r\n`),
  'a chunk of no number': raw(`${head('Transfer-Encoding: chunked')}xyz\r\n${page}\r\n0\r\n\r\n`),
  'a chunk beyond all': raw(`${head('Transfer-Encoding: chunked')}ffffffffffffffffff\r\n${page}`),
  'chunks without an end': raw(`${head('Transfer-Encoding: chunked')}1e\r\n${page}\r\n`),
  'an extension of a chunk for ever': drip('x'.repeat(100), 5, `${head('Transfer-Encoding: chunked')}1e;`),
  'trailers for ever': drip('X-T: 1\r\n', 5, `${head('Transfer-Encoding: chunked')}1e\r\n${page}\r\n0\r\n`),
  'headers for ever': drip('X-H: 1\r\n', 5, 'HTTP/1.1 200 OK\r\n'),
  'a header of 1 MiB': raw(head(`X-H: ${'h'.repeat(MIB)}`) + page),
  '20,000 headers': raw(head(Array.from({ length: 20_000 }, (_, nth) => `X-${nth}: 1`).join('\r\n')) + page),
  'a header with NUL': raw(head('X-H: a\0b') + page),
  'a header without a colon': raw(head('this is no header') + page),
  'no status': raw('hello\r\n\r\n'),
  'a status of 999': raw(`HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n`),
  'a status of 000': raw(`HTTP/1.1 000 What\r\nContent-Length: 0\r\n\r\n`),
  'HTTP/0.9': raw(page),
  'HTTP/2': raw(Buffer.from('000012040000000000000300000064000400100000000600004000', 'hex')),
  TLS: raw(Buffer.from('160303004a020000460303', 'hex')),
  'nothing, and a close': raw(''),
  'nothing, and a reset': raw('', 'reset'),
  silence: raw('', 'stay'),
  'silence after the headers': raw(head('Content-Length: 30'), 'stay'),
  'one byte now and then': drip('{'),
  'white space now and then': drip(' '),
  'white space without end': flood(Buffer.alloc(64 * 1024, ' '), head('Connection: close')),
  'letters without end': flood(Buffer.alloc(64 * 1024, 'x'), head('Connection: close')),
  'headers without end': flood(Buffer.from('X-H: 1\r\n'.repeat(1000)), 'HTTP/1.1 200 OK\r\n'),
  'a thousand times 100 Continue': raw('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)),
  'early hints now and then': drip('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n', 20, ''),
  'another protocol': raw('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
  '204 with a body': raw(`HTTP/1.1 204 No Content\r\nContent-Length: 30\r\n\r\n${page}`),
  '205': raw('HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n'),
  '206 of it': answer(206, '{"data":[', { 'content-range': 'bytes 0-8/100' }),
  '304 to nothing asked': raw('HTTP/1.1 304 Not Modified\r\n\r\n'),
};

const redirects: Named = Object.fromEntries(
  Object.entries({
    'to itself': ({ request }) => request.url ?? '/',
    'to another host': () => 'http://service.invalid/api/v1/policies',
    'with a password': ({ origin }) => origin.replace('//', '//admin:hunter2@'),
    'to a file': () => 'file:///etc/passwd',
    'to a script': () => 'javascript:alert(1)',
    'to the metadata of a cloud': () => 'http://169.254.169.254/latest/meta-data/',
    'to the admin listener': () => 'http://127.0.0.1:8081/metrics',
    'to nowhere': () => 'http://[',
    'of 60,000 characters': ({ origin }) => `${origin}/${'x'.repeat(60_000)}`,
    'to two lines': () => 'http://service.invalid/%0d%0aX: 1',
    empty: () => '',
  } satisfies Record<string, (meeting: Meeting) => string>).map(([name, location]): [string, Respond] => [
    `a redirect ${name}`,
    (meeting) => answer(302, '', { location: location(meeting) })(meeting),
  ]),
);

const statuses: Named = {
  ...Object.fromEntries(
    [
      300, 301, 303, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 413, 414, 418, 421, 422, 425,
      431, 451, 499, 500, 501, 502, 503, 504, 511, 520, 599,
    ].map((status) => [`HTTP ${status}`, refused(status)]),
  ),
  '401 that repeats the key': (meeting) =>
    answer(401, JSON.stringify({ error: { code: 'unauthorized', message: `Bad key ${meeting.key}` } }))(meeting),
  '400 with a message of 5 MiB': answer(400, JSON.stringify({ error: { code: 'x', message: 'm'.repeat(5 * MIB) } })),
  '400 that clears the screen': answer(
    400,
    JSON.stringify({ error: { code: '\u001b[2J', message: '\u001b]0;x\u0007\u001b[31m\u202eon' } }),
  ),
  '400 with lone surrogates': answer(400, '{"error":{"code":"\\ud800","message":"\\udfff"}}'),
  '400 with an error that is text': answer(400, '{"error":"No."}'),
  '400 with an error that is a list': answer(400, '{"error":[1,2]}'),
  '400 with an error 50,000 deep': answer(400, `{"error":${'['.repeat(50_000)}${']'.repeat(50_000)}}`),
  '400 with a code that is an object': answer(400, '{"error":{"code":{"a":1},"message":{"b":2}}}'),
  '400 in UTF-16': answer(400, Buffer.from('{"error":{"code":"x","message":"y"}}', 'utf16le')),
  '403 with HTML': answer(403, `<html>${'<b>'.repeat(1000)}`, { 'content-type': 'text/html' }),
  '404 that never ends': drip('x', 20, 'HTTP/1.1 404 Not Found\r\n\r\n'),
  '500 with a trace': answer(500, 'Error: boom\n    at Object.<anonymous> (/srv/app/index.js:1:1)', {
    'content-type': 'text/plain',
  }),
  '503 with a broken gzip': answer(503, flipped(gzipSync(rows)), { 'content-encoding': 'gzip' }),
  ...Object.fromEntries(
    [
      '-5',
      '1e99',
      'Fri, 31 Dec 9999 23:59:59 GMT',
      'Thu, 01 Jan 1970 00:00:00 GMT',
      'soon',
      '99999999999999999999',
      '',
      '0',
      '0.5',
      'NaN',
      '\u00ff',
      '3600, 7200',
    ].map((wait) => [`429 with Retry-After "${wait}"`, refused(429, { 'retry-after': wait })]),
  ),
  '503 with Retry-After of a year': refused(503, { 'retry-after': '31536000' }),
  '429 with limits that are none': refused(429, {
    'ratelimit-remaining': '-1',
    'ratelimit-reset': '1e400',
    'x-ratelimit-reset': '9'.repeat(30),
    ratelimit: '"',
  }),
};

const pages: readonly Omit<HostileAnswer, 'at'>[] = [
  ...Object.entries({
    'a cursor that leads to itself': () => ({ data: [], next_cursor: 'same' }),
    'a cursor that leads round': ({ nth }) => ({ data: [], next_cursor: `c${nth % 3}` }),
    'empty pages without end': ({ nth }) => ({ data: [], next_cursor: `c${nth}` }),
    'a cursor of 5 MiB': () => ({ data: [], next_cursor: 'c'.repeat(5 * MIB) }),
    'a cursor that is an object': () => ({ data: [], next_cursor: { a: 1 } }),
    'a cursor that is a list': () => ({ data: [], next_cursor: ['c'] }),
    'a cursor that is true': () => ({ data: [], next_cursor: true }),
    'a cursor with a line break': ({ nth }) => ({
      data: [],
      next_cursor: nth === 0 ? 'a\r\nX-Evil: 1' : 'a\r\nX-Evil: 1',
    }),
    'a cursor with a lone surrogate': () => ({ data: [], next_cursor: '\ud800' }),
    'more pages than rows': ({ nth }) => ({ data: [], next_cursor: nth * 1e300 }),
  } satisfies Record<string, (meeting: Meeting) => unknown>).map(([name, value]) => ({
    name,
    respond: (meeting: Meeting) => json(value(meeting))(meeting),
    ends: 'ill' as const,
  })),
  { name: '60,000 rows in a page', respond: ok(`{"data":[${'1,'.repeat(60_000)}1]}`) },
  { name: 'three million rows of a byte', respond: ok(`{"data":[${'1,'.repeat(3_000_000)}1]}`) },
  { name: 'a page of 17 MiB', respond: ok(`{"data":["${'x'.repeat(17 * MIB)}"]}`) },
  { name: 'a row 5,000 deep', respond: ok(`{"data":[${'['.repeat(5000)}${']'.repeat(5000)}]}`) },
  // The readable part is kept, and reported as broken.
  { name: 'a page cut off', respond: ok('{"data":[{"id":"a"},{"id":'), ends: 'either' },
  { name: '30,000 rows broken', respond: ok(`{"data":[${'{"a":,'.repeat(30_000)}]}`), ends: 'either' },
];

const kinds: Readonly<Record<Target, string>> = {
  list: 'list',
  log: 'consent log',
  generate: 'generate',
  bulk: 'bulk',
  publish: 'publish',
  embed: 'embed',
  hosted: 'public page',
  openapi: 'OpenAPI',
  mcp: 'MCP',
};

/** Each of these answers at one endpoint. */
function everywhere(at: Target, ...groups: readonly Named[]): HostileAnswer[] {
  return groups.flatMap((group) =>
    Object.entries(group).map(([name, respond]) => ({ name: `${kinds[at]}: ${name}`, at, respond })),
  );
}

/** The named answers of one endpoint, with how the command must end there. */
function only(
  at: Target,
  named: Readonly<Record<string, Respond | readonly [Respond, HostileAnswer['ends']]>>,
): HostileAnswer[] {
  return Object.entries(named).map(([name, given]) => {
    const [respond, ends] = typeof given === 'function' ? [given, undefined] : given;
    return { name: `${kinds[at]}: ${name}`, at, respond, ...(ends === undefined ? {} : { ends }) };
  });
}

/** JSON-RPC over HTTP up to the tool's call, then the answer under test. */
const mcp =
  (
    changed: Partial<Record<'initialize' | 'tools/list' | 'tools/call', (meeting: Meeting, id: number) => void>>,
  ): Respond =>
  (meeting) => {
    const { request, body } = meeting;
    if (request.method !== 'POST') return refused(405)(meeting);
    const { id, method } = JSON.parse(body.toString()) as { id?: number; method: string };
    if (id === undefined) return answer(202, '')(meeting);
    const own = changed[method as 'initialize'];
    if (own !== undefined) return own(meeting, id);
    const inputSchema = {
      type: 'object',
      properties: { policy_type: { type: 'string' }, jurisdiction: { type: 'string' } },
    };
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      },
      'tools/list': { tools: [{ name: 'generate_policy', inputSchema }] },
      'tools/call': { content: [{ type: 'text', text: '{"id":"p"}' }] },
    };
    json({ jsonrpc: '2.0', id, result: results[method] ?? {} })(meeting);
  };
const rpc = (result: unknown) => (meeting: Meeting, id: number) => json({ jsonrpc: '2.0', id, result })(meeting);
const plain = (respond: Respond) => (meeting: Meeting) => respond(meeting);
const stream = { 'content-type': 'text/event-stream' };
const streamHead = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n';
const toolWith = (inputSchema: unknown) => rpc({ tools: [{ name: 'generate_policy', inputSchema }] });
const called = (result: unknown) => mcp({ 'tools/call': rpc(result) });

const few = ['nothing', 'a page of HTML', 'null', 'arrays 200,000 deep', 'half of it', 'NUL bytes', 'lone surrogates'];
const pick = (group: Named, names: readonly string[]): Named =>
  Object.fromEntries(Object.entries(group).filter(([name]) => names.includes(name)));

const listed = (policy: object) => json({ count: 1, policies: [{ id: 'p', policy_type: 'imprint', ...policy }] });

const openapi = (schemas: object, paths: object = { '/policies': { get: { responses: {} } } }) =>
  JSON.stringify({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths, components: { schemas } });

/** All hostile answers. */
export const hostileAnswers: readonly HostileAnswer[] = [
  ...everywhere('list', bodies, encodings, framing, redirects, statuses),
  ...only('list', {
    'an id of 5 MiB': listed({ id: 'i'.repeat(5 * MIB) }),
    'a title of 5 MiB': [listed({ title: 't'.repeat(5 * MIB) }), 'either'],
    'a title that clears the screen': [listed({ title: '\u001b[2J\u202e' }), 'either'],
    'a title that is an object': listed({ title: {} }),
    'an address that is a script': [listed({ url: 'javascript:alert(1)' }), 'either'],
    'an address with a password': [listed({ url: 'https://admin:hunter2@service.example/policy' }), 'either'],
    'an address of 5 MiB': [listed({ url: `https://service.example/${'u'.repeat(5 * MIB)}` }), 'either'],
    'a jurisdiction of 1 MiB': [listed({ jurisdiction: 'j'.repeat(MIB), language: 'l'.repeat(MIB) }), 'either'],
    '30,000 policies': json({ policies: Array.from({ length: 30_000 }, (_, id) => ({ id })) }),
    'the same cursor again and again': json({ data: [], next_cursor: 'same' }),
    'a cursor of 5 MiB': json({ data: [], next_cursor: 'c'.repeat(5 * MIB) }),
    'pages without end': (meeting) => json({ data: [{ id: meeting.nth }], next_cursor: `c${meeting.nth}` })(meeting),
  }),
  ...everywhere('log', { ...bodies, 'half of it': ok('{"data":{"a":') }, encodings),
  ...everywhere(
    'log',
    pick(framing, ['silence', 'one byte now and then', 'nothing, and a reset', 'letters without end']),
    redirects,
  ),
  ...pages.map((one) => ({ ...one, at: 'log' as const, name: `consent log: ${one.name}` })),
  ...everywhere(
    'generate',
    pick(bodies, few),
    pick(encodings, ['gzip of 100 MiB', 'br with a flipped byte']),
    redirects,
  ),
  ...everywhere(
    'generate',
    pick(framing, ['silence', 'one byte now and then', 'more announced than sent', '204 with a body']),
    pick(statuses, [
      '401 that repeats the key',
      'HTTP 500',
      '400 with a message of 5 MiB',
      '429 with Retry-After "1e99"',
    ]),
  ),
  ...only('generate', {
    'an id that is a path': [json({ id: '../../etc/passwd', content: 'x' }), 'either'],
    'an id of 5 MiB': [json({ id: 'i'.repeat(5 * MIB), content: 'x' }), 'either'],
    'an id that clears the screen': [json({ id: '\u001b[2J', content: 'x' }), 'either'],
    'an id that is zero': [json({ id: 0, content: 'x' }), 'either'],
    'an id with a lone surrogate': [ok('{"id":"\\ud800","content":"\\udc00"}'), 'either'],
    'a text that is a number': [json({ id: 'p', content: 5 }), 'either'],
    'a quota below zero': [json({ id: 'p', content: 'x', policies_remaining: -1e308 }), 'either'],
  }),
  ...everywhere('bulk', pick(bodies, few), pick(framing, ['silence', 'nothing, and a reset'])),
  ...only('bulk', {
    'no results': json({ batch_id: 'b', total: 2, created: 2, failed: 0, results: [] }),
    'results of others': json({ results: [{ id: 'a', policy_type: 'hipaa-policy', status: 'created' }] }),
    'a million results': ok(`{"results":[${'{"status":"created"},'.repeat(300_000)}{}]}`),
    'a status that is an object': json({
      results: [
        { id: 'a', status: {} },
        { id: 'b', status: [] },
      ],
    }),
    'ids twice': [
      json({ results: [1, 2].map(() => ({ id: 'same', policy_type: 'imprint', status: 'created' })) }),
      'either',
    ],
  }),
  ...everywhere(
    'publish',
    pick(bodies, few.slice(0, -1)),
    pick(framing, ['silence', 'nothing, and a reset']),
    redirects,
  ),
  ...only('publish', {
    'another policy': json({ id: 'another', hosted_url: 'http://x/' }),
    'an address that is a script': [
      json({ id: 'p', hosted_url: 'javascript:alert(1)', webhook_deliveries_queued: 0 }),
      'either',
    ],
    'an address with a password': [
      json({ id: 'p', hosted_url: 'https://u:hunter2@service.example/p', webhook_deliveries_queued: 0 }),
      'either',
    ],
    'more deliveries than can be': [json({ id: 'p', webhook_deliveries_queued: 1e308 }), 'either'],
  }),
  ...everywhere(
    'embed',
    redirects,
    pick(framing, [
      'silence',
      'one byte now and then',
      'letters without end',
      'nothing, and a reset',
      '204 with a body',
      '206 of it',
    ]),
    pick(statuses, ['HTTP 401', 'HTTP 403', 'HTTP 404', 'HTTP 500', '429 with Retry-After "1e99"']),
  ),
  ...[
    ...everywhere('hosted', bodies, encodings, redirects),
    ...everywhere('openapi', bodies, encodings, redirects),
    ...everywhere('hosted', pick(framing, ['silence', 'one byte now and then', 'letters without end'])),
    ...everywhere('openapi', pick(framing, ['silence', 'one byte now and then', 'letters without end'])),
  ].map((one): HostileAnswer => ({ ...one, ends: 'either' })),
  ...only('hosted', {
    'a page of 6 MiB': ok('x'.repeat(6 * MIB), { 'content-type': 'text/html' }),
    'tags 100,000 deep': [ok('<div>'.repeat(100_000), { 'content-type': 'text/html' }), 'either'],
    'comments that never close': [ok('<!--'.repeat(200_000), { 'content-type': 'text/html' }), 'either'],
  }),
  ...only('openapi', {
    'a schema of itself': [ok(openapi({ $ref: '#/components/schemas/S' })), 'either'],
    'schemas that double at each step': [
      ok(
        openapi(
          Object.fromEntries(
            Array.from({ length: 40 }, (_, nth) => [
              `s${nth}`,
              { allOf: [{ $ref: `#/components/schemas/s${nth + 1}` }, { $ref: `#/components/schemas/s${nth + 1}` }] },
            ]),
          ),
        ),
      ),
      'either',
    ],
    '20,000 paths': [
      ok(openapi({}, Object.fromEntries(Array.from({ length: 20_000 }, (_, nth) => [`/p${nth}`, { get: {} }])))),
      'either',
    ],
    'paths that are a list': [ok('{"openapi":"3.1.0","info":{"title":"x","version":"1"},"paths":[1]}'), 'either'],
  }),
  ...only('embed', {
    'an error with 200': json({ error: { code: 'unauthorized', message: 'No.' } }),
    'gzip that nobody asked for, broken': ok(flipped(gzipSync(rows)), { 'content-encoding': 'gzip' }),
    'a page of 6 MiB': ok('x'.repeat(6 * MIB), { 'content-type': 'text/html' }),
    'tags 100,000 deep': [ok('<div>'.repeat(100_000), { 'content-type': 'text/html' }), 'either'],
    'a tag that never closes': [ok(`<a ${'href="'.repeat(200_000)}`, { 'content-type': 'text/html' }), 'either'],
    'comments that never close': [ok('<!--'.repeat(200_000), { 'content-type': 'text/html' }), 'either'],
    'entities without end': [ok('&amp'.repeat(300_000), { 'content-type': 'text/html' }), 'either'],
    'UTF-16 without a word of it': [
      ok(Buffer.from('<p>Text</p>', 'utf16le'), { 'content-type': 'text/html' }),
      'either',
    ],
    'a charset that there is not': [ok('<p>Text</p>', { 'content-type': 'text/html; charset=klingon' }), 'either'],
    'NUL bytes': [ok(Buffer.alloc(1000), { 'content-type': 'text/html' }), 'either'],
    'JSON 200,000 deep': [ok('['.repeat(200_000) + ']'.repeat(200_000)), 'either'],
  }),
  ...only('mcp', {
    'a page of HTML': ok('<h1>Sign in</h1>', { 'content-type': 'text/html' }),
    nothing: ok(''),
    silence: raw('', 'stay'),
    'HTTP 401': refused(401),
    'HTTP 404': refused(404),
    'HTTP 500': refused(500),
    'a redirect elsewhere': answer(307, '', { location: 'http://service.invalid/' }),
    'JSON 200,000 deep': ok('['.repeat(200_000) + ']'.repeat(200_000)),
    'a stream that never ends': drip(': still here\n\n', 20, streamHead),
    'a stream of one event that never ends': flood(Buffer.from('data: x\n'.repeat(1000)), `${streamHead}data: `),
    'a stream of nonsense': ok('data: {"jsonrpc":\n\ndata: 5\n\n', stream),
    'a version of the future': mcp({
      initialize: rpc({ protocolVersion: '9999-12-31', capabilities: {}, serverInfo: { name: 'x', version: '1' } }),
    }),
    'no tools': mcp({ 'tools/list': rpc({ tools: [] }) }),
    'tools without end': mcp({
      'tools/list': (meeting, id) => rpc({ tools: [], nextCursor: `c${meeting.nth}` })(meeting, id),
    }),
    '100,000 tools': mcp({
      'tools/list': rpc({
        tools: Array.from({ length: 100_000 }, (_, nth) => ({ name: `t${nth}`, inputSchema: { type: 'object' } })),
      }),
    }),
    'a schema that is a number': mcp({ 'tools/list': toolWith(5) }),
    'a schema of itself': [
      mcp({ 'tools/list': toolWith({ type: 'object', $ref: '#', properties: { a: { $ref: '#' } } }) }),
      'either',
    ],
    'a schema with a pattern that takes for ever': [
      mcp({
        'tools/list': toolWith({
          type: 'object',
          properties: { policy_type: { type: 'string', pattern: '^(([a-z-])+.)+$' }, jurisdiction: { type: 'string' } },
        }),
      }),
      'either',
    ],
    'a schema 10,000 deep': [
      mcp({
        'tools/list': plain(
          ok(
            `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"generate_policy","inputSchema":${'{"properties":{"a":'.repeat(10_000)}1${'}}'.repeat(10_000)}}]}}`,
          ),
        ),
      }),
      'either',
    ],
    'a tool that wants a secret': [
      mcp({
        'tools/list': toolWith({
          type: 'object',
          properties: { policy_type: {}, jurisdiction: {}, api_key: {} },
          required: ['api_key'],
        }),
      }),
      'either',
    ],
    'a result that is none': called({}),
    'a result without text': called({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }),
    'a failure that repeats the key': (meeting) =>
      called({ isError: true, content: [{ type: 'text', text: `bad key ${meeting.key}` }] })(meeting),
    'a text of 20 MiB': called({ content: [{ type: 'text', text: 'x'.repeat(20 * MIB) }] }),
    'an error instead of a result': mcp({
      'tools/call': (meeting, id) =>
        json({ jsonrpc: '2.0', id, error: { code: -1, message: '\u001b[2J'.repeat(1000) } })(meeting),
    }),
    'an answer to another question': mcp({
      'tools/call': (meeting) => json({ jsonrpc: '2.0', id: 'another', result: {} })(meeting),
    }),
    'silence to the call': mcp({ 'tools/call': plain(raw('', 'stay')) }),
    'a stream without end to the call': mcp({ 'tools/call': plain(drip(': still here\n\n', 20, streamHead)) }),
    'a stream of megabytes to the call': mcp({
      'tools/call': plain(flood(Buffer.from(`: ${'x'.repeat(64 * 1024)}\n`), streamHead)),
    }),
  }),
];
