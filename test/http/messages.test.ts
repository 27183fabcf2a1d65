import { appendFile } from 'node:fs/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { letterLanguages } from '../../reports/letters/languages.ts';
import { findNotices } from '../../src/attention/find-notices.ts';
import { REPLY_MAIL } from '../../src/cases/messages.ts';
import { revokeHandOver } from '../../src/hand-over/hand-over.ts';
import { createReplyMailJobs, replyReachOf } from '../../src/hand-over/mail-reply.ts';
import { runCli } from '../cli/command-line.ts';
import { startMailServer } from '../outside/mail-server.ts';
import { PATIENTLY } from '../temporary.ts';
import { tokenOf } from './api-caller.ts';
import { copyReadyCases, createReadyCase, createSubject, handOver, makeMoves, PUBLIC_URL } from './hand-over-world.ts';
import { type OfficeWorld, signedInAs } from './office-world.ts';

copyReadyCases();

type Made = Awaited<ReturnType<typeof createReadyCase>>;

/** A requester who has opened their link, and an officer. */
async function createDialogue(made: Made) {
  const { world, caseId } = made;
  const handed = await handOver(world, caseId);
  const ada = createSubject(world, handed.token);
  const address = `/h/${handed.token}`;
  await ada.enter(handed.code);
  await ada.get(address);
  const officer = await signedInAs(world, 'officer');
  return {
    ...made,
    ...handed,
    officer,
    page: async () => (await officer.get(`/cases/${caseId}`)).text,
    portal: async () => (await ada.get(address)).text,
    write: (text: string, about = 'question') => ada.post(address, { do: 'message', about, text }),
    answer: async (fields: Record<string, string>, basedOn?: number) => {
      const version = basedOn ?? (await versionOf(world, caseId));
      return officer.post(`/cases/${caseId}/moves`, { ...fields, basedOn: String(version) });
    },
  };
}

async function versionOf({ context }: OfficeWorld, caseId: string): Promise<number> {
  await context.projector.catchUp();
  const row = context.store.read.selectFrom('cases').select('version').where('case_id', '=', caseId);
  return (await row.executeTakeFirstOrThrow()).version;
}

async function withMail(worker: boolean) {
  const mail = await startMailServer();
  onTestFinished(() => mail.close());
  const made = await createReadyCase({ SMTP_URL: mail.url, MAIL_FROM: 'privacy@acme.example' }, { worker });
  return { mail, ...(await createDialogue(made)) };
}

/** The panel of a page with this id. */
const panel = (text: string, id: string) => new RegExp(`id="${id}">(.*?)</section>`, 's').exec(text)?.[1] ?? '';

