import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGREEMENT_DAYS } from '../../src/attention/officer-attention.ts';
import { addBannerEvidence } from '../../src/banners/evidence.ts';
import { localTimeOf } from '../../src/core/zoned-days.ts';
import { createOfficeWorld, type OfficeWorld, signedIn, signedInAs } from './office-world.ts';
import { seedRequests } from './pages/seed.ts';

/** One world for the file. */
let world: OfficeWorld;
const ending: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const work of ending.reverse()) await work();
});
beforeAll(async () => {
  world = await createOfficeWorld({}, { worker: false, atEnd: (work) => ending.push(work) });
  await seedRequests(world);
});

/** A decision as the service delivers it, the same record again with another choice. */
async function contradict(id: string, minutes: number): Promise<void> {
  const at = new Date(Date.now() - minutes * 60_000).toISOString();
  for (const analytics of [true, false])
    await world.event('consent.recorded', {
      consent_id: id,
      banner_id: 'bnr_1',
      visitor_hash: `visitor-of-${id}`,
      consent: { analytics },
      recorded_at: at,
    });
}

it('the Consent look-up page answers for an id and a time, records it, and keeps the id out of the address', async () => {
  const olga = await signedIn(world, 'Olga');
  const form = await olga.get('/consent');
  expect(form.text).toContain('aria-current="page">Consent look-up');
  const at = /name="at"[^>]*value="([^"]+)"/.exec(form.text)?.[1] ?? '';
  const answer = await olga.post('/consent', { identifier: 'visitor-7', at, source: 'default' });
  expect(answer.status).toBe(200);
  for (const text of ['analytics', 'withdrawn', 'marketing', 'refused', 'not evidenced', 'r:c-2'])
    expect(answer.text).toContain(text);
  expect((await world.actions('consent.looked-up')).map(({ actor }) => actor)).toEqual(['Olga']);
  const none = await olga.post('/consent', { identifier: '<b>nobody</b>', at, source: 'default' });
  expect(none.text).toContain('No consent record matches.');
  expect(none.text).toContain('value="&lt;b>nobody&lt;/b>"');
  const mail = await olga.post('/consent', { identifier: 'ada@example.org', at, source: 'default' });
  expect([mail.status, mail.text.includes('is not configured')]).toEqual([422, true]);
  const noTime = await olga.post('/consent', { identifier: 'visitor-7', at: 'soon', source: 'default' });
  expect([noTime.status, noTime.text.includes('use ISO 8601, e.g. 2026-07-01T')]).toEqual([422, true]);
});

describe('the statement', () => {
  it('is a PDF of one page, is recorded as a look-up, and has no identifier in its name', async () => {
    const olga = await signedIn(world, 'Petra');
    const at = '2026-01-01T00:00';
    const form = await olga.get('/consent');
    const now = /name="at"[^>]*value="([^"]+)"/.exec(form.text)?.[1] ?? '';
    const pdf = await olga.post('/consent/statement', { identifier: 'visitor-7', at: now, source: 'default' });
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect(pdf.headers.get('content-disposition')).toMatch(/^attachment; filename="consent-statement_\w+_[\d-]+\.pdf"/);
    expect(pdf.headers.get('content-disposition')).not.toContain('visitor-7');
    expect(pdf.bytes.subarray(0, 5).toString()).toBe('%PDF-');
    expect(pdf.bytes.toString('latin1').match(/\/Type \/Page\b/g)?.length).toBe(1);
    const looks = await world.actions('consent.looked-up');
    expect(looks.filter(({ actor }) => actor === 'Petra').length).toBe(1);
    const none = await olga.post('/consent/statement', { identifier: 'nobody', at, source: 'default' });
    expect(none.text).toContain('No consent record matches.');
  });
});

