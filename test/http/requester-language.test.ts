import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { produceLetter } from '../../src/documents/produce-letter.ts';
import { producePack } from '../../src/documents/produce-pack.ts';
import { createHandOver } from '../../src/hand-over/hand-over.ts';
import { zipFile } from '../reports/files.ts';
import { createReadyCase, makeMoves, OFFICER, PUBLIC_URL } from './hand-over-world.ts';
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
  expect(empty.text).toContain('<option value="de">Deutsch – German</option>');
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

/** A case of a letter whose language nobody knows, in a world with a worker. */
async function unknownCase() {
  const world = await createOfficeWorld();
  const olga = await signedIn(world, 'Olga');
  await olga.get('/cases/new');
  const opened = await olga.post('/cases', { ...letter, language: 'not-known' });
  const caseId = (opened.headers.get('location') ?? '').split('?')[0]?.split('/').at(-1) ?? '';
  const documents = async () => {
    await world.context.projector.catchUp();
    const rows = await world.context.store.read.selectFrom('documents').select(['name', 'parameters']).execute();
    return rows.map(({ name, parameters }) => [name, (JSON.parse(parameters) as { language?: string }).language]);
  };
  return { world, olga, caseId, documents };
}

it('a letter asks for the language if nobody chose one, and the chosen one becomes the requester’s', async () => {
  const { world, olga, caseId, documents } = await unknownCase();
  const asked = await olga.get(`/cases/${caseId}/letter?step=acknowledgement`);
  expect(asked.text).toContain('The language of the requester is not known.');
  expect([selected(asked, 'language'), asked.text.includes('id="preview"')]).toEqual(['', false]);
  const form = { step: 'acknowledgement', shownStep: 'acknowledgement', shownStart: '0', unedited: '', text: '' };
  const without = await olga.post(`/cases/${caseId}/letter`, { ...form, do: 'make', format: 'txt' });
  expect([without.text.includes('is not known'), await documents()]).toEqual([true, []]);
  const written = await olga.get(`/cases/${caseId}/letter?step=acknowledgement&language=de`);
  expect([selected(written, 'language'), written.text.includes('Ihre Anfrage ist bei uns eingegangen')]).toEqual([
    'de-DE',
    true,
  ]);
  const made = await olga.post(`/cases/${caseId}/letter`, { ...form, language: 'de', do: 'make', format: 'txt' });
  expect([made.status, await documents()]).toEqual([303, [['letter', 'de-DE']]]);
  const page = await olga.get(`/cases/${caseId}`);
  expect([languageRow(page), selected(page, 'language')]).toEqual(['German', '']);
  expect((await world.actions('case.moved')).map(({ actor }) => actor)).toEqual(['Olga']);
  expect(selected(await olga.get(`/cases/${caseId}/letter?step=identity`), 'language')).toBe('de-DE');
});

it('a pack asks for the language if nobody chose one, and follows the answer once it is written', async () => {
  const { world, olga, caseId, documents } = await unknownCase();
  const packForm = (page: Page) => page.text.split(`action="/cases/${caseId}/pack"`)[1]?.split('</form>')[0] ?? '';
  expect(packForm(await olga.get(`/cases/${caseId}`))).toMatch(
    /<select[^>]* required[^>]*>\s*<option value selected>Choose/,
  );
  const refused = await olga.post(`/cases/${caseId}/pack`, {});
  expect([refused.status, refused.text.includes('The language of the requester is not known.')]).toEqual([422, true]);
  const made = await olga.post(`/cases/${caseId}/pack`, { language: 'fr' });
  expect(made.status).toBe(303);
  await expect.poll(documents, { timeout: 20_000 }).toEqual([['dsar-pack', 'fr-FR']]);
  expect(languageRow(await olga.get(`/cases/${caseId}`))).toBe('French');
  const deps = { ...world.context.documents, cases: world.context.cases };
  const wish = { caseId, step: 'answer', text: 'Voici la réponse.', format: 'txt', actor: 'Olga' } as const;
  expect(await produceLetter(deps, { ...wish, language: 'nl' })).toMatchObject({ outcome: 'produced' });
  await world.context.projector.catchUp();
  expect(packForm(await olga.get(`/cases/${caseId}`))).toContain('In Dutch, like the answer letter.');
  const other = await producePack(deps, { caseId, actor: 'Olga', language: 'fr' });
  expect(other).toMatchObject({ outcome: 'invalid', problem: expect.stringContaining('is in Dutch') });
  expect(await producePack(deps, { caseId, actor: 'Olga' })).toMatchObject({ parameters: { language: 'nl-NL' } });
});

it('neither a controller’s language nor English stands in for one that is not known or has no letters', async () => {
  const { world, caseId } = await unknownCase();
  const deps = { ...world.context.documents, cases: world.context.cases };
  const wish = { caseId, step: 'acknowledgement', format: 'txt', actor: 'Olga' } as const;
  const said = async (language: string | null) => {
    const made = await produceLetter(deps, { ...wish, language });
    return made.outcome === 'invalid' ? made.problem : made.outcome;
  };
  expect(await said(null)).toContain('--language');
  expect(await said('da')).toContain('Letters are not available in Danish');
  expect(await said('German')).toContain('Letters are not available in "German"');
  expect(await said('de')).toBe('produced');
  expect(await producePack(deps, { caseId, actor: 'Olga' })).toMatchObject({ outcome: 'invalid' });
});

it('the page of a hand-over is in the requester’s language, otherwise the browser’s, otherwise the controller’s', async () => {
  const { world, caseId } = await createReadyCase();
  const made = await createHandOver(world.context, { caseId, actor: OFFICER, publicUrl: PUBLIC_URL });
  if (made.outcome !== 'created') throw new Error(JSON.stringify(made));
  const path = made.link.slice(PUBLIC_URL.length);
  const shown = async (accepted: string, query = '') => {
    const page = await fetch(world.url + path + query, { headers: { 'accept-language': accepted } });
    return /<html lang="([^"]+)"/.exec(await page.text())?.[1];
  };
  expect([await shown('nl'), await shown('nl', '?language=fr')]).toEqual(['de-DE', 'fr-FR']);
  await makeMoves(world, caseId, [['amend', { language: 'it', reason: 'They wrote again, in Italian.' }]]);
  expect(await shown('nl')).toBe('it-IT');
  await makeMoves(world, caseId, [['amend', { language: 'da', reason: 'Danish has no texts.' }]]);
  expect(await shown('xx, nl;q=0.5')).toBe('nl-NL');
  await makeMoves(world, caseId, [['amend', { language: null, reason: 'Nobody knows.' }]]);
  expect([await shown('pl'), await shown('xx')]).toEqual(['pl-PL', 'en-GB']);
  const profile = world.context.config.controllerFile ?? '';
  await writeFile(profile, `${await readFile(profile, 'utf8')}\nlanguage: sv\n`);
  expect(await shown('xx')).toBe('sv-SE');
});

it('the README of a pack speaks the language of its letter', async () => {
  const { pack } = await createReadyCase();
  const text = zipFile(await readFile(pack.path), 'README.txt').toString('utf8');
  expect(text).toContain('Unsere Antwort auf Ihre Anfrage');
  expect(text).toContain('verlauf.html: Ihre Entscheidungen zum Lesen, in jedem Browser');
  expect(text).not.toMatch(/\b(?:the|this|and|with)\b/i);
});
