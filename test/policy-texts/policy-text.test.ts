import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { htmlLines, readPolicyText, withoutTokens } from '../../src/policy-texts/policy-text.ts';
import { originWindow } from '../../src/policy-texts/snapshot.ts';
import {
  addSighting,
  inForceBetween,
  type Sighting,
  type TextVersion,
  textAt,
} from '../../src/policy-texts/text-versions.ts';
import { computed, runs } from '../temporary.ts';

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

describe('the visible text of an answer', () => {
  it('has U+FFFD for a lone surrogate in JSON', () => {
    for (const json of ['"\\udc00x"', '{"content":"\\udc00x"}', '{"html":"<p>\\udc00x</p>"}'])
      expect(readPolicyText(Buffer.from(json), 'application/json').lines).toEqual(['\ufffdx']);
    expect(readPolicyText(Buffer.from('{"other":"\\udc00x"}'), 'application/json').lines.join()).toContain('\\udc00x');
  });

  it('is the text that a reader sees on a page', () => {
    const page = `<!doctype html><html><head><title>T</title><style>p{}</style></head><body>
      <script>alert("<p>no</p>")</script><!-- <p>no</p> --><h2>Who&nbsp;we &amp; you are</h2>
      <p>First   line<br>second &lt;b&gt; &#8211; &#x20AC;</p><ul><li>one<li>two</ul>
      <a href="https://x.example/p?token=abc#f" title="a > b">here</a> 1 < 2
      <table><tr><td>a</td><td>b</td></tr></table></body></html>`;
    expect(htmlLines(page)).toEqual([
      '## Who we & you are',
      'First line',
      'second <b> – €',
      '- one',
      '- two',
      'here <https://x.example/p> 1 < 2',
      'a | b',
    ]);
  });

  it('is the same whatever surrounds it, and differs if a word changes', () => {
    const html = '<article><p>The text</p></article>';
    const one = readPolicyText(
      bytes({ id: 'p1', html, updated_at: '1', url: 'https://x/p?token=a' }),
      'application/json',
    );
    const same = [
      bytes({ html: '<div>\n<p>The  text</p></div>', updated_at: '2' }),
      bytes({ data: { id: 7, html } }),
      bytes(html),
    ].map((body) => readPolicyText(body, null).sha256);
    expect(new Set([one.sha256, ...same]).size).toBe(1);
    expect(one.policyId).toBe('p1');
    expect(readPolicyText(bytes({ html: '<p>The test</p>' }), null).sha256).not.toBe(one.sha256);
    expect(readPolicyText(bytes({ markdown: '# The text\n\nhere' }), null).lines).toEqual(['# The text', 'here']);
  });

  it('is the whole document for JSON without a text, without tokens', () => {
    const hub = (token: string) =>
      bytes({ policies: [{ id: 'p1', title: 'A', url: `https://x.example/p?token=${token}` }] });
    const read = readPolicyText(hub('secret1'), 'application/json');
    expect(read.form).toBe('json/1');
    expect(read.lines.join('\n')).not.toContain('secret1');
    expect(readPolicyText(hub('secret2'), 'application/json').sha256).toBe(read.sha256);
  });

  it('is extracted from any input, in linear time', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.constantFrom(null, 'text/html', 'application/json'),
        (body, type) => {
          expect(readPolicyText(body, type).sha256).toMatch(/^[0-9a-f]{64}$/);
        },
      ),
    );
    for (const unit of [
      '<script',
      '<p',
      '<!--',
      '<a href="',
      '&amp',
      '</',
      '<p "',
      '<a href=x href',
      'https://x/?',
      '<style>',
    ]) {
      const started = computed();
      readPolicyText(bytes(unit.repeat(Math.ceil(1_000_000 / unit.length))), 'text/html');
      expect(computed() - started, unit).toBeLessThan(4000);
    }
  });

  it('is the JSON itself if nested deeper than any answer', () => {
    const nested = (depth: number) => `{"a":"[",${'"b":['.repeat(1)}${'['.repeat(depth)}${']'.repeat(depth)}]}`;
    expect(readPolicyText(bytes(nested(50)), 'application/json').form).toBe('json/1');
    expect(readPolicyText(bytes(nested(200_000)), 'application/json').form).toBe('plain/1');
  });

  it('leaves out tokens of addresses, so a new token is not a new text', () => {
    const page = (token: string) =>
      readPolicyText(
        bytes(`<p>Link: https://x.example/p?a=1&amp;token=${token}</p><p>/p?token=${token}</p>`),
        'text/html',
      );
    expect(page('SECRET').lines).toEqual(['Link: https://x.example/p?…', '/p?token=…']);
    expect(page('SECRET').sha256).toBe(page('OTHER').sha256);
  });

  it('does not show the token of an address, however it is written', () => {
    for (const text of [
      'see https://x.example/policy/a/b?token=SECRET.',
      '{"url":"https:\\/\\/x.example\\/policy?lang=de&token=SECRET"}',
      '<a href="/policy/a?token=SECRET">',
      'https://x.example/api/embed/policy?siteKey=SECRET&type=hub',
    ])
      expect(withoutTokens(text), text).not.toContain('SECRET');
  });
});

