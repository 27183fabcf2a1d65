import { createHmac } from 'node:crypto';
import { exchange } from '../service/outgoing-http.ts';
import { SendError } from './send-error.ts';

const SEND_MS = 20_000;
const ANSWER_BYTES = 64 * 1024;

async function post(url: string, body: string, headers: Readonly<Record<string, string>>, signal?: AbortSignal) {
  const { host } = new URL(url);
  let status: number;
  try {
    ({ status } = await exchange({
      url,
      // From the operator’s settings.
      destinations: 'anywhere',
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'consent-ledger',
        'accept-encoding': 'identity',
        ...headers,
      },
      body,
      timeoutMs: SEND_MS,
      maxBytes: ANSWER_BYTES,
      signal,
    }));
  } catch (cause) {
    signal?.throwIfAborted();
    const { code, name } = cause as NodeJS.ErrnoException;
    throw new SendError(`${host} does not answer (${code ?? name})`, false, { cause });
  }
  if (status < 200 || status >= 300) throw new SendError(`${host} answered HTTP ${status}`, status === 410);
}

/**
 * The headers of a signed webhook (Standard Webhooks, standardwebhooks.com, symmetric signatures): `webhook-id`,
 * `webhook-timestamp` (seconds) and `webhook-signature`, an HMAC-SHA256 over `id.timestamp.body`. `secret`: `whsec_`
 * and base64.
 */
export function signedHeaders(secret: string, id: string, at: Date, body: string): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** Sends a signed webhook. `id` is the same for each attempt. Rejects with {@link SendError}. */
export async function sendWebhook(
  { url, secret }: { readonly url: string; readonly secret: string },
  { id, at, body }: { readonly id: string; readonly at: Date; readonly body: string },
  signal?: AbortSignal,
): Promise<void> {
  await post(url, body, signedHeaders(secret, id, at, body), signal);
}

/** Hosts of Microsoft Teams workflows, which accept only cards. */
const TAKES_CARDS = /\.(?:logic\.azure|powerplatform|powerautomate|webhook\.office)\.com$/;

/**
 * Posts a text to a chat: `{"text": …}` as accepted by Slack, Mattermost and others, or an Adaptive Card if the address
 * belongs to Microsoft Teams.
 */
export async function postToChat(url: string, text: string, signal?: AbortSignal): Promise<void> {
  await post(url, chatBody(new URL(url).hostname, text), {}, signal);
}

/** The body of {@link postToChat}. */
export function chatBody(host: string, text: string): string {
  if (!TAKES_CARDS.test(host)) return JSON.stringify({ text });
  // A card shows an address as a link only if it is written as one.
  const linked = text.replaceAll(/https?:\/\/\S+/g, (address) => `[${address}](${address})`);
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [{ type: 'TextBlock', text: linked.replaceAll('\n', '\n\n'), wrap: true }],
  };
  return JSON.stringify({
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }],
  });
}
