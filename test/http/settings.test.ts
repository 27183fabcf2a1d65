import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { tokenOf } from './api-caller.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs } from './office-world.ts';

/** The form of the page with its hidden fields. */
function fieldsOf(page: string): Record<string, string> {
  const inside = /<form method="post" action="\/settings\/profile">([\s\S]*?)<\/form>/.exec(page)?.[1] ?? '';
  const fields: Record<string, string> = {};
  for (const [tag] of inside.matchAll(/<input\b[^>]*>/g)) {
    const name = /\bname="([^"]+)"/.exec(tag)?.[1] ?? '';
    if (!tag.includes('type="checkbox"') || tag.includes('checked'))
      fields[name] = /\bvalue="([^"]*)"/.exec(tag)?.[1] ?? '';
  }
  for (const [, name = '', value = ''] of inside.matchAll(
    /<textarea\b[^>]*\bname="([^"]+)"[^>]*>([\s\S]*?)<\/textarea>/g,
  ))
    fields[name] = value;
  for (const [, name = '', options = ''] of inside.matchAll(
    /<select\b[^>]*\bname="([^"]+)"[^>]*>([\s\S]*?)<\/select>/g,
  )) {
    const chosen = [...options.matchAll(/<option\b[^>]*>/g)].find(([tag]) => tag.includes('selected'))?.[0] ?? '';
    fields[name] = /\bvalue="([^"]*)"/.exec(chosen)?.[1] ?? '';
  }
  return fields;
}

it('the settings page shows what the controller profile lacks, and writes the file from a checked form', async () => {
  const world = await createOfficeWorld();
  const path = world.context.config.controllerFile ?? '';
  const before = `# Who we are\n${(await readFile(path, 'utf8')).trim()}\n`;
  await writeFile(path, before);
  const owner = await signedInAs(world, 'owner', { name: 'Olivia' });
  const page = await owner.get('/settings/profile');
  expect(page.text).toContain('<li>supervisory authority</li>');
  const form = fieldsOf(page.text);
  expect(form).toMatchObject({ name: 'Acme GmbH', otherSystems: 'crm | CRM' });

  const wrong = await owner.post('/settings/profile', { ...form, country: 'Germany' });
  expect([wrong.status, wrong.text.includes('<li>Country: ')]).toEqual([422, true]);
  expect(wrong.text).not.toContain(path);
  expect(await readFile(path, 'utf8')).toBe(before);

  const saved = await owner.post('/settings/profile', {
    ...form,
    'supervisoryAuthority.name': 'BlnBDI',
    purposes: 'Keeping proof | Art. 6(1)(c) GDPR | 3 years',
  });
  expect(saved.status).toBe(303);
  const after = await readFile(path, 'utf8');
  expect(after).toContain('# Who we are');
  expect(after).toContain('BlnBDI');
  const next = await owner.get('/settings/profile');
  expect(next.text).not.toContain('<li>supervisory authority</li>');
  expect((await world.context.loadProfile(null))?.purposes).toHaveLength(1);
  expect((await world.actions('profile.changed')).map(({ actor }) => actor.split(' (')[0])).toEqual(['Olivia']);

  const rows = await owner.post('/settings/profile', { ...fieldsOf(next.text), purposes: 'Proof' });
  expect(rows.text).toContain('<li>Purposes, line 1, lawfulBasis: ');

  // The file was changed after the form was shown.
  const late = await owner.post('/settings/profile', form);
  expect([late.status, late.text.includes('changed in the meantime')]).toEqual([409, true]);
  expect(await readFile(path, 'utf8')).toBe(after);
});

it('the settings page says when a source shares the profile, so that nobody overwrites another client’s', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const owner = await signedInAs(world, 'owner');
  const shared = 'applies to all of them';
  expect((await owner.get('/settings/profile')).text).not.toContain(shared);
  await world.context.sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
  const { controllerFile } = world.context.config;
  const options = { banners: [], controllerFile, subjectRecipe: null, fieldNames: {}, assumedOffset: '+00:00' };
  expect((await owner.get('/settings/profile?source=bolt')).text).toContain(shared);
  await world.context.sources.change('bolt', { options }, 'test');
  const own = (await owner.get('/settings/profile?source=bolt')).text;
  expect([own.includes(shared), own.includes('This source has its own profile.')]).toEqual([false, true]);
});

