import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test, vi } from 'vitest';
import { countNotices, isFor, noticeKinds, sentenceOf } from '../../src/attention/find-notices.ts';
import { savePreferences } from '../../src/attention/preferences.ts';
import { mailCheckpoint } from '../../src/attention/send-notices.ts';
import { setAside } from '../../src/attention/unread.ts';
import { moveCase, openCase } from '../../src/cases/move-case.ts';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import { appendDelivery } from '../../src/ledger/append-delivery.ts';
import { createLog } from '../../src/log/log.ts';
import { invitePerson, listPeople } from '../../src/people/people.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { runCli } from '../cli/command-line.ts';
import { startMailServer } from '../outside/mail-server.ts';
import { environment } from '../serving.ts';
import { PATIENTLY, temporaryFolder } from '../temporary.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** Keeps the posted messages; responds with `status`. */
async function startReceiver() {
  const taken: { path: string; headers: Record<string, string>; body: string }[] = [];
  const receiver = { url: '', taken, status: 204 };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      if (receiver.status === 204)
        taken.push({ path: request.url ?? '', headers: request.headers as Record<string, string>, body });
      response.writeHead(receiver.status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
}

async function createWorld(more: Record<string, string> = {}) {
  const folder = await temporaryFolder();
  const mail = await startMailServer();
  const receiver = await startReceiver();
  const env = {
    LOG_LEVEL: 'fatal',
    SMTP_URL: mail.url,
    MAIL_FROM: 'Consent ledger <ledger@example.org>',
    CHECKPOINT_MAIL_TO: 'dpo@example.org, deputy@example.org',
    NOTIFY_CHAT_URL: `${receiver.url}/chat`,
    NOTIFY_WEBHOOK_URL: `${receiver.url}/hook`,
    NOTIFY_WEBHOOK_SECRET: SECRET,
    ADMIN_URL: 'https://ledger.example.org',
    SYNC_SCHEDULE: 'off',
    // Never during the test: it runs notify itself.
    NOTIFY_SCHEDULE: '0 0 1 1 *',
    DIGEST_SCHEDULE: '0 0 1 1 *',
    ...more,
  };
  let now = new Date();
  const context = await openContext(loadConfig(environment(folder, env), folder), createLog('fatal'), {
    clock: () => now,
  });
  onTestFinished(() => context.close());
  const worker = await startWorker(context, {
    kinds: ['notify', 'digest', 'notify-send', 'mail-checkpoint', 'checkpoint-mail'],
  });
  onTestFinished(() => worker.stop());
  const invite = async (
    name: string,
    role: 'admin' | 'officer' | 'auditor',
    sources: string[] | null,
    joined = true,
  ) => {
    const email = `${name}@example.org`;
    const by = { officer: 'test', personId: null, role: 'owner' } as const;
    const invited = await invitePerson(context, { name, email, role, sources }, by);
    expect(invited.outcome).toBe('done');
    if (joined)
      await context.store.transaction((tx) =>
        tx.query.updateTable('people').set({ joined_at: now.toISOString() }).where('email', '=', email).execute(),
      );
  };
  const requests = async (source: string, ...received: string[]) => {
    for (const [nth, at] of received.entries()) {
      const data = {
        request_id: `r-${nth}`,
        type: 'access',
        email: 'secret-person@example.com',
        name: 'Secret Person',
        jurisdiction: 'DE',
      };
      const delivery = {
        source,
        rawBody: Buffer.from(JSON.stringify({ event: 'dsar.submitted', data, at })),
        headers: {},
        secretId: 'aaaaaaaa',
        verdict: 'verified',
        contentType: null,
      } as const;
      await appendDelivery(context.ledger, delivery, at);
    }
    await context.projector.catchUp();
  };
  const run = async (kind: string) => {
    const { id } = await context.jobs.enqueue({ kind, key: kind });
    await vi.waitFor(async () => expect((await context.jobs.find(id))?.state).toMatch(/done|failed/), PATIENTLY);
    return (await context.jobs.find(id))?.result as { messages: number; new: number };
  };
  const sent = async () => {
    await vi.waitFor(async () => {
      const open = await context.jobs.list({ kind: 'notify-send', limit: 500 });
      expect(
        open.filter(
          ({ state }) => state === 'running' || (state === 'waiting' && Date.parse(open[0]?.runAt ?? '') < Date.now()),
        ),
      ).toEqual([]);
    }, PATIENTLY);
  };
  return {
    folder,
    env,
    context,
    mail,
    receiver,
    invite,
    requests,
    run,
    sent,
    setNow: (iso: string) => {
      now = new Date(iso);
    },
    later: (hours: number) => {
      now = new Date(now.getTime() + hours * 3_600_000);
    },
    ago: (days: number) => new Date(now.getTime() - days * 86_400_000).toISOString(),
  };
}

test('the notifier tells each account once what it may see, by mail, chat and signed webhook, and does not name anyone', async () => {
  const world = await createWorld();
  const { mail, receiver, run, sent } = world;
  await world.invite('admin', 'admin', null);
  await world.invite('acme-officer', 'officer', ['acme']);
  await world.invite('other-officer', 'officer', ['other']);
  await world.invite('acme-auditor', 'auditor', ['acme']);
  await world.invite('not-joined', 'admin', null, false);
  await world.requests('acme', world.ago(80), world.ago(81));
  await world.requests('other', world.ago(26));

  const first = await run('notify');
  expect(first.new).toBeGreaterThan(2);
  await sent();
  const byPerson = Object.fromEntries(mail.mails.map(({ to, text }) => [to[0], text]));
  expect(Object.keys(byPerson).sort()).toEqual([
    'acme-officer@example.org',
    'admin@example.org',
    'other-officer@example.org',
  ]);
  // The most urgent line comes first, with its due date.
  expect(byPerson['acme-officer@example.org']).toMatch(
    /^- acme: 2 requests are overdue, the first since \d{1,2} [A-Z][a-z]{2} \d{4}\.\n- acme: 2 new requests/,
  );
  const subjects = Object.fromEntries(mail.mails.map(({ to, subject }) => [to[0], subject]));
  expect(subjects['acme-officer@example.org']).toMatch(
    /^Consent ledger: acme: 2 requests are overdue, the first since [\w ]+ \(and 1 other notice\)$/,
  );
  expect(byPerson['acme-officer@example.org']).not.toContain('other');
  expect(byPerson['other-officer@example.org']).toMatch(/- other: 1 request is due on \d{1,2} [A-Z][a-z]{2} \d{4}\.\n/);
  expect(byPerson['other-officer@example.org']).not.toContain('acme');
  expect(byPerson['admin@example.org']).toContain('acme: 2 requests are overdue');
  expect(byPerson['admin@example.org']).toContain('other: Nothing has been delivered for longer than usual.');
  expect(byPerson['admin@example.org']).toContain('See https://ledger.example.org/');
  const chat = receiver.taken.filter(({ path }) => path === '/chat');
  expect(chat.map(({ body }) => (JSON.parse(body) as { text: string }).text)).toEqual([
    expect.stringContaining('acme: 2 requests are overdue, the first since '),
  ]);
  const hooks = receiver.taken.filter(({ path }) => path === '/hook');
  expect(hooks.length).toBeGreaterThan(2);
  const events = hooks.map(
    ({ body, headers }) => new Webhook(SECRET).verify(body, headers) as { type: string; data: object },
  );
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'notice.request-overdue',
      data: expect.objectContaining({ source: 'acme', count: 2 }) as object,
    }),
  );
  const everything = JSON.stringify([mail.mails, receiver.taken]);
  expect(everything).not.toMatch(/secret-person|Secret Person|r-\d/);

  // Sent already.
  expect(await run('notify')).toMatchObject({ new: 0, messages: 0 });
  // The same again within a day is not news; something new is, here a third request, which is overdue as well.
  await world.requests('acme', world.ago(90), world.ago(91), world.ago(92));
  expect(await run('notify')).toMatchObject({ new: 2 });
  await sent();
  expect(mail.mails.filter(({ to }) => to[0] === 'acme-officer@example.org').at(-1)?.text).toContain(
    'acme: 1 request has been overdue since ',
  );

  // The digest has everything that is currently true.
  mail.mails.length = 0;
  await run('digest');
  await sent();
  expect(mail.mails.find(({ to }) => to[0] === 'acme-officer@example.org')?.text).toContain(
    'acme: 3 requests are overdue, the first since ',
  );
  expect(mail.mails.map(({ to }) => to[0]).sort()).toEqual([
    'acme-officer@example.org',
    'admin@example.org',
    'other-officer@example.org',
  ]);
  const listed = await runCli(world.folder, ['notify', 'list'], world.env);
  expect(listed.stdout).toMatch(/request-overdue +│? *acme/);
});