describe('the list of contradictions', () => {
  it('has what the figure on Today counts, page by page, and each row links to its look-up', async () => {
    const olga = await signedIn(world, 'Rita');
    const none = await olga.get('/consent/contradictions');
    expect(none.text).toContain('No contradictory decisions in this period.');
    const ids = Array.from({ length: 53 }, (_, place) => `x-${String(place).padStart(2, '0')}`);
    for (const [place, id] of ids.entries()) await contradict(id, 600 - place);
    expect((await olga.get('/')).text).toContain('<a href="/consent/contradictions">53 contradictory decisions</a>');
    const first = await olga.get('/consent/contradictions');
    const [shown, next] = [rowsIn(first.text), nextIn(first.text)];
    expect(shown).toEqual(ids.slice(0, 50).map((id) => `r:${id}`));
    expect(first.text).toContain('analytics: granted / denied');
    const [, entry = '', other = ''] =
      /\(entries <a href="(\/entries\/\d+)">[\d,]+<\/a> and <a href="(\/entries\/\d+)">/.exec(first.text) ?? [];
    expect(other).not.toBe(entry);
    expect((await olga.get(entry)).text).toContain('x-00');
    const second = await olga.get(next ?? '');
    expect(rowsIn(second.text)).toEqual(ids.slice(50).map((id) => `r:${id}`));
    expect(nextIn(second.text)).toBe(null);
    const [, at = ''] = /name="at" value="([^"]+)"/.exec(second.text) ?? [];
    const answer = await olga.post('/consent', { identifier: 'r:x-50', at, source: 'default' });
    expect(answer.text).toContain('Its records contradict each other');
    const old = await olga.get('/consent/contradictions?from=2020-01-01&to=2020-12-31');
    expect(rowsIn(old.text)).toEqual([]);
    const wrong = await olga.get('/consent/contradictions?from=yesterday');
    expect([wrong.status, wrong.text.includes('Invalid date &quot;yesterday&quot;')]).toEqual([422, true]);
  });

  it('is recorded as an entry when viewed', async () => {
    const vera = await signedInAs(world, 'auditor', { name: 'Vera' });
    await vera.get('/consent/contradictions');
    await vera.get('/consent/undelivered');
    const looks = await world.actions('record.viewed');
    expect(looks.filter(({ actor }) => actor.startsWith('Vera')).map(({ object }) => object)).toEqual([
      'contradictory decisions',
      'undelivered decisions',
    ]);
  });
});

describe('the list of decisions', () => {
  it('has exactly what each figure of the chart on Today counts, page by page, also for one source', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const olga = await signedInAs(world, 'officer', { name: 'Dora' });
    await world.context.sources.add({ slug: 'bolt', name: 'Bolt' }, 'test');
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const decide = (id: string, consent: Record<string, boolean>, minutes: number, visitor = id) =>
      world.event('consent.recorded', {
        ...{ consent_id: id, banner_id: 'bnr_2', visitor_hash: visitor, consent, recorded_at: at(minutes) },
      });
    for (let n = 0; n < 52; n += 1) await decide(`g-${String(n).padStart(2, '0')}`, { analytics: true }, 900 - n);
    await decide('p-1', { analytics: true, marketing: false }, 800);
    for (const n of [1, 2, 3]) await decide(`f-${n}`, { analytics: false }, 800 - n);
    await decide('w-1', { analytics: false }, 60, 'g-00');
    for (const path of ['/', '/?source=default', '/?source=bolt']) {
      const [, caption = ''] = /<figcaption>(.*?)<\/figcaption>/s.exec((await olga.get(path)).text) ?? [];
      const figures = [...caption.matchAll(/<a href="(\/consent\/decisions[^"]*)">(\d+) ([^<]+)<\/a>/g)];
      expect(figures.map(([, , , name]) => name)).toEqual(['given', 'partly given', 'refused', 'withdrawn']);
      for (const [, href = '', count = '', name = ''] of figures) {
        const ids = new Set<string>();
        for (let next: string | null = href.replaceAll('&amp;', '&'); next !== null; ) {
          const { text, status } = await olga.get(next);
          expect([name, status, /<p class="lead">\s*([\d,]+) in/.exec(text)?.[1]]).toEqual([name, 200, count]);
          for (const id of rowsIn(text)) ids.add(id);
          next = nextIn(text);
        }
        expect([path, name, ids.size]).toEqual([path, name, Number(count)]);
        if (path !== '/?source=bolt' && name === 'given') expect(ids.size).toBeGreaterThan(50);
        if (path !== '/?source=bolt' && name === 'withdrawn') expect(ids).toContain('r:w-1');
      }
    }
    const wrong = await olga.get('/consent/decisions?to=never');
    expect([wrong.status, wrong.text.includes('Invalid date &quot;never&quot;')]).toEqual([422, true]);
    const bolt = await signedInAs(world, 'officer', { sources: ['bolt'] });
    expect((await bolt.get('/consent/decisions')).text).not.toContain('r:g-00');
    expect((await world.actions('record.viewed')).map(({ object }) => object)).toContain('decisions');
  });
});

