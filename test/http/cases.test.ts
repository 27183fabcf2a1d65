import { describe, expect, it } from 'vitest';
import { createOfficeWorld, type OfficeWorld, type Page, signedIn, type Visitor } from './office-world.ts';
import { seedRequests } from './pages/seed.ts';

async function openedAccess(world: OfficeWorld): Promise<string> {
  return `default-${(await seedRequests(world)).access}`;
}

/** Sends the form of a move as on the page of the case. */
async function move(visitor: Visitor, caseId: string, name: string, form: Record<string, string> = {}): Promise<Page> {
  const page = await visitor.get(`/cases/${caseId}`);
  const own = page.text.split('<form').find((text) => text.includes(`name="move" value="${name}"`));
  if (own === undefined) throw new Error(`the page offers no ${name}`);
  const basedOn = /name="basedOn" value="(\d+)"/.exec(own)?.[1] ?? '';
  return visitor.post(`/cases/${caseId}/moves`, { move: name, basedOn, ...form });
}

describe('the page of a request', () => {
  it('takes a request from receipt to closing using only its forms', async () => {
    const world = await createOfficeWorld();
    const caseId = await openedAccess(world);
    const olga = await signedIn(world, 'Olga');
    const moves: [string, Record<string, string>][] = [
      ['acknowledge', { channel: 'e-mail' }],
      ['start', {}],
      ['confirm-identity', { how: 'Logged in to the customer account', requester: 'person' }],
      ['mark-system', { system: 'crm', result: 'nothing-found' }],
      ['mark-ready', {}],
      ['answer', { channel: 'e-mail', disclosure: 'full', at: '' }],
      ['close', {}],
    ];
    for (const [name, form] of moves) {
      const page = await move(olga, caseId, name, form);
      expect([name, page.status, page.headers.get('location')]).toEqual([name, 303, `/cases/${caseId}?done=moved`]);
    }
    const shown = await olga.get(`/cases/${caseId}?done=moved`);
    expect(shown.text).toContain('Recorded in the ledger.');
    expect(shown.text).toContain('Logged in to the customer account');
    const [, history = ''] = shown.text.split('id="history"');
    const entries = [...history.matchAll(/data-label="Entry"><a href="(\/entries\/\d+)">/g)].map(([, href]) => href);
    expect(entries).toHaveLength(moves.length + 1);
    for (const href of entries) expect((await olga.get(href ?? '')).status).toBe(200);
    expect(shown.text.split('id="records"')[1]).toContain('data-label="Entry"><a href="/entries/');
    const row = await world.context.store.read
      .selectFrom('cases')
      .selectAll()
      .where('case_id', '=', caseId)
      .executeTakeFirstOrThrow();
    expect([row.state, row.version]).toEqual(['closed', 7]);
    expect((await world.actions('case.moved')).map(({ actor }) => actor)).toEqual(moves.map(() => 'Olga'));
    expect((await olga.get('/')).text).not.toContain(caseId);
    expect((await olga.get('/cases')).text).toContain(caseId);
  });

  it('shows each of several rights with its limit, and asks what was done about each before the answer', async () => {
    const world = await createOfficeWorld();
    const olga = await signedIn(world, 'Olga');
    await world.event('dsar.submitted', { request_id: 'two', rights: ['access', 'erasure'], country: 'DE' });
    const { case_id: caseId } = await world.context.store.read
      .selectFrom('cases')
      .select('case_id')
      .where('request_id', '=', 'two')
      .executeTakeFirstOrThrow();
    const shown = (await olga.get(`/cases/${caseId}`)).text;
    expect(shown).toContain(`<h1>Erasure + Access · ${caseId}</h1>`);
    expect(shown.match(/nothing recorded yet, legal limit/g)).toHaveLength(2);
    for (const [name, form] of [
      ['start', {}],
      ['settle-part', { kind: 'erasure', outcome: 'refused', ground: 'Art. 17(3)(b) GDPR' }],
      ['mark-system', { system: 'crm', result: 'nothing-found' }],
    ] as const)
      expect([name, (await move(olga, caseId, name, form)).status]).toEqual([name, 303]);
    const unready = await move(olga, caseId, 'mark-ready');
    expect([unready.status, unready.text.includes('Record what was done about this one: access.')]).toEqual([
      422,
      true,
    ]);
    expect((await move(olga, caseId, 'settle-part', { kind: 'access', outcome: 'done' })).status).toBe(303);
    expect((await move(olga, caseId, 'mark-ready')).status).toBe(303);
    expect((await olga.get(`/cases/${caseId}`)).text).toContain('refused');
    // A further right found in the message becomes a part.
    expect((await move(olga, caseId, 'rework', { reason: 'read again' })).status).toBe(303);
    const further = { 'furtherKinds.access': 'yes', 'furtherKinds.objection': 'yes', reason: 'see the message' };
    expect((await move(olga, caseId, 'amend', further)).status).toBe(303);
    expect((await olga.get(`/cases/${caseId}`)).text).toContain('<h1>Objection + Erasure + Access');
  });

  it('asks the officer what is requested if it cannot be decided, in the requester’s words', async () => {
    const world = await createOfficeWorld();
    const olga = await signedIn(world, 'Olga');
    await world.event('dsar.submitted', {
      request_id: 'odd',
      request_type: 'withdraw my <deletion> request',
      country: 'DE',
    });
    const row = await world.context.store.read
      .selectFrom('cases')
      .select(['case_id', 'kind'])
      .where('request_id', '=', 'odd')
      .executeTakeFirstOrThrow();
    const { text } = await olga.get(`/cases/${row.case_id}`);
    expect(row.kind).toBe('unknown');
    expect(text).toContain('withdraw my &lt;deletion> request');
    expect(text).toContain('The kind of request is unclear: amend it.');
    expect(text).toContain('the shortest period counts');
  });

  it('says why a move is refused and keeps the input', async () => {
    const world = await createOfficeWorld();
    const caseId = await openedAccess(world);
    const olga = await signedIn(world);
    const unready = await move(olga, caseId, 'start').then(() => move(olga, caseId, 'mark-ready'));
    expect([unready.status, unready.text.includes('CRM is not marked')]).toEqual([422, true]);
    const ask = await move(olga, caseId, 'ask-identity', { asked: 'A copy of "nothing" & <b>more</b>' });
    expect(ask.status).toBe(422);
    expect(ask.text).toContain('without reasonable doubt you may not ask for information');
    expect(ask.text).toContain('A copy of &quot;nothing&quot; &amp; &lt;b>more&lt;/b>');
    const when = await move(olga, caseId, 'note', { text: '' });
    expect([when.status, when.text.includes('Note: this field is required.')]).toEqual([422, true]);
    const time = await move(olga, caseId, 'refuse', { at: 'yesterday', reasons: 'x', basis: 'y', remedies: 'z' });
    expect([time.status, time.text.includes('use ISO 8601, e.g. 2026-07-01T')]).toEqual([422, true]);
    expect((await world.actions('case.moved')).length).toBe(1);
  });

  it('reads times in the controller’s zone', async () => {
    const world = await createOfficeWorld();
    const caseId = await openedAccess(world);
    const olga = await signedIn(world);
    const local = new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10);
    expect((await move(olga, caseId, 'acknowledge', { at: `${local}T12:00` })).status).toBe(303);
    const row = await world.context.store.read
      .selectFrom('case_history')
      .select('details')
      .where('move', '=', 'acknowledge')
      .executeTakeFirstOrThrow();
    expect(['10:00:00.000Z', '11:00:00.000Z']).toContain((JSON.parse(row.details) as { at: string }).at.slice(11));
  });

  it('shows the second of two officers what the first did, and does not record the second move', async () => {
    const world = await createOfficeWorld();
    const caseId = await openedAccess(world);
    const [olga, otto] = [await signedIn(world, 'Olga'), await signedIn(world, 'Otto')];
    await olga.get(`/cases/${caseId}`);
    await otto.get(`/cases/${caseId}`);
    expect((await olga.post(`/cases/${caseId}/moves`, { move: 'note', basedOn: '0', text: 'first' })).status).toBe(303);
    const page = await otto.post(`/cases/${caseId}/moves`, { move: 'note', basedOn: '0', text: 'second' });
    expect(page.status).toBe(409);
    expect(page.text).toContain('Someone else changed this case');
    expect(page.text).toContain('second');
    expect((await world.actions('case.moved')).map(({ actor }) => actor)).toEqual(['Olga']);
    // Sent again by the same officer, it is the same move.
    expect((await olga.post(`/cases/${caseId}/moves`, { move: 'note', basedOn: '0', text: 'first' })).status).toBe(303);
    expect((await world.actions('case.moved')).length).toBe(1);
  });

  it('does not exist for an unknown case, and accepts no unknown move', async () => {
    const world = await createOfficeWorld();
    const caseId = await openedAccess(world);
    const olga = await signedIn(world);
    expect((await olga.get('/cases/default-999')).status).toBe(404);
    await olga.get('/');
    expect((await olga.post('/cases/default-999/moves', { move: 'note', basedOn: '0', text: 'x' })).status).toBe(404);
    expect((await olga.post('/cases/default-999/pack', {})).status).toBe(404);
    for (const form of [
      { move: 'dance', basedOn: '0' },
      { move: 'constructor', basedOn: '0' },
      { move: 'note', basedOn: '-1', text: 'x' },
    ]) {
      expect((await olga.post(`/cases/${caseId}/moves`, form)).status).toBe(400);
    }
  });

  it('makes the response pack and offers it', async () => {
    const world = await createOfficeWorld();
    const caseId = await openedAccess(world);
    const olga = await signedIn(world, 'Olga');
    const page = await olga.post(`/cases/${caseId}/pack`, {});
    expect([page.status, page.headers.get('location')]).toEqual([303, `/cases/${caseId}?done=pack`]);
    await expect.poll(async () => (await world.actions('document.produced')).length).toBe(1);
    const shown = await olga.get(`/cases/${caseId}`);
    const href = /href="(\/documents\/[^"]+\/download)"/.exec(shown.text)?.[1] ?? '';
    const file = await olga.get(href);
    expect([file.status, file.headers.get('content-type'), file.bytes.subarray(0, 2).toString()]).toEqual([
      200,
      'application/zip',
      'PK',
    ]);
    expect((await world.actions('document.downloaded')).length).toBe(1);
  });
});