it('the settings page gives a source its own profile, a copy of the shared one without its web form', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const { config, sources, loadProfile } = world.context;
  const file = config.controllerFile ?? '';
  await writeFile(file, `# Ours\n${await readFile(file, 'utf8')}requestForm: true\nrequestFormFor: [bolt]\n`);
  const shared = await readFile(file, 'utf8');
  await sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
  const [owner, officer] = [await signedInAs(world, 'owner', { name: 'Olivia' }), await signedInAs(world, 'officer')];
  const button = 'Give Bolt Ltd its own profile';
  expect((await officer.get('/settings/profile?source=bolt')).text).not.toContain(button);
  expect((await officer.post('/settings/profile/own', { source: 'bolt' })).status).toBe(403);
  expect((await owner.get('/settings/profile?source=bolt')).text).toContain(button);

  const given = await owner.post('/settings/profile/own', { source: 'bolt' });
  expect([given.status, given.headers.get('location')]).toEqual([303, '/settings/profile?source=bolt&done=own']);
  const page = await owner.get('/settings/profile?source=bolt&done=own');
  expect(page.text).toContain('This source has its own profile.');
  expect(page.text).not.toContain(button);
  const bolt = () => loadProfile(sources.find('bolt'));
  expect(await bolt()).toMatchObject({ name: 'Acme GmbH', country: 'DE' });
  expect((await bolt())?.requestForm).not.toBe(true);
  expect((await world.actions('source.changed')).map(({ actor }) => actor.split(' (')[0])).toEqual(['Olivia']);
  // Relative to DATA_DIR, so that a restored installation elsewhere finds it.
  expect(sources.find('bolt')?.options.controllerFile).toMatch(/^profiles\/bolt-[0-9a-f]{8}\.yaml$/);

  const saved = await owner.post('/settings/profile', { ...fieldsOf(page.text), name: 'Bolt Ltd' });
  expect(saved.status).toBe(303);
  expect((await bolt())?.name).toBe('Bolt Ltd');
  expect(await readFile(file, 'utf8')).toBe(shared);
  const again = await owner.post('/settings/profile/own', { source: 'bolt' });
  expect([again.status, again.text.includes('already has its own profile')]).toEqual([409, true]);
  expect((await owner.post('/settings/profile/own', { source: 'nowhere' })).status).toBe(404);
});

it('the settings page shows the profile to officers without a form, and says what to do if there is none', async () => {
  const world = await createOfficeWorld();
  const officer = await signedInAs(world, 'officer');
  const { text } = await officer.get('/settings/profile');
  expect(text).toContain('Acme GmbH');
  expect(text).not.toContain('action="/settings/profile"><input');
  await writeFile(world.context.config.controllerFile ?? '', 'name: [');
  expect((await officer.get('/settings/profile')).text).toContain('The file has problems');
  const without = await createOfficeWorld({ CONTROLLER_FILE: '' });
  const empty = (await (await signedInAs(without, 'officer')).get('/settings/profile')).text;
  expect(empty).toMatch(/No profile yet[\s\S]*An owner or admin fills it in/);
  expect(fieldsOf(empty)).toEqual({});
});

