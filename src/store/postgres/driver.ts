import pg from 'pg';
import { StoreUnavailable, UsageError } from '../../core/errors.ts';
import { ConstraintViolation } from '../store.ts';
import { parserOf } from './values.ts';

type SqlRow = Record<string, unknown>;

interface Answer {
  readonly rows: SqlRow[];
  /** Rows changed or returned. */
  readonly count: number;
  /** The server's command tag: INSERT, COMMIT … */
  readonly tag: string;
}

/**
 * One session. If it has a pipeline, statements may be sent before earlier ones are answered; they still run in order.
 */
export interface PostgresConnection {
  /** Runs one statement. With a `name`, it is parsed and planned once per session. */
  run(sql: string, parameters?: readonly unknown[], name?: string): Promise<Answer>;
  /**
   * Runs several statements without parameters in one round trip. Each is separate and has its own snapshot. Resolves
   * with the details of the server's notices.
   */
  script(sql: string): Promise<readonly string[]>;
}

export interface PoolOptions {
  readonly url: string;
  /** Maximum number of connections. */
  readonly size: number;
  /** Settings made first on each connection. */
  readonly settings: Readonly<Record<string, string | number>>;
  /** Milliseconds to wait for a connection, new or in use by others. */
  readonly connectTimeout: number;
  /** Milliseconds to wait for a response before assuming that the network or the server is gone; 0: no limit. */
  readonly answerTimeout: number;
  /** Milliseconds after which an idle connection is closed; 0: never. */
  readonly idleTimeout: number;
  /** Send a statement without waiting for the previous response. */
  readonly pipeline?: boolean;
}

/** Creates a pool without connecting. Throws UsageError if the URL, or a file that it names, cannot be read. */
export function createPool(options: PoolOptions) {
  const pool = newPool(options);
  const leased = new Map<PostgresConnection, { client: pg.PoolClient; isBroken(): boolean }>();
  /** The server's process of each connection that has its settings. */
  const processes = new WeakMap<pg.PoolClient, number>();
  let closing: Promise<void> | null = null;
  // Sent as one statement, not as start-up parameters: poolers refuse parameters that they do not know.
  // A pooler would answer the protocol's own message about the process with a number of its own.
  const settings = [
    ...Object.entries(options.settings).map(([name, value]) => `set ${name} = '${value}'`),
    ONE_SCHEMA,
    'select pg_backend_pid() as pid',
  ].join('; ');
  // The server ended an idle connection: the pool has dropped it already, and the next use opens another.
  pool.on('error', () => undefined);
  // Without a listener a connection that is lost would end the process. If no statement is running, only this event says
  // why: the next statement is refused without the reason.
  const losses = new WeakMap<pg.PoolClient, Error>();
  pool.on('connect', (client) => client.on('error', (error) => void (losses.has(client) || losses.set(client, error))));

  async function acquire(): Promise<PostgresConnection> {
    if (closing !== null) throw new StoreUnavailable('the store is closed');
    let client: pg.PoolClient | null = null;
    try {
      client = await pool.connect();
      if (!processes.has(client)) {
        const answers = await client.query<{ pid: number }>(settings);
        // One for each statement, whatever the type says.
        const { rows } = [answers].flat().at(-1) as typeof answers;
        processes.set(client, Number(rows[0]?.pid));
      }
    } catch (error) {
      client?.release(true);
      if (closing !== null) throw new StoreUnavailable('the store is closed', { cause: error });
      throw openingProblem(error, addressOf(options.url));
    }
    const { connection, isBroken } = connectionOver(client, () => losses.get(client));
    leased.set(connection, { client, isBroken });
    return connection;
  }

  function release(connection: PostgresConnection): void {
    const lease = leased.get(connection);
    if (lease === undefined) return;
    leased.delete(connection);
    lease.client.release(lease.isBroken());
  }

  return {
    acquire,
    release,
    /** The server's processes that serve the connections in use. */
    busy: () => [...leased.values()].flatMap(({ client }) => processes.get(client) ?? []),
    async use<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
      const connection = await acquire();
      try {
        return await work(connection);
      } finally {
        release(connection);
      }
    },
    /** Lets running statements end and refuses waiting ones. */
    close: () => (closing ??= pool.end()),
  };
}

/**
 * Limits the search path to the schema that has our tables, or in which they are to be created. The owner of a database
 * can set a path on which another schema comes before `pg_catalog`; an operator defined there (`>=` of two texts) would
 * then decide which rows a query finds.
 */
const ONE_SCHEMA = `select pg_catalog.set_config('search_path', coalesce(
  (select c.relnamespace::pg_catalog.regnamespace::pg_catalog.text from pg_catalog.pg_class c
    where c.oid operator(pg_catalog.=) pg_catalog.to_regclass('delivery_history')),
  pg_catalog.quote_ident(pg_catalog.current_schema()), pg_catalog.current_setting('search_path')), false)`;

function newPool(options: PoolOptions): pg.Pool {
  const { url, size, connectTimeout, answerTimeout, idleTimeout, pipeline = false } = options;
  const config: pg.PoolConfig & { pipeline: boolean } = {
    pipeline,
    connectionString: withoutWarning(url),
    application_name: 'consent-ledger',
    max: size,
    connectionTimeoutMillis: connectTimeout,
    idleTimeoutMillis: idleTimeout,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    allowExitOnIdle: true,
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
    ...(answerTimeout > 0 ? { query_timeout: answerTimeout } : {}),
  };
  try {
    const pool = new pg.Pool(config);
    // The URL is only parsed when a client is created, so create one that never connects, to report faults now.
    new pg.Client(config);
    return pool;
  } catch (error) {
    throw new UsageError([`DATABASE_URL cannot be used: ${reasonOf(error)}`]);
  }
}