test('the notifier announces once each request that arrived without an officer, until someone takes it up, and names its source', async () => {
  const world = await createWorld();
  const { context, mail, receiver, run, sent } = world;
  const acme = { slug: 'acme', name: 'Acme Gärten', baseUrl: null, siteUrl: null, apiKey: null, siteKey: null };
  const added = await context.sources.add({ ...acme, webhookSecrets: ['a-secret-of-the-source'], options: {} }, 'test');
  expect(added.outcome).toBe('done');
  await world.invite('acme-officer', 'officer', ['acme']);
  await world.requests('acme', world.ago(1));
  const opened = await openCase(context.cases, {
    ...{
      source: 'acme',
      kind: 'access',
      channel: 'letter',
      receivedAt: world.ago(0),
      reference: 'letter',
      actor: 'test',
    },
  });
  expect(opened.outcome).toBe('opened');
  const told = async () => {
    await context.projector.catchUp();
    await run('notify');
    await sent();
    const texts = mail.mails.filter(({ to }) => to[0] === 'acme-officer@example.org').map(({ text }) => text);
    mail.mails.length = 0;
    return texts.flatMap((text) => text.split('\n').filter((line) => line.includes('new request')));
  };
  expect(await told()).toEqual(['- Acme Gärten: 1 new request is waiting to be taken up.']);
  expect(await told()).toEqual([]);
  const hook = receiver.taken.map(({ body }) => body).find((body) => body.includes('request-new'));
  expect(JSON.parse(hook ?? '')).toMatchObject({
    data: { source: 'acme', text: 'Acme Gärten: 1 new request is waiting to be taken up.' },
  });
  await world.requests('acme', world.ago(0), world.ago(0), world.ago(0));
  expect(await told()).toEqual(['- Acme Gärten: 2 new requests are waiting to be taken up.']);

  // A delivered request merged into the letter keeps the letter an officer's, though its receipt now governs.
  const letter = opened.outcome === 'opened' ? opened.caseId : '';
  const earlier = await context.store.read
    .selectFrom('cases')
    .select(['case_id', 'version'])
    .where('receipt_basis', '<>', 'officer')
    .orderBy('receipt_at')
    .executeTakeFirstOrThrow();
  const merge = { move: 'close-duplicate', details: { duplicateOf: letter }, actor: 'test' } as const;
  const merged = await moveCase(context.cases, { caseId: earlier.case_id, basedOn: earlier.version, ...merge });
  expect(merged.outcome).toBe('moved');
  expect(await told()).toEqual([]);

  const rows = await context.store.read.selectFrom('cases').select(['case_id', 'version']).execute();
  for (const { case_id: caseId, version: basedOn } of rows)
    await moveCase(context.cases, { caseId, basedOn, move: 'start', details: {}, actor: 'test' });
  await context.projector.catchUp();
  expect((await context.notifying.find()).filter(({ kind }) => kind === 'request-new')).toEqual([]);
});

