import { expect, test } from 'vitest';
import { temporaryFolder } from '../temporary.ts';
import { runHere } from './command-line.ts';

test('lists of requests and documents can be filtered by time, text and number', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, TIME_ZONE: 'Europe/Berlin', WEBHOOK_SECRETS: 'a-secret-of-this-test' };
  const run = async (...args: string[]) => {
    const ran = await runHere(folder, args, env);
    return { ...ran, json: (ran.code === 0 ? JSON.parse(ran.stdout) : null) as Record<string, string>[] };
  };
  // The last minute of 30 June and the first of 1 July, in Berlin.
  for (const [received, name] of [
    ['2026-06-30T21:59:00Z', 'Ada Lovelace'],
    ['2026-06-30T22:00:00Z', 'Grace Hopper'],
  ] as const)
    await runHere(
      folder,
      [
        'dsar',
        'open',
        '--received',
        received,
        '--kind',
        'access',
        '--channel',
        'letter',
        '--jurisdiction',
        'DE',
        '--name',
        name,
      ],
      env,
    );
  const names = async (...args: string[]) =>
    (await run('dsar', 'list', '--json', ...args)).json.map(({ requesterName }) => requesterName).sort();
  expect(await names()).toEqual(['Ada Lovelace', 'Grace Hopper']);
  expect(await names('--since', '2026-07-01')).toEqual(['Grace Hopper']);
  expect(await names('--since', '2026-06-30T21:59:00Z')).toEqual(['Ada Lovelace', 'Grace Hopper']);
  expect(await names('--search', 'lovelace')).toEqual(['Ada Lovelace']);
  expect(await names('--search', 'lovelace', '--since', '2026-07-01')).toEqual([]);
  const wrong = await run('dsar', 'list', '--since', 'yesterday');
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Invalid time "yesterday" for --since')]);

  for (const format of ['csv', 'json'])
    await runHere(
      folder,
      [
        'report',
        'dsar-register',
        '--source',
        'default',
        '--from',
        '2026-01-01',
        '--to',
        '2026-12-31',
        '--format',
        format,
      ],
      env,
    );
  const formats = async (...args: string[]) =>
    (await run('document', 'list', '--json', ...args)).json.map(({ format }) => format);
  expect(await formats()).toEqual(['json', 'csv']);
  expect(await formats('--limit', '1')).toEqual(['json']);
  expect(await formats('--since', '2099-01-01')).toEqual([]);
  expect((await formats('--since', '2020-01-01')).length).toBe(2);
});
