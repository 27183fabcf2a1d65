import { InvalidArgumentError, type Command } from 'commander';
import type { CommandIo } from './command-io.ts';

/** Adds `--sandbox <url>`, which every command that talks to a running sandbox has. */
export function withSandboxUrl(command: Command): Command {
  return command.option('--sandbox <url>', 'address of the sandbox', httpUrl, 'http://127.0.0.1:4010');
}

/** A request to the controls of a running sandbox (docs/sandbox.md). */
export interface ControlRequest {
  /** Where the sandbox listens. */
  readonly sandbox: string;
  /** Below /_sandbox. */
  readonly path: string;
  /** Sent by POST; without it the request is a GET. */
  readonly body?: unknown;
}

/** Asks a running sandbox. null: it refused or does not answer, which was said on standard error, and the exit code is 1. */
export async function askSandbox<T>({ sandbox, path, body }: ControlRequest, io: CommandIo): Promise<T | null> {
  const answer = await fetch(new URL(`/_sandbox${path}`, sandbox), {
    ...(body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch(() => null);
  // What is no JSON comes from something else that listens there.
  const result = (await answer?.json().catch(() => null)) as (T & { error?: { message?: string } }) | null | undefined;
  if (answer === null || typeof result !== 'object' || result === null) {
    io.stderr.write(`No sandbox answers at ${sandbox}. Start one with \`consent-ledger sandbox\`, or use --sandbox.\n`);
    io.exitCode = 1;
    return null;
  }
  if (!answer.ok) {
    io.stderr.write(`The sandbox refused: ${result.error?.message ?? `status ${answer.status}`}\n`);
    io.exitCode = 1;
    return null;
  }
  return result;
}

/** An http or https address, as an option. */
export function httpUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError('Use an http or https address.');
  return text;
}