test('the notifier retries what could not be sent, and sends nothing to a person who has left', async () => {
  const world = await createWorld();
  const { mail, receiver, run, context } = world;
  await world.invite('admin', 'admin', null);
  await world.invite('leaver', 'admin', null);
  await world.requests('acme', world.ago(80));
  await mail.close();
  receiver.status = 503;
  await run('notify');
  const open = async () =>
    (await context.jobs.list({ kind: 'notify-send', limit: 500 })).filter(({ attempts }) => attempts > 0);
  await vi.waitFor(async () => {
    const errors = (await open()).map(({ error }) => error);
    expect(errors).toContainEqual(expect.stringContaining('the mail server 127.0.0.1'));
    expect(errors).toContainEqual(expect.stringContaining('answered HTTP 503'));
  }, PATIENTLY);
  const doctor = JSON.parse((await runCli(world.folder, ['doctor', '--json'], world.env)).stdout) as {
    lines: { about: string; level: string; sentence: string }[];
  };
  expect(doctor.lines.filter(({ about }) => about === 'notifications')).toEqual([
    expect.objectContaining({ level: 'fault', sentence: expect.stringContaining('cannot be used') as string }),
    expect.objectContaining({ level: 'note', sentence: 'No checkpoint has been mailed yet.' }),
    expect.objectContaining({
      level: 'fault',
      sentence: expect.stringMatching(/^\d+ notifications could not be sent yet: /) as string,
    }),
  ]);
  await context.store.transaction((tx) =>
    tx.query
      .updateTable('people')
      .set({ disabled_at: new Date().toISOString() })
      .where('email', '=', 'leaver@example.org')
      .execute(),
  );
  const again = await startMailServer({ port: mail.port });
  receiver.status = 204;
  world.later(1);
  await vi.waitFor(async () => {
    const jobs = await context.jobs.list({ kind: 'notify-send', limit: 500 });
    expect(jobs.map(({ state }) => state)).toEqual(jobs.map(() => 'done'));
  }, PATIENTLY);
  expect(again.mails.map(({ to }) => to[0])).toEqual(['admin@example.org']);
  expect(receiver.taken.length).toBeGreaterThan(1);
});

