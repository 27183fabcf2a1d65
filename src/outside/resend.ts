import { z } from 'zod';
import { signBody } from '../../receivers/signature-node.ts';
import { OutsideError } from '../core/errors.ts';
import type { WebhookSecret } from '../core/source.ts';
import { signingKeyOf } from '../crypto/keys.ts';
import { exchange } from '../service/outgoing-http.ts';

/** The part of a delivery's meta that is sent again (ledger/append-delivery.ts). */
const metaSchema = z.object({
  contentType: z.string().nullable().catch(null),
  headers: z.record(z.string(), z.string()).catch({}),
  secretId: z.string().nullable().catch(null),
});

/** A stored delivery prepared for sending again. */
export interface Resend {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** The secret that signed it; null: sent without a signature. */
  readonly secretId: string | null;
}

/**
 * A stored delivery as a request: the exact bytes, the content type and the recorded headers. Signatures are not
 * stored, so it is signed again: with the secret that verified it, or else the first current one; not at all if
 * `secrets` is empty.
 */
export function resendOf(
  { meta, body }: { readonly meta: Buffer; readonly body: Buffer },
  secrets: readonly WebhookSecret[],
): Resend {
  const { contentType, headers, secretId } = metaSchema.parse(JSON.parse(meta.toString('utf8')));
  const secret = secrets.find(({ id }) => id === secretId) ?? secrets[0];
  const key = secret === undefined ? null : signingKeyOf(secret.value, secret.encoding);
  return {
    body,
    headers: {
      ...headers,
      ...(contentType === null ? {} : { 'content-type': contentType }),
      ...(key === null ? {} : signBody(body, key)),
    },
    secretId: key === null ? null : (secret?.id ?? null),
  };
}

/** A receiver's answer. */
export interface Resent {
  readonly status: number;
  readonly milliseconds: number;
  /** The beginning of the response. */
  readonly answer: string;
}

const ANSWER_BYTES = 64 * 1024;
const ANSWER_SHOWN = 2000;

/** Sends it once, without following redirects. Rejects with OutsideError if no response comes. */
export async function sendAgain({ body, headers }: Resend, url: string, timeoutMs: number): Promise<Resent> {
  const started = performance.now();
  try {
    const { status, bytes } = await exchange({
      // Given at a shell of the server.
      destinations: 'anywhere',
      url,
      method: 'POST',
      headers: { 'accept-encoding': 'identity', ...headers },
      body,
      timeoutMs,
      maxBytes: ANSWER_BYTES,
    });
    return {
      status,
      milliseconds: Math.round(performance.now() - started),
      answer: (bytes ?? Buffer.alloc(0)).toString('utf8').slice(0, ANSWER_SHOWN),
    };
  } catch (cause) {
    const { code, name } = cause as NodeJS.ErrnoException;
    throw new OutsideError(`${new URL(url).host} does not answer (${code ?? name})`, { cause });
  }
}
