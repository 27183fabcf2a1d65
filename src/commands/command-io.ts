import { readFile, writeFile } from 'node:fs/promises';
import { basename, relative } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { Command, InvalidArgumentError, type OptionValues } from '@commander-js/extra-typings';
import Table from 'cli-table3';
import pc from 'picocolors';
import { readEnvironmentVariable } from '../config/config.ts';
import { isPrivateTransport } from '../core/address.ts';
import { UsageError } from '../core/errors.ts';
import { localTime, readTime } from '../core/zoned-days.ts';

/** Exit codes (docs/configuration.md): done, failed, usage or configuration, verification found a fault. */
export type ExitCode = 0 | 1 | 2 | 3;

/** Input and output of a command, replaced in tests. */
export interface CommandIo {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** The exit code of the run, initially 0; the process ends only at the edge (cli.ts). */
  exitCode: ExitCode;
  /** Resolves at the first Ctrl-C or SIGTERM, for commands that run until then. */
  untilStopped(): Promise<void>;
  /**
   * Ends the process within this many milliseconds, even if a part never closes or a library still holds a connection
   * or timer; earlier if nothing is left to do.
   */
  endWithin?(milliseconds: number): void;
}

/**
 * For long-running processes. On a machine with plenty of memory, V8 lets the heap grow to four times what is in use
 * before collecting garbage; with this setting it collects once the heap has grown by seven tenths. Folding then takes
 * 5 to 10 % more CPU than with V8's own setting, and 75 MB less memory; with 40 % it takes up to a fifth more.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=70');
}

/** Adds the `--json` flag that every command has. */
export function withJson<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
): Command<A, O & { json?: true }, G> {
  return withOptions(command, jsonOption);
}

const jsonOption = new Command().option(
  '--json',
  'print one JSON document to standard output, everything else to standard error',
);

/** The options that a command declares, as received by its action. */
export type OptionsOf<C extends { opts(): OptionValues }> = ReturnType<C['opts']>;

/** Adds options shared by several commands, as declared in `shared`. */
export function withOptions<
  A extends unknown[],
  O extends OptionValues,
  G extends OptionValues,
  Shared extends OptionValues,
>(command: Command<A, O, G>, shared: Command<[], Shared>): Command<A, O & Shared, G> {
  for (const option of shared.options) command.addOption(option);
  // The compiler cannot follow options added in a loop.
  return command as unknown as Command<A, O & Shared, G>;
}

/** Tells the operator that links to pages of the public listener do not work elsewhere, and which setting changes that. */
export function warnOfPublicUrl(io: CommandIo, publicUrl: string | null): void {
  if (publicUrl === null)
    io.stderr.write(`${pc.yellow('!')} PUBLIC_URL is not set: links work only on this machine.\n`);
  else if (!isPrivateTransport(publicUrl))
    io.stderr.write(`${pc.yellow('!')} PUBLIC_URL is not https: set it to an https address.\n`);
}

/** Parses a flag that takes a whole number of at least `least`. */
export function wholeNumberFrom(least: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,15}$/.test(text) || Number(text) < least) {
      throw new InvalidArgumentError(`Use a whole number${least > 0 ? ` of at least ${least}` : ''}, digits only.`);
    }
    return Number(text);
  };
}

/** The description of a flag that takes a time. */
export const timeOrDay = 'an ISO 8601 time, or a day (from midnight in TIME_ZONE)';

/**
 * The time given by a flag: ISO 8601, or a day, which begins at midnight in `timeZone`; a time without an offset is in
 * this zone, too. Returns ISO 8601 UTC. Throws UsageError for anything else.
 */
export function timeOf(text: string, flag: string, timeZone: string): string {
  const read = readTime(text, timeZone);
  if (read.problem !== undefined)
    throw new UsageError([`Invalid time "${printable(text)}" for ${flag}: ${read.problem}`]);
  return read.at;
}

/** The zone for printed times: that of the opened installation. */
let printedZone = 'UTC';

/** Prints times in this zone (TIME_ZONE) from now on. */
export function printTimesIn(timeZone: string): void {
  printedZone = timeZone;
}

/**
 * A time (ISO 8601 UTC) as printed by commands: ISO 8601 in the installation's zone, which every flag accepts. JSON
 * stays in UTC. Anything that is not a time is returned unchanged.
 */
export function timeText(iso: string): string {
  if (printedZone === 'UTC' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(iso)) return iso;
  return localTime(iso, printedZone);
}

/** To the minute, without the offset, which is obvious in context. */
export function minuteText(iso: string): string {
  return timeText(iso).slice(0, 16);
}

/** The day of a time in the installation's zone. */
export function dayText(iso: string): string {
  return timeText(iso).slice(0, 10);
}

export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text);
}

/** Parses a flag that takes a whole number within limits. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(`Use a whole number from ${min} to ${max}.`);
    return value;
  };
}

/** Prints a result: one JSON document with `--json`, else the text. */
export function printResult(io: CommandIo, options: { json?: boolean }, value: unknown, text: () => string): void {
  io.stdout.write(options.json ? `${JSON.stringify(value, null, 2)}\n` : `${text()}\n`);
}