describe('a request that came by letter', () => {
  it('is recorded once, however often the form is sent', async () => {
    const world = await createOfficeWorld();
    const olga = await signedIn(world, 'Olga');
    const form = {
      source: 'default',
      kind: 'erasure',
      receivedAt: '2026-10-05T09:30',
      language: 'de',
      channel: 'letter',
      requesterName: 'Mary Seacole',
      jurisdiction: 'GB',
      reference: 'f-1',
    };
    await olga.get('/cases/new');
    const [one, two] = [await olga.post('/cases', form), await olga.post('/cases', form)];
    expect([one.status, two.headers.get('location')]).toEqual([303, one.headers.get('location')]);
    const page = await olga.get(one.headers.get('location') ?? '');
    expect(page.text).toContain('Mary Seacole');
    expect(page.text).toContain('5 Oct 2026, 09:30');
    expect((await world.actions('case.opened')).length).toBe(1);
  });

  it('is refused with the reason, keeping the input', async () => {
    const world = await createOfficeWorld();
    const olga = await signedIn(world);
    const form = {
      source: 'default',
      kind: 'access',
      receivedAt: '2026-10-05T09:30',
      language: 'de',
      channel: 'letter',
      requesterName: 'Mary "M" Seacole',
    };
    for (const change of [
      { receivedAt: '' },
      { receivedAt: '2126-01-01T00:00' },
      { channel: '' },
      { kind: 'dance' },
      { jurisdiction: 'California' },
      { source: 'No Such' },
    ]) {
      await olga.get('/cases/new');
      const page = await olga.post('/cases', { ...form, ...change });
      expect([change, page.status, page.text.includes('Mary &quot;M&quot; Seacole')]).toEqual([change, 422, true]);
    }
    expect(await world.actions('case.opened')).toEqual([]);
  });

  it('is recorded when its JSON holds half a surrogate pair and U+0000', async () => {
    const world = await createOfficeWorld();
    const olga = await signedIn(world);
    const form = {
      source: 'default',
      kind: 'access',
      receivedAt: '2026-10-05T09:30',
      language: 'de',
      channel: 'letter\ud800',
      requesterName: 'Mary \udc00 Seacole \0',
      reference: 'f-\ud800',
    };
    await olga.get('/cases/new');
    const page = await olga.post('/cases', form, { json: true });
    expect(page.status).toBe(303);
    expect((await olga.get(page.headers.get('location') ?? '')).text).toContain('Mary \ufffd Seacole');
  });
});

