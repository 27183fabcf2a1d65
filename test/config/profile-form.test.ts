import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { applyProfileForm, type ProfileForm, readProfileForm } from '../../src/config/profile-form.ts';
import { parseControllerProfile } from '../../src/config/settings-files.ts';

const path = 'docs/controller.example.yaml';
const example = await readFile(path, 'utf8');
const form = (await readProfileForm(example, path)) as ProfileForm;

it('the profile form changes nothing in a profile when it is submitted unchanged', async () => {
  expect(form).toMatchObject({ name: 'Example Shop GmbH', noTransfers: 'yes' });
  expect(form['address']?.split('\n')).toHaveLength(4);
  expect(await applyProfileForm(example, path, form)).toEqual({ outcome: 'unchanged' });
});

it('the profile form writes changes, and keeps comments and parts that the form does not show', async () => {
  const purposes = (form['purposes'] ?? '').replace('36 months', '24 months');
  expect(purposes).not.toBe(form['purposes']);
  const changed = await applyProfileForm(example, path, { ...form, phone: '', email: 'dsar@shop.example', purposes });
  if (changed.outcome !== 'changed') throw new Error(JSON.stringify(changed));
  expect(changed.fields).toEqual(['email', 'phone', 'purposes']);
  expect(changed.text).toContain('# Art. 15(1)(f)');
  expect(changed.text).toContain('dsar@shop.example');
  const after = (await readProfileForm(changed.text, path)) as ProfileForm;
  expect(after).toEqual({ ...form, phone: '', email: 'dsar@shop.example', purposes });
  expect(changed.text.includes('translations')).toBe(example.includes('translations'));
});

it('the profile form keeps what only consent records state, and writes no empty cells', async () => {
  const rows = {
    purposes: 'Statistics | consent | 13 months | analytics, stats\nNews | consent | 1 year',
    recipients: 'Host AG | hosting | DE | Street 1, Bonn | privacy@host.example\nOther | mail | ',
    storedIn: 'DE\nEU',
  };
  const changed = await applyProfileForm('name: Bolt AG\n', path, { name: 'Bolt AG', ...rows });
  if (changed.outcome !== 'changed') throw new Error(JSON.stringify(changed));
  expect(changed.text).not.toMatch(/(?:names|address|contact): null/);
  expect(await readProfileForm(changed.text, path)).toMatchObject(rows);
  const wrong = await applyProfileForm('name: Bolt AG\n', path, { name: 'Bolt AG', storedIn: 'Germania' });
  expect(wrong).toMatchObject({ problems: [expect.stringContaining('use the code of a country')] });
});

it('the profile form refuses input that would not load, with every problem', async () => {
  const wrong = await applyProfileForm(example, path, {
    ...form,
    name: '',
    country: 'Germany',
    purposes: 'only one word',
  });
  if (wrong.outcome !== 'invalid') throw new Error(wrong.outcome);
  const said = wrong.problems.join('\n');
  for (const place of ['name', 'country', 'purposes.0.lawfulBasis']) expect(said).toContain(place);
  const more = `${form['purposes']}\nSelling shoes | GDPR Art. 6(1)(b) | 10 years`;
  const untranslated = await applyProfileForm(example, path, { ...form, purposes: more });
  expect(untranslated).toMatchObject({ problems: [expect.stringContaining('translate each')] });
  expect(await applyProfileForm('a: [', path, form)).toMatchObject({ outcome: 'invalid' });
  expect(await readProfileForm('a: [', path)).toMatchObject({ problems: [expect.stringContaining('line')] });
});

it('the profile form starts a new profile with the input and nothing else', async () => {
  const empty = (await readProfileForm('', path)) as ProfileForm;
  expect(new Set(Object.values(empty))).toEqual(new Set(['']));
  expect(await applyProfileForm('', path, empty)).toEqual({
    outcome: 'invalid',
    problems: [`Controller profile ${path}: name: is missing.`],
  });
  expect(await applyProfileForm('', path, { name: 'Bolt AG', noTransfers: 'yes' })).toEqual({
    outcome: 'changed',
    text: 'name: Bolt AG\nnoTransfers: true\n',
    fields: ['name', 'noTransfers'],
  });
});

