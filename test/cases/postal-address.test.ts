import { expect, it } from 'vitest';
import { createOfficeWorld, signedInAs } from '../http/office-world.ts';

const address = { lines: 'Hauptstr. 5\r\n  10115 Berlin \r\n\r\n', read: 'Hauptstr. 5\n10115 Berlin' };
const request = {
  ...{ source: 'default', kind: 'access', channel: 'letter', language: 'de', receivedAt: '2026-01-27' },
  ...{ requesterName: 'Ada Lovelace', requesterEmail: 'ada@example.com', reference: 'one' },
};

it('a letter is addressed to the postal address of the request, as on an envelope', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const olga = await signedInAs(world, 'officer');
  expect((await olga.get('/cases/new')).text).toMatch(/<textarea[^>]*id="requesterAddress"/);
  const sent = await olga.post('/cases', { ...request, requesterAddress: address.lines });
  expect(sent.status).toBe(303);
  const path = (sent.headers.get('location') ?? '').replace(/\?.*/, '');
  expect((await olga.get(path)).text).toContain('<bdi>Hauptstr. 5, 10115 Berlin</bdi>');

  const preview = async () => (await olga.get(`${path}/letter?step=acknowledgement&language=de`)).text;
  const [, block = ''] = /(Ada Lovelace[\s\S]{0,300}?10115 Berlin)/.exec(await preview()) ?? [];
  expect(block.replace(/<[^>]+>/g, '\n').split(/\n+/)).toEqual(['Ada Lovelace', 'Hauptstr. 5', '10115 Berlin']);
  expect(block).not.toContain('ada@example.com');

  // A correction of the address asks again who it is, as one of the e-mail address does.
  const move = (basedOn: number, fields: Record<string, string>) =>
    olga.post(`${path}/moves`, { basedOn: String(basedOn), ...fields });
  expect((await move(0, { move: 'start' })).status).toBe(303);
  expect((await move(1, { move: 'no-doubt', why: 'known' })).status).toBe(303);
  expect(
    (await move(2, { move: 'amend', requesterAddress: 'Nebenstr. 1\n10115 Berlin', reason: 'moved' })).status,
  ).toBe(303);
  const { text } = await olga.get(path);
  expect(text).toContain('Nebenstr. 1, 10115 Berlin');
  expect(text).toContain('Is there reasonable doubt');

  const long = await olga.post('/cases', { ...request, reference: 'two', requesterAddress: 'a\nb\nc\nd\ne\nf\ng' });
  expect([long.status, long.text]).toEqual([422, expect.stringContaining('up to 6 lines of at most 100 characters')]);
  await world.context.projector.catchUp();
  expect(await world.actions('case.opened')).toHaveLength(1);
});
