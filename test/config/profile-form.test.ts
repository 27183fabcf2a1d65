import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { applyProfileForm, type ProfileForm, readProfileForm } from '../../src/config/profile-form.ts';

const path = 'docs/controller.example.yaml';
const example = await readFile(path, 'utf8');
const form = (await readProfileForm(example, path)) as ProfileForm;

it('changes nothing in a profile when the form is submitted unchanged', async () => {
  expect(form).toMatchObject({ name: 'Example Shop GmbH', noTransfers: 'yes' });
  expect(form['address']?.split('\n')).toHaveLength(4);
  expect(await applyProfileForm(example, path, form)).toEqual({ outcome: 'unchanged' });
});

it('writes what changed, and keeps comments and what the form does not show', async () => {
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

it('refuses what would not load, with every problem', async () => {
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
