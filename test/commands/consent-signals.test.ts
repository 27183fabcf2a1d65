import { expect, test } from 'vitest';
import { runCli } from '../cli/command-line.ts';
import { tcString } from '../receivers/signal-strings.ts';
import { deliver, serveHere } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

test('consent show prints what signals say, where they contradict the record, and why one could not be decoded', async () => {
  const folder = await temporaryFolder();
  const serving = await serveHere(folder);
  const data = {
    ...{
      consent_id: 'c-1',
      visitor_hash: 'v-1',
      recorded_at: '2026-02-01T10:00:00Z',
      purposes: { sale: true, ads: false },
    },
    ...{ tc_string: tcString({ consent: [1, 9] }), us_privacy: '1YYN', gpp_string: 'DBABLA' },
  };
  expect((await deliver(serving.url, JSON.stringify({ event: 'consent.recorded', data }))).status).toBe(200);
  await serving.stop();
  const { code, stdout } = await runCli(folder, ['consent', 'show', 'c-1']);
  expect(code).toBe(0);
  for (const line of [
    '  contradicts within one record: sale: the US Privacy string says that the visitor opted out of the sale of personal data\n',
    '  signal     TC string: TCF 2.3, policy version 5, created 2026-01-05T00:00:00.000Z, by ',
    '             consent: 1 Store and/or access information on a device; 9 Understand audiences through statistics or combinations of data from different sources\n',
    '             vendors: 0 with consent, 0 with legitimate interest, 3 disclosed\n',
    '  signal     GPP string: could not be decoded: its header names 1 section, but 0 follow\n',
    '  signal     US Privacy string: opted out of the sale of personal data\n',
  ])
    expect(stdout).toContain(line);
  const shown = JSON.parse((await runCli(folder, ['consent', 'show', 'c-1', '--json'])).stdout) as {
    decisions: readonly { signals: unknown; contradictions: readonly string[] }[];
  };
  expect(shown.decisions[0]?.signals).toMatchObject({
    decoded: { tcf: { created: '2026-01-05T00:00:00.000Z', purposes: { consent: [1, 9] } } },
    words: [{ signal: 'tcf' }, { signal: 'gpp', damaged: true }, { signal: 'us_privacy' }],
  });
  expect(shown.decisions[0]?.contradictions).toEqual([expect.stringContaining('the US Privacy string')]);
});
