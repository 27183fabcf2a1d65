import { InvalidArgumentError } from '@commander-js/extra-typings';
import { DEFAULT_SOURCE } from '../config/config.ts';
import type { Context } from '../context/context.ts';
import { policyIdSchema } from '../core/call.ts';
import { UsageError } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import type { CallFailure, NoSlotFacts } from '../policies/call-once.ts';
import { isCallable, whyNotCallable } from '../policies/callable-source.ts';
import type { CallRow } from '../policies/settle-calls.ts';
import { findOtherOwner } from '../policies/show.ts';
import type { UnsettledCall } from '../policies/unsettled-call.ts';
import {
  type CommandIo,
  counted,
  createStatusLine,
  minuteText,
  printable,
  type StatusLine,
  timeText,
} from './command-io.ts';
import { findSource } from './run-context.ts';

/**
 * The source that a policy command calls: the named one, the only one, or `default`. Throws UsageError if there is
 * none, if it has no address or key, or if several qualify.
 */
export function callableSource(context: Pick<Context, 'sources'>, slug: string | undefined): Source {
  const source = slug === undefined ? onlySource(context.sources.list()) : findSource(context, slug);
  const reason = whyNotCallable(source);
  if (reason !== null)
    throw new UsageError([
      `${reason} Set SERVICE_BASE_URL and SERVICE_API_KEY, or \`consent-ledger source change ${source.slug}\`.`,
    ]);
  return source;
}

/** The id of a policy as an argument. */
export function policyIdFrom(text: string): string {
  if (!policyIdSchema.safeParse(text).success)
    throw new InvalidArgumentError('Not a policy id: see `consent-ledger policy calls` for those generated here.');
  return text;
}

/** Throws UsageError if the ledger knows that a policy belongs to another source, which may share the API key. */
export async function assertPolicyOf(
  context: Pick<Context, 'projector' | 'store' | 'sources'>,
  source: string,
  policyId: string,
): Promise<void> {
  await context.projector.catchUp();
  const owner = await findOtherOwner(context, policyId, source);
  if (owner !== null)
    throw new UsageError([`The policy ${printable(policyId)} belongs to the source ${owner}, not to ${source}.`]);
}

/** Without these, nothing can be pulled or called. */
export const NO_API_ACCESS =
  'No source has API access: set SERVICE_BASE_URL and SERVICE_API_KEY, or run `consent-ledger source add`.';

function onlySource(sources: readonly Source[]): Source {
  const callable = sources.filter(isCallable);
  const [one] = callable;
  const chosen = callable.find(({ slug }) => slug === DEFAULT_SOURCE) ?? (callable.length === 1 ? one : undefined);
  if (chosen !== undefined) return chosen;
  throw new UsageError([
    callable.length === 0 ? NO_API_ACCESS : 'There are several sources: choose one with --source.',
  ]);
}

/**
 * How long a caller at a terminal waits: until Ctrl-C (after the current call has finished), and up to a quarter of an
 * hour unless told otherwise. Says what it is waiting for.
 */
export function patienceOf(io: CommandIo, flags: { readonly wait?: boolean }) {
  const stop = new AbortController();
  const line = createStatusLine(io);
  void io.untilStopped().then(() => {
    stop.abort(new Error('stopped'));
    line.say('stopping after the current response; press Ctrl-C again to give up, which leaves its outcome unknown');
  });
  return {
    signal: stop.signal,
    maxWaitMs: flags.wait === false ? 0 : 15 * 60_000,
    onWait: (until: Date, why: string) =>
      line.say(`waiting until ${timeText(until.toISOString()).slice(11, 19)}: ${printable(why)}`),
    line,
  };
}

