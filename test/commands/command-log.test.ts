import { expect, test } from 'vitest';
import { createCommandLog } from '../../src/commands/run-context.ts';

test('a command shows warnings as sentences and how far the read models are, and no other messages', () => {
  let shown = '';
  const log = createCommandLog((text) => void (shown += text));
  log.info({ folded: 4722, entries: 26_644 }, 'folding the read models');
  log.info({ jobId: 'a' }, 'job done');
  log.warn({ source: 'shop', err: new Error('It could not be reached.') }, 'retrying a request to the service');
  expect(shown).toBe(
    'folding the read models: 4722 of 26644 entries\nshop: retrying a request to the service: It could not be reached.\n',
  );
});
