import type { Context } from '../context.ts';
import { DEFAULT_SOURCE } from '../config.ts';
import { UsageError } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import { isCallable, whyNotCallable } from '../policies/callable.ts';
import { type CommandIo, printable } from './command-io.ts';

/**
 * The source that a command about policies calls: the one named, the only one there is, or `default`. Throws UsageError when there is none,
 * when it has no address or key, or when several could be meant.
 */
export function callableSource(context: Pick<Context, 'sources'>, slug: string | undefined): Source {
  const source = slug === undefined ? onlySource(context.sources.list()) : context.sources.find(slug);
  if (source === null)
    throw new UsageError([`Unknown source ${printable(slug ?? '')}: see \`consent-ledger source list\`.`]);
  const reason = whyNotCallable(source);
  if (reason !== null)
    throw new UsageError([
      `${reason} Set SERVICE_BASE_URL and SERVICE_API_KEY, or \`consent-ledger source change ${source.slug}\`.`,
    ]);
  return source;
}

function onlySource(sources: readonly Source[]): Source {
  const callable = sources.filter(isCallable);
  const [one] = callable;
  const chosen = callable.find(({ slug }) => slug === DEFAULT_SOURCE) ?? (callable.length === 1 ? one : undefined);
  if (chosen !== undefined) return chosen;
  throw new UsageError([
    callable.length === 0
      ? 'No source has API access: set SERVICE_BASE_URL and SERVICE_API_KEY, or run `consent-ledger source add`.'
      : 'There are several sources: choose one with --source.',
  ]);
}

/** Who calls from a terminal: stopped by Ctrl-C (what is under way is brought to its end), patient for a quarter of an hour unless told otherwise, saying what is waited for. */
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
      line.say(`waiting until ${until.toISOString().slice(11, 19)} UTC: ${printable(why)}`),
    line,
  };
}

/** One line on standard error: rewritten on a terminal, a line of its own elsewhere. */
export interface StatusLine {
  say(text: string): void;
  end(): void;
}

export function createStatusLine(io: CommandIo): StatusLine {
  let shown = '';
  return {
    say(text) {
      if (text === shown) return;
      io.stderr.write(io.stderr.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
      shown = text;
    },
    end() {
      if (shown !== '' && io.stderr.isTTY) io.stderr.write('\r\u001b[K');
      shown = '';
    },
  };
}

/** Says while a call is under way how long it has been, so that two minutes of silence do not look like a fault. */
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
