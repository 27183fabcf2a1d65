import { expect, it } from 'vitest';
import { setDisabled } from '../../src/people/people.ts';
import { loadSavedViews, SAVED_VIEWS } from '../../src/people/saved-views.ts';
import { createOfficeWorld, signedInAs } from './office-world.ts';

it('the request list keeps a filter under a name for one person alone, and deletes it', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const officer = await signedInAs(world, 'officer');
  const other = await signedInAs(world, 'auditor');
  await officer.get('/cases');
  const name = '<b>Erasures "now" & then</b>';
  const kept = await officer.post('/cases/views', { name, kind: 'erasure', state: 'opened', sort: 'oldest' });
  expect(kept.status).toBe(303);
  const page = await officer.get(kept.headers.get('location') ?? '');
  expect(page.text).toContain('The view has been saved');
  expect(page.text).toContain(
    '<a href="/cases?source=&amp;state=opened&amp;kind=erasure&amp;sort=oldest" aria-current="page">',
  );
  expect(page.text).toContain('&lt;b>Erasures &quot;now&quot; &amp; then&lt;/b>');
  expect(page.text).not.toContain('<b>Erasures');
  expect((await other.get('/cases')).text).not.toContain('Erasures');
  // The same name replaces it; an invalid filter is stored as the default.
  await officer.post('/cases/views', { name, kind: 'nonsense', state: 'nonsense', source: 'nobody', sort: 'nonsense' });
  const replaced = await officer.get('/cases');
  expect(replaced.text.match(/aria-label="Remove &lt;b>Erasures/g)?.length).toBe(1);
  expect(replaced.text).toContain('<a href="/cases?source=&amp;state=&amp;kind=&amp;sort=due"');
  await officer.post('/cases/views', { name, do: 'remove' });
  expect((await officer.get('/cases')).text).not.toContain('Erasures');
});

it('the request list refuses a name that is empty or too long, and more views than it shows', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const officer = await signedInAs(world, 'officer');
  await officer.get('/cases');
  for (const name of [' ', 'x'.repeat(61)]) {
    const refused = await officer.post('/cases/views', { name });
    expect((await officer.get(refused.headers.get('location') ?? '')).text).toContain('give the view a name');
  }
  for (let n = 0; n < SAVED_VIEWS; n += 1) await officer.post('/cases/views', { name: `View ${n}`, kind: 'access' });
  const full = await officer.post('/cases/views', { name: 'One more' });
  const page = await officer.get(full.headers.get('location') ?? '');
  expect(page.text).toContain('there are already 20 views');
  expect(page.text).not.toContain('One more');
  expect((await officer.post('/cases/views', { name: 'Forged' }, { csrf: null })).status).toBe(403);
});

it('the request list renames a view unless the name is in use, and deletes the views of a closed account', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const officer = await signedInAs(world, 'officer');
  await officer.get('/cases');
  await officer.post('/cases/views', { name: 'Erasures', kind: 'erasure' });
  await officer.post('/cases/views', { name: 'Access', kind: 'access' });
  const rename = async (name: string, to: string) => {
    const answer = await officer.post('/cases/views', { name, to, do: 'rename' });
    return (await officer.get(answer.headers.get('location') ?? '')).text;
  };
  expect(await rename('Erasures', 'Access')).toContain('another view has this name');
  expect(await rename('Erasures', ' ')).toContain('Nothing was renamed');
  expect(await rename('Gone', 'New')).toContain('no longer exists');
  const renamed = await rename('Erasures', ' To  erase <i> ');
  expect(renamed).toContain('The view has its new name');
  expect(renamed).toMatch(/kind=erasure[^>]*>(?:<bdi>)?To erase &lt;i>/);
  expect(await loadSavedViews(world.context.store, officer.personId)).toHaveLength(2);
  const by = { officer: 'test', personId: null, role: 'owner' } as const;
  await setDisabled(world.context, officer.personId, true, by);
  expect(await loadSavedViews(world.context.store, officer.personId)).toEqual([]);
});