test('the notifier mails the checkpoint to the data protection officer, and it matches only the history from which it was made', async () => {
  const world = await createWorld();
  const { mail, context, folder, env } = world;
  await world.requests('acme', world.ago(1));
  const mailed = await runCli(folder, ['notify', 'checkpoint', '--json'], env);
  expect(mailed.code).toBe(0);
  const { size, recipients } = JSON.parse(mailed.stdout) as { size: number; recipients: number };
  expect(recipients).toBe(2);
  const [one] = mail.mails;
  expect(one?.to).toEqual(['dpo@example.org', 'deputy@example.org']);
  const [note = '', key = ''] = Object.values(one?.attachments ?? {});
  expect(Object.keys(one?.attachments ?? {})[0]).toBe(
    `consent-ledger-${context.instance}-1-${String(size).padStart(16, '0')}.txt`,
  );
  expect(note).toBe((await context.journal.newest(1)) ?? '');
  expect(key.trim()).toBe(context.verifierKey);
  expect(one?.text).toContain(context.verifierKey);
  expect(one?.subject).toMatch(size === 1 ? / over 1 entry$/ : / over \d+ entries$/);
  const said = async () => {
    const { lines } = JSON.parse((await runCli(folder, ['doctor', '--json'], env)).stdout) as {
      lines: { sentence: string }[];
    };
    return lines.map(({ sentence }) => sentence).filter((sentence) => sentence.includes('mailed'));
  };
  expect(await said()).toEqual([
    expect.stringMatching(new RegExp(`^The checkpoint over ${size} entr.* was mailed on 20`)),
  ]);
  // While the mail server is down, the mail waits instead of being marked as sent.
  await mail.close();
  expect((await world.run('mail-checkpoint')) as unknown).toEqual({ outcome: 'enqueued' });
  const waiting = async () => (await context.jobs.list({ kind: 'checkpoint-mail' }))[0];
  await vi.waitFor(async () => expect((await waiting())?.error).toContain('the mail server'), PATIENTLY);
  expect((await waiting())?.maxAttempts).toBeGreaterThan(50);
  const again = await startMailServer({ port: mail.port });
  world.later(1);
  await vi.waitFor(() => expect(again.mails).toHaveLength(1), PATIENTLY);
  await vi.waitFor(
    async () => expect((await waiting())?.result).toMatchObject({ outcome: 'mailed', recipients: 2 }),
    PATIENTLY,
  );
  const schedules = await context.store.read.selectFrom('schedules').select(['name', 'cron']).execute();
  expect(schedules).toEqual(expect.arrayContaining([{ name: 'checkpoint-mail', cron: '30 8 1 * *' }]));

  const tested = await runCli(folder, ['notify', 'test', '--to', 'me@example.org', '--json'], env);
  expect([tested.code, JSON.parse(tested.stdout)]).toEqual([
    0,
    { tried: ['mail', 'chat', 'webhook'].map((channel) => ({ channel, problem: null })) },
  ]);
  expect(again.mails.at(-1)?.to).toEqual(['me@example.org']);
  world.receiver.status = 404;
  const failed = await runCli(folder, ['notify', 'test'], env);
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining('answered HTTP 404')]);
  const none = await runCli(folder, ['notify', 'test']);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('No channel is configured')]);
});

