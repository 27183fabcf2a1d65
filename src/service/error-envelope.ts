import { z } from 'zod';

/** The service's error envelope: `{"error": {"code", "message"}}` (docs/service.md §7); a bare string is taken too. */
const envelopeSchema = z.object({
  error: z.union([
    z.string().transform((message) => ({ code: undefined, message })),
    z.object({
      code: z.union([z.string(), z.number()]).transform(String).optional().catch(undefined),
      message: z.string().optional().catch(undefined),
    }),
  ]),
});

const MAX_ENVELOPE = 1 << 20;

/** Code and message out of an error body; empty when it is not the service's envelope. */
export function readEnvelope(body: string, secret: string | null): { code?: string; detail?: string } {
  let json: unknown;
  try {
    // Codes and messages are short; what is longer explains nothing to anybody.
    if (body.length > MAX_ENVELOPE) return {};
    json = JSON.parse(body);
  } catch {
    return {};
  }
  const parsed = envelopeSchema.safeParse(json);
  if (!parsed.success) return {};
  const { code, message } = parsed.data.error;
  return {
    ...(code === undefined ? {} : { code: cleanText(code, secret, 60) }),
    ...(message === undefined ? {} : { detail: cleanText(message, secret, 300) }),
  };
}

/** Text of someone else, fit for a log line: one line, no control characters, no secret, bounded. */
export function cleanText(text: string, secret: string | null, maxLength: number): string {
  const hidden = secret === null || secret === '' ? text : text.replaceAll(secret, '[API key]');
  const oneLine = hidden.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return oneLine.length > maxLength ? `${oneLine.slice(0, maxLength - 1).trimEnd()}…` : oneLine;
}
