import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { attachToRead, openConnection, type SqliteConnection } from './driver.ts';

/*
 * Finds the entry that another would repeat. Deduplication keys are hashes, so an index on them in the ledger's file
 * would change a different page for each entry, and each changed page is written twice (docs/decisions.md). Instead,
 * the keys of the latest entries are in a table in memory, of the connection that appends, which fills it from the
 * entries. Older keys are in a separate file, which is written rarely, many keys at a time and in their order. It can
 * be made again from the entries.
 *
 * Both hold only the first 8 bytes of each key: the entries themselves decide. A trigger of the appending connection
 * refuses an entry whose key exists, before any of it is written: it may repeat what was erased. Nobody else can append
 * meanwhile, because that takes the ledger's write lock.
 */

/** Keys in memory from which they are moved to the file. */
const MANY_KEYS = 200_000;
/** When the store is closed, a tenth of them: the next process would have to read them. */
const SOME = 0.1;

const PREFIX = 'substr(dedupe_key, 1, 8)';

const CREATE_FILE = `create table if not exists keys (prefix blob not null, seq integer not null, primary key (prefix, seq)) without rowid;
  create table if not exists moved (id integer primary key check (id = 1), seq integer not null, leaf_hash blob);
  insert or ignore into moved values (1, 0, null);`;

const refuseIn = (table: string) => `select raise(abort, 'an entry has this key already') from ${table} as known
    cross join main.entries on entries.seq = known.seq and entries.source = new.source and entries.kind = new.kind and entries.dedupe_key = new.dedupe_key
    where known.prefix = substr(new.dedupe_key, 1, 8) and known.seq <> new.seq;`;
const PREPARE_WRITER = `pragma temp_store = memory;
  create temp table latest_keys (prefix blob not null, seq integer not null, primary key (prefix, seq)) without rowid;
  create temp trigger keep_keys_unique before insert on main.entries begin
    ${refuseIn('temp.latest_keys')}
    ${refuseIn('dedupe.keys')}
    insert or ignore into temp.latest_keys values (substr(new.dedupe_key, 1, 8), new.seq);
  end;`;

const findIn = (
  table: string,
) => `select wanted.key as place, entries.seq as seq from json_each(?1) as wanted cross join ${table} as known
    on known.prefix = substr(unhex(wanted.value->>2), 1, 8)
  cross join main.entries on entries.seq = known.seq and entries.source = wanted.value->>0 and entries.kind = wanted.value->>1
    and entries.dedupe_key = unhex(wanted.value->>2)`;
/** The parameter is a JSON array of source, kind and key (hexadecimal). */
export const FIND_SEQS = `${findIn('temp.latest_keys')} union all ${findIn('dedupe.keys')}`;

/** The name of the file with a ledger's older keys. */
export function dedupePath(path: string): string {
  return `${path}-dedupe`;
}

/** Which entries' keys are in memory: those after `from`, up to `to`. */
interface Latest {
  readonly from: number;
  readonly to: number;
}

/** The deduplication keys of a ledger file, for one connection that appends. */
export class DedupeKeys {
  readonly #path: string;
  readonly #busyTimeout: number;
  readonly #many: number;
  /** Null if they have to be read. */
  #latest: Latest | null = null;
  #moving: Promise<void> | null = null;

  constructor(path: string, busyTimeout: number, many = MANY_KEYS) {
    this.#path = path;
    this.#busyTimeout = busyTimeout;
    this.#many = many;
  }

