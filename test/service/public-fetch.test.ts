import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/crypto/hash.ts';
import { fetchEmbedPolicy, fetchHostedPolicy, type PublicFetch } from '../../src/service/public-fetch.ts';
import { answeringServer, ON_LOOPBACK } from './answering-server.ts';

const TOKEN = 'a-token-of-the-tests';

function refusalOf(fetched: PublicFetch): Extract<PublicFetch, { outcome: 'refused' }> {
  if (fetched.outcome !== 'refused') throw new Error(`it was answered with ${fetched.answer.status}`);
  return fetched;
}

describe('a public text of the service', () => {
  it('is returned in its exact bytes, with the headers that date it, and without token or site key', async () => {
    const body = Buffer.from([0xef, 0xbb, 0xbf, 0x3c, 0x70, 0x3e, 0xff]);
    const { baseUrl, requests } = await answeringServer((_request, response) =>
      response
        .writeHead(200, {
          'content-type': 'text/html',
          date: 'Mon, 20 Jul 2026 12:00:00 GMT',
          age: '17',
          etag: '"e1"',
          'x-other': 'not kept',
        })
        .end(body),
    );
    const siteUrl = new URL(baseUrl).origin;
    const fetched = await fetchHostedPolicy({
      destinations: ON_LOOPBACK,
      siteUrl,
      url: `${siteUrl}/policy/privacy-policy/p1?token=${TOKEN}`,
    });
    if (fetched.outcome !== 'answered') throw new Error(fetched.sentence);
    const { answer } = fetched;
    expect(answer.bytes).toEqual(body);
    expect(answer.sha256).toBe(sha256Hex(body));
    expect(answer.headers).toEqual({
      date: 'Mon, 20 Jul 2026 12:00:00 GMT',
      age: 17,
      etag: '"e1"',
      lastModified: null,
      cacheControl: null,
      contentType: 'text/html',
    });
    expect(answer.url).toBe(`${siteUrl}/policy/privacy-policy/p1`);
    expect(requests[0]?.url.searchParams.get('token')).toBe(TOKEN);
    expect(requests[0]?.headers.authorization).toBeUndefined();
    expect(requests[0]?.headers.cookie).toBeUndefined();
    const { bytes: _bytes, ...rest } = answer;
    expect(JSON.stringify(rest)).not.toContain(TOKEN);

    const embed = await fetchEmbedPolicy({
      destinations: ON_LOOPBACK,
      siteUrl,
      siteKey: 'pk_secret&type=x',
      type: 'hub',
    });
    expect(embed.outcome === 'answered' && embed.answer.url).toBe(`${siteUrl}/api/embed/policy`);
    expect(requests[1]?.url.searchParams.getAll('type')).toEqual(['hub']);
    expect(requests[1]?.url.searchParams.get('siteKey')).toBe('pk_secret&type=x');
  });

  it.each([
    ['another host', 'http://evil.example/policy/x/y'],
    ['the metadata service of a cloud', 'http://169.254.169.254/latest/meta-data/'],
    ['another port', (origin: string) => origin.replace(/:\d+$/, ':1')],
    ['another scheme', (origin: string) => origin.replace('http:', 'https:')],
    ['a file', 'file:///etc/passwd'],
    // The origin of such an address is the inner one.
    ['an object in memory', (origin: string) => `blob:${origin}/0c2a9f6e`],
    ['credentials before the host', (origin: string) => origin.replace('http://', 'http://user:pass@')],
    ['the origin as user name of another host', (origin: string) => `${origin}@evil.example/`],
    ['the origin as beginning of another host', (origin: string) => `${origin}.evil.example/`],
    ['a backslash', (origin: string) => `http:\\\\evil.example\\${origin}`],
    ['the same machine under another name', (origin: string) => origin.replace('127.0.0.1', 'localhost')],
    ['no address', 'not an address'],
    ['no address beginning with slashes', '//evil.example/x'],
  ])('is not requested at %s', async (_what, address) => {
    const { baseUrl, requests } = await answeringServer((_request, response) => response.end('no'));
    const siteUrl = new URL(baseUrl).origin;
    const url = typeof address === 'string' ? address : address(siteUrl);
    const refused = refusalOf(await fetchHostedPolicy({ destinations: ON_LOOPBACK, siteUrl, url }));
    expect(refused).toMatchObject({ kind: 'not-allowed', transient: false });
    expect(requests).toEqual([]);
  });

  it.each([
    ['another origin', 'http://evil.example/'],
    ['the metadata service of a cloud', 'http://169.254.169.254/latest/meta-data/'],
    ['another origin without a scheme', '//evil.example/'],
    ['credentials', 'http://user@127.0.0.1/'],
    ['nowhere', null],
  ])('is given up if it redirects to %s', async (_what, location) => {
    const { baseUrl, requests } = await answeringServer((_request, response) =>
      response.writeHead(302, location === null ? {} : { location }).end(),
    );
    const siteUrl = new URL(baseUrl).origin;
    const refused = refusalOf(
      await fetchHostedPolicy({ destinations: ON_LOOPBACK, siteUrl, url: `${siteUrl}/policy/a/b?token=${TOKEN}` }),
    );
    expect(refused.kind).toBe('not-allowed');
    expect(refused.sentence).not.toContain(TOKEN);
    expect(requests).toHaveLength(1);
  });

  it('on another host is named by its origin, to distinguish a wrong setting from an attack, and without its token', async () => {
    const elsewhere = `https://www.service.example/policy/a/b?token=${TOKEN}`;
    const { baseUrl } = await answeringServer((_request, response) =>
      response.writeHead(301, { location: elsewhere }).end(),
    );
    const siteUrl = new URL(baseUrl).origin;
    for (const url of [elsewhere, `${siteUrl}/policy/a/b`]) {
      const { sentence } = refusalOf(await fetchHostedPolicy({ destinations: ON_LOOPBACK, siteUrl, url }));
      expect(sentence).toContain('(https://www.service.example) is not under http://127.0.0.1');
      expect(sentence).not.toContain(TOKEN);
    }
  });

  it('is followed over three redirects under its own origin, not over four', async () => {
    const { baseUrl, requests } = await answeringServer((request, response) => {
      const at = Number(new URL(request.url ?? '', 'http://x').searchParams.get('n'));
      if (at === 0) response.end('there');
      else response.writeHead(302, { location: `/page?n=${at - 1}` }).end();
    });
    const siteUrl = new URL(baseUrl).origin;
    const three = await fetchHostedPolicy({ destinations: ON_LOOPBACK, siteUrl, url: `${siteUrl}/page?n=3` });
    expect(three.outcome === 'answered' && three.answer).toMatchObject({ redirects: 3, url: `${siteUrl}/page` });
    requests.length = 0;
    expect(
      refusalOf(await fetchHostedPolicy({ destinations: ON_LOOPBACK, siteUrl, url: `${siteUrl}/page?n=9` })).kind,
    ).toBe('too-many-redirects');
    expect(requests).toHaveLength(4);
  });

  it('is cut off beyond the limit, whatever length was announced', async () => {
    const { baseUrl } = await answeringServer((request, response) => {
      if (request.url === '/announced')
        response.writeHead(200, { 'content-length': 2_000_000 }).end(Buffer.alloc(2_000_000));
      else if (request.url === '/zipped')
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(2_000_000)));
      else {
        const more = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      }
    });
    const siteUrl = new URL(baseUrl).origin;
    for (const path of ['/announced', '/zipped', '/endless']) {
      const refused = refusalOf(
        await fetchHostedPolicy(
          { destinations: ON_LOOPBACK, siteUrl, url: `${siteUrl}${path}` },
          { maxBytes: 1_000_000 },
        ),
      );
      expect(refused, path).toMatchObject({ kind: 'too-large', transient: false });
    }
    const fits = await fetchHostedPolicy(
      { destinations: ON_LOOPBACK, siteUrl, url: `${siteUrl}/announced` },
      { maxBytes: 2_000_000 },
    );
    expect(fits.outcome === 'answered' && fits.answer.bytes.length).toBe(2_000_000);
  });

  it('is given up if the answer does not end in time, and may be retried', async () => {
    const { baseUrl } = await answeringServer((_request, response) => void response.writeHead(200).write('begun'));
    const siteUrl = new URL(baseUrl).origin;
    const refused = refusalOf(
      await fetchHostedPolicy({ destinations: ON_LOOPBACK, siteUrl, url: `${siteUrl}/slow` }, { timeoutMs: 150 }),
    );
    expect(refused).toMatchObject({ kind: 'timeout', transient: true });
  });

  it('that does not exist is an answer; an error is not, and says whether a retry may help', async () => {
    const { baseUrl } = await answeringServer((request, response) =>
      response.writeHead(Number(request.url?.slice(1))).end('{"error":{}}'),
    );
    const siteUrl = new URL(baseUrl).origin;
    const at = (status: number) =>
      fetchHostedPolicy({ destinations: ON_LOOPBACK, siteUrl, url: `${siteUrl}/${status}` });
    for (const status of [404, 410]) {
      const fetched = await at(status);
      expect(fetched.outcome === 'answered' && fetched.answer.status).toBe(status);
    }
    for (const [status, transient] of [
      [400, false],
      [403, false],
      [429, true],
      [500, true],
      [503, true],
      [204, false],
    ] as const)
      expect(refusalOf(await at(status)), String(status)).toMatchObject({ kind: 'unexpected-status', transient });
  });

  it('on an unreachable server gives a failure without the address', async () => {
    const { baseUrl } = await answeringServer((_request, response) => response.destroy());
    const siteUrl = new URL(baseUrl).origin;
    const refused = refusalOf(
      await fetchHostedPolicy({ destinations: ON_LOOPBACK, siteUrl, url: `${siteUrl}/x?token=${TOKEN}` }),
    );
    expect(refused).toMatchObject({ kind: 'network', transient: true });
    expect(refused.sentence).not.toContain(TOKEN);
  });

  it('ends with the reason given when it is aborted', async () => {
    const { baseUrl } = await answeringServer((_request, response) => void response.writeHead(200).write('begun'));
    const siteUrl = new URL(baseUrl).origin;
    const stop = new AbortController();
    const running = fetchHostedPolicy({
      destinations: ON_LOOPBACK,
      siteUrl,
      url: `${siteUrl}/slow`,
      signal: stop.signal,
    });
    setTimeout(() => stop.abort(new Error('stopped by the test')), 50);
    await expect(running).rejects.toThrow('stopped by the test');
  });
});
