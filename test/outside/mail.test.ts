import { createServer } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { checkMailServer, type MailSettings, sendMail } from '../../src/outside/mail.ts';
import { SendError } from '../../src/outside/send-error.ts';
import { chatBody, signedHeaders } from '../../src/outside/webhook.ts';
import { longest } from '../../src/service/outgoing-http.ts';
import { MAIL_PASSWORD, MAIL_USER, startMailServer } from './mail-server.ts';

const settings = (port: number, other: Partial<MailSettings> = {}): MailSettings => ({
  host: '127.0.0.1',
  port,
  implicitTls: false,
  login: { user: MAIL_USER, password: MAIL_PASSWORD },
  clearText: true,
  from: { name: 'Consent ledger', address: 'ledger@example.org' },
  ...other,
});

const mail = { to: ['dpo@example.org'], subject: 'Prüfung', text: 'Grüße\n', id: 'one' };

test('a mail reaches a server that asks for a login, with its attachments', async () => {
  const server = await startMailServer();
  await checkMailServer(settings(server.port));
  expect(server.mails).toEqual([]);
  const attachments = [{ filename: 'a.txt', content: '— x\n', contentType: 'text/plain; charset=utf-8' }];
  await sendMail(settings(server.port), { ...mail, attachments });
  expect(server.mails).toMatchObject([{ to: ['dpo@example.org'], text: 'Grüße\n', attachments: { 'a.txt': '— x\n' } }]);
  expect(server.mails[0]?.raw).toContain('Auto-Submitted: auto-generated');
  expect(server.mails[0]?.raw).toContain('Message-ID: <one@example.org>');
});

test('a name of the sender may hold anything', async () => {
  const server = await startMailServer();
  for (const name of ['Privacy: Acme', 'Acme; Ltd', 'Acme, Ltd <EU>', 'Acme [Group] (EU)', 'Büro "Daten"']) {
    await sendMail(settings(server.port, { from: { name, address: 'ledger@example.org' } }), mail);
    const { raw = '', from } = server.mails.at(-1) ?? {};
    const header = /^From: ((?:.|\r\n )*)\r$/m.exec(raw)?.[1] ?? '';
    expect([name, from, header.endsWith('<ledger@example.org>')]).toEqual([name, 'ledger@example.org', true]);
    expect(header.match(/@/g)).toHaveLength(1);
    if (!/[^ -~]/.test(name)) expect(header.replaceAll(/\\(.)/g, '$1')).toBe(`"${name}" <ledger@example.org>`);
    expect(raw).toContain('Message-ID: <one@example.org>');
  }
});

test('an address outside ASCII goes only to a server that offers SMTPUTF8', async () => {
  const international = ['jörg@example.de', 'νίκος@παράδειγμα.ευ'];
  const able = await startMailServer();
  await sendMail(settings(able.port), { ...mail, to: international });
  expect(able.mails.map(({ to }) => to)).toEqual([international]);

  for (const startTls of [true, false]) {
    const unable = await startMailServer({ smtpUtf8: false, startTls });
    let attempts = 0;
    const sending = async (more: Partial<MailSettings>, to: string[]) =>
      (await sendMail(settings(unable.port, more), { ...mail, to }, undefined, () => {
        attempts += 1;
        return Promise.resolve();
      }).catch((error: unknown) => error)) as SendError | undefined;
    for (const to of international) {
      const refused = await sending({}, ['dpo@example.org', to]);
      expect(refused).toMatchObject({ isFinal: true, isUnknown: false });
      expect(refused?.message).toMatch(
        /^the mail server 127\.0\.0\.1:\d+ cannot send .* \(it does not offer SMTPUTF8\)$/,
      );
    }
    const from = { name: null, address: 'büro@example.org' };
    expect((await sending({ from }, ['dpo@example.org']))?.message).toContain('does not offer SMTPUTF8');
    expect([unable.mails, attempts]).toEqual([[], 0]);
    // A domain outside ASCII is sent in punycode, which every server understands.
    expect(await sending({}, ['ada@münchen.de'])).toBeUndefined();
    expect([unable.mails.map(({ raw }) => /^To: (.*)\r$/m.exec(raw)?.[1]), attempts]).toEqual([
      ['ada@xn--mnchen-3ya.de'],
      1,
    ]);
  }
});

test('a mail can be answered to an office, if its address is exactly one', async () => {
  const server = await startMailServer();
  for (const replyTo of ['privacy@acme.example', 'privacy@acme.example, x@evil.example', 'write to us', null])
    await sendMail(settings(server.port), { ...mail, replyTo });
  expect(server.mails.map(({ raw }) => /^Reply-To: (.*)\r$/m.exec(raw)?.[1])).toEqual([
    'privacy@acme.example',
    undefined,
    undefined,
    undefined,
  ]);
});

