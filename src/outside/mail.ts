import type { Readable } from 'node:stream';
import { isPrivateTransport } from '../core/address.ts';
import { comparableEmail, needsSmtpUtf8 } from '../core/email.ts';
import { withDeadline } from '../service/outgoing-http.ts';
import { SendError } from './send-error.ts';

/** The mail server and sender. */
export interface MailSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS. */
  readonly implicitTls: boolean;
  /** Null: the server requires none. */
  readonly login: { readonly user: string; readonly password: string } | null;
  /** The server is on this machine or explicitly allowed: mail is sent without TLS if it offers none. */
  readonly clearText: boolean;
  readonly from: { /** Null: none. */ readonly name: string | null; readonly address: string };
}

export interface Mail {
  readonly to: readonly string[];
  /** The office that reads replies; left out unless it is exactly one e-mail address. Null: they go to the sender. */
  readonly replyTo?: string | null;
  readonly subject: string;
  readonly text: string;
  /** The same for each attempt to send one mail, so that recipients can recognise a repeat. */
  readonly id: string;
  readonly attachments?: readonly {
    readonly filename: string;
    readonly content: string | Buffer;
    readonly contentType: string;
  }[];
}

/** Maximum time for one mail, whatever the server does. */
const SEND_MS = 60_000;
const CHECK_MS = 10_000;

/** Whether a text is exactly one e-mail address: no name, list or group, which could send mail to hidden recipients. */
export function isOneAddress(text: string): boolean {
  return text.length <= 254 && /^[^\s\p{Cc}<>()[\]",;:\\@]+@[^\s\p{Cc}<>()[\]",;:\\@]+$/u.test(text);
}

/**
 * Passes one mail to the server (RFC 5321). Rejects with {@link SendError}, or with the signal's reason if nothing was
 * handed over. `attempting` is awaited once the server has accepted the login, before it gets the mail.
 */
export async function sendMail(
  settings: MailSettings,
  mail: Mail,
  signal?: AbortSignal,
  attempting?: () => Promise<void>,
): Promise<void> {
  if (!mail.to.every(isOneAddress)) throw new SendError('a recipient is not a single valid e-mail address', true);
  const { replyTo = null } = mail;
  const { name, address } = settings.from;
  const isInternational = [address, ...mail.to].some(needsSmtpUtf8);
  await withTransport(settings, SEND_MS, signal, async (transport, inTime, offers) => {
    if (attempting !== undefined || isInternational) await transport.verify();
    // nodemailer would send such addresses to any server, and many would deliver to another mailbox, or nowhere.
    if (isInternational && !offers.smtpUtf8)
      throw new SendError(
        `the mail server ${settings.host}:${settings.port} cannot send to or from addresses with letters outside ASCII before the @ (it does not offer SMTPUTF8)`,
        true,
      );
    if (attempting !== undefined) {
      await attempting().catch((cause: unknown) => Promise.reject(new NotAttempted('', { cause })));
      inTime.throwIfAborted();
    }
    return transport.sendMail({
      // As parts, because a name may hold anything: `Privacy: Acme, Ltd; <EU>`.
      from: name === null ? address : { name, address },
      to: [...mail.to],
      ...(isReplyable(replyTo, isInternational) ? { replyTo } : {}),
      subject: mail.subject,
      text: mail.text,
      messageId: `<${mail.id}@${domainOf(address)}>`,
      // Prevents out-of-office replies (RFC 3834).
      headers: { 'Auto-Submitted': 'auto-generated' },
      ...(mail.attachments === undefined ? {} : { attachments: mail.attachments.map((one) => ({ ...one })) }),
    });
  });
}

/** Connects and signs in without sending anything. Rejects with {@link SendError}. */
export async function checkMailServer(settings: MailSettings): Promise<void> {
  await withTransport(settings, CHECK_MS, undefined, (transport) => transport.verify());
}

/** What `attempting` rejected with, as its cause. */
class NotAttempted extends Error {}

type Transport = Awaited<ReturnType<typeof openTransport>>;

/** What the server offered in its last reply to EHLO, which after STARTTLS is another. */
interface Offers {
  smtpUtf8: boolean;
}