test('the notifier dates the mailed checkpoint by the day in the controller’s time zone', async () => {
  const world = await createWorld({ TIME_ZONE: 'Pacific/Kiritimati' });
  await world.requests('acme', world.ago(1));
  // Noon UTC, which is 02:00 of the next day there.
  world.setNow('2026-03-31T12:00:00.000Z');
  expect(await mailCheckpoint(world.context.notifying, { id: 'test' })).toMatchObject({ outcome: 'mailed' });
  expect(world.mail.mails[0]?.text).toContain('made on 2026-04-01 (Pacific/Kiritimati)');
});

test('the notifier states when something is due, and nothing if there is no due day', () => {
  const said = (kind: 'request-overdue' | 'request-due', count: number, due: string | null) =>
    sentenceOf({ kind, source: 'acme', count, due }, () => 'Acme GmbH');
  expect(said('request-due', 1, '2026-11-27')).toBe('Acme GmbH: 1 request is due on 27 Nov 2026.');
  expect(said('request-due', 3, '2026-11-27')).toBe(
    'Acme GmbH: 3 requests are due within 7 days, the first on 27 Nov 2026.',
  );
  expect(said('request-due', 3, null)).toBe('Acme GmbH: 3 requests are due within 7 days.');
  // The limit itself is the last day that is still on time.
  expect(said('request-overdue', 1, '2026-11-30')).toBe('Acme GmbH: 1 request has been overdue since 1 Dec 2026.');
  expect(said('request-overdue', 2, '2026-11-30')).toBe(
    'Acme GmbH: 2 requests are overdue, the first since 1 Dec 2026.',
  );
});

test('the notifier sends no notices of any kind to auditors and people of other sources', () => {
  expect(noticeKinds.length).toBeGreaterThan(10);
  for (const kind of noticeKinds) {
    expect(isFor({ role: 'auditor', sources: null }, { kind, source: 'a' })).toBe(false);
    expect(isFor({ role: 'owner', sources: null }, { kind, source: 'a' })).toBe(true);
    expect(isFor({ role: 'officer', sources: ['b'] }, { kind, source: 'a' })).toBe(false);
    expect(isFor({ role: 'officer', sources: ['b'] }, { kind, source: null })).toBe(false);
    expect(sentenceOf({ kind, source: 'a', count: 2, due: '2026-11-25' })).toMatch(/^a: [A-Z0-9].*\.$/);
  }
  expect(
    countNotices([
      { kind: 'request-due', source: 'b', due: '2026-11-27' },
      { kind: 'request-overdue', source: 'b', due: '2026-11-20' },
      { kind: 'request-due', source: 'b', due: '2026-11-25' },
    ]),
  ).toEqual([
    { kind: 'request-overdue', source: 'b', count: 1, due: '2026-11-20' },
    { kind: 'request-due', source: 'b', count: 2, due: '2026-11-25' },
  ]);
});