/**
 * This driver treats `require`, `prefer` and `verify-ca` as verify-full, and warns on stderr each time that a later
 * version may not.
 */
function withoutWarning(url: string): string {
  return url.includes('uselibpqcompat')
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)\b/, '$1verify-full');
}

/** The address in a URL, for messages; never its password. */
function addressOf(url: string): string {
  const { host, port, database, user } = new pg.Client({ connectionString: withoutWarning(url) });
  return `PostgreSQL at ${host}:${port} (database ${database ?? user ?? ''}, user ${user ?? ''})`;
}

/** `lossOf`: why the connection was lost before a statement was sent, if it was. */
function connectionOver(
  client: pg.PoolClient,
  lossOf: () => Error | undefined,
): { connection: PostgresConnection; isBroken(): boolean } {
  let broken = false;
  const translate = (thrown: unknown): Error => {
    // A loss ends the session, whatever its code.
    const loss = thrown instanceof pg.DatabaseError ? undefined : lossOf();
    const error = loss ?? thrown;
    const code = error instanceof pg.DatabaseError ? (error.code ?? '') : null;
    if (code?.startsWith('23')) return new ConstraintViolation((error as Error).message, { cause: error });
    const isBug = error instanceof TypeError || error instanceof RangeError;
    if (loss !== undefined || (code === null ? !isBug : isOutage(code))) {
      // Only after an error that the server sent and did not call fatal is the session certain to survive.
      if (!(error instanceof pg.DatabaseError) || error.severity !== 'ERROR') broken = true;
      const told =
        error instanceof pg.DatabaseError ? 'the database answered' : 'the connection to the database failed';
      return new StoreUnavailable(`${told}: ${reasonOf(error)}`, { cause: error });
    }
    return error as Error;
  };
  const ask = async (query: pg.QueryConfig | string) => {
    try {
      return await client.query<SqlRow>(query as pg.QueryConfig);
    } catch (error) {
      throw translate(error);
    }
  };
  return {
    isBroken: () => broken,
    connection: {
      async run(sql, parameters = [], name) {
        const values = parameters as unknown[];
        const { rows, rowCount, command } = await ask(
          name === undefined ? { text: sql, values } : { text: sql, values, name },
        );
        return { rows, count: rowCount ?? 0, tag: command };
      },
      async script(sql) {
        const details: string[] = [];
        const note = ({ detail }: { detail?: string | undefined }) => void details.push(detail ?? '');
        client.on('notice', note);
        try {
          await ask(sql);
        } finally {
          client.off('notice', note);
        }
        return details;
      },
    },
  };
}

/*
 * Keys of the advisory locks, the same in every version of the program. They apply to one database only; another
 * program that uses advisory locks there is unlikely to choose the same 60 bits.
 */

/** Held until commit by every transaction that writes anything but read models. */
export const WRITE_LOCK = '771490348120614921';
/** Held until commit by every transaction that writes read models; appends do not wait for it. */
export const FOLD_LOCK = '771490348120614923';
/** Held while the schema is migrated. */
export const MIGRATION_LOCK = '771490348120614922';

/*
 * SQLSTATE classes and codes (docs/current/errcodes-appendix.html) of temporary faults, answered with 503 and worth
 * retrying. 08 connection, 25006 read-only (a standby), 25P03 idle too long in a transaction, 40 rolled back because of
 * another transaction, 53 resources (disk full, too many connections), 55P03 lock not available in time, 57 ended by an
 * administrator or a time-out, 58 input and output, XX damage.
 */
const outage = /^(08|25006|25P03|40|53|55P03|57|58|XX)/;

/** Whether a SQLSTATE means an outage rather than a faulty statement. */
function isOutage(code: string): boolean {
  return outage.test(code);
}

/** An error's message on one line. If several addresses failed, Node throws an AggregateError without a message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return [...new Set(error.errors.map(reasonOf))].join('; ');
  return error instanceof Error ? error.message || ((error as { code?: string }).code ?? error.name) : String(error);
}

/** Why a connection cannot be opened, with its address and what to do; never the password. */
function openingProblem(error: unknown, address: string): StoreUnavailable {
  const code = codeOf(error);
  const reason = reasonOf(error);
  // The driver gives this error no code.
  const remedy = reason.includes('does not support SSL')
    ? 'Turn TLS on at the server, or remove sslmode from DATABASE_URL if the network is private.'
    : Object.entries({ ...misconfigured, ...remedies }).find(([prefix]) => code.startsWith(prefix))?.[1];
  const text = `${address}: ${reason}`;
  return new StoreUnavailable(remedy === undefined ? text : `${text}. ${remedy}`, { cause: error });
}

/**
 * Used at start-up: a problem that only another DATABASE_URL or the database's administrator can solve is a
 * configuration fault.
 */
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
  EAI_AGAIN: 'The host name could not be resolved: check DNS, and try again.',
  ENOENT: 'Start the server: its socket does not exist.',
  '53300':
    'Raise max_connections, or run fewer processes: each takes up to 5 connections, and one more while it starts.',
  '57P03': 'The server is starting up or shutting down.',
  SELF_SIGNED: 'Set sslrootcert in DATABASE_URL to the authority that signed the server’s certificate.',
  DEPTH_ZERO: 'Set sslrootcert in DATABASE_URL to the authority that signed the server’s certificate.',
  UNABLE_TO: 'Set sslrootcert in DATABASE_URL to the authority that signed the server’s certificate.',
};

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if (error instanceof AggregateError) return error.errors.map(codeOf)[0] ?? '';
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return codeOf(cause);
}
