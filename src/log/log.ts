import pino, { type Logger } from 'pino';

export type Log = Logger;

/** Names whose values are never logged, up to three levels deep. */
const secretNames = [
  'authorization',
  'cookie',
  'apiKey',
  'siteKey',
  'secret',
  'secrets',
  'webhookSecrets',
  'value',
  'token',
  'password',
  'instanceKey',
  'email',
  'requesterEmail',
  'requesterAddress',
  'requesterName',
  'rawBody',
  'body',
];
const paths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** The program's log: JSON lines on standard error, without secrets and personal data. */
export function createLog(
  level: string,
  destination: pino.DestinationStream = pino.destination({ dest: 2, sync: true }),
): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths, censor: '[redacted]' },
      serializers: {
        // A request's address and headers are personal data; method and path are enough.
        req: (request: { method?: string; url?: string; id?: string }) => ({
          id: request.id,
          method: request.method,
          path: request.url?.split('?')[0],
        }),
        res: (reply: { statusCode?: number }) => ({ status: reply.statusCode }),
        err: pino.stdSerializers.err,
      },
    },
    destination,
  );
}