test('the notifier mails a person the chosen notices, at once and daily; chat and webhook get all of them', async () => {
  const world = await createWorld();
  const { mail, receiver, run, sent, context } = world;
  for (const name of ['all', 'daily', 'no-requests']) await world.invite(name, 'admin', null);
  const idOf = async (name: string) =>
    (await listPeople(context)).find((person) => person.name === name)?.personId ?? '';
  await savePreferences(context.store, await idOf('daily'), { atOnce: false, digest: true, off: [] });
  await savePreferences(context.store, await idOf('no-requests'), { atOnce: true, digest: false, off: ['requests'] });
  await world.requests('acme', world.ago(80));
  await run('notify');
  await sent();
  const byPerson = Object.fromEntries(mail.mails.map(({ to, text }) => [to[0], text]));
  expect(Object.keys(byPerson).sort()).toEqual(['all@example.org', 'no-requests@example.org']);
  expect(byPerson['all@example.org']).toContain('acme: 1 request has been overdue since ');
  expect(byPerson['no-requests@example.org']).toContain('acme: Nothing has been delivered for longer than usual.');
  expect(byPerson['no-requests@example.org']).not.toContain('overdue');
  expect(receiver.taken.find(({ path }) => path === '/chat')?.body).toContain('1 request has been overdue since ');
  mail.mails.length = 0;
  await run('digest');
  await sent();
  expect(mail.mails.map(({ to }) => to[0]).sort()).toEqual(['all@example.org', 'daily@example.org']);
});

test('the digest counts the documents that schedules made, not those that people requested; a schedule that fails is a notice', async () => {
  const world = await createWorld();
  const { mail, run, sent, context } = world;
  await world.invite('ada', 'admin', null);
  const report = (schedule: string | null, state: 'done' | 'failed') => {
    const payload = { type: 'report', name: 'delivery-log', ...(schedule === null ? {} : { schedule }) };
    const at = context.clock().toISOString();
    return {
      ...{
        id: randomUUID(),
        kind: 'document',
        job_key: schedule,
        payload: JSON.stringify(payload),
        priority: 1,
        state,
      },
      ...{
        attempts: 1,
        max_attempts: 3,
        lease_token: 1,
        cancel_requested: 0,
        run_at: at,
        created_at: at,
        updated_at: at,
        finished_at: at,
      },
    };
  };
  const rows = [
    report('document-1', 'done'),
    report('document-2', 'failed'),
    report(null, 'done'),
    report(null, 'failed'),
  ];
  for (const row of rows)
    await context.store.transaction((tx) =>
      tx.query
        .insertInto('jobs')
        .values(row as never)
        .execute(),
    );
  expect(await run('notify')).toMatchObject({ new: 1, messages: 3 });
  await sent();
  expect(mail.mails.map(({ text }) => text)).toEqual([expect.stringContaining('1 scheduled job failed') as string]);
  mail.mails.length = 0;
  await run('digest');
  await sent();
  expect(mail.mails.map(({ text }) => text)).toEqual([expect.stringContaining('- 1 document made\n') as string]);
});

test('what was not understood is announced to officers at the next check, with its number, and again once it was set aside', async () => {
  const world = await createWorld();
  const { context, mail, run, sent } = world;
  await world.invite('acme-officer', 'officer', ['acme']);
  const arrive = async (body: string) => {
    const delivery = {
      ...{ source: 'acme', rawBody: Buffer.from(body), headers: {}, secretId: 'aaaaaaaa', contentType: null },
      verdict: 'verified' as const,
    };
    const { seq } = await appendDelivery(context.ledger, delivery, new Date().toISOString());
    await context.projector.catchUp();
    return seq;
  };
  await arrive('{"event":"moon.risen","n":1}');
  await arrive('{"event":"policy.deleted"}');
  const last = await arrive('{"event":"moon.risen","n":2}');
  await run('notify');
  await sent();
  expect(mail.mails.map(({ text }) => text.split('\n')[0])).toEqual([
    '- acme: 3 entries could not be understood: look whether a request is among them.',
  ]);
  // Not again for the same event …
  await arrive('{"event":"moon.risen","n":3}');
  await run('notify');
  await sent();
  expect(mail.mails).toHaveLength(1);
  // … until somebody has looked.
  await setAside(context, { source: 'acme', event: 'moon.risen', upTo: last + 1, actor: 'ada' });
  await context.projector.catchUp();
  await run('notify');
  await sent();
  expect(mail.mails).toHaveLength(1);
  await arrive('{"event":"moon.risen","n":4}');
  await run('notify');
  await sent();
  expect(mail.mails[1]?.text).toContain('- acme: 1 entry could not be understood');
});