/** Shows how long a call has been running, so that two minutes of silence do not look like a fault. */
export async function withStopwatch<T>(
  line: StatusLine,
  what: string,
  isTTY: boolean,
  work: () => Promise<T>,
): Promise<T> {
  const began = Date.now();
  const timer = setInterval(
    () => line.say(`${what}: ${Math.round((Date.now() - began) / 1000)} s`),
    isTTY ? 1000 : 15_000,
  );
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Explains a call with an unknown outcome, and what to do about it. */
export function unknownText(requestId: string, error: CallFailure): string {
  return [
    `Outcome unknown: the service may or may not have done it. ${printable(error.message)}`,
    ...(error.status === 500
      ? [
          'The service’s documentation allows repeating a generation after an internal error; if the first one did succeed, both count against the quota.',
        ]
      : []),
    'It is not sent again automatically, since both would count against the quota. It is settled by:',
    '  - a webhook about the same policy, which every `consent-ledger policy` command and the server (every few minutes) look for; or',
    '  - you: check the service’s dashboard (its list shows published policies only), then run',
    `      consent-ledger policy settle ${requestId} --as created`,
    `    or consent-ledger policy settle ${requestId} --as not-created`,
  ].join('\n');
}

/** The same for publishing, which costs nothing and may be repeated. */
export function unknownPublishText(requestId: string, error: CallFailure): string {
  return [
    `Outcome unknown: the policy may or may not be public now. ${printable(error.message)}`,
    'Publish it again: this is safe, because the address stays the same and only the webhooks are sent again. Success settles this call.',
    'It is also settled by its webhook, by `consent-ledger policy list` if the policy was not listed before, or by you:',
    `      consent-ledger policy settle ${requestId} --as published`,
    `    or consent-ledger policy settle ${requestId} --as not-published`,
  ].join('\n');
}

/** A refusal, with what to do and how long the service asks us to wait. */
export function refusedText(error: CallFailure): string {
  const wait =
    error.retryAfterMs === null ? '' : ` The service asks clients to wait ${Math.ceil(error.retryAfterMs / 1000)} s.`;
  return `${printable(error.message)}${wait}`;
}

/** An identical request was sent before, and its outcome is unknown. */
export function unsettledText(call: UnsettledCall): string {
  const { requestId, position, askedAt, dueAt } = call;
  const again = 'Use --again to send it a second time anyway; if both succeed, both count against the quota.';
  const item = position === null ? '' : ` as item ${position + 1} of a batch`;
  if (call.state === 'sent')
    return [
      `Not sent: an identical request was sent at ${timeText(askedAt)}${item}, and its response has not arrived yet (${requestId}).`,
      `Either another process is waiting for it, or that process has ended; then its outcome counts as unknown from ${dueAt}.`,
      again,
    ].join('\n');
  const settle = `consent-ledger policy settle ${requestId}${position === null ? '' : ` --items ${position + 1}`}`;
  return [
    `Not sent: an identical request was sent at ${timeText(askedAt)}${item}, and its outcome is still unknown. ${printable(call.error ?? '')}`.trim(),
    'Check the service’s dashboard, then run',
    `    ${settle} --as created`,
    ` or ${settle} --as not-created`,
    again,
  ].join('\n');
}

/** When a slot of the rate limit is free, or when the pause requested by the service ends. */
export function noSlotText(ended: NoSlotFacts, waited: boolean): string {
  const why = `Not sent: the rate limit allows nothing before ${ended.freeAt.toISOString()} (${printable(ended.limit)}).`;
  return waited
    ? `${why} That is longer than the 15 minutes that this command waits.`
    : `${why} Without --no-wait this command waits up to 15 minutes.`;
}

/** The state of a call in words. `unknownItems`: how many of its items have an unknown outcome. */
export function callStateLine(call: Pick<CallRow, 'state' | 'due_at'>, unknownItems = 0): string {
  switch (call.state) {
    case 'sent':
      return `sent, no response yet; unknown from ${minuteText(call.due_at)}`;
    case 'done':
      return unknownItems === 0 ? 'done' : `done, but ${counted(unknownItems, 'item')} unknown`;
    case 'refused':
      return 'refused, nothing generated';
    case 'unknown':
      return 'unknown';
    case 'happened':
      return 'done (settled later)';
    case 'not-happened':
      return 'not done (settled later)';
  }
}
