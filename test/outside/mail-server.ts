import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { onTestFinished } from 'vitest';

export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it was sent. */
  readonly raw: string;
  readonly subject: string;
  /** The text, decoded. */
  readonly text: string;
  /** Names and decoded contents. */
  readonly attachments: Readonly<Record<string, string>>;
}

export interface MailServer {
  readonly port: number;
  readonly url: string;
  readonly mails: TakenMail[];
  /** Its response to the next mails; null: it accepts them. */
  refuse: { readonly code: number; readonly at: 'recipient' | 'message' } | null;
  /** Takes the next mails and closes the connection without a response. */
  hangsUp: boolean;
  /** Decides about each mail that was received, in place of `refuse` and `hangsUp`; null: those decide. */
  treat: ((mail: TakenMail) => Promise<Treatment>) | null;
  close(): Promise<void>;
}

/** `hang up`: the mail is taken, but the sender is not told; `turn away`: not taken, the sender may try again. */
export type Treatment = 'take' | 'hang up' | 'turn away';

/** A connection of the server, which its types do not describe. */
interface Open {
  readonly session: { readonly id: string };
  readonly _socket: { destroy(): void };
}

export const MAIL_USER = 'ledger@example.org';
export const MAIL_PASSWORD = 'pass word:@/%';

/** A real SMTP server that accepts mail of one user, with an untrusted certificate. */
export async function startMailServer({
  tls = false,
  startTls = true,
  smtpUtf8 = true,
  port = 0,
} = {}): Promise<MailServer> {
  const mails: TakenMail[] = [];
  const refusal = (at: string) =>
    taken.refuse?.at === at
      ? Object.assign(new Error('<someone@example.org> is not wanted'), { responseCode: taken.refuse.code })
      : null;
  const server = new SMTPServer({
    secure: tls,
    hideSMTPUTF8: !smtpUtf8,
    disabledCommands: startTls ? [] : ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (auth, _session, done) =>
      auth.username === MAIL_USER && auth.password === MAIL_PASSWORD
        ? done(null, { user: MAIL_USER })
        : done(new Error('no such user or password')),
    onRcptTo: (_address, _session, done) => done(refusal('recipient')),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const mail = read(
          Buffer.concat(chunks).toString(),
          session.envelope.rcptTo.map(({ address }) => address),
          session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address,
        );
        const connections = server.connections as Set<Open>;
        if (taken.treat !== null)
          return void taken.treat(mail).then((treatment) => {
            if (treatment !== 'turn away') mails.push(mail);
            if (treatment === 'take') done(null);
            else if (treatment === 'turn away')
              done(Object.assign(new Error('come back later'), { responseCode: 451 }));
            else for (const open of connections) if (open.session.id === session.id) open._socket.destroy();
          });
        const refused = refusal('message');
        if (refused === null) mails.push(mail);
        if (taken.hangsUp) for (const { _socket: socket } of connections) socket.destroy();
        else done(refused);
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  const listening = (server.server.address() as AddressInfo).port;
  const login = `${encodeURIComponent(MAIL_USER)}:${encodeURIComponent(MAIL_PASSWORD)}`;
  let isClosed = false;
  const taken: MailServer = {
    port: listening,
    url: `smtp${tls ? 's' : ''}://${login}@127.0.0.1:${listening}`,
    mails,
    refuse: null,
    hangsUp: false,
    treat: null,
    async close() {
      if (isClosed) return;
      isClosed = true;
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  onTestFinished(() => taken.close());
  return taken;
}

function read(raw: string, to: readonly string[], from: string): TakenMail {
  const parts = raw.split(/^--[^\r\n]*\r?$/m).filter((part) => /content-type: /i.test(part));
  const bodies = parts.map((part) => {
    const [head = '', ...body] = part.split('\r\n\r\n');
    const [, name = ''] = /filename="?([^"\r\n]+)"?/.exec(head.replaceAll(/\r\n\s+/g, ' ')) ?? [];
    return {
      name,
      isText: /content-type: text\/plain/i.test(head),
      content: decode(head, body.join('\r\n\r\n').replace(/\r\n$/, '')),
    };
  });
  const text = bodies.filter(({ name, isText }) => name === '' && isText).at(-1);
  const subject = /^Subject: ((?:.|\r\n )*)\r$/m.exec(raw)?.[1] ?? '';
  return {
    from,
    to,
    raw,
    subject: subject.replaceAll('\r\n', ''),
    text: text?.content ?? '',
    attachments: Object.fromEntries(
      bodies.filter(({ name }) => name !== '').map(({ name, content }) => [name, content]),
    ),
  };
}

function decode(head: string, body: string): string {
  if (/transfer-encoding: base64/i.test(head)) return Buffer.from(body, 'base64').toString();
  if (!/transfer-encoding: quoted-printable/i.test(head)) return body.replaceAll('\r\n', '\n');
  const joined = body.replace(/=\r\n/g, '').replaceAll('\r\n', '\n');
  return Buffer.from(
    joined.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();
}
