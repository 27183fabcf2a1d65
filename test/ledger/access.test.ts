import { expect, test } from 'vitest';
import { addDocumentSchedule, removeDocumentSchedule } from '../../src/documents/schedules.ts';
import { revokeHandOver } from '../../src/hand-over/hand-over.ts';
import { createApiToken, revokeApiToken } from '../../src/people/api-tokens.ts';
import { changePerson, createPasswordLink, findPerson, setDisabled } from '../../src/people/people.ts';
import { createReadyCase, createSubject, handOver } from '../http/hand-over-world.ts';
import { signedInAs } from '../http/office-world.ts';
import { alter } from '../tampering.ts';

const OWNER = { officer: 'command line', personId: null, role: 'owner' } as const;

test('what gives access is what the entries recorded: accounts, tokens, links and schedules', async () => {
  const { world, caseId } = await createReadyCase();
  const { context } = world;
  await context.sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
  await signedInAs(world, 'owner');
  const officer = await signedInAs(world, 'officer');
  const auditor = await signedInAs(world, 'auditor', { sources: ['bolt'] });
  const personOf = async (personId: string) => {
    const person = await findPerson(context, personId);
    if (person === null) throw new Error(`no account ${personId}`);
    return person;
  };
  const makeToken = async (personId: string, source = 'bolt') => {
    const input = { label: 'export', scope: 'read' as const, sources: [source], days: 30 };
    const token = await createApiToken(context, await personOf(personId), input, OWNER);
    if (token.outcome !== 'made') throw new Error(JSON.stringify(token));
    return token.token.tokenId;
  };
  const schedule = async () => {
    const wanted = { name: 'dsar-register', source: 'default', format: 'pdf', covers: 'month', cron: '0 6 1 * *' };
    const added = await addDocumentSchedule(context, { ...wanted, recipients: [officer.personId], actor: 'Olga' });
    if (added.outcome !== 'added') throw new Error(JSON.stringify(added));
    return added.scheduleId;
  };
  const faults = async () => (await context.verify()).faults.map(({ fault, sentence }) => `${fault}: ${sentence}`);

  const [tokenId, scheduleId] = [await makeToken(officer.personId), await schedule()];
  const link = await handOver(world, caseId);
  const id = link.handOver.hand_over_id;
  const subject = createSubject(world, link.token);
  for (const code of ['00000000', '11111111']) await subject.enter(code === link.code ? '22222222' : code);
  // Changes made by the program are in the ledger.
  await changePerson(context, auditor.personId, { name: 'Ada', role: 'officer', sources: ['default'] }, OWNER);
  expect(await faults()).toEqual([]);
  await subject.enter(link.code);
  expect(await faults()).toEqual([]);

  /** What verify says while the database is altered. */
  const altered = async (change: string, back: string) => {
    await alter(world.folder, change);
    const found = await faults();
    await alter(world.folder, back);
    return found;
  };
  const of = (personId: string) => `where person_id = '${personId}'`;
  for (const [change, back, words] of [
    [
      `update people set role = 'owner' ${of(officer.personId)}`,
      `update people set role = 'officer' ${of(officer.personId)}`,
      'the role or the sources of the account',
    ],
    [
      `update people set sources = null ${of(auditor.personId)}`,
      `update people set sources = '["default"]' ${of(auditor.personId)}`,
      'the role or the sources of the account',
    ],
    [`update api_tokens set scope = 'work'`, `update api_tokens set scope = 'read'`, `the API token ${tokenId} `],
    [`update api_tokens set sources = null`, `update api_tokens set sources = '["bolt"]'`, `the API token ${tokenId} `],
    [
      `update api_tokens set person_id = '${auditor.personId}'`,
      `update api_tokens set person_id = '${officer.personId}'`,
      `the API token ${tokenId} `,
    ],
    [
      `update hand_overs set expires_at = '2999-01-01T00:00:00.000Z'`,
      `update hand_overs set expires_at = '${link.handOver.expires_at}'`,
      `the hand-over ${id} in the database`,
    ],
    [
      `update hand_overs set document_id = 'x'`,
      `update hand_overs set document_id = '${link.handOver.document_id}'`,
      `the hand-over ${id} in the database`,
    ],
    [
      `update hand_overs set failures = 1`,
      `update hand_overs set failures = 2`,
      `more wrong codes were entered for the hand-over ${id} `,
    ],
    [
      `update schedules set cron = '* * * * *' where name = '${scheduleId}'`,
      `update schedules set cron = '0 6 1 * *' where name = '${scheduleId}'`,
      `the scheduled report ${scheduleId} `,
    ],
    [
      `update schedules set payload = replace(payload, '${officer.personId}', 'p-x') where name = '${scheduleId}'`,
      `update schedules set payload = replace(payload, 'p-x', '${officer.personId}') where name = '${scheduleId}'`,
      `the scheduled report ${scheduleId} `,
    ],
  ] as const)
    expect([change, await altered(change, back)]).toEqual([
      change,
      [expect.stringContaining(`access-altered: ${words}`)],
    ]);
  expect(await faults()).toEqual([]);

  // What was ended stays ended.
  const row = await context.store.read.selectFrom('api_tokens').selectAll().executeTakeFirstOrThrow();
  const planned = await context.store.read
    .selectFrom('schedules')
    .selectAll()
    .where('name', '=', scheduleId)
    .executeTakeFirstOrThrow();
  expect(await revokeApiToken(context, await personOf(officer.personId), tokenId, OWNER)).toBe(true);
  expect(await removeDocumentSchedule(context, { scheduleId, source: 'default', actor: 'Olga' })).toBe(true);
  expect(await revokeHandOver(context, id, 'Olga')).toBe(true);
  const second = await makeToken(auditor.personId, 'default');
  const other = await context.store.read.selectFrom('api_tokens').selectAll().executeTakeFirstOrThrow();
  await setDisabled(context, auditor.personId, true, OWNER);
  const third = await makeToken(officer.personId, 'default');
  const last = await context.store.read.selectFrom('api_tokens').selectAll().executeTakeFirstOrThrow();
  await createPasswordLink(context, officer.personId, OWNER, { isKnown: true });
  expect(await faults()).toEqual([]);
  await context.store.transaction(async (tx) => {
    await tx.insertMany('api_tokens', [row, other, last]);
    await tx.insertMany('schedules', [planned]);
  });
  await alter(
    world.folder,
    `update hand_overs set revoked_at = null`,
    `update people set disabled_at = null ${of(auditor.personId)}`,
  );
  const found = (await faults()).join('\n');
  for (const words of [
    `(${auditor.personId}) was disabled according to the ledger, but not in the database`,
    `the API token ${tokenId} `,
    `the API token ${second} `,
    `the API token ${third} `,
    `the link of the hand-over ${id} was revoked according to the ledger`,
    `the scheduled report ${scheduleId} `,
  ])
    expect(found).toContain(words);
  expect(found.split('\n')).toHaveLength(6);
});

test('an account, token, link or schedule that no entry recorded is a fault', async () => {
  const { world } = await createReadyCase();
  const { context } = world;
  const at = '2026-01-01T00:00:00.000Z';
  await context.store.transaction(async (tx) => {
    const nobody = { name: 'Mallory', role: 'owner', sources: null, password: null, totp: null, totp_step: 0 } as const;
    await tx.insertMany('people', [
      { person_id: 'p-x', email: 'mallory@example.org', ...nobody, created_at: at, joined_at: at, disabled_at: null },
    ]);
    const token = { token_hash: Buffer.alloc(32), label: 'x', scope: 'read', sources: null } as const;
    await tx.insertMany('api_tokens', [
      { token_id: 't-x', person_id: 'p-x', ...token, created_at: at, expires_at: '2999-01-01', last_used_at: null },
    ]);
  });
  expect((await context.verify()).faults.map(({ fault, sentence }) => [fault, sentence.slice(0, 30)])).toEqual([
    ['access-altered', 'the role or the sources of the'],
    ['access-altered', 'the account of "Mallory" (p-x)'],
    ['access-altered', 'the API token t-x in the datab'],
  ]);
});
