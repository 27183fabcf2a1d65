import { expect, it } from 'vitest';
import { seedRequests } from './pages/seed.ts';
import { createOfficeWorld, signedIn } from './office-world.ts';

it('the page Consent look-up answers for an id and a time, records it, and keeps the id out of the address', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  await seedRequests(world);
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
  expect([noTime.status, noTime.text.includes('Enter the time.')]).toEqual([422, true]);
});
