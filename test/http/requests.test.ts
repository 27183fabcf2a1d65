import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCase } from '../../src/cases/move-case.ts';
import { setDisabled } from '../../src/people/people.ts';
import { nextGeneration } from '../../src/projections/position.ts';
import { makeMoves } from './hand-over-world.ts';
import { createOfficeWorld, createVisitor, type OfficeWorld, signedInAs, type Visitor } from './office-world.ts';

/** One world for the file: 60 open requests of one source, one of another, and 60 settled ones. */
let world: OfficeWorld;
let officer: Visitor & { readonly personId: string };
const ending: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const work of ending.reverse()) await work();
});
beforeAll(async () => {
  world = await createOfficeWorld({}, { worker: false, atEnd: (work) => ending.push(work) });
  const { context } = world;
  await context.sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
  await opened('bolt', 'Élodie Durand', 'erasure', 1);
  await opened('default', 'Ada 50% Lovelace', 'access', 20);
  await context.projector.catchUp();
  const rows = await context.store.read.selectFrom('cases').selectAll().execute();
  const template = rows.find(({ source }) => source === 'default');
  if (template === undefined) throw new Error('no case');
  const copy = (n: number, state: string) => ({
    ...template,
    case_id: `${state}-${String(n).padStart(2, '0')}`,
    requester_name: `Person ${n}`,
    state,
    receipt_at: ago(state === 'closed' ? 100 + n : n / 10),
    opened_seq: 1000 + n,
  });
  const copies = ['opened', 'closed'].flatMap((state) => Array.from({ length: 60 }, (_, n) => copy(n, state)));
  await context.store.foldTransaction(async (tx) => {
    await tx.insertMany('cases', copies);
    // Rows without a history: like those of a rebuild, they start a new generation.
    await nextGeneration(tx, 'projector');
  });
  officer = await signedInAs(world, 'officer', { name: 'Otto' });
});

const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

async function opened(source: string, requesterName: string, kind: 'access' | 'erasure', days: number): Promise<void> {
  const outcome = await openCase(world.context.cases, {
    source,
    actor: 'test',
    receivedAt: ago(days),
    kind,
    channel: 'letter',
    requesterName,
    requesterEmail: null,
    subject: null,
    jurisdiction: 'DE',
    message: null,
  });
  if (outcome.outcome === 'refused') throw new Error(outcome.problems.join());
}

describe('the list of requests', () => {
  it('pages through the open requests by legal limit, and through the settled ones by receipt', async () => {
    const first = await officer.get('/cases');
    expect(first.text).toContain('62 open.');
    const [open, settled] = sections(first.text);
    expect([casesIn(open).length, casesIn(settled).length]).toEqual([50, 50]);
    expect(casesIn(open)[0]).toMatch(/^default-/);
    const more = await officer.get(nextIn(open));
    expect(casesIn(sections(more.text)[0])).toHaveLength(12);
    expect(new Set([...casesIn(open), ...casesIn(more.text)]).size).toBe(62);
    const rest = await officer.get(nextIn(settled));
    expect(casesIn(rest.text)).toEqual(Array.from({ length: 10 }, (_, n) => `closed-${50 + n}`));
  });

  it('filters by source, kind and state, in the requested order', async () => {
    expect(casesIn((await officer.get('/cases?source=bolt')).text)).toHaveLength(1);
    expect(casesIn((await officer.get('/cases?kind=erasure')).text)).toHaveLength(1);
    const closed = await officer.get('/cases?state=closed');
    expect(closed.text).toContain('No open request matches.');
    const newest = await officer.get('/cases?sort=newest&source=default');
    expect(casesIn(newest.text)[0]).toBe('opened-00');
    const oldest = await officer.get('/cases?sort=oldest&source=default');
    expect(casesIn(oldest.text)[0]).toMatch(/^default-/);
  });

  it('shows a person limited to one source nothing of another, in the list or in the search', async () => {
    const limited = await signedInAs(world, 'officer', { sources: ['bolt'] });
    expect(casesIn((await limited.get('/cases')).text)).toHaveLength(1);
    expect(casesIn((await limited.post('/cases/search', { text: 'Lovelace' })).text)).toEqual([]);
  });
});

