import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../cli/command-line.ts';
import { tokenOf } from './api-caller.ts';
import { createOfficeWorld, type OfficeWorld, signedIn } from './office-world.ts';

const words = 'the law of Mongolia is not recorded here; it may set';

async function openedFromMongolia(world: OfficeWorld): Promise<string> {
  const seq = await world.event('dsar.submitted', {
    request_id: 'r',
    type: 'access',
    name: 'Ada',
    jurisdiction: 'MN',
    submitted_at: new Date(Date.now() - 86_400_000).toISOString(),
  });
  return `default-${seq}`;
}

const pageText = (text: string) => text.replaceAll('<!-- -->', '');

it('a request under a law that is not recorded has no date, and every page, the API and the command say why', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  await writeFile(join(world.folder, 'controller.yaml'), 'name: Acme\ncountry: US\nregion: NY\nownTargetDays: 20\n');
  const caseId = await openedFromMongolia(world);
  const olga = await signedIn(world);
  const [today, list, shown] = [await olga.get('/'), await olga.get('/cases'), await olga.get(`/cases/${caseId}`)];
  for (const { text } of [today, list, shown]) {
    expect(pageText(text)).toContain(`no date computed: ${words} one`);
    expect(pageText(text).toLowerCase()).toContain('your own target');
    expect(text).not.toContain('implemented law');
  }
  expect(pageText(today.text)).toContain('1 under a law that is not recorded');
  expect(pageText(today.text)).toMatch(/Find out the deadline of[^<]*request/);
  expect((await olga.get('/cases?which=law-not-recorded')).text).toContain(caseId);
  expect((await olga.get('/cases?which=place-missing')).text).not.toContain(caseId);

  const caller = await tokenOf(world, 'officer', { scope: 'read', name: 'Rita Reader' });
  const { json } = await caller.get(`/api/v1/cases/${caseId}`);
  expect(json).toMatchObject({
    legalLimit: null,
    notRecorded: ['MN'],
    caveat: `no date computed: ${words} one`,
    ownTarget: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
  });

  const shownHere = await runCli(world.folder, ['dsar', 'show', caseId]);
  expect(shownHere.stdout).toContain(`due          no date computed: ${words} one (your own target: `);
  expect((await runCli(world.folder, ['dsar', 'list'])).stdout).toContain('no date computed: the law of Mongolia');
});

it('the date of another law does not hide that a law is not recorded', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const caseId = await openedFromMongolia(world);
  const olga = await signedIn(world);
  for (const path of ['/', '/cases', `/cases/${caseId}`]) {
    const text = pageText((await olga.get(path)).text);
    expect(text).toContain(`${words} an earlier date`);
    expect(text.toLowerCase()).not.toContain('your own target');
  }
  const { stdout } = await runCli(world.folder, ['dsar', 'list']);
  expect(stdout).toContain(`(${words} an earlier date)`);
});
