import { expect, it } from 'vitest';
import { createOfficeWorld, type Page, signedIn } from './office-world.ts';

const letter = {
  source: 'default',
  kind: 'access',
  receivedAt: '2026-10-05T09:30',
  channel: 'letter',
  requesterName: 'Erika Musterfrau',
  requesterEmail: 'erika@example.org',
  message: 'Bitte teilen Sie mir mit, welche Daten Sie über mich haben.',
};

/** The value of a select of a page, and the first of its hints. */
function selected(page: Page, name: string): string {
  const [select = ''] = page.text.split(`name="${name}"`)[1]?.split('</select>') ?? [];
  return /<option value="([^"]*)" selected/.exec(select)?.[1] ?? '';
}

/** The row of the request's facts that names the language. */
const languageRow = ({ text }: Page) => /<dt>Language<\/dt>\s*<dd>(.*?)<\/dd>/s.exec(text)?.[1]?.trim() ?? 'no row';

it('a recorded request asks for the language, proposes it from the place, and keeps what the officer sends', async () => {
  const world = await createOfficeWorld();
  const olga = await signedIn(world);
  const empty = await olga.get('/cases/new');
  expect(empty.text).toContain('<option value="de">Deutsch (German)</option>');
  expect(empty.text).toContain('<option value="not-known">Not known</option>');
  expect(selected(empty, 'language')).toBe('');
  const asked = await olga.post('/cases', { ...letter, jurisdiction: 'AT', language: '', proposed: '' });
  expect([asked.status, asked.text.includes('Choose the language of the requester')]).toEqual([422, true]);
  expect([selected(asked, 'language'), asked.text.includes('Proposed from the place Austria')]).toEqual(['de', true]);
  expect(await world.actions('case.opened')).toEqual([]);
  const opened = await olga.post('/cases', { ...letter, jurisdiction: 'AT', language: 'de', proposed: 'de' });
  expect(opened.status).toBe(303);
  const page = await olga.get(opened.headers.get('location') ?? '');
  expect(languageRow(page)).toBe('German');
});

it('a proposal that was made before the place was entered is asked about once', async () => {
  const world = await createOfficeWorld();
  const olga = await signedIn(world);
  await olga.get('/cases/new');
  const form = { ...letter, jurisdiction: 'DE', language: 'en', proposed: 'en' };
  const asked = await olga.post('/cases', form);
  expect([asked.status, /Most people in Germany.* read German/.test(asked.text)]).toEqual([422, true]);
  expect([selected(asked, 'language'), asked.text.includes('name="proposed" value="de"')]).toEqual(['de', true]);
  const opened = await olga.post('/cases', { ...form, proposed: 'de' });
  expect(languageRow(await olga.get(opened.headers.get('location') ?? ''))).toBe('English');
});

it('an unknown language is shown as not known on page, list and API until it is corrected', async () => {
  const world = await createOfficeWorld();
  const olga = await signedIn(world);
  await olga.get('/cases/new');
  const opened = await olga.post('/cases', { ...letter, language: 'not-known' });
  expect(opened.status).toBe(303);
  const address = (opened.headers.get('location') ?? '').split('?')[0] ?? '';
  const caseId = address.split('/').at(-1) ?? '';
  const page = await olga.get(address);
  expect(languageRow(page)).toMatch(/^not known/);
  expect((await olga.get('/cases/file')).text).toMatch(/"Language".*\r?\n.*"not known"/);
  const amend = { move: 'amend', basedOn: '0', reason: 'The letter is in German.' };
  const unreadable = await olga.post(`/cases/${caseId}/moves`, { ...amend, language: 'Germanish' });
  expect([unreadable.status, unreadable.text.includes('Unknown language')]).toEqual([422, true]);
  expect((await olga.post(`/cases/${caseId}/moves`, { ...amend, language: 'de' })).status).toBe(303);
  const known = await olga.get(address);
  expect([languageRow(known), selected(known, 'language')]).toEqual(['German', '']);
  const undone = await olga.post(`/cases/${caseId}/moves`, { ...amend, basedOn: '1', language: 'not-known' });
  expect(undone.status).toBe(303);
  const again = await olga.get(address);
  expect(languageRow(again)).toMatch(/^not known/);
  expect(again.text.split('id="history"')[1]).toContain('not known');
});