describe('the versions of a text', () => {
  const minute = (n: number) => new Date(Date.UTC(2026, 6, 20, 12, n)).toISOString();
  const look = (seq: number, text: string | null, from: number, to = from): Sighting => ({
    seq,
    textSha256: text,
    bodySeq: seq,
    originFrom: minute(from),
    originTo: minute(to),
    settled: true,
  });
  const fold = (...sightings: Sighting[]) => sightings.reduce<readonly TextVersion[]>(addSighting, []);

  it('change between the last fetch of one and the first fetch of the next', () => {
    const versions = fold(look(1, 'a', 0), look(2, 'a', 10), look(3, 'b', 20), look(4, 'a', 30), look(5, null, 40));
    expect(
      versions.map(({ textSha256, notBefore, firstSeen, lastSeen }) => [textSha256, notBefore, firstSeen, lastSeen]),
    ).toEqual([
      ['a', null, minute(0), minute(10)],
      ['b', minute(10), minute(20), minute(20)],
      ['a', minute(20), minute(30), minute(30)],
      [null, minute(30), minute(40), minute(40)],
    ]);
    expect(textAt(versions, minute(5))).toMatchObject({ outcome: 'certain', seenSince: true, version: { version: 1 } });
    expect(textAt(versions, minute(15))).toMatchObject({
      outcome: 'between',
      earlier: { version: 1 },
      later: { version: 2 },
    });
    expect(textAt(versions, minute(20))).toMatchObject({ outcome: 'certain', version: { version: 2 } });
    expect(textAt(versions, minute(59))).toMatchObject({
      outcome: 'certain',
      seenSince: false,
      version: { version: 4 },
    });
    expect(textAt([], minute(0))).toEqual({ outcome: 'before-first', first: null });
  });

  it('do not follow an edge that still serves the old text after the new one was seen', () => {
    // The response of minute 22 may be from minute 17, so it does not prove that the old text came back.
    const versions = fold(look(1, 'a', 10), look(2, 'b', 20), look(3, 'a', 17, 22), look(4, 'b', 24));
    expect(versions.map(({ textSha256 }) => textSha256)).toEqual(['a', 'b']);
    expect(versions[1]).toMatchObject({ notBefore: minute(17), firstSeen: minute(20), lastSeen: minute(24) });
  });

  it('do not follow an edge that is two texts behind', () => {
    const versions = fold(look(1, 'a', 10), look(2, 'b', 12), look(3, 'c', 14), look(4, 'a', 11, 16), look(5, 'c', 20));
    expect(versions.map(({ textSha256 }) => textSha256)).toEqual(['a', 'b', 'c']);
    expect(versions[0]?.lastSeen).toBe(minute(11));
    expect(versions[1]).toMatchObject({ notBefore: minute(11), firstSeen: minute(12) });
  });

  it('that came back are not dated before the end of the version in between', () => {
    const cameBack = [look(1, 'a', 0), look(2, 'b', 10), look(3, 'b', 15), look(4, 'a', 30)];
    // A cached response from the first time.
    const late = fold(...cameBack, look(5, 'a', 5, 6));
    expect(late.map(({ firstSeen }) => firstSeen)).toEqual([minute(0), minute(10), minute(30)]);
    expect(late[0]?.lastSeen).toBe(minute(5));
    // A response that may be from either time changes no beginning.
    expect(fold(...cameBack, look(5, 'a', 9, 20))[2]?.firstSeen).toBe(minute(30));
    // A response that can only be from the second time does.
    expect(fold(...cameBack, look(5, 'a', 20, 22))[2]?.firstSeen).toBe(minute(22));
  });

  it('that two edges show at once leave it open which one was in force', () => {
    const versions = fold(look(1, 'a', 0), look(2, 'b', 20), look(3, 'a', 15), look(4, 'b', 12));
    expect(versions).toHaveLength(2);
    expect(textAt(versions, minute(13))).toMatchObject({ outcome: 'between', earlier: { version: 1 } });
    expect(textAt(versions, minute(16))).toMatchObject({ outcome: 'certain', version: { version: 2 } });
  });

  it('a period may have had each text that came before its end and was not replaced before its beginning', () => {
    const versions = fold(look(1, 'a', 0), look(2, 'a', 10), look(3, 'b', 20), look(4, 'c', 40));
    const texts = (from: number, to: number) =>
      inForceBetween(versions, minute(from), minute(to)).map(({ textSha256 }) => textSha256);
    expect(texts(-9, 0)).toEqual([]);
    expect(texts(2, 3)).toEqual(['a']);
    expect(texts(12, 13)).toEqual(['a', 'b']);
    expect(texts(20, 21)).toEqual(['b', 'c']);
    expect(texts(0, 60)).toEqual(['a', 'b', 'c']);
    expect(texts(50, 60)).toEqual(['c']);
  });

  const at = { requestedAt: minute(10), receivedAt: minute(10) };
  const said = { age: null, date: null, cacheControl: null };
  const earlier = (milliseconds: number) => new Date(Date.parse(minute(10)) - milliseconds).toISOString();

  it('date an answer with an Age that much earlier, and one without by the cache time of the edge', () => {
    expect(originWindow({ ...at, headers: { ...said, age: 120 } }, 300_000)).toEqual({
      originFrom: earlier(121_000),
      originTo: minute(8),
    });
    expect(originWindow({ ...at, headers: said }, 300_000)).toEqual({ originFrom: minute(5), originTo: minute(10) });
    expect(originWindow({ ...at, headers: said }, 0)).toEqual({ originFrom: minute(10), originTo: minute(10) });
  });

  it.each<[string, string, number, number]>([
    ['public, max-age=60', 'no longer than is documented', 300_000, 300_000],
    ['public, max-age=600', 'as long as it says', 300_000, 600_000],
    ['max-age=600, s-maxage=900', 'as long as it says to shared caches', 300_000, 900_000],
    ['s-maxage=300,stale-while-revalidate=86400', 'and stale ones besides', 300_000, 86_700_000],
    ['public, max-age=600, stale-while-revalidate=60', 'where nothing is cached: not at all', 0, 0],
    ['max-age=99999999999999', 'an absurd number: as documented', 300_000, 300_000],
  ])(
    'allow for an answer without Age and with Cache-Control %s a cache time of %s',
    (cacheControl, _words, cacheMs, oldest) => {
      const { originFrom } = originWindow({ ...at, headers: { ...said, cacheControl } }, cacheMs);
      expect(originFrom).toBe(earlier(oldest));
    },
  );

  it('begin at an earlier Date, unless its clock is clearly wrong', () => {
    const from = (date: string, age: number | null = null) =>
      originWindow({ ...at, headers: { ...said, date, age } }, 0);
    expect(from(new Date(minute(3)).toUTCString())).toEqual({ originFrom: minute(3), originTo: minute(10) });
    expect(from(new Date(minute(3)).toUTCString(), 60).originFrom).toBe(minute(3));
    expect(from(new Date(minute(50)).toUTCString()).originFrom).toBe(minute(10));
    for (const wrong of ['Thu, 01 Jan 1970 00:00:00 GMT', 'yesterday', ''])
      expect(from(wrong).originFrom, wrong).toBe(minute(10));
  });

  it('are never wrong, whatever changed and whenever an edge with a five-minute cache was asked', () => {
    const MIN = 60_000;
    const start = Date.parse(minute(0));
    const iso = (ms: number) => new Date(start + ms).toISOString();
    const text = fc.constantFrom('a', 'b', 'c');
    fc.assert(
      fc.property(
        fc.array(fc.record({ gap: fc.integer({ min: 1, max: 9 * MIN }), text }), { maxLength: 12 }),
        fc.array(fc.integer({ min: 0, max: 9 * MIN }), { minLength: 1, maxLength: 25 }),
        fc.boolean(),
        (changes, gaps, saysAge) => {
          // The texts in force, with the time of each change.
          const truth = [{ from: -100 * MIN, text: 'a' }];
          let now = 0;
          for (const change of changes) truth.push({ from: (now += change.gap), text: change.text });
          const spans = truth.filter((one, place) => one.text !== truth[place - 1]?.text);
          const endOf = (place: number) => spans[place + 1]?.from ?? Number.POSITIVE_INFINITY;

          let [at, cachedAt] = [0, Number.NEGATIVE_INFINITY];
          const sightings = gaps.map((gap, seq): Sighting => {
            at += gap;
            if (at >= cachedAt + 5 * MIN) cachedAt = at;
            const shown = spans.findLast(({ from }) => from <= cachedAt)?.text ?? null;
            const age = saysAge ? Math.floor((at - cachedAt) / 1000) : null;
            const headers = { age, date: null, cacheControl: null };
            const window = originWindow({ requestedAt: iso(at), receivedAt: iso(at), headers }, 5 * MIN);
            return { seq: seq + 1, textSha256: shown, bodySeq: seq + 1, ...window, settled: true };
          });
          const versions = fold(...sightings);

          // The versions come in this order; each was in force by its firstSeen and still at its lastSeen.
          let place = -1;
          for (const { textSha256, notBefore, firstSeen, lastSeen } of versions) {
            const found = spans.findIndex((span, index) => index > place && span.text === textSha256);
            expect(found).toBeGreaterThan(place);
            place = found;
            expect(iso(spans[found]?.from ?? 0) <= firstSeen).toBe(true);
            expect(
              spans.some((span, index) => span.text === textSha256 && start + endOf(index) > Date.parse(lastSeen)),
            ).toBe(true);
            if (notBefore !== null) expect(notBefore <= firstSeen).toBe(true);
          }
          expect(versions.at(-1)?.textSha256).toBe(sightings.at(-1)?.textSha256);
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it('never contradict a fetch, whatever the fetches are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ text: fc.constantFrom('a', 'b', 'c', null), gap: fc.nat(9), age: fc.nat(6) }), {
          minLength: 1,
        }),
        (looks) => {
          let now = 0;
          const sightings = looks.map(({ text, gap, age }, seq) => look(seq + 1, text, (now += gap) - age, now));
          const versions = fold(...sightings);
          expect(versions.reduce((sum, { sightings: count }) => sum + count, 0)).toBe(sightings.length);
          versions.forEach((version, place) => {
            expect(version.version).toBe(place + 1);
            expect(version.notBefore).toBe(versions[place - 1]?.lastSeen ?? null);
            expect(version.textSha256).not.toBe(versions[place + 1]?.textSha256 ?? 'none');
          });
          expect(versions.at(-1)?.textSha256 === sightings.at(-1)?.textSha256 || versions.length > 1).toBe(true);
        },
      ),
    );
  });
});