describe('the search', () => {
  it.each([
    ['élodie', 1],
    ['ÉLODIE dur', 1],
    ['50%', 1],
    ['5_%', 0],
    ['closed-5', 10],
    ['nobody', 0],
  ])('for %s finds %i', async (text, count) => {
    await officer.get('/cases');
    const { status, text: page } = await officer.post('/cases/search', { text });
    expect([status, casesIn(page).length]).toEqual([200, count]);
  });

  it('says which field is missing, and is recorded as an entry', async () => {
    const none = await officer.post('/cases/search', { text: ' ' });
    expect([none.status, none.text.includes('Enter a name, an address or a number.')]).toEqual([422, true]);
    const looks = await world.actions('record.viewed');
    const objects = looks.filter(({ actor }) => actor.startsWith('Otto')).map(({ object }) => object);
    expect(new Set(objects)).toEqual(new Set(['requests']));
  });
});

describe('the calendar', () => {
  it('has the legal limit of each open request and no names, without a sign-in', async () => {
    const path = pathIn((await officer.get('/cases')).text);
    const feed = await createVisitor(world.adminUrl).get(path);
    expect([feed.status, feed.headers.get('content-type')]).toEqual([200, 'text/calendar; charset=utf-8']);
    const lines = feed.text.split('\r\n');
    expect(lines.every((line) => Buffer.byteLength(line) <= 75 && !line.includes('\n'))).toBe(true);
    expect(lines.filter((line) => line === 'BEGIN:VEVENT')).toHaveLength(62);
    expect(lines.filter((line) => /^DTSTART;VALUE=DATE:\d{8}$/.test(line))).toHaveLength(62);
    const unfolded = feed.text.replaceAll('\r\n ', '');
    expect(unfolded).toContain('SUMMARY:Erasure bolt-');
    expect(unfolded).not.toMatch(/Lovelace|Durand/);
    const limited = await signedInAs(world, 'auditor', { sources: ['bolt'] });
    const own = await createVisitor(world.adminUrl).get(pathIn((await limited.get('/cases')).text));
    expect(own.text.match(/BEGIN:VEVENT/g)).toHaveLength(1);
  });

  it('moves to a new address, and ends with the account', async () => {
    const stranger = createVisitor(world.adminUrl);
    const before = pathIn((await officer.get('/cases')).text);
    expect((await officer.post('/cases/calendar', {})).status).toBe(303);
    const after = pathIn((await officer.get('/cases')).text);
    expect((await stranger.get(before)).status).toBe(404);
    expect((await stranger.get(after)).status).toBe(200);
    expect((await stranger.get(`${after.slice(0, -1)}${after.endsWith('0') ? '1' : '0'}`)).status).toBe(404);
    const by = { officer: 'test', personId: null, role: 'owner' } as const;
    await setDisabled(world.context, officer.personId, true, by);
    expect((await stranger.get(after)).status).toBe(404);
    // Earlier access to the account, or to its calendar, does not return when the account is opened again.
    await setDisabled(world.context, officer.personId, false, by);
    expect((await stranger.get(after)).status).toBe(404);
  });
});

function sections(text: string): readonly [string, string] {
  const at = text.indexOf('id="settled"');
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at)];
}

function casesIn(text: string): readonly string[] {
  return [...text.matchAll(/href="\/cases\/((?:default|bolt|opened|closed)-[\w-]+)"/g)].map(([, id = '']) => id);
}

function nextIn(text: string): string {
  return /<a href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? 'none';
}

function pathIn(text: string): string {
  return /\/calendar\/p-[\w-]+/.exec(text)?.[0] ?? 'none';
}

it('a page that only answers a form says so when its address is opened', async () => {
  const olga = await signedInAs(world, 'officer');
  for (const path of ['/cases/search', '/settings/erasures/preview', '/consent/statement?x=1']) {
    const page = await olga.get(path);
    expect([page.status, page.text.includes('This page only appears after a form was sent')]).toEqual([404, true]);
  }
  const unknown = await olga.get('/cases/default-0');
  expect([unknown.status, unknown.text.includes('after a form was sent')]).toEqual([404, false]);
});

