import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { htmlLines } from '../../src/core/html-text.ts';
import { readPolicyText, withoutTokens } from '../../src/core/policy-text.ts';
import { originWindow } from '../../src/core/snapshot.ts';
import { addSighting, type Sighting, textAt, type TextVersion } from '../../src/core/text-versions.ts';

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

describe('the visible text of an answer', () => {
  it('is what a reader sees of a page', () => {
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

  it('is the same whatever lies around it, and another when a word changes', () => {
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

  it('of JSON without a text is all of it, without tokens', () => {
    const hub = (token: string) =>
      bytes({ policies: [{ id: 'p1', title: 'A', url: `https://x.example/p?token=${token}` }] });
    const read = readPolicyText(hub('secret1'), 'application/json');
    expect(read.form).toBe('json/1');
    expect(read.lines.join('\n')).not.toContain('secret1');
    expect(readPolicyText(hub('secret2'), 'application/json').sha256).toBe(read.sha256);
  });

  it('is read from anything, in time that grows with its length only', { timeout: 20_000 }, () => {
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
      const started = performance.now();
      readPolicyText(bytes(unit.repeat(Math.ceil(1_000_000 / unit.length))), 'text/html');
      expect(performance.now() - started, unit).toBeLessThan(4000);
    }
  });

  it('shows no token of an address, however it is written', () => {
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

  it('border on each other between the last look at the one and the first at the next', () => {
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
    // The answer of minute 22 may be from minute 17: that the old text came back is not shown by it.
    const versions = fold(look(1, 'a', 10), look(2, 'b', 20), look(3, 'a', 17, 22), look(4, 'b', 24));
    expect(versions.map(({ textSha256 }) => textSha256)).toEqual(['a', 'b']);
    expect(versions[1]).toMatchObject({ notBefore: minute(17), firstSeen: minute(20), lastSeen: minute(24) });
  });

  it('an answer with an Age is dated that much earlier, one without by what the edge may keep', () => {
    const at = { requestedAt: minute(10), receivedAt: minute(10) };
    expect(originWindow({ ...at, age: 120 }, 300_000)).toEqual({
      originFrom: new Date(Date.parse(minute(8)) - 1000).toISOString(),
      originTo: minute(8),
    });
    expect(originWindow({ ...at, age: null }, 300_000)).toEqual({ originFrom: minute(5), originTo: minute(10) });
    expect(originWindow({ ...at, age: null }, 0)).toEqual({ originFrom: minute(10), originTo: minute(10) });
  });

  it('never contradict a look, whatever the looks are', () => {
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
