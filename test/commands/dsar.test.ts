import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Command } from '@commander-js/extra-typings';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CommandIo } from '../../src/commands/command-io.ts';
import { registerDsar } from '../../src/commands/dsar.ts';
import { UsageError } from '../../src/core/errors.ts';
import { beginInstallation } from '../cli/command-line.ts';
import { environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

afterEach(() => vi.unstubAllEnvs());

interface Run {
  readonly out: string;
  readonly exitCode: number;
}

async function createInstallation(): Promise<(...args: string[]) => Promise<Run>> {
  const dataDir = await temporaryFolder();
  await beginInstallation(dataDir, environment(dataDir));
  vi.stubEnv('DATA_DIR', dataDir);
  vi.stubEnv('TIME_ZONE', 'Europe/Berlin');
  vi.stubEnv('WEBHOOK_SECRETS', 'a-signing-secret-of-this-test-only-0123456789');
  return async (...args) => {
    const stdout = new PassThrough();
    const io: CommandIo = {
      stdout,
      stderr: new PassThrough(),
      exitCode: 0,
      untilStopped: () => new Promise(() => undefined),
    };
    const program = new Command().exitOverride();
    registerDsar(program, io);
    await program.parseAsync(['node', 'consent-ledger', 'dsar', ...args]);
    return { out: String(stdout.read() ?? ''), exitCode: io.exitCode };
  };
}

const opening = [
  'open',
  '--received',
  '2026-07-01T14:02:00Z',
  '--kind',
  'access',
  '--channel',
  'letter',
  '--jurisdiction',
  'DE',
  '--language',
  'en',
];

describe('dsar', () => {
  it('computes deadlines with the rules in REGIMES_FILE', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-07-03T09:00:00.000Z') });
    try {
      const run = await createInstallation();
      const path = join(await temporaryFolder(), 'regimes.yaml');
      await writeFile(
        path,
        [
          'rows:',
          '  - regime: eu-gdpr',
          '    kinds: [access]',
          '    period: { amount: 10, unit: days }',
          '    rollOver: none',
          '    stopClock: none',
          '    identity: on-recorded-doubt',
          '    citation: a code of conduct',
          '    readOn: 2026-07-01',
        ].join('\n'),
      );
      vi.stubEnv('REGIMES_FILE', path);
      expect(JSON.parse((await run(...opening, '--json')).out)).toMatchObject({ legalLimit: '2026-07-11' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('opens, lists, shows and moves a case', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-07-03T09:00:00.000Z') });
    try {
      const run = await createInstallation();
      expect((await run('list')).out).toBe('No requests.\n');
      const opened = JSON.parse((await run(...opening, '--name', 'Ada \u001b[31mLovelace', '--json')).out);
      expect(opened).toMatchObject({
        state: 'opened',
        version: 0,
        legalLimit: '2026-08-03',
        daysLeft: 31,
        regime: 'eu-gdpr',
      });
      const { caseId } = opened as { caseId: string };

      const list = (await run('list', '--open')).out;
      expect(list).toContain(caseId);
      expect(list).toContain('31 days');
      const moved = JSON.parse(
        (await run('move', caseId, 'note', '--details', '{"text":"called back"}', '--json')).out,
      );
      expect(moved).toMatchObject({
        version: 1,
        history: [{ move: 'opened' }, { move: 'note', details: { text: 'called back' } }],
      });
      const shown = (await run('show', caseId)).out;
      expect(shown).toContain('GDPR Art. 12(3)');
      expect(shown).not.toContain('\u001b[31mLovelace');

      const stale = await run('move', caseId, 'start', '--based-on', '0', '--json');
      expect([stale.exitCode, JSON.parse(stale.out)]).toEqual([1, { outcome: 'conflict', caseId, version: 1 }]);
      expect(JSON.parse((await run('list', '--state', 'closed', '--json')).out)).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('records several rights of one request, and names each in the list and in the case', async () => {
    const run = await createInstallation();
    const { caseId } = JSON.parse((await run(...opening, '--json')).out) as { caseId: string };
    const details = JSON.stringify({ furtherKinds: ['rectification'], reason: 'both in one letter' });
    await run('move', caseId, 'amend', '--details', details);
    expect(JSON.parse((await run('list', '--json')).out)).toMatchObject([
      { caseId, kind: 'rectification', parts: [{ kind: 'rectification', outcome: null }, { kind: 'access' }] },
    ]);
    expect((await run('list')).out).toContain('rectification + access');
    await run('move', caseId, 'settle-part', 'kind=access', 'outcome=done');
    const { out } = await run('show', caseId);
    expect(out).toMatch(/part +rectification: nothing recorded yet, due 20/);
    expect(out).toMatch(/part +access: done/);
    expect(out).toContain('Record what was done about this one: rectification.');
  });

  it('adds a task for another system, links and revokes it, finishes it, and says why it cannot be mailed', async () => {
    const run = await createInstallation();
    vi.stubEnv('PUBLIC_URL', 'https://evidence.example');
    const { caseId } = JSON.parse((await run(...opening, '--json')).out) as { caseId: string };
    const tasksOf = async (...args: string[]) => JSON.parse((await run('task', ...args, '--json')).out) as unknown;

    const task = ['--what', 'Delete the customer', '--due', '2026-08-01', '--owner', 'Anna'];
    expect(await tasksOf('add', caseId, ...task)).toMatchObject([
      { task: '1', what: 'Delete the customer', due: '2026-08-01', owner: 'Anna', state: 'open' },
    ]);
    const linked = await tasksOf('link', caseId, '1', '--days', '3');
    expect(linked).toMatchObject({ caseId, task: '1' });
    expect((linked as { link: string }).link).toMatch(/^https:\/\/evidence\.example\//);
    expect(await tasksOf('list', caseId)).toMatchObject([{ linkUntil: expect.any(String) }]);
    expect(await tasksOf('revoke', caseId, '1')).toMatchObject([{ linkUntil: null }]);
    await expect(run('task', 'mail', caseId, '1')).rejects.toThrow(UsageError);
    expect(await tasksOf('finish', caseId, '1', '--outcome', 'done')).toMatchObject([{ state: 'done' }]);
    expect((await run('task', 'list', caseId)).out).toContain('Delete the customer');
    await expect(run('task', 'list', 'default-99')).rejects.toThrow('default-99');
  });

  it('refuses an unknown place code and suggests the nearest one', async () => {
    const run = await createInstallation();
    const placed = (place: string) => run(...opening.map((arg) => (arg === 'DE' ? place : arg)), '--json');
    await expect(placed('California')).rejects.toThrow(/Unknown place "California": did you mean US-CA/);
    const { caseId, jurisdiction } = JSON.parse((await placed('us-ca')).out) as Record<string, string>;
    expect(jurisdiction).toBe('US-CA');
    const amend = (place: string) => [
      '--details',
      JSON.stringify({ jurisdiction: place, reason: 'a letter' }),
      '--json',
    ];
    await expect(run('move', caseId ?? '', 'amend', ...amend('Germany'))).rejects.toThrow(/did you mean DE/);
    expect(JSON.parse((await run('move', caseId ?? '', 'amend', ...amend('FR'))).out)).toMatchObject({
      jurisdiction: 'FR',
    });
  });

  it('explains invalid input in sentences', async () => {
    const run = await createInstallation();
    await expect(run('show', 'default-9')).rejects.toThrow(UsageError);
    await expect(run('move', 'default-9', 'start')).rejects.toThrow(/Unknown case default-9/);
    await expect(run(...opening, '--source', 'nowhere')).rejects.toThrow(/Unknown source nowhere/);
    await expect(run(...opening.map((arg) => (arg.startsWith('2026') ? 'yesterday' : arg)))).rejects.toThrow(
      /Invalid time "yesterday" for --received: use ISO 8601, e\.g\. 2026/,
    );
    const { caseId } = JSON.parse((await run(...opening, '--json')).out) as { caseId: string };
    await expect(run('move', caseId, 'mark-ready')).rejects.toThrow(/not possible while the case is opened/);
    await expect(run('move', caseId, 'note', '--details', 'text')).rejects.toThrow(/JSON object/);
    await expect(run('move', caseId, 'note', 'called back')).rejects.toThrow(/Invalid detail "called back"/);
    await expect(run('move', caseId, 'note', 'txt=called back')).rejects.toThrow(/note.text/);
    await expect(run('move', caseId, 'note', '--based-on', 'first')).rejects.toThrow(/Invalid version "first"/);
  });
});

describe('dsar letter', () => {
  it('and dsar pack refuse to guess a language, and remember the first one that is named', async () => {
    const run = await createInstallation();
    const withoutLanguage = opening.slice(0, opening.indexOf('--language'));
    await expect(run(...withoutLanguage, '--language', 'German')).rejects.toThrow(
      '--language: Unknown language "German"',
    );
    const { caseId } = JSON.parse((await run(...withoutLanguage, '--json')).out) as { caseId: string };
    expect((await run('show', caseId)).out).toMatch(/language +not known/);
    await expect(run('letter', caseId, 'acknowledgement')).rejects.toThrow('--language');
    await expect(run('pack', caseId)).rejects.toThrow('The language of the requester is not known.');
    await run('letter', caseId, 'acknowledgement', '--language', 'de', '--format', 'txt');
    expect((await run('show', caseId)).out).toMatch(/language +German/);
    expect((await run('pack', caseId)).exitCode ?? 0).toBe(0);
  });

  it('prints suggested texts, creates the letter from a file, and refuses a text with blanks', async () => {
    const run = await createInstallation();
    const { caseId } = JSON.parse((await run(...opening, '--json')).out) as { caseId: string };
    const folder = await temporaryFolder();
    const [draft, text, out] = ['draft.txt', 'text.txt', 'letter.txt'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const proposals = (await run('letter', caseId, 'clarification', '--language', 'de', '--proposals')).out;
    expect(proposals).toMatch(/\[.+\]/);
    await writeFile(draft, proposals);
    await expect(run('letter', caseId, 'clarification', '--text', draft)).rejects.toThrow('Fill in the blanks');
    await writeFile(text, 'Welches Konto meinen Sie?\n');
    const flags = ['--language', 'de', '--text', text, '--format', 'txt', '--out', out, '--json'];
    const made = JSON.parse((await run('letter', caseId, 'clarification', ...flags)).out) as Record<string, unknown>;
    expect(made).toMatchObject({ letter: { language: 'de' }, parameters: { text: 'Welches Konto meinen Sie?' }, out });
    expect(await readFile(out, 'utf8')).toContain('Welches Konto meinen Sie?');
    await expect(run('letter', caseId, 'nothing')).rejects.toThrow('Allowed choices are acknowledgement');
  });

  it('records the move of the letter with it, and can be reproduced with the date it gives', async () => {
    const run = await createInstallation();
    const { caseId } = JSON.parse(
      (await run(...opening.with(2, new Date(Date.now() - 86_400_000).toISOString()), '--json')).out,
    ) as { caseId: string };
    const text = join(await temporaryFolder(), 'text.txt');
    await writeFile(text, 'Sehr viele Anfragen.');
    const command = ['letter', caseId, 'extension', '--language', 'de', '--text', text, '--format', 'txt'];
    await expect(run(...command, 'until=2099-01-01')).rejects.toThrow('go with --record');
    await expect(run(...command, '--record', 'e-mail')).rejects.toThrow('No mail server');
    await expect(run(...command, '--record', 'letter', 'untill=2099-01-01')).rejects.toThrow('untill');
    const until = new Date(Date.now() + 60 * 86_400_000).toISOString().slice(0, 10);
    const made = JSON.parse((await run(...command, '--record', 'letter', `until=${until}`, '--json')).out) as {
      asOf: number;
      sha256: string;
    };
    expect(made).toMatchObject({ parameters: { until } });
    const shown = (await run('show', caseId, '--json')).out;
    expect(JSON.parse(shown)).toMatchObject({ version: 1 });
    expect(shown).toContain(made.sha256);
    const again = JSON.parse((await run(...command, '--as-of', String(made.asOf), '--json')).out) as typeof made;
    expect(again.sha256).toBe(made.sha256);
    await expect(run(...command, '--record', 'letter')).rejects.toThrow('already been extended');
  });
});
