import type { CallFailure } from '../policies/call.ts';
import type { CallRow, UnsettledCall } from '../policies/settle.ts';
import { printable } from './command-io.ts';

/** Plain words for a call of which nobody knows what came of it, with what to do about it. */
export function unknownText(requestId: string, error: CallFailure): string {
  return [
    `Nobody knows whether the service did it. ${printable(error.message)}`,
    ...(error.status === 500
      ? [
          'The service’s documentation allows to repeat a generation after an internal error; if it was made all the same, both count.',
        ]
      : []),
    'It is not sent again by itself, because it costs quota if it was done. What settles it:',
    '  - a webhook of the service about the same policy: looked for by every `consent-ledger policy` command and every few minutes by the server;',
    '  - you: look it up in the service’s dashboard (its list shows published policies only), then run',
    `      consent-ledger policy settle ${requestId} --as created`,
    `    or consent-ledger policy settle ${requestId} --as not-created`,
  ].join('\n');
}

/** A refusal with what to do, and how long the service asks to wait. */
export function refusedText(error: CallFailure): string {
  const wait =
    error.retryAfterMs === null ? '' : ` The service asks to wait ${Math.ceil(error.retryAfterMs / 1000)} s.`;
  return `${printable(error.message)}${wait}`;
}

/** The same was asked for before, and nobody knows what came of it. */
export function unsettledText(call: UnsettledCall): string {
  const again = 'With --again it is sent a second time all the same; if both were made, both count against the quota.';
  if (call.state === 'sent')
    return [
      `Not sent: the same was sent at ${call.askedAt}, and its answer is not there yet (${call.requestId}).`,
      `Either another process waits for it, or that process has ended; then it counts as unknown from ${call.dueAt} on.`,
      again,
    ].join('\n');
  return [
    `Not sent: the same was asked for at ${call.askedAt}, and nobody knows yet whether it was made. ${printable(call.error ?? '')}`.trim(),
    'Look it up in the service’s dashboard, then run',
    `    consent-ledger policy settle ${call.requestId} --as created`,
    ` or consent-ledger policy settle ${call.requestId} --as not-created`,
    again,
  ].join('\n');
}

/** When no slot of the rate limit is free. */
export function noSlotText(ended: { readonly freeAt: Date; readonly limit: string }): string {
  return `Not sent: ${ended.limit} is the limit, and it is used up until ${ended.freeAt.toISOString()}. Without --no-wait it waits up to 15 minutes.`;
}

/** How a call stands, in words. */
export function stateText(call: Pick<CallRow, 'state' | 'due_at'>): string {
  switch (call.state) {
    case 'sent':
      return 'sent, no answer yet';
    case 'done':
      return 'done';
    case 'refused':
      return 'refused, nothing was made';
    case 'unknown':
      return 'unknown';
    case 'happened':
      return 'done (settled later)';
    case 'not-happened':
      return 'not done (settled later)';
  }
}