describe('the list as a file', () => {
  it('exports every filtered request, open ones first, with formulas disarmed, and records each download', async () => {
    const reader = await signedInAs(world, 'officer', { name: 'Rita' });
    await opened('bolt', '=HYPERLINK("http://x")', 'access', 2);
    await world.context.projector.catchUp();
    expect((await reader.get('/cases?source=bolt')).text).toContain('href="/cases/file?source=bolt&amp;state=');
    const bolt = await reader.get('/cases/file?source=bolt');
    expect(bolt.headers.get('content-disposition')).toMatch(
      /attachment; filename="requests_Bolt_Ltd_\d{4}-\d\d-\d\d\.csv"/,
    );
    const [head = '', ...rows] = bolt.text.trim().split('\r\n');
    expect(head).toMatch(/Request.*Requester.*Received \(Europe\/Berlin\).*Legal limit.*Assigned to/);
    expect(rows).toHaveLength(2);
    expect(bolt.text).toContain(`"'=HYPERLINK(""http://x"")"`);
    const all = (await reader.get('/cases/file')).text.trim().split('\r\n');
    expect(all).toHaveLength(1 + 63 + 60);
    expect(all.at(-1)).toContain('closed-59');
    const files = (await world.actions('record.viewed')).filter(({ object }) => object === 'requests as a file');
    expect(files).toHaveLength(2);
    const limited = await signedInAs(world, 'auditor', { sources: ['bolt'] });
    expect((await limited.get('/cases/file')).text).not.toContain('Lovelace');
  });
});

it('shows and sorts by the person to whom a request is assigned', async () => {
  const reader = await signedInAs(world, 'officer', { name: 'Rita' });
  const { case_id: caseId } = await world.context.store.read
    .selectFrom('cases')
    .select('case_id')
    .where('requester_name', '=', 'Ada 50% Lovelace')
    .where('case_id', 'like', 'default-%')
    .executeTakeFirstOrThrow();
  await makeMoves(world, caseId, [['assign', { assignee: 'Jörg' }]]);
  const page = await reader.get('/cases?sort=assignee&source=default&state=opened');
  const next = nextIn(sections(page.text)[0]);
  expect(casesIn((await reader.get(next)).text).at(-1)).toBe(caseId);
  expect((await reader.get(next)).text).toContain('<bdi>Jörg</bdi>');
});

it('each figure about requests on Today leads to the list of exactly those that it counts, and so does its file', async () => {
  const reader = await signedInAs(world, 'officer');
  const submit = (id: string, more: Record<string, string>) =>
    world.event('dsar.submitted', { request_id: id, email: `${id}@example.org`, ...more });
  await submit('f-1', { type: 'opt-out', jurisdiction: 'US-CA' });
  await submit('f-2', { type: 'something else', jurisdiction: 'DE' });
  await submit('f-3', { type: 'access', jurisdiction: 'Atlantis' });
  await submit('f-4', { type: 'access', jurisdiction: 'DE', submitted_at: ago(60) });
  await submit('f-5', { type: 'access', jurisdiction: 'DE', submitted_at: ago(27) });
  for (const [path, least] of [
    ['/', 6],
    ['/?source=bolt', 2],
  ] as const) {
    const [, lead = ''] = /<p class="lead">(.*?)<\/p>/s.exec((await reader.get(path)).text) ?? [];
    const figures = [...lead.matchAll(/<a href="(\/cases[^"]*)">(\d+) ([^<]*)<\/a>/g)];
    expect(figures.length).toBeGreaterThanOrEqual(least);
    for (const [, href = '', count = '', words = ''] of figures) {
      const address = href.replaceAll('&amp;', '&');
      const { text } = await reader.get(address);
      const shown = text.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');
      expect([words, shown.includes(`${count} open.`)]).toEqual([words, true]);
      const rows = (await reader.get(address.replace('/cases', '/cases/file'))).text.trim().split('\r\n').slice(1);
      const open = rows.filter((row) => !row.includes('Closed'));
      expect([words, open.length, address.includes('which=') ? rows.length : open.length]).toEqual([
        words,
        Number(count),
        Number(count),
      ]);
      if (address.includes('which=')) expect(text).not.toContain('id="settled"');
    }
  }
  const among = (await reader.get('/cases?which=unmatched')).text;
  expect(among).toContain('not found in the consent records (of the first 40)');
  expect((await reader.get('/cases?which=nonsense')).text).toContain('id="settled"');
});

it('shows each active part of the filter above the list, with the address without it', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const olga = await signedInAs(world, 'officer');
  const { text } = await olga.get('/cases?state=opened&kind=access');
  const chips = [...text.matchAll(/<li><a href="([^"]+)"><bdi>([^<]+)<\/bdi>/g)].map(([, href, name]) => [href, name]);
  expect(chips.filter(([href]) => href?.startsWith('/cases'))).toEqual([
    [expect.stringMatching(/^\/cases\?(?!.*state=).*kind=access/), 'New'],
    [expect.stringMatching(/^\/cases\?(?!.*kind=).*state=opened/), 'Access'],
  ]);
  expect((await olga.get('/cases')).text).not.toContain('class="chips"');
});
