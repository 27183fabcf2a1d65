import { expect, test } from 'vitest';
import { type LedgerEvent, syslogLine } from '../../src/ledger/events.ts';
import { runCli } from '../cli/command-line.ts';
import { createOfficeWorld, signedIn } from '../http/office-world.ts';
import { seedRequests } from '../http/pages/seed.ts';
import { temporaryFolder } from '../temporary.ts';

async function createEvents() {
  const home = await temporaryFolder();
  const world = await createOfficeWorld({ DATA_DIR: home }, { worker: false });
  const cli = (...args: string[]) => runCli(home, args, { DATA_DIR: home });
  const read = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli('ledger', 'events', ...args);
    expect(code, stderr).toBe(0);
    return { text: stdout, stderr, lines: stdout.split('\n').filter((line) => line !== '') };
  };
  return { home, world, cli, read };
}

test('`ledger events` writes every entry as a JSON line with ids and hashes, without naming anyone', async () => {
  const { world, cli, read } = await createEvents();
  const visitor = await signedIn(world);
  const { access } = await seedRequests(world);
  await visitor.get(`/cases/default-${access}`);
  expect((await cli('dsar', 'move', `default-${access}`, 'note', 'text=called Grace Hopper')).code).toBe(0);
  const odd = await world.event('secret.ada@example.org', { name: 'Ada Lovelace' });
  const erased = await world.event('consent.recorded', { banner_id: 'b', subject: 'to be erased', status: 'granted' });
  const words = ['--yes', '--reason', 'mistake', '--law', 'eu-gdpr', '--officer', 'Grace Hopper'];
  expect((await cli('ledger', 'erase', String(erased), ...words)).code).toBe(0);

  const { text, lines, stderr } = await read();
  const events = lines.map((line) => JSON.parse(line) as LedgerEvent);
  const rows = await world.context.store.read
    .selectFrom('entries')
    .select(['seq', 'leaf_hash'])
    .orderBy('seq')
    .execute();
  expect(events.map(({ seq, leafHash }) => ({ seq, leafHash }))).toEqual(
    rows.map(({ seq, leaf_hash }) => ({ seq, leafHash: leaf_hash.toString('hex') })),
  );
  expect(stderr).toContain(`continue with --after ${rows.length}`);
  const of = (seq: number) => events.find((event) => event.seq === seq);
  expect(of(access)).toMatchObject({
    source: 'default',
    kind: 'webhook',
    name: 'dsar.submitted',
    outcome: 'verified',
    erased: false,
  });
  expect(of(odd)?.name).toBe('other');
  expect(of(erased)).toMatchObject({ erased: true, bytes: null });
  const named = (name: string) => events.filter((event) => event.name === name);
  expect(named('session.opened').at(-1)?.kind).toBe('action');
  expect(named('case.moved')[0]).toMatchObject({ refs: { caseId: `default-${access}`, move: 'note' } });
  expect(events.filter(({ kind }) => kind === 'erasure')[0]).toMatchObject({
    outcome: 'mistake',
    refs: { entries: 1, law: 'eu-gdpr' },
  });
  expect(text).not.toMatch(/Ada|Lovelace|Grace|Hopper|Olga|@|visitor-7|granted|analytics|127\.0\.0\.1/);
});

test('`ledger events` names accounts by id, and programs by their role', async () => {
  const { world, read } = await createEvents();
  const { ledger } = world.context;
  const acted = async (actor: string) => {
    const meta = Buffer.from(JSON.stringify({ action: 'session.opened', actor }));
    const [appended] = await ledger.append([
      {
        source: 'default',
        kind: 'action',
        dedupeKey: ledger.keyOf(actor),
        receivedAt: new Date().toISOString(),
        meta,
        body: meta,
      },
    ]);
    const { lines } = await read('--after', String((appended?.seq ?? 0) - 1), '--limit', '1');
    return (JSON.parse(lines[0] ?? '') as LedgerEvent).actor;
  };
  expect(await acted('Olga Officer (p-0123abcd)')).toBe('p-0123abcd');
  expect(await acted('Olga Officer (p-0123abcd) by token t-77')).toBe('p-0123abcd/t-77');
  expect(await acted('operator (command line)')).toBe('command-line');
  expect(await acted('Olga (Officer)')).toBeNull();
  expect(await acted('Olga')).toBeNull();
});