  /** Prepares a newly opened connection to the ledger; creates the file of older keys if it is missing. */
  async prepare(ledger: SqliteConnection): Promise<void> {
    const file = dedupePath(this.#path);
    if (!existsSync(file)) {
      const connection = await this.#open();
      await connection.close();
      await chmod(file, 0o600).catch(() => undefined);
    }
    await attachToRead(ledger, file, 'dedupe');
    const [ours] = await ledger.all(
      'select 1 from dedupe.moved where leaf_hash is (select leaf_hash from main.entries where entries.seq = moved.seq)',
    );
    if (ours === undefined) await this.#empty();
    await ledger.script(PREPARE_WRITER);
    this.#latest = null;
  }

  /** Whether the keys of all entries up to `seq` are known, so that the next can be inserted without {@link catchUp}. */
  areKnownUpTo(seq: number): boolean {
    return this.#latest?.to === seq;
  }

  /** Learns the keys of entries that others appended. To be called under the write lock, before keys matter. */
  async catchUp(ledger: SqliteConnection): Promise<void> {
    const { from, to } = this.#latest ?? (await this.#begin(ledger));
    const added = await ledger.run(
      `insert or ignore into temp.latest_keys select ${PREFIX}, seq from main.entries where seq > ?`,
      [to],
    );
    this.#latest = { from, to: to + added };
  }

  /** After entries up to `seq` have been inserted on the connection. */
  inserted(seq: number): void {
    if (this.#latest !== null) this.#latest = { ...this.#latest, to: seq };
  }

  /** What is known now, to {@link restore} it after a rollback. */
  save(): Latest | null {
    return this.#latest;
  }

  restore(saved: Latest | null): void {
    this.#latest = saved;
  }

  /** After a commit: moves keys to the file if there are many in memory. */
  committed(): void {
    if (this.#moving !== null || !this.#holds(this.#many)) return;
    this.#moving = this.#move()
      // If it fails (a full disk), the keys stay in memory and the next commit tries again.
      .catch(() => undefined)
      .finally(() => {
        this.#moving = null;
      });
  }

  /** Moves what the next process would otherwise have to read. */
  async close(): Promise<void> {
    await this.#moving;
    if (this.#holds(this.#many * SOME)) await this.#move().catch(() => undefined);
  }

  #holds(keys: number): boolean {
    return this.#latest !== null && this.#latest.to - this.#latest.from >= keys;
  }

  async #begin(ledger: SqliteConnection): Promise<Latest> {
    const moved = async () => Number((await ledger.all('select seq from dedupe.moved'))[0]?.seq ?? 0);
    const [head] = await ledger.all('select max(seq) as seq from main.entries');
    let from = await moved();
    if (Number(head?.seq ?? 0) - from >= this.#many) {
      await this.#move();
      from = await moved();
    }
    await ledger.run('delete from temp.latest_keys');
    return { from, to: from };
  }

  /** Moves the keys of all committed entries to the file. */
  async #move(): Promise<void> {
    const connection = await this.#open();
    try {
      let moved = -1;
      for (;;) {
        await connection.script('begin immediate');
        const [position] = await connection.all('select seq from moved');
        if (Number(position?.seq) === moved) break;
        moved = Number(position?.seq);
        await connection.run(
          `insert or ignore into keys select ${PREFIX}, seq from ledger.entries where seq > ?1 and seq <= ?2 order by 1`,
          [moved, moved + this.#many],
        );
        await connection.run(
          `update moved set (seq, leaf_hash) = (select seq, leaf_hash from ledger.entries where seq <= ?2 order by seq desc limit 1)
            where exists (select 1 from ledger.entries where seq > ?1)`,
          [moved, moved + this.#many],
        );
        await connection.script('commit');
      }
      await connection.script('rollback');
    } finally {
      await connection.close();
    }
    // The keys left in memory are read again, which takes less time than deleting the others.
    this.#latest = null;
  }

  /** Forgets the keys of other entries: the ledger's file was replaced, or is an older copy. */
  async #empty(): Promise<void> {
    const connection = await this.#open();
    try {
      await connection.script('begin immediate; delete from keys; update moved set seq = 0, leaf_hash = null; commit');
    } finally {
      await connection.close();
    }
  }

  async #open(): Promise<SqliteConnection> {
    const connection = await openConnection(dedupePath(this.#path));
    try {
      await connection.script(
        `pragma busy_timeout = ${this.#busyTimeout}; pragma journal_mode = wal; pragma synchronous = normal; pragma wal_autocheckpoint = 4000; pragma cache_size = -32768; ${CREATE_FILE}`,
      );
      await attachToRead(connection, this.#path, 'ledger');
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }
}