test('a refused login is reported without the password, and may be retried', async () => {
  const server = await startMailServer();
  const wrong = settings(server.port, { login: { user: MAIL_USER, password: 'hush' } });
  const error = (await checkMailServer(wrong).catch((refused: unknown) => refused)) as SendError;
  expect(error).toBeInstanceOf(SendError);
  expect(error.message).toBe(
    `the mail server 127.0.0.1:${server.port} refused the user or password in SMTP_URL (535 EAUTH)`,
  );
  expect(error.isFinal).toBe(false);
});

test('a permanent refusal of a recipient is final, a temporary one is not', async () => {
  const server = await startMailServer();
  const refused = async () =>
    (await sendMail(settings(server.port), mail).catch((error: unknown) => error)) as SendError;
  server.refuse = { code: 550, at: 'recipient' };
  const { message, isFinal } = await refused();
  expect([message.replace(/:\d+/, ''), isFinal]).toEqual([
    'the mail server 127.0.0.1 refused the sender or a recipient (550 EENVELOPE)',
    true,
  ]);
  expect(message).not.toMatch(/someone|dpo@|not wanted/);
  server.refuse = { code: 450, at: 'recipient' };
  expect((await refused()).isFinal).toBe(false);
  server.refuse = { code: 554, at: 'message' };
  expect((await refused()).isFinal).toBe(true);
});

test('a mail that may have been accepted is handed over once, and reported as such', async () => {
  const server = await startMailServer();
  const sending = async (attempting?: () => Promise<void>) =>
    (await sendMail(settings(server.port), mail, undefined, attempting).catch((error: unknown) => error)) as SendError;
  server.refuse = { code: 550, at: 'recipient' };
  expect((await sending()).isUnknown).toBe(false);
  server.refuse = { code: 451, at: 'message' };
  expect(await sending()).toMatchObject({ isUnknown: false, isFinal: false });
  server.refuse = null;
  server.hangsUp = true;
  expect(await sending()).toMatchObject({ isUnknown: true, isFinal: false });
  expect(server.mails).toHaveLength(1);
  // If the attempt cannot be recorded, the server gets nothing.
  expect(await sending(() => Promise.reject(new Error('the disk is full')))).toMatchObject({
    message: 'the disk is full',
  });
  expect(server.mails).toHaveLength(1);
  await server.close();
  let attempts = 0;
  expect(await sending(async () => void (attempts += 1))).toMatchObject({ isUnknown: false });
  expect(attempts).toBe(0);
});

test('TLS that cannot be trusted, and a server elsewhere that offers none, get no mail', async () => {
  const secure = await startMailServer({ tls: true });
  await expect(sendMail(settings(secure.port, { implicitTls: true }), mail)).rejects.toThrow('the mail server');
  // An address that leads to this machine without looking like it.
  const elsewhere = { host: '0.0.0.0', clearText: false };
  const untrusted = await startMailServer();
  await expect(sendMail(settings(untrusted.port, elsewhere), mail)).rejects.toThrow('the mail server');
  const plain = await startMailServer({ startTls: false });
  await expect(sendMail(settings(plain.port, elsewhere), mail)).rejects.toThrow('offers no TLS that can be trusted');
  expect([...secure.mails, ...untrusted.mails, ...plain.mails]).toEqual([]);
  // Unless it is explicitly allowed.
  await sendMail(settings(plain.port, { ...elsewhere, clearText: true }), mail);
  expect(plain.mails).toHaveLength(1);
});

test('a silent server is abandoned after the time-out, or when a signal says so', async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const before = { ...longest };
  onTestFinished(() => void Object.assign(longest, before));
  const controller = new AbortController();
  const sending = sendMail(settings(port), mail, controller.signal);
  setTimeout(() => controller.abort(new Error('stopping')), 100);
  await expect(sending).rejects.toThrow('stopping');
  longest.exchangeMs = 200;
  await expect(sendMail(settings(port), mail)).rejects.toThrow('not finished after');
});

test('a webhook is signed as Standard Webhooks specifies', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  // The test vector of the specification's reference libraries.
  const [id, at, body] = ['msg_p5jXN8AQM9LWM0D4loKWxJek', new Date(1614265330_000), '{"test": 2432232314}'];
  expect(signedHeaders(secret, id, at, body)['webhook-signature']).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
  const now = new Date();
  expect(new Webhook(secret).verify(body, signedHeaders(secret, id, now, body))).toEqual({ test: 2432232314 });
});

test('a chat gets a text, and Microsoft Teams a card', () => {
  expect(JSON.parse(chatBody('hooks.slack.com', 'a\nb'))).toEqual({ text: 'a\nb' });
  for (const host of [
    'prod-1.westeurope.logic.azure.com',
    'default5c07.61.environment.api.powerplatform.com',
    'api.powerautomate.com',
  ])
    expect(JSON.parse(chatBody(host, 'a\nSee https://ledger.example.org/'))).toMatchObject({
      type: 'message',
      attachments: [
        {
          content: {
            type: 'AdaptiveCard',
            body: [{ type: 'TextBlock', text: 'a\n\nSee [https://ledger.example.org/](https://ledger.example.org/)' }],
          },
        },
      ],
    });
});