test('`ledger events` continues after an entry, respects a limit and a source, and writes one document with --json', async () => {
  const { home, world, read, cli } = await createEvents();
  expect(
    (
      await runCli(home, ['source', 'add', 'shop', '--webhook-secret-env', 'GIVEN'], {
        DATA_DIR: home,
        GIVEN: 'a-signing-secret-of-shop',
      })
    ).code,
  ).toBe(0);
  for (let n = 0; n < 5; n += 1)
    await world.event('consent.recorded', { banner_id: 'b', subject: `s-${n}`, status: 'granted' });
  const all = (await read()).lines;
  const first = await read('--limit', '3');
  const after = /--after (\d+)/.exec(first.stderr)?.[1] ?? '';
  const rest = await read('--after', after);
  expect([...first.lines, ...rest.lines]).toEqual(all);
  expect(all.length).toBeGreaterThan(5);
  const end = await read('--after', String(all.length));
  expect([end.text, end.stderr]).toEqual(['', expect.stringContaining(`--after ${all.length}`)]);

  const { events, last } = JSON.parse((await read('--json', '--source', 'default')).text) as {
    events: LedgerEvent[];
    last: number;
  };
  expect(new Set(events.map(({ source }) => source))).toEqual(new Set(['default']));
  expect(last).toBe(events.at(-1)?.seq);
  expect(await cli('ledger', 'events', '--source', 'nowhere')).toMatchObject({ code: 2 });
  expect(await cli('ledger', 'events', '--format', 'cef')).toMatchObject({ code: 2 });
});

// RFC 5424, section 6: HEADER SP STRUCTURED-DATA SP MSG, with a MSGID of at most 32 and a HOSTNAME of at most 255 printable characters.
const rfc5424 =
  /^<(\d{1,3})>1 (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,6}Z) ([\x21-\x7e]{1,255}) ([\x21-\x7e]{1,48}) ([\x21-\x7e]{1,128}) ([\x21-\x7e]{1,32}) (-) ([\x20-\x7e]*)$/;

test('`ledger events` writes messages of RFC 5424 with the same events', async () => {
  const { world, read } = await createEvents();
  await world.event('consent.recorded', { banner_id: 'b', subject: 'h', status: 'granted' });
  const asJson = (await read()).lines.map((line) => JSON.parse(line) as unknown);
  const { lines } = await read('--format', 'syslog');
  const messages = lines.map((line) => rfc5424.exec(line));
  expect(messages.map((message) => JSON.parse(message?.[8] ?? 'null') as unknown)).toEqual(asJson);
  // Log audit, informational.
  expect(messages.at(-1)?.[1]).toBe('110');
});

/** Splits a stream into the messages of RFC 6587, section 3.4.1: MSG-LEN SP SYSLOG-MSG, without separators. */
function framesOf(stream: Buffer): string[] {
  const frames: string[] = [];
  for (let at = 0; at < stream.length; ) {
    const space = stream.indexOf(' ', at);
    const length = /^[1-9]\d*$/.exec(stream.toString('latin1', at, space))?.[0];
    if (length === undefined) throw new Error(`no length at byte ${at}`);
    frames.push(stream.toString('latin1', space + 1, space + 1 + Number(length)));
    at = space + 1 + Number(length);
  }
  return frames;
}

test('`ledger events` frames messages for TCP, and selects events by name and time without reading skipped ones again', async () => {
  const { world, read } = await createEvents();
  await world.event('consent.recorded', { banner_id: 'b', subject: 'caf\u00e9\n1 <110>', status: 'granted' });
  await world.event('policy.updated', { policy_id: 'p' });
  const lines = (await read('--format', 'syslog')).lines;
  expect(framesOf(Buffer.from((await read('--format', 'syslog-framed')).text))).toEqual(lines);

  const { stderr, lines: picked } = await read('--event', 'consent.recorded');
  expect(picked.map((line) => (JSON.parse(line) as LedgerEvent).name)).toEqual(['consent.recorded']);
  expect(stderr).toContain(`continue with --after ${lines.length}`);
  expect((await read('--since', '2999-01-01', '--json')).text).toBe(`{"events":[],"last":${lines.length}}\n`);
  expect((await read('--since', '2020-01-01')).lines).toHaveLength(lines.length);
});

test('a syslog message stays one line of ASCII whatever its content', () => {
  const event: LedgerEvent = {
    seq: 1,
    receivedAt: '2026-03-01T12:00:00.000Z',
    source: 'caf\u00e9\n<110>1',
    sourceSeq: 1,
    kind: 'erasure',
    name: 'session.refused',
    actor: null,
    outcome: null,
    refs: {},
    bytes: 0,
    erased: false,
    dedupeKey: '',
    commitment: '',
    leafHash: '',
  };
  const line = syslogLine(event, 'h\u00f6st name\n');
  expect(line).toMatch(rfc5424);
  expect(rfc5424.exec(line)?.[3]).toBe('hstname');
  expect(line.startsWith('<108>1 ')).toBe(true);
});
