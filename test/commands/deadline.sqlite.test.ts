// SQLite only, because the calculator opens no database.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere, runIn } from '../cli/command-line.ts';
import { temporaryFolder } from '../temporary.ts';

const christmas = {
  kind: 'access',
  received: '2026-11-25',
  place: 'DE',
  controller: { country: 'DE', region: 'BE', timeZone: 'Europe/Berlin' },
};
const single = ['dsar', 'deadline', '--kind', 'access', '--received', '2026-11-25', '--controller-country', 'DE'];

/** In an empty folder: no .env, no database, no keys. In this process, or as the built program if it reads input. */
async function inEmptyFolder(args: readonly string[], input?: string) {
  const folder = join(await temporaryFolder(), 'empty');
  mkdirSync(folder);
  const env = { DATABASE_URL: '' };
  return input === undefined ? runHere(folder, args, env) : runIn(folder, args, { input, env });
}

describe('dsar deadline', () => {
  it('computes one case from flags without an installation', async () => {
    const { code, stdout } = await inEmptyFolder([...single, '--place', 'US-VA', '--json']);
    expect(code).toBe(0);
    const answer = JSON.parse(stdout) as Record<string, unknown>;
    expect(Object.keys(answer)).toEqual([
      'limit',
      'atOnce',
      'aimFor',
      'acknowledgeBy',
      'warnOn',
      'law',
      'laws',
      'notRecorded',
      'notes',
    ]);
    expect([answer['notRecorded'], answer['notes']]).toEqual([[], []]);
    expect(answer).toMatchObject({ limit: '2026-12-28', atOnce: false, aimFor: '2026-12-25', law: 'eu-gdpr' });
    const laws = answer['laws'] as Record<string, unknown>[];
    expect(laws.map((law) => law['id'])).toEqual(['eu-gdpr', 'us-45']);
    expect(Object.keys(laws[0] ?? {})).toEqual(['id', 'limit', 'citation', 'confirmed', 'explanation']);
  });

  it('explains every law and names the one that decides', async () => {
    const { stdout } = await inEmptyFolder([...single, '--place', 'US-VA']);
    expect(stdout).toMatch(/answer by +Mon 28 Dec 2026, by eu-gdpr/);
    expect(stdout).toContain('Christmas Day');
    expect(stdout).toContain('in Europe/Berlin, the zone of the controller’s country');
    expect(stdout).toMatch(/us-45 .* 2027-01-09/);
  });

  it('says which law is not recorded, instead of a statement that no answer is due', async () => {
    const alone = single.slice(0, -2);
    const [text, json] = [
      await inEmptyFolder([...alone, '--place', 'MN']),
      await inEmptyFolder([...alone, '--place', 'MN', '--json']),
    ];
    const words = 'the law of Mongolia is not recorded here; it may set';
    expect(text.stdout).toContain(`answer by    no date computed: ${words} one`);
    expect(JSON.parse(json.stdout)).toMatchObject({ limit: null, law: null, notRecorded: ['MN'] });
    expect((JSON.parse(json.stdout) as { notes: string[] }).notes[0]).toBe(`No date computed: ${words} one.`);
    const german = await inEmptyFolder([...single, '--place', 'MN']);
    expect(german.stdout).toMatch(/answer by +Mon 28 Dec 2026, by eu-gdpr/);
    expect(german.stdout).toContain(`but          ${words} an earlier date`);
    const line = JSON.stringify({ ...christmas, place: 'MN' });
    const file = await inEmptyFolder(['dsar', 'deadline', '--cases', '-'], line);
    expect(file.stdout).toContain(`${words} an earlier date`);
  });

  it('says in JSON that days are counted in UTC where the controller’s country has several time zones', async () => {
    const brazil = [...single.slice(0, -1), 'BR', '--place', 'BR', '--json'];
    const notes = async (...more: string[]) =>
      (JSON.parse((await inEmptyFolder([...brazil, ...more])).stdout) as { notes: string[] }).notes.join(' ');
    expect(await notes()).toContain('Days are counted in UTC');
    expect(await notes('--time-zone', 'America/Sao_Paulo')).not.toContain('UTC');
    expect(await notes('--controller-region', 'SP')).not.toContain('UTC');
  });

  it('treats a bare date as that day in the controller’s time zone', async () => {
    const far = [...single.slice(0, -1), 'NZ', '--place', 'NZ', '--json'];
    const near = [...far, '--time-zone', 'America/Los_Angeles'];
    const [there, here] = [await inEmptyFolder(far), await inEmptyFolder(near)];
    expect(JSON.parse(there.stdout)).toMatchObject({ limit: '2026-12-23' });
    expect(JSON.parse(here.stdout)).toMatchObject({ limit: '2026-12-23' });
  });

  it('answers a file line by line in order, with an error in place of a bad line', async () => {
    const file = [
      JSON.stringify(christmas),
      'not JSON',
      '',
      JSON.stringify({ ...christmas, place: 'California' }),
      JSON.stringify({ ...christmas, recieved: '2026-11-01' }),
      JSON.stringify({ ...christmas, name: 'a note', id: 7, expected: {}, received: '2026-11-24' }),
    ].join('\r\n');
    const { code, stdout, stderr } = await inEmptyFolder(['dsar', 'deadline', '--cases', '-', '--json'], file);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map((line) => line['limit'] ?? line['error'])).toEqual([
      '2026-12-28',
      'The line is not valid JSON.',
      'place: Unknown place "California": did you mean US-CA (California, United States)?',
      'Unknown field "recieved".',
      '2026-12-24',
    ]);
    expect([code, stderr]).toEqual([2, '']);
  });

  it('computes a file with the examples from the statutes', async () => {
    const cases = readFileSync(join(import.meta.dirname, '../law/statute-cases.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { input: object; expect: { limit?: string | null } });
    const folder = await temporaryFolder();
    writeFileSync(join(folder, 'cases.jsonl'), cases.map(({ input }) => `${JSON.stringify(input)}\n`).join(''));
    const { code, stdout } = await runIn(folder, ['dsar', 'deadline', '--cases', 'cases.jsonl', '--json']);
    const limits = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { limit: string | null }).limit);
    expect([code, limits.length]).toEqual([0, cases.length]);
    for (const [place, { expect: expected }] of cases.entries())
      if (expected.limit !== undefined) expect(limits[place]).toBe(expected.limit);
  });

  it.each([
    [[], /--kind and --received/],
    [['--kind', 'access', '--received', '2026-06-31'], /Invalid date "2026-06-31": June has 30 days\./],
    [['--kind', 'access', '--received', 'yesterday'], /Invalid date "yesterday": use YYYY-MM-DD/],
    [[...single.slice(2), '--controller-region', 'Bavaria'], /did you mean BY \(Bavaria, Germany\)/],
    [[...single.slice(2), '--place', 'Germny'], /did you mean DE/],
    [[...single.slice(2), '--time-zone', 'Berlin'], /Unknown time zone "Berlin"/],
    [[...single.slice(2), '--clarification', '2026-12-01,2026-12-02,2026-12-03'], /two dates/],
    [[...single.slice(2), '--cases', 'x.jsonl'], /--cases cannot be combined/],
    [['--cases', 'nowhere.jsonl'], /nowhere\.jsonl \(ENOENT\)/],
  ])('refuses %j with a sentence', async (args, message) => {
    const { code, stderr } = await inEmptyFolder(['dsar', 'deadline', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});