it('a message is answered from the page, read on the page of the link, and answered there; a mail tells of the reply without its text', async () => {
  const talk = await withMail(true);
  const { world, caseId, mail } = talk;
  await appendFile(world.context.config.controllerFile ?? '', 'email: privacy@acme.example\n');
  expect(await talk.page()).not.toContain('id="messages"');
  await talk.write('Which <b>newsletter</b>?');
  const asked = await talk.page();
  expect(asked.includes('The requester wrote <time')).toBe(true);
  expect(panel(asked, 'messages')).toContain('Which &lt;b>newsletter&lt;/b>?');
  expect(panel(asked, 'messages')).toContain('They are told by e-mail (ada@example.org) that there is a reply');
  // Auditors only look.
  const auditor = panel((await (await signedInAs(world, 'auditor')).get(`/cases/${caseId}`)).text, 'messages');
  expect([auditor.includes('newsletter'), auditor.includes('<form')]).toEqual([true, false]);
  // It is correspondence: the request is as open as before.
  expect(panel(asked, 'messages')).toContain('A reply is correspondence.');
  const sent = await talk.answer({ move: 'reply', text: 'The monthly <i>one</i>.' });
  expect([sent.status, sent.headers.get('location')]).toEqual([303, `/cases/${caseId}?done=reply#messages`]);
  await vi.waitFor(() => expect(mail.mails).toHaveLength(1), PATIENTLY);
  const [{ to, subject, text, raw }] = mail.mails as [(typeof mail.mails)[number]];
  expect([to, subject]).toEqual([['ada@example.org'], `Antwort auf Ihre Nachricht (${caseId})`]);
  expect(text).toContain('Acme GmbH hat auf Ihre Nachricht zu Ihrer Anfrage geantwortet.');
  expect(text).toContain('öffnen Sie bitte den Link');
  expect(raw).toMatch(/^Reply-To: privacy@acme\.example\r$/m);
  expect(raw).not.toMatch(/newsletter|monthly|\/h\//);
  await vi.waitFor(async () => expect(await talk.page()).toContain('told by e-mail'), PATIENTLY);
  expect(await world.actions('mail.attempted')).toMatchObject([{ object: caseId }]);
  const read = await talk.portal();
  expect(read).toContain('Which &lt;b>newsletter&lt;/b>?');
  expect(read).toContain('Antwort von Acme GmbH am ');
  expect(read).toContain('The monthly &lt;i>one&lt;/i>.');
  expect(read).toMatch(/value="reply" checked/);
  // Whoever answered is not named to the requester.
  expect(read).not.toContain('(p-');
  expect((await talk.page()).includes('The requester wrote <time')).toBe(false);
  await talk.write('Thank you.', 'reply');
  const again = await talk.page();
  expect(again).toContain('Replies to what you wrote'.toLowerCase());
  const noted = await talk.answer({ move: 'no-reply', reason: 'Only a thank-you' });
  expect(noted.headers.get('location')).toBe(`/cases/${caseId}?done=no-reply#messages`);
  const closed = panel(await talk.page(), 'messages');
  expect(closed).toMatch(/Needs no reply<\/strong>, says <bdi>[^<]+\(p-[0-9a-f]{8}\)/);
  expect(closed).toContain('Only a thank-you');
  // The requester does not see why nobody answers.
  expect(await talk.portal()).not.toContain('Only a thank-you');
  expect(mail.mails).toHaveLength(1);
});

it('a message that came after the officer looked stays open: the reply is refused, kept in the form, and shown with it', async () => {
  const talk = await createDialogue(await createReadyCase());
  await talk.write('First');
  const seen = await versionOf(talk.world, talk.caseId);
  await talk.write('Second');
  const refused = await talk.answer({ move: 'reply', text: 'To the first only' }, seen);
  expect(refused.status).toBe(409);
  expect(panel(refused.text, 'messages')).toContain('Second');
  expect(panel(refused.text, 'messages')).toContain('>To the first only</textarea>');
  expect((await talk.page()).match(/>open</g)).toHaveLength(2);
  expect((await talk.answer({ move: 'reply', text: 'To both' })).status).toBe(303);
  expect(await talk.page()).not.toContain('>open<');
});

it('“Nothing more is due” is never said while a message is open, whatever was recorded since', async () => {
  const made = await createReadyCase();
  await makeMoves(made.world, made.caseId, [
    ['answer', { channel: 'portal', disclosure: 'full', documentSha256: made.pack.sha256 }],
  ]);
  const talk = await createDialogue(made);
  const { world, caseId, officer } = talk;
  expect(await talk.page()).toContain('Nothing more is due.');
  await talk.write('This is not all.', 'objection');
  await makeMoves(world, caseId, [['note', { text: 'Read it' }]]);
  for (const closes of [false, true]) {
    if (closes) await makeMoves(world, caseId, [['close', {}]]);
    const page = await talk.page();
    expect(page).toContain('A message of the requester is open: reply under Messages');
    expect(page).not.toContain('Nothing more is due');
    expect(page).not.toContain('The request is closed.<');
    const today = (await officer.get('/')).text;
    expect(today).toContain('1 request with an open message');
    expect(today).toMatch(/Answer the message of <bdi>Ada Lovelace<\/bdi>/);
    const told = await findNotices({ ...world.context, pulled: [], warnings: [] });
    expect(told.filter(({ kind }) => kind === 'requester-message')).toHaveLength(1);
    const listed = (await officer.get('/cases?messages=open')).text;
    expect(listed).toContain(`/cases/${caseId}`);
    expect(listed).toContain('message open');
  }
  expect((await talk.answer({ move: 'no-reply' })).status).toBe(303);
  expect(await talk.page()).toContain('The request is closed.');
  expect((await officer.get('/')).text).not.toContain('open message');
  expect((await officer.get('/cases?messages=open')).text).not.toContain(`/cases/${caseId}`);
});

it('who cannot be told is named before the reply, with what to do; the mail says so if the link cannot be opened', async () => {
  const talk = await withMail(true);
  const { world, caseId, mail } = talk;
  await talk.write('Hello?');
  await revokeHandOver(world.context, talk.handOver.hand_over_id, 'Olga');
  expect(panel(await talk.page(), 'messages')).toContain(
    'Their link cannot be opened any more, and the e-mail says so',
  );
  await talk.answer({ move: 'reply', text: 'Yes.' });
  await vi.waitFor(() => expect(mail.mails).toHaveLength(1), PATIENTLY);
  expect(mail.mails[0]?.text).toContain(letterLanguages['de']?.messages.mailNoLink);
  expect(mail.mails[0]?.text).not.toContain(letterLanguages['de']?.messages.mailLink.slice(0, 20));
  await makeMoves(world, caseId, [
    ['rework', { reason: 'They moved' }],
    ['amend', { requesterEmail: null, reason: 'No address any more' }],
  ]);
  expect(panel(await talk.page(), 'messages')).toContain(
    'They will not be told: the request has no e-mail address. Send a letter.',
  );
  await talk.answer({ move: 'reply', text: 'And more.' });
  await vi.waitFor(async () => {
    const [job] = await world.context.jobs.list({ kind: 'reply-mail' });
    expect(job).toMatchObject({ state: 'done', result: { sent: false } });
  }, PATIENTLY);
  expect(panel(await talk.page(), 'messages')).toContain('not told by e-mail');
  expect(mail.mails).toHaveLength(1);
});

it('the way of a reply is judged by link, address and mail server', () => {
  const link = (state: 'open' | 'expired' | 'withheld') =>
    ({ state, row: { expires_at: '2026-12-12T09:00:00.000Z' } }) as never;
  const input = { handOvers: [link('expired'), link('open')], email: 'ada@example.org', canMail: true } as const;
  const reach = (more: Partial<Parameters<typeof replyReachOf>[0]> = {}) =>
    replyReachOf({ ...input, timeZone: 'UTC', ...more });
  expect(reach()).toMatchObject({ readableUntil: '2026-12-12T09:00:00.000Z', mailTo: 'ada@example.org' });
  expect(reach({ handOvers: [link('expired')] })).toMatchObject({ readableUntil: null, mailTo: 'ada@example.org' });
  expect(reach({ handOvers: [link('withheld')] }).says).toContain(
    'cannot be opened while the request is worked on, and the e-mail says so',
  );
  for (const more of [{ email: null }, { email: 'a@b.example, c@d.example' }, { canMail: false }])
    expect(reach(more)).toMatchObject({ mailTo: null, says: expect.stringContaining('They will not be told: ') });
  expect(reach({ handOvers: [] })).toMatchObject({ mailTo: null, says: expect.stringContaining('they have no link') });
});

it('a second person’s rule is named where a reply could be taken for the answer', async () => {
  const made = await createReadyCase();
  await appendFile(made.world.context.config.controllerFile ?? '', 'secondPersonFor: [answer, refuse]\n');
  await makeMoves(made.world, made.caseId, [
    ['requester-message', { about: 'question', text: 'When?', channel: 'phone' }],
  ]);
  const officer = await signedInAs(made.world, 'officer');
  const messages = panel((await officer.get(`/cases/${made.caseId}`)).text, 'messages');
  expect(messages).toContain('It does not answer the request or stop its deadline, and nobody has to approve it');
  expect(messages).toContain('(phone, recorded by ');
  expect(messages).toContain('they have no link');
});

it('the API and the command line answer messages with the same moves, and list what is open', async () => {
  const talk = await createDialogue(await createReadyCase());
  const { world, caseId } = talk;
  const caller = await tokenOf(world, 'officer', { scope: 'work' });
  await talk.write('Which data?');
  const shown = await caller.get(`/api/v1/cases/${caseId}`);
  expect(shown.json).toMatchObject({
    openMessages: 1,
    thread: [{ from: 'requester', about: 'question', text: 'Which data?', open: true }],
    replyReach: { readableUntil: talk.handOver.expires_at, mailTo: null },
  });
  const { version } = shown.json as { version: number };
  const moved = await caller.post(`/api/v1/cases/${caseId}/moves`, {
    move: 'reply',
    basedOn: version,
    details: { text: 'All of it.' },
  });
  expect(moved.status).toBe(200);
  const listed = async (open: string) =>
    (await caller.get(`/api/v1/cases?openMessages=${open}`)).json.items?.map((one) => one['caseId']);
  expect(await listed('true')).toEqual([]);
  await talk.write('And the rest?');
  expect(await listed('true')).toEqual([caseId]);
  expect(await listed('false')).not.toContain(caseId);
  const run = (...args: string[]) => runCli(world.folder, args, { PUBLIC_URL });
  expect((await run('dsar', 'show', caseId)).stdout).toContain('message      open since ');
  expect((await run('dsar', 'list', '--open-messages')).stdout).toContain(`${caseId} `);
  const replied = await run('dsar', 'move', caseId, 'reply', 'text=That was all.');
  expect(replied.stdout).toContain('They will not be told: no mail server is set up here. Send a letter.');
  expect((await run('dsar', 'list', '--open-messages')).stdout).toContain('No requests.');
  expect(await talk.portal()).toContain('That was all.');
});

it('an erasure of the request waits for an open message, and takes what both sides wrote with it', async () => {
  const talk = await createDialogue(await createReadyCase());
  const { world, caseId } = talk;
  const { read } = world.context.store;
  const rowsWith = async (words: string) => {
    await world.context.projector.catchUp();
    const entries = await read.selectFrom('entries').select('body').execute();
    const texts = await Promise.all([
      read.selectFrom('case_history').select('details').execute(),
      read.selectFrom('action_history').select('details').execute(),
    ]);
    const jobs = await read.selectFrom('jobs').select('payload as details').execute();
    const all = [...texts.flat(), ...jobs].map(({ details }) => details);
    return [...all, ...entries.map(({ body }) => body?.toString('utf8') ?? '')].filter((text) => text.includes(words))
      .length;
  };
  const flags = ['--reason', 'request', '--law', 'eu-gdpr', '--officer', 'Olga', '--yes'];
  const erase = () => runCli(world.folder, ['ledger', 'erase', '--case', caseId, ...flags], { PUBLIC_URL });
  await talk.write('the asked words');
  await talk.answer({ move: 'reply', text: 'the replied words' });
  await makeMoves(world, caseId, [
    ['answer', { channel: 'portal', disclosure: 'full', documentSha256: talk.pack.sha256 }],
  ]);
  await talk.write('the asked words again');
  const held = await erase();
  expect(held.stderr).toContain(`needed for ${caseId}: a message of the requester is open`);
  await talk.answer({ move: 'no-reply', reason: 'the noted words' });
  for (const words of ['asked', 'replied', 'noted']) expect(await rowsWith(`the ${words} words`)).toBeGreaterThan(1);
  const done = await erase();
  expect(done.stderr).toBe('');
  for (const words of ['asked', 'replied', 'noted']) expect(await rowsWith(`the ${words} words`)).toBe(0);
  // The job that tells of the reply is gone; one that a worker already has finds nothing to tell.
  expect(await world.context.jobs.list({ kind: REPLY_MAIL })).toEqual([]);
  const late = createReplyMailJobs(world.context)[REPLY_MAIL]?.({ caseId, version: 7, actor: 'Olga' }, {
    job: { id: 'job-1' },
    signal: new AbortController().signal,
  } as never);
  expect(await late).toEqual({ sent: false });
});
