import type { CallFailure } from '../policies/call.ts';
import type { CallRow } from '../policies/settle.ts';
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
