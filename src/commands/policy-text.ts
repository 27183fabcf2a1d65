import type { CallFailure } from '../policies/call.ts';
import type { CallRow } from '../policies/rows.ts';
import type { UnsettledCall } from '../policies/twin.ts';
import { counted, printable } from './command-io.ts';

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

/** The same for a publish, which costs nothing and may be repeated. */
export function unknownPublishText(requestId: string, error: CallFailure): string {
  return [
    `Nobody knows whether the policy is public now. ${printable(error.message)}`,
    'Publish it again: that does no harm, since its address stays and only the webhooks are sent once more, and it settles this one when it succeeds.',
    '`consent-ledger policy list` tells as well, and settles it where the policy was not listed before; so does its webhook, or you:',
    `      consent-ledger policy settle ${requestId} --as published`,
    `    or consent-ledger policy settle ${requestId} --as not-published`,
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
  const { requestId, position, askedAt, dueAt } = call;
  const again = 'With --again it is sent a second time all the same; if both were made, both count against the quota.';
  const item = position === null ? '' : ` as item ${position + 1} of a batch`;
  if (call.state === 'sent')
    return [
      `Not sent: the same was sent at ${askedAt}${item}, and its answer is not there yet (${requestId}).`,
      `Either another process waits for it, or that process has ended; then it counts as unknown from ${dueAt} on.`,
      again,
    ].join('\n');
  const settle = `consent-ledger policy settle ${requestId}${position === null ? '' : ` --items ${position + 1}`}`;
  return [
    `Not sent: the same was asked for at ${askedAt}${item}, and nobody knows yet whether it was made. ${printable(call.error ?? '')}`.trim(),
    'Look it up in the service’s dashboard, then run',
    `    ${settle} --as created`,
    ` or ${settle} --as not-created`,
    again,
  ].join('\n');
}

/** When no slot of the rate limit is free, or the service asked the key to wait. */
export function noSlotText(ended: { readonly freeAt: Date; readonly limit: string }, waited: boolean): string {
  const why = `Not sent: nothing may be sent before ${ended.freeAt.toISOString()} (${printable(ended.limit)}).`;
  return waited
    ? `${why} That is longer than the 15 minutes that this command waits.`
    : `${why} Without --no-wait it waits up to 15 minutes.`;
}

/** How a call stands, in words. `unknownItems`: of how many of its items nobody knows what came of them. */
export function stateText(call: Pick<CallRow, 'state' | 'due_at'>, unknownItems = 0): string {
  switch (call.state) {
    case 'sent':
      return `sent, no answer yet; unknown from ${call.due_at.slice(0, 19)} on`;
    case 'done':
      return unknownItems === 0 ? 'done' : `done, but ${counted(unknownItems, 'item')} unknown`;
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