/** The fields of a letter form, as on its page. */
function letterForm({ text }: Page): Record<string, string> {
  const hidden = [...text.matchAll(/<input type="hidden" name="(shown\w+|unedited)" value="([^"]*)"/g)];
  const selected = [...text.matchAll(/<select id="\w+" name="(\w+)".*?<\/select>/gs)].map(([select, name]) => [
    name,
    /<option value="([^"]*)" selected/.exec(select)?.[1] ?? /<option value="([^"]*)"/.exec(select)?.[1] ?? '',
  ]);
  const written = (/<textarea[^>]*>\n?([^<]*)/.exec(text)?.[1] ?? '')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
  return Object.fromEntries([
    ...hidden.map(([, name, value]) => [name, value]),
    ...selected,
    ['text', written],
  ]) as Record<string, string>;
}

describe('the page of a letter', () => {
  it('takes a letter from selection through preview and editing to download', async () => {
    const world = await createOfficeWorld();
    const caseId = `default-${(await seedRequests(world)).access}`;
    const path = `/cases/${caseId}/letter`;
    const olga = await signedIn(world, 'Olga');
    const first = await olga.get(`${path}?step=extension`);
    expect(first.status).toBe(200);
    const form = letterForm(first);
    // The language of the request, and a template with blanks to fill in.
    expect(form).toMatchObject({ language: 'de-DE', shownStep: 'extension' });
    expect(form['text']).toContain('[');
    const blank = await olga.post(path, { ...form, do: 'make', format: 'txt' });
    expect([blank.status, blank.text.includes('Fill in the blanks')]).toEqual([422, true]);
    const edited = { ...form, text: 'Sehr viele <b>Anfragen</b>.' };
    const preview = await olga.post(path, { ...edited, do: 'preview' });
    expect(preview.text.split('class="sheet"')[1]).toContain('Sehr viele &lt;b>Anfragen&lt;/b>.');
    expect(await world.actions('document.produced')).toEqual([]);
    const made = await olga.post(path, { ...letterForm(preview), text: edited.text, do: 'make', format: 'txt' });
    expect([made.status, made.headers.get('location')]).toEqual([303, `/cases/${caseId}?done=letter#letters`]);
    const shown = await olga.get(`/cases/${caseId}`);
    const link = /href="(\/documents\/[^"]+\/download)"[^>]*>Extension of time/.exec(shown.text)?.[1] ?? '';
    const file = await olga.get(link);
    expect(file.headers.get('content-disposition')).toContain(`${caseId}-extension-letter-`);
    expect(file.bytes.toString('utf8')).toContain('Sehr viele <b>Anfragen</b>.');
  });

  it('starts the text over for another letter, suggestion or language, and keeps edits', async () => {
    const world = await createOfficeWorld();
    const caseId = `default-${(await seedRequests(world)).access}`;
    const path = `/cases/${caseId}/letter`;
    const olga = await signedIn(world);
    const form = letterForm(await olga.get(`${path}?step=extension`));
    const english = letterForm(await olga.post(path, { ...form, language: 'en', do: 'preview' }));
    expect(english['text']).toContain('Your request is complex');
    const second = letterForm(await olga.post(path, { ...english, start: '1', do: 'preview' }));
    expect(second['text']).toContain('several requests');
    const kept = letterForm(
      await olga.post(path, { ...english, text: 'My own words.', language: 'de', do: 'preview' }),
    );
    expect(kept['text']).toBe('My own words.');
    const other = await olga.post(path, { ...english, text: 'My own words.', step: 'refusal', do: 'make' });
    expect([other.status, letterForm(other)['text']?.includes('My own words')]).toEqual([200, false]);
  });

  it('says if the requester’s language is missing', async () => {
    const world = await createOfficeWorld();
    const seq = await world.event('dsar.submitted', {
      request_id: 'r-9',
      type: 'access',
      jurisdiction: 'DE',
      language: 'tlh',
    });
    const olga = await signedIn(world);
    const page = await olga.get(`/cases/default-${seq}/letter?step=acknowledgement`);
    expect(page.text).toContain('Letters are not available in Klingon.');
    const chosen = await olga.get(`/cases/default-${seq}/letter?step=acknowledgement&language=de`);
    expect(chosen.text).not.toContain('not available');
    expect((await olga.get(`/cases/default-${seq}/letter?step=nothing`)).status).toBe(400);
    expect((await olga.get('/cases/default-999/letter?step=answer')).status).toBe(404);
  });
});
