import { StoreUnavailable, UsageError } from '../../core/errors.ts';

/*
 * Classes and codes (docs/current/errcodes-appendix.html) of what the database cannot help at the moment: answered with 503, and worth
 * trying again. 08 connection, 25006 read-only (a standby), 25P03 idle too long in a transaction, 40 rolled back for another's
 * sake, 53 resources (disk full, too many connections), 55P03 lock not available in time, 57 ended by an administrator or
 * a time-out, 58 input and output, XX damage.
 */
const outage = /^(08|25006|25P03|40|53|55P03|57|58|XX)/;

/** Whether a SQLSTATE stands for an outage, and not for a fault of the statement. */
export function isOutage(code: string): boolean {
  return outage.test(code);
}

/** An error's own words on one line; those of Node name several addresses in an AggregateError without a message. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return [...new Set(error.errors.map(reasonOf))].join('; ');
  return error instanceof Error ? error.message || ((error as { code?: string }).code ?? error.name) : String(error);
}

/** What stops a connection from being opened, with where it leads to and what to do: never with the password. */
export function openingProblem(error: unknown, address: string): StoreUnavailable {
  const code = codeOf(error);
  const remedy = Object.entries({ ...misconfigured, ...remedies }).find(([prefix]) => code.startsWith(prefix))?.[1];
  const text = `${address}: ${reasonOf(error)}`;
  return new StoreUnavailable(remedy === undefined ? text : `${text}. ${remedy}`, { cause: error });
}

/** The same at a start: what only another DATABASE_URL (or the database's administrator) can mend is a fault of the configuration. */
export function asMisconfiguration(error: unknown): unknown {
  const code = error instanceof StoreUnavailable ? codeOf(error.cause) : '';
  const misled = Object.keys(misconfigured).some((prefix) => code.startsWith(prefix));
  return misled ? new UsageError([(error as Error).message]) : error;
}

const misconfigured: Readonly<Record<string, string>> = {
  '28': 'Correct the user and password in DATABASE_URL, or allow this host in pg_hba.conf.',
  '3D000': 'Create the database (createdb), or correct its name in DATABASE_URL.',
  '3F000': 'Create the schema, or correct search_path.',
};

const remedies: Readonly<Record<string, string>> = {
  ECONNREFUSED:
    'Start the server, or correct host and port in DATABASE_URL; it must listen on that address (listen_addresses).',
  ENOTFOUND: 'Correct the host in DATABASE_URL.',
  EAI_AGAIN: 'The name of the host cannot be looked up at the moment.',
  ENOENT: 'Start the server: its socket is not there.',
  '53300':
    'Raise max_connections, or run fewer processes: each takes up to 5 connections, and one more while it starts.',
  '57P03': 'The server is starting up or shutting down.',
  SELF_SIGNED: 'Name the certificate that signed the server’s with sslrootcert in DATABASE_URL.',
  DEPTH_ZERO: 'Name the certificate that signed the server’s with sslrootcert in DATABASE_URL.',
  UNABLE_TO: 'Name the certificate that signed the server’s with sslrootcert in DATABASE_URL.',
};

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if (error instanceof AggregateError) return error.errors.map(codeOf)[0] ?? '';
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return codeOf(cause);
}