describe('approval and retention', () => {
  const before = 'name: Bolt AG\n';
  const change = async (text: string, fields: ProfileForm) => {
    const changed = await applyProfileForm(text, path, {
      ...((await readProfileForm(text, path)) as ProfileForm),
      ...fields,
    });
    if (changed.outcome !== 'changed') throw new Error(JSON.stringify(changed));
    const loaded = await parseControllerProfile(changed.text, path);
    if (loaded.outcome !== 'loaded') throw new Error(JSON.stringify(loaded));
    return { ...changed, profile: loaded.value, form: (await readProfileForm(changed.text, path)) as ProfileForm };
  };

  it('writes each approval rule independently', async () => {
    const both = await change(before, {
      'secondPersonFor.answer': 'yes',
      'secondPersonFor.refuse': 'yes',
      erasureNeedsSecondOfficer: 'yes',
    });
    expect(both.profile).toMatchObject({ secondPersonFor: ['answer', 'refuse'], erasureNeedsSecondOfficer: true });
    expect(both.fields).toEqual(['secondPersonFor.answer', 'secondPersonFor.refuse', 'erasureNeedsSecondOfficer']);
    const one = await change(both.text, { 'secondPersonFor.answer': '' });
    expect(one.profile).toMatchObject({ secondPersonFor: ['refuse'], erasureNeedsSecondOfficer: true });
    expect(one.fields).toEqual(['secondPersonFor.answer']);
  });

  it('writes the controller’s own target as a number, and refuses what is none', async () => {
    const set = await change(before, { ownTargetDays: ' 20 ' });
    expect([set.profile.ownTargetDays, set.form['ownTargetDays'], set.fields]).toEqual([20, '20', ['ownTargetDays']]);
    const none = await change(set.text, { ownTargetDays: '' });
    expect([none.profile.ownTargetDays, none.text]).toEqual([undefined, before]);
    for (const ownTargetDays of ['soon', '0', '401', '1.5'])
      expect(await applyProfileForm(before, path, { ...set.form, ownTargetDays })).toMatchObject({
        outcome: 'invalid',
      });
  });

  it('reads periods in words, and writes them in the profile’s form', async () => {
    const set = await change(before, {
      retention: 'yes',
      'retention.cases': '3 years',
      'retention.decisions': 'For ever: ordered by the court',
      'retention.packs': '1 day',
    });
    expect(set.profile.retention).toEqual({
      cases: { months: 36 },
      decisions: { forEver: 'ordered by the court' },
      packs: { days: 1 },
    });
    expect(set.form).toMatchObject({
      retention: 'yes',
      'retention.cases': '36 months',
      'retention.decisions': 'for ever: ordered by the court',
      'retention.deliveries': '',
      'retention.packs': '1 day',
    });
    expect(await applyProfileForm(set.text, path, { ...set.form, 'retention.cases': '36 months' })).toEqual({
      outcome: 'unchanged',
    });
    const usual = await change(set.text, { 'retention.decisions': '', 'retention.cases': '24 months' });
    expect(usual.profile.retention).toEqual({ cases: { months: 24 }, packs: { days: 1 } });
  });

  it('enables automatic erasure only if ticked, even with the usual periods', async () => {
    const usual = await change(before, { retention: 'yes' });
    expect(usual.profile.retention).toEqual({});
    const off = await change(usual.text, { retention: '' });
    expect(off.profile.retention).toBeUndefined();
    expect(off.text).toBe(before);
    const set = await change(before, { retention: 'yes', 'retention.cases': '24 months' });
    expect(await applyProfileForm(set.text, path, { ...set.form, retention: '' })).toEqual({
      outcome: 'invalid',
      problems: [expect.stringContaining('clear the periods')],
    });
    const none = await change(set.text, { retention: '', 'retention.cases': '' });
    expect(none.profile.retention).toBeUndefined();
  });

  it.each(['two weeks', '0 months', '2000 months', 'for ever', 'for ever:', '36', '-1 days'])(
    'refuses a period of %s',
    async (text) => {
      const wrong = await applyProfileForm(before, path, {
        name: 'Bolt AG',
        retention: 'yes',
        'retention.cases': text,
      });
      expect(wrong).toEqual({
        outcome: 'invalid',
        problems: [
          expect.stringMatching(
            / retention\.cases(: use a number of days or months|\.months: too (?:small|large): at )/,
          ),
        ],
      });
    },
  );
});