/** Rows as a borderless table for people; `nothing` if there are none. */
export function tableText(
  head: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
  nothing: string,
): string {
  if (rows.length === 0) return nothing;
  const none = {
    top: '',
    'top-mid': '',
    'top-left': '',
    'top-right': '',
    bottom: '',
    'bottom-mid': '',
    'bottom-left': '',
    'bottom-right': '',
  };
  const inner = { left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' };
  const table = new Table({
    head: head.map((text) => pc.bold(text)),
    chars: { ...none, ...inner },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colAligns: head.map((_, place) =>
      rows.every((row) => typeof row[place] === 'number' || row[place] === null) ? 'right' : 'left',
    ),
  });
  for (const row of rows) table.push(row.map((cell) => printable(cell === null ? '–' : timeText(String(cell)))));
  return table.toString().replace(/(?<![ \t])[ \t]+$/gm, '');
}

/** Lines about entries whose times contradict others. */
export function misdatedText(
  misdated: readonly { readonly seq: number; readonly sentence: string }[],
): readonly string[] {
  return misdated.map(({ seq, sentence }) => `${pc.yellow('time not proven')}: entry ${seq}: ${printable(sentence)}`);
}

/**
 * Makes text from outside safe for a terminal: control characters, which could rewrite the screen, become visible, and
 * so do invisible ones, which could make two ids look alike. Joiners are left, because names and emoji need them.
 */
export function printable(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A status on standard error: one line that is rewritten on a terminal, separate lines elsewhere. */
export interface StatusLine {
  say(text: string): void;
  end(): void;
}

/** `throttled`: leaves out messages that come faster than a terminal can show or a log should hold. */
export function createStatusLine(io: CommandIo, throttled = false): StatusLine {
  const every = throttled ? (io.stderr.isTTY ? 100 : 5000) : 0;
  let last = 0;
  let shown = '';
  return {
    say(text) {
      const now = Date.now();
      if (text === shown || now - last < every) return;
      last = now;
      shown = text;
      io.stderr.write(io.stderr.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
    },
    end() {
      if (shown !== '' && io.stderr.isTTY) io.stderr.write('\r\u001b[K');
      shown = '';
    },
  };
}

/** Shows the progress of long work on a status line. */
export function createProgress(
  io: CommandIo,
  what: string,
): { report(done: number, total: number | null): void; end(): void } {
  const { say, end } = createStatusLine(io, true);
  return {
    report(done, total) {
      const share = total === null || total === 0 ? '' : ` of ${total} (${Math.floor((done / total) * 100)} %)`;
      say(`${what}: ${done}${share}`);
    },
    end,
  };
}

/** A count with its noun: `1 entry`, `3 entries`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/**
 * Maximum milliseconds that `serve` and `worker` take to stop, whatever their servers do: less than the 30 s that
 * orchestrators wait.
 */
export const STOP_ALL_MS = 25_000;

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses a flag like `90s`, `10m`, `24h` or `7d` into milliseconds. */
export function durationFrom(text: string): number {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (number === undefined || unit === undefined || Number(number) === 0)
    throw new InvalidArgumentError('Use a number and a unit: 90s, 10m, 24h, 7d.');
  return Number(number) * units[unit as keyof typeof units];
}

/** A file that a command was given cannot be read. */
export function cannotRead(path: string, error: unknown): UsageError {
  const { code = String(error) } = error as NodeJS.ErrnoException;
  return new UsageError([`Cannot read ${printable(path)} (${code}).`]);
}

/**
 * Writes a command's result to the file of its --out flag; returns a sentence if that fails, because the result itself
 * exists anyway.
 */
export async function writeOut(path: string, content: string | Uint8Array): Promise<string | null> {
  try {
    await writeFile(path, content);
    return null;
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    return `Cannot write ${printable(path)} (${code}).`;
  }
}

/**
 * How this program was started, for messages that say what to run next: `consent-ledger`, or its equivalent if that is
 * not on the PATH.
 */
export function startedAs(): string {
  const path = process.argv[1] ?? '';
  if (basename(path) === 'cli.js') return `node ${relative('', path) || path}`;
  const isLocal =
    readEnvironmentVariable('npm_lifecycle_event') === 'npx' || /[\\/]node_modules[\\/]\.bin[\\/]/.test(path);
  return isLocal ? 'npx consent-ledger' : 'consent-ledger';
}

/** A text file, or standard input for `-`. Throws UsageError if it cannot be read or is not UTF-8. */
export async function readText(path: string): Promise<string> {
  const text = await (path === '-' ? readAll(process.stdin) : readFile(path, 'utf8')).catch((error: unknown) => {
    throw cannotRead(path, error);
  });
  if (text.includes('\uFFFD')) throw new UsageError([`${path} is not UTF-8 text: save it as UTF-8.`]);
  return text;
}

/** A detail of a move as typed: `field=value`. Throws UsageError. */
export function readField(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError([`Invalid detail "${printable(text)}": use field=value, e.g. channel=e-mail.`]);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** The JSON object of `--details`. Throws UsageError. */
export function readDetails(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text);
    if (parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed)) return { ...parsed };
  } catch {
    // Reported below, with the flag's name.
  }
  throw new UsageError(['--details must be a JSON object, for example \'{"text":"called back"}\'.']);
}

/** The version of `--based-on`. Throws UsageError. */
export function readVersion(text: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw new UsageError([`Invalid version "${printable(text)}" for --based-on: use the number from \`dsar show\`.`]);
  return Number(text);
}