describe('a change of the controller profile', () => {
  const profileOf = async (world: OfficeWorld) => readFile(world.context.config.controllerFile ?? '', 'utf8');

  it('is in the file only if the ledger has it', async () => {
    const world = await createOfficeWorld();
    const owner = await signedInAs(world, 'owner');
    const form = fieldsOf((await owner.get('/settings/profile')).text);
    const before = await profileOf(world);
    const refusing = vi.spyOn(world.context.ledger, 'append').mockRejectedValueOnce(new Error('the disk is away'));
    expect((await owner.post('/settings/profile', { ...form, phone: '+49 30 1' })).status).toBe(500);
    expect(await profileOf(world)).toBe(before);
    refusing.mockRestore();
    expect(await readdir(world.context.config.dataDir)).not.toContainEqual(expect.stringMatching(/\.draft$/));
    expect((await owner.post('/settings/profile', { ...form, phone: '+49 30 1' })).status).toBe(303);
    expect(await profileOf(world)).toContain('+49 30 1');
  });

  it('is named if it was recorded but is not in the file, and can be made again', async () => {
    const world = await createOfficeWorld();
    const owner = await signedInAs(world, 'owner');
    const form = fieldsOf((await owner.get('/settings/profile')).text);
    const before = await profileOf(world);
    await owner.post('/settings/profile', { ...form, phone: '+49 30 1' });
    expect((await owner.get('/settings/profile')).text).not.toContain('is not in the file');
    // As after a crash between writing the entry and writing the file.
    await writeFile(world.context.config.controllerFile ?? '', before);
    const { text } = await owner.get('/settings/profile');
    expect(text).toMatch(/The change that <a href="\/entries\/\d+">entry \d+<\/a> records is not in the file/);
    expect((await owner.post('/settings/profile', { ...form, phone: '+49 30 1' })).status).toBe(303);
    expect((await owner.get('/settings/profile')).text).not.toContain('is not in the file');
    expect(await world.actions('profile.changed')).toHaveLength(2);
  });

  it('is made once if two people change the same version at the same time, and the second gets a message', async () => {
    const world = await createOfficeWorld();
    const people = await Promise.all([signedInAs(world, 'owner'), signedInAs(world, 'admin')]);
    const form = fieldsOf((await people[0].get('/settings/profile')).text);
    await people[1].get('/settings/profile');
    const answers = await Promise.all(
      people.map((person, index) => person.post('/settings/profile', { ...form, phone: `+49 30 ${index}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
    const won = answers.findIndex(({ status }) => status === 303);
    expect(await profileOf(world)).toContain(`+49 30 ${won}`);
    expect(await world.actions('profile.changed')).toHaveLength(1);
  });

  it('chooses country and role by name, and writes their codes', async () => {
    const world = await createOfficeWorld();
    const owner = await signedInAs(world, 'owner');
    const { text } = await owner.get('/settings/profile');
    expect(text).toMatch(/<option(?: selected)? value="DE"(?: selected)?>Germany \(DE\)<\/option>/);
    expect(text).toContain('<option value="joint">Joint controller</option>');
    expect(text).not.toContain('value="EU"');
    const form = fieldsOf(text);
    expect(form).toMatchObject({ country: 'DE', role: '' });
    await owner.post('/settings/profile', { ...form, country: 'AT', region: '', role: 'joint' });
    expect(await profileOf(world)).toMatch(/country: AT[^]*role: joint/);
    const officer = await signedInAs(world, 'officer');
    const seen = (await officer.get('/settings/profile')).text;
    expect([seen.includes('Austria (AT)'), seen.includes('Joint controller')]).toEqual([true, true]);
  });
});

describe('the first controller profile', () => {
  it('is made in the browser, stored in DATA_DIR, and used from then on', async () => {
    const world = await createOfficeWorld({ CONTROLLER_FILE: '' });
    const { config } = world.context;
    const path = join(config.dataDir, 'controller.yaml');
    const admin = await signedInAs(world, 'admin', { name: 'Ada' });
    expect(await world.context.loadProfile(null)).toBeNull();
    const page = await admin.get('/settings/profile');
    expect(page.text).toMatch(/No profile yet[\s\S]*name of your organisation/);
    const form = fieldsOf(page.text);

    const nameless = await admin.post('/settings/profile', form);
    expect([nameless.status, nameless.text.includes('Name of the organisation: is missing')]).toEqual([422, true]);
    expect((await stat(path).catch(() => null))?.mode).toBeUndefined();

    const saved = await admin.post('/settings/profile', { ...form, name: 'Bolt AG', country: 'AT' });
    expect([saved.status, saved.headers.get('location')]).toEqual([303, '/settings/profile?source=default&done=saved']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, 'utf8')).toBe('name: Bolt AG\ncountry: AT\n');
    expect(await world.context.loadProfile(world.context.sources.find('default'))).toMatchObject({
      name: 'Bolt AG',
      country: 'AT',
      role: 'controller',
    });
    const next = await admin.get('/settings/profile');
    expect(next.text).toContain('Missing for an answer');
    expect(next.text).not.toContain('No profile yet');
    expect((await world.actions('profile.changed')).map(({ actor }) => actor.split(' (')[0])).toEqual(['Ada']);

    // The empty form is outdated; an edit keeps the mode of the file.
    const late = await admin.post('/settings/profile', { ...form, name: 'Other' });
    expect([late.status, late.text.includes('changed in the meantime')]).toEqual([409, true]);
    await admin.post('/settings/profile', { ...fieldsOf(next.text), email: 'dpo@bolt.example' });
    expect([(await stat(path)).mode & 0o777, await readFile(path, 'utf8')]).toEqual([
      0o600,
      'name: Bolt AG\ncountry: AT\nemail: dpo@bolt.example\n',
    ]);
  });

  it('is made once if two people send it at the same time', async () => {
    const world = await createOfficeWorld({ CONTROLLER_FILE: '' });
    const people = await Promise.all([signedInAs(world, 'owner'), signedInAs(world, 'admin')]);
    const form = fieldsOf((await people[0].get('/settings/profile')).text);
    await people[1].get('/settings/profile');
    const answers = await Promise.all(
      people.map((person, index) => person.post('/settings/profile', { ...form, name: `Name ${index}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
    const won = answers.findIndex(({ status }) => status === 303);
    expect((await world.context.loadProfile(null))?.name).toBe(`Name ${won}`);
    expect(await world.actions('profile.changed')).toHaveLength(1);
  });

  it('is refused to officers, and not made if CONTROLLER_FILE names a missing file', async () => {
    const world = await createOfficeWorld({ CONTROLLER_FILE: '' });
    const owner = await signedInAs(world, 'owner');
    const form = fieldsOf((await owner.get('/settings/profile')).text);
    const officer = await signedInAs(world, 'officer');
    await officer.get('/settings/profile');
    expect((await officer.post('/settings/profile', { ...form, name: 'Bolt AG' })).status).toBe(403);
    expect(await world.context.loadProfile(null)).toBeNull();

    const named = await createOfficeWorld({ CONTROLLER_FILE: '/nowhere/controller.yaml' });
    await writeFile(join(named.context.config.dataDir, 'controller.yaml'), 'name: Not this\n');
    await expect(named.context.loadProfile(null)).rejects.toThrow('cannot read /nowhere/controller.yaml');
    const other = await signedInAs(named, 'owner');
    expect((await other.get('/settings/profile')).text).toContain('The file cannot be read.');
    expect((await other.post('/settings/profile', { ...form, name: 'Bolt AG' })).status).toBe(409);
  });
});

it('the settings page sets retention periods and approvals, with the usual periods next to them', async () => {
  const world = await createOfficeWorld();
  const owner = await signedInAs(world, 'owner');
  const page = await owner.get('/settings/profile');
  expect(page.text).toMatch(/Usually 36 months, from closing[\s\S]*California are kept at least 24 months/);
  const form = fieldsOf(page.text);
  const wrong = await owner.post('/settings/profile', { ...form, 'retention.cases': '24 months' });
  expect([wrong.status, wrong.text.includes('clear the periods')]).toEqual([422, true]);
  const nonsense = { retention: 'yes', 'retention.cases': 'a while' };
  expect((await owner.post('/settings/profile', { ...form, ...nonsense })).text).toContain(
    '<li>Closed requests: use a number of days or months',
  );
  const saved = await owner.post('/settings/profile', {
    ...form,
    ...{ retention: 'yes', 'retention.cases': '24 months', 'secondPersonFor.refuse': 'yes' },
  });
  expect(saved.status).toBe(303);
  expect(await world.context.loadProfile(null)).toMatchObject({
    retention: { cases: { months: 24 } },
    secondPersonFor: ['refuse'],
    otherSystems: [{ id: 'crm', name: 'CRM' }],
  });
  expect(fieldsOf((await owner.get('/settings/profile')).text)).toMatchObject({
    retention: 'yes',
    'retention.cases': '24 months',
    'secondPersonFor.refuse': 'yes',
  });
  const officer = await signedInAs(world, 'officer');
  expect((await officer.get('/settings/profile')).text).toMatch(
    /Closed requests[\s\S]*24 months[\s\S]*Consent decisions[\s\S]*36 months \(usual\)/,
  );
  expect((await officer.get('/settings/retention')).text).toMatch(
    /data that is due is erased each night[\s\S]*Owners and admins change the periods/,
  );
});

it('the settings page lists the retention periods, and places and lifts holds', async () => {
  const world = await createOfficeWorld();
  await world.context.sources.add({ slug: 'bolt' }, 'test');
  const officer = await signedInAs(world, 'officer', { name: 'Olga' });
  const limited = await signedInAs(world, 'officer', { sources: ['bolt'] });
  expect((await officer.get('/settings/retention')).text).toMatch(
    /nothing is erased automatically[\s\S]*36 months \(usual\)/,
  );

  const empty = await officer.post('/settings/retention/holds', { source: 'default', reason: ' ', from: 'tomorrow' });
  expect([empty.status, empty.text.includes('Enter the reason.'), empty.text.includes('YYYY-MM-DD')]).toEqual([
    422,
    true,
    true,
  ]);
  const nobody = await officer.post('/settings/retention/holds', {
    source: 'default',
    reason: 'x',
    subject: 'nobody@example.org',
  });
  expect([nobody.status, (await world.actions('hold.placed')).length]).toEqual([422, 0]);
  await officer.post('/settings/retention/holds', {
    source: '',
    reason: 'Inquiry 12/2026',
    from: '2026-01-01',
    to: '2026-01-31',
  });
  const shown = await officer.get('/settings/retention');
  const id = /<option value="(hold-[0-9a-f]+)"/.exec(shown.text)?.[1] ?? '';
  expect(shown.text).toMatch(/Inquiry 12\/2026[\s\S]*every source[\s\S]*by Olga/);
  expect((await limited.get('/settings/retention')).text).not.toContain('Inquiry');

  await limited.post('/settings/retention/holds/lift', { hold: id, reason: 'mine' });
  expect((await world.actions('hold.lifted')).length).toBe(0);
  expect((await officer.post('/settings/retention/holds/lift', { hold: id, reason: '' })).status).toBe(422);
  await officer.post('/settings/retention/holds/lift', { hold: id, reason: 'It is settled' });
  expect((await world.actions('hold.lifted')).map(({ object }) => object)).toEqual([id]);
  expect((await officer.get('/settings/retention')).text).not.toContain('Inquiry 12/2026');
});

it('the settings page stores for each person which notices they want by mail', async () => {
  const world = await createOfficeWorld();
  const admin = await signedInAs(world, 'admin');
  const officer = await signedInAs(world, 'officer');
  expect((await officer.get('/settings/notifications')).text).not.toContain('value="installation"');
  const saved = await admin.post('/settings/notifications', { digest: 'yes', groups: 'installation' });
  expect(saved.headers.get('location')).toBe('/settings/notifications?done=saved');
  const boxes = (text: string) =>
    [...text.matchAll(/<input type="checkbox" name="(\w+)" value="(\w+)"( checked)?/g)].flatMap(
      ([, name = '', value = '', checked]) => (checked === undefined ? [] : [`${name} ${value}`]),
    );
  expect(boxes((await admin.get('/settings/notifications')).text)).toEqual(['digest yes', 'groups installation']);
  expect(boxes((await officer.get('/settings/notifications')).text)).toEqual([
    'atOnce yes',
    'digest yes',
    'groups requests',
  ]);
  const auditor = await signedInAs(world, 'auditor');
  expect((await auditor.get('/settings/notifications')).text).toContain('Auditors get no notices.');
});

it('a program reads and replaces the profile of a source over the API, and gives a source its own', async () => {
  const world = await createOfficeWorld();
  await world.context.sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
  const path = world.context.config.controllerFile ?? '';
  const admin = await tokenOf(world, 'admin', { scope: 'administer', name: 'Ada' });
  const address = '/api/v1/sources/bolt/profile';
  const read = await admin.get(address);
  expect(read.json).toMatchObject({ source: 'bolt', shared: true, problems: [], text: await readFile(path, 'utf8') });
  const { text, sha256 } = read.json as { text: string; sha256: string };

  const wrong = await admin.post(address, { basedOn: sha256, text: 'name: Bolt\ncountry: Germany\n' });
  expect([wrong.status, JSON.stringify(wrong.json).includes('country')]).toEqual([422, true]);
  expect(JSON.stringify(wrong.json)).not.toContain(path);
  const worker = await tokenOf(world, 'officer', { scope: 'work', name: 'Wanda' });
  expect((await worker.post(address, { basedOn: sha256, text })).status).toBe(403);
  const unchanged = await admin.post(address, { basedOn: sha256, text });
  expect(unchanged.json).toEqual({ outcome: 'unchanged', seq: null });

  expect((await admin.post(`${address}/own`, {})).status).toBe(200);
  expect((await admin.post(`${address}/own`, {})).status).toBe(409);
  const own = (await admin.get(address)).json as { shared: boolean; sha256: string };
  expect(own.shared).toBe(false);
  const saved = await admin.post(address, {
    basedOn: own.sha256,
    text: 'name: Bolt Ltd\nemail: privacy@bolt.example\n',
  });
  expect(saved.json).toMatchObject({ outcome: 'saved', seq: expect.any(Number) as number });
  expect((await admin.post(address, { basedOn: own.sha256, text: 'name: Bolt\n' })).status).toBe(409);
  expect(await readFile(path, 'utf8')).toBe(text);
  const rows = await world.context.store.read
    .selectFrom('action_history')
    .select('details')
    .where('action', '=', 'profile.changed')
    .execute();
  expect(rows.map(({ details }) => JSON.parse(details) as object)).toMatchObject([
    { sourceSlug: 'bolt', before: own.sha256, changed: expect.arrayContaining(['name', 'email']) as string[] },
  ]);
});
