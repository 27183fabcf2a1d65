import { expect, it } from 'vitest';
import { tokenOf } from './api-caller.ts';
import { createOfficeWorld, signedInAs } from './office-world.ts';

const zone = { TIME_ZONE: 'Europe/Berlin' };

it('the API takes times as people write them, and a day or a local time in TIME_ZONE', async () => {
  const world = await createOfficeWorld(zone, { worker: false });
  const caller = await tokenOf(world, 'officer', { scope: 'work' });
  const opened = (receivedAt: string) =>
    caller.post('/api/v1/cases', { source: 'default', kind: 'access', channel: 'letter', receivedAt });
  let caseId = '';
  for (const [typed, at] of [
    ['2026-01-27T10:00Z', '2026-01-27T10:00:00.000Z'],
    ['2026-01-27T10:00:00+0200', '2026-01-27T08:00:00.000Z'],
    ['2026-01-27 10:00', '2026-01-27T09:00:00.000Z'],
    ['2026-01-27', '2026-01-26T23:00:00.000Z'],
  ] as const) {
    const { json } = await opened(typed);
    caseId = String(json['caseId']);
    await world.context.projector.catchUp();
    const shown = await caller.get(`/api/v1/cases/${caseId}`);
    expect([typed, shown.text]).toEqual([typed, expect.stringContaining(`"${at}"`)]);
  }
  const wrong = await opened('27.1.2026');
  expect([wrong.status, wrong.json['code'], wrong.text]).toEqual([
    400,
    'invalid_request',
    expect.stringContaining('receivedAt: Invalid time \\"27.1.2026\\": use ISO 8601, e.g. 2026-07-01T'),
  ]);

  const { version } = (await caller.get(`/api/v1/cases/${caseId}`)).json;
  const moved = await caller.post(`/api/v1/cases/${caseId}/moves`, {
    ...{ move: 'acknowledge', basedOn: version, details: { channel: 'letter', at: '2026-01-29' } },
  });
  expect(moved.status).toBe(200);
  expect((await caller.get(`/api/v1/cases/${caseId}`)).text).toContain('2026-01-28T23:00:00.000Z');

  const hold = await caller.post('/api/v1/holds', {
    ...{ source: 'default', from: '2026-01-01', to: '2026-02-01T00:00+0100', reason: 'claim' },
  });
  expect([hold.status, hold.json]).toMatchObject([
    201,
    { from: '2025-12-31T23:00:00.000Z', to: '2026-01-31T23:00:00.000Z' },
  ]);
  const badHold = await caller.post('/api/v1/holds', { source: 'default', to: 'May', reason: 'claim' });
  expect([badHold.status, badHold.text]).toEqual([400, expect.stringContaining('to: Invalid time')]);

  const lookUp = (at: string) =>
    caller.post('/api/v1/consent/look-up', { source: 'default', identifier: 'visitor-1', at });
  // Choices made on that day count, as with the command line's --at.
  expect((await lookUp('2026-01-27')).json['at']).toBe('2026-01-27T22:59:59.999Z');
  expect((await lookUp('2026-01-27T10:00+0100')).json['at']).toBe('2026-01-27T09:00:00.000Z');
  expect((await lookUp('soon')).text).toContain('at: Invalid time \\"soon\\": use ISO 8601, e.g.');
});

it('forms take times as people write them, also where the browser has no field for times', async () => {
  const world = await createOfficeWorld(zone, { worker: false });
  const olga = await signedInAs(world, 'officer');
  const page = (at: string) => olga.post('/consent', { identifier: 'visitor-1', source: 'default', at });
  for (const at of [
    '2026-01-27',
    '2026-01-27T10:00',
    '2026-01-27 10:00:05',
    '2026-01-27T10:00Z',
    '2026-01-27T10:00+0100',
  ])
    expect([at, (await page(at)).status]).toEqual([at, 200]);
  expect((await page('27.1.2026')).text).toMatch(
    /Invalid time (?:"|&quot;)27\.1\.2026(?:"|&quot;): use ISO 8601, e\.g\. /,
  );
  const opened = await olga.post('/cases', {
    ...{ source: 'default', kind: 'access', channel: 'letter', receivedAt: '2026-01-27T10:00Z', language: 'en' },
    reference: 'one',
  });
  expect(opened.status).toBe(303);
});

it('a form takes a day, with its time if it is known, and shows both again', async () => {
  const world = await createOfficeWorld(zone, { worker: false });
  const olga = await signedInAs(world, 'officer');
  expect((await olga.get('/cases/new')).text).toMatch(
    /id="receivedAt"[^>]*type="date"[\s\S]*id="receivedAt-time"[^>]*type="time"/,
  );
  const request = { source: 'default', kind: 'access', channel: 'letter', language: 'en' };
  const received = async (reference: string, times: Record<string, string>) => {
    const sent = await olga.post('/cases', { ...request, ...times, reference });
    expect(sent.status).toBe(303);
    const caseId = /cases\/([^?]+)/.exec(sent.headers.get('location') ?? '')?.[1] ?? '';
    const row = world.context.store.read.selectFrom('cases').select('receipt_at').where('case_id', '=', caseId);
    return (await row.executeTakeFirst())?.receipt_at;
  };
  expect(await received('day', { receivedAt: '2026-01-27', 'receivedAt-time': '' })).toBe('2026-01-26T23:00:00.000Z');
  expect(await received('time', { receivedAt: '2026-01-27', 'receivedAt-time': '10:05' })).toBe(
    '2026-01-27T09:05:00.000Z',
  );
  const wrong = await olga.post('/cases', {
    ...{ ...request, channel: '', reference: 'again', receivedAt: '2026-01-27', 'receivedAt-time': '10:05' },
  });
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringMatching(/value="2026-01-27"[\s\S]*value="10:05"/)]);
  const timeOnly = await olga.post('/cases', {
    ...request,
    reference: 'no day',
    receivedAt: '',
    'receivedAt-time': '10:05',
  });
  expect([timeOnly.status, timeOnly.text]).toEqual([422, expect.stringContaining('Received: Invalid time')]);
});

it('the page of letter texts takes a language with its country', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const owner = await signedInAs(world, 'owner');
  const chosen = async (language: string) =>
    [
      ...(await owner.get(`/settings/letters?step=refusal&language=${language}`)).text.matchAll(
        /<option value="([^"]+)" selected/g,
      ),
    ].map(([, value]) => value);
  expect(await chosen('de-AT')).toEqual(await chosen('de'));
  expect(await chosen('pt_BR')).toEqual(await chosen('pt'));
  expect(await chosen('de')).toContain('de');
});