it('the list of decisions never delivered has those found only in the consent log, within its period', async () => {
  const { context } = world;
  const at = new Date(Date.now() - 3_600_000).toISOString();
  const long = new Date(Date.now() - (AGREEMENT_DAYS + 2) * 86_400_000).toISOString();
  const template = await context.store.read
    .selectFrom('decision_history')
    .selectAll()
    .limit(1)
    .executeTakeFirstOrThrow();
  const pulled = (seq: number, id: string, when: string) =>
    ({
      ...template,
      seq,
      decision_id: id,
      via: 'pull',
      at: when,
      occurred_at: when,
      is_first: 1,
      conflicts: 0,
    }) as const;
  await context.store.foldTransaction((tx) =>
    tx.insertMany('decision_history', [
      pulled(900_001, 'r:only-pulled', at),
      pulled(900_002, 'r:long-ago', long),
      pulled(900_003, 'r:c-2', at),
    ]),
  );
  const olga = await signedIn(world, 'Olga');
  const { text } = await olga.get('/consent/undelivered');
  expect(rowsIn(text)).toEqual(['r:only-pulled']);
  expect((await olga.get('/')).text).toContain('<a href="/consent/undelivered">1 decision never delivered</a>');
  expect(rowsIn((await olga.get(`/consent/undelivered?from=${long.slice(0, 10)}`)).text)).toEqual([
    'r:long-ago',
    'r:only-pulled',
  ]);
});

function rowsIn(text: string): readonly string[] {
  return [...text.matchAll(/aria-label="Look up decision ([^"]+)"/g)].map(([, id = '']) => id);
}

function nextIn(text: string): string | null {
  return /<a href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null;
}

it('gives the times of banner evidence in the zone of the controller', async () => {
  const decidedAt = new Date(Date.now() - 5 * 86_400_000).toISOString();
  const visitor = { consent_id: 'c-zone', banner_id: 'bnr_zone', visitor_hash: 'visitor-zone', consent: { a: true } };
  await world.event('consent.recorded', { ...visitor, recorded_at: decidedAt });
  const evidence = { source: 'default', actor: 'Olga', bannerId: 'bnr_zone', fileName: 'b.txt', note: null };
  const bytes = Buffer.from('Accept all | Settings');
  const from = '2026-01-31T23:30:00.000Z';
  await addBannerEvidence(world.context, { ...evidence, bytes, from, to: null });
  await world.context.projector.catchUp();
  const olga = await signedIn(world, 'Olga');
  const answer = await olga.post('/consent', {
    identifier: 'visitor-zone',
    at: localTimeOf(new Date().toISOString(), 'Europe/Berlin'),
    source: 'default',
  });
  expect(answer.text).toContain('shown since 1 Feb 2026, 00:30 according to Olga');
  expect(answer.text).not.toContain(from);
});