async function openTransport(settings: MailSettings, ms: number, offers: Offers) {
  // Imported here because most commands send no mail.
  const { createTransport } = await import('nodemailer');
  const { host, port, implicitTls, login, clearText } = settings;
  return createTransport({
    // A pool of one: closing it ends the current connection, which a transport without a pool leaves open.
    pool: true,
    maxConnections: 1,
    // Whether a mail is sent again is decided by its job, never by the pool.
    maxRequeues: 0,
    host,
    port,
    secure: implicitTls,
    requireTLS: !clearText,
    // On this machine nobody can listen in, and certificates for it are rarely valid.
    ignoreTLS: isPrivateTransport(`http://${host}`) && !implicitTls,
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
    connectionTimeout: Math.min(10_000, ms),
    greetingTimeout: Math.min(10_000, ms),
    socketTimeout: Math.min(20_000, ms),
    dnsTimeout: 5_000,
    disableFileAccess: true,
    disableUrlAccess: true,
    // The only way in which nodemailer tells the extensions of a server.
    transactionLog: true,
    logger: listenerFor(offers),
  });
}

function listenerFor(offers: Offers) {
  const ignore = () => undefined;
  const debug = (entry: { readonly tnx?: string }, text: string) => {
    // Only replies to EHLO have several lines with this code.
    if (entry.tnx === 'server' && /^250-/.test(text)) offers.smtpUtf8 = /^250[ -]SMTPUTF8\b/im.test(text);
  };
  return { level: ignore, trace: ignore, debug, info: ignore, warn: ignore, error: ignore, fatal: ignore };
}

async function withTransport(
  settings: MailSettings,
  ms: number,
  signal: AbortSignal | undefined,
  work: (transport: Transport, inTime: AbortSignal, offers: Offers) => Promise<unknown>,
): Promise<void> {
  let transport: Transport | null = null;
  let message: Readable | null = null;
  try {
    await withDeadline(ms, signal, async (inTime) => {
      const offers = { smtpUtf8: false };
      const opened = await openTransport(settings, ms, offers);
      transport = opened;
      opened.use('stream', (mail, done) => {
        mail.message.processFunc((input) => (message = input));
        done();
      });
      await work(opened, inTime, offers);
    });
  } catch (cause) {
    if (cause instanceof NotAttempted) throw cause.cause;
    if (cause instanceof SendError) throw cause;
    const { code, responseCode, name } = cause as { code?: string; responseCode?: number; name?: string };
    // EMESSAGE: the server has read the mail and does not accept it.
    const isUnknown = (message as Readable | null)?.readableDidRead === true && code !== 'EMESSAGE';
    if (!isUnknown) signal?.throwIfAborted();
    const where = `${settings.host}:${settings.port}`;
    const what =
      name === 'HttpTimeout' ? `not finished after ${ms / 1000} s` : [responseCode, code].filter(Boolean).join(' ');
    // The login can be corrected while the mail waits.
    const isFinal = responseCode !== undefined && responseCode >= 500 && code !== 'EAUTH';
    throw new SendError(`the mail server ${where} ${wordsOf(code)} (${what || 'no code'})`, isFinal, {
      cause,
      isUnknown,
    });
  } finally {
    (transport as Transport | null)?.close();
  }
}

function wordsOf(code: string | undefined): string {
  switch (code) {
    case 'EAUTH':
      return 'refused the user or password in SMTP_URL';
    case 'EENVELOPE':
      return 'refused the sender or a recipient';
    case 'EMESSAGE':
      return 'refused the message';
    case 'ETLS':
      return 'offers no TLS that can be trusted';
    default:
      return 'cannot be used';
  }
}

/** The domain of an address, for the id of a mail. */
function domainOf(address: string): string {
  return /@([a-z0-9.-]+)$/.exec(comparableEmail(address))?.[1] ?? 'localhost';
}

/** Whether replies can be sent there: it is one address, and its header is in ASCII unless the whole mail need not be. */
function isReplyable(replyTo: string | null, isInternational: boolean): replyTo is string {
  return replyTo !== null && isOneAddress(replyTo) && (isInternational || !needsSmtpUtf8(replyTo));
}
