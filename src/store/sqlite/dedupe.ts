import { chmod } from 'node:fs/promises';
import { attachToRead, openConnection, type SqliteConnection, useLog } from './driver.ts';

/*
 * Finds the entry that another would repeat. Deduplication keys are hashes, so an index on them in the ledger's file
 * would change a different page for each entry, and each changed page is written twice (docs/decisions.md). Instead,
 * the keys of the latest entries are in a table in memory, of the connection that appends, which fills it from the
 * entries. Older keys are in a separate file, which is written rarely, many keys at a time and in their order. It can
 * be rebuilt from the entries.
 *
 * Both hold only the first 8 bytes of each key: the entries themselves decide. A trigger of the appending connection
 * refuses an entry whose key exists, before any of it is written: it may repeat what was erased. Nobody else can append
 * in the meantime, because appending takes the ledger's write lock.
 */

/** Keys in memory from which they are moved to the file. */
const MANY_KEYS = 200_000;
/** When a process starts or ends, a tenth of them: it, or the next one, would have to read them under the write lock. */
const SOME = 0.1;

const PREFIX = 'substr(dedupe_key, 1, 8)';

const CREATE_TABLES = `begin immediate;
  create table if not exists keys (prefix blob not null, seq integer not null, primary key (prefix, seq)) without rowid;
  create table if not exists moved (id integer primary key check (id = 1), seq integer not null, leaf_hash blob);
  insert or ignore into moved values (1, 0, null);
  commit`;

/**
 * Whether the keys are not those of this ledger's entries: its file was replaced, or is an older copy. The connection's
 * main file is that of the keys, so the ledger is seen after them, never before.
 */
const ARE_FOREIGN =
  '(select leaf_hash is not (select leaf_hash from ledger.entries where entries.seq = moved.seq) from moved)';
// Checks again under the lock, because another process may have rebuilt the file in the meantime.
const FORGET_FOREIGN = `begin immediate; delete from keys where ${ARE_FOREIGN};
  update moved set seq = 0, leaf_hash = null where ${ARE_FOREIGN}; commit`;

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
  /** Null if they have to be read. Changes only while the connection is used, so it always describes its table. */
  #latest: Latest | null = null;
  #moving: Promise<void> | null = null;
  /** The last entry whose key this process has moved. */
  #moved = 0;
  /** The last entry when this process last tried to move keys. */
  #tried = 0;

  constructor(path: string, busyTimeout: number, many = MANY_KEYS) {
    this.#path = path;
    this.#busyTimeout = busyTimeout;
    this.#many = many;
  }

  /**
   * Prepares a newly opened connection to the ledger. Creates the file of older keys if it is missing, and moves keys
   * to it without holding the ledger's lock. `patience` is how long to wait for other processes, milliseconds.
   */
  async prepare(ledger: SqliteConnection, patience = this.#busyTimeout): Promise<void> {
    const keys = await this.#open(patience);
    try {
      const [found] = await keys.all(`select ${ARE_FOREIGN} as foreign_keys`);
      if (found?.foreign_keys === 1) await keys.script(FORGET_FOREIGN);
    } finally {
      await keys.close();
    }
    await attachToRead(ledger, dedupePath(this.#path), 'dedupe');
    await ledger.script(PREPARE_WRITER);
    this.#latest = null;
    const { head, moved } = await this.#position(ledger);
    if (head - moved >= this.#many * SOME) await this.#move().catch(() => undefined);
  }

  /** Whether keys have been read, although others may have appended since. */
  get areRead(): boolean {
    return this.#latest !== null;
  }

  /** Whether the keys of all entries up to `seq` are known, so that the next can be inserted without {@link catchUp}. */
  areKnownUpTo(seq: number): boolean {
    return this.#latest?.to === seq && this.#moved - this.#latest.from < this.#many;
  }

  /**
   * Learns the keys of entries that others appended, and forgets those that were moved to the file. To be called under
   * the write lock, before keys matter.
   */
  async catchUp(ledger: SqliteConnection): Promise<void> {
    const { head, moved } = await this.#position(ledger);
    let latest = this.#latest;
    if (latest === null || moved - latest.from >= this.#many) {
      // The keys left are read again, which takes less time than deleting the others.
      await ledger.run('delete from temp.latest_keys');
      latest = { from: moved, to: moved };
    }
    if (head > latest.to)
      await ledger.run(`insert or ignore into temp.latest_keys select ${PREFIX}, seq from main.entries where seq > ?`, [
        latest.to,
      ]);
    this.#latest = { from: latest.from, to: head };
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
    if (this.#moving !== null || this.#latest === null || !this.#holds(this.#many)) return;
    this.#tried = this.#latest.to;
    this.#moving = this.#move()
      // If it fails (a full disk), the keys stay in memory, and it is tried again when as many more have come.
      .catch(() => undefined)
      .finally(() => {
        this.#moving = null;
      });
  }

  /** Moves the keys that the next process would otherwise have to read. Nothing can be inserted afterwards. */
  async close(ledger: SqliteConnection): Promise<void> {
    await this.#moving;
    const many = this.#holds(this.#many * SOME);
    this.#tried = Infinity;
    // The last connection that closes a file writes the log into it, which a read-only one cannot do.
    await ledger.script('detach database dedupe');
    if (many) await this.#move();
    else await (await this.#open()).close();
  }

  #holds(keys: number): boolean {
    return this.#latest !== null && this.#latest.to - Math.max(this.#latest.from, this.#tried) >= keys;
  }

  async #position(ledger: SqliteConnection): Promise<{ readonly head: number; readonly moved: number }> {
    const [found] = await ledger.all(
      'select (select max(seq) from main.entries) as head, (select seq from dedupe.moved) as moved',
    );
    return { head: Number(found?.head ?? 0), moved: Number(found?.moved ?? 0) };
  }

  /** Moves the keys of all entries that are committed now to the file. Later ones wait, or it might never end. */
  async #move(): Promise<void> {
    const connection = await this.#open();
    try {
      const [row] = await connection.all('select max(seq) as head from ledger.entries');
      const head = Number(row?.head ?? 0);
      for (let moved = 0; moved < head; ) {
        await connection.script('begin immediate');
        const [next] = await connection.all(
          `select max(seq) as seq, (select seq from moved) as after from
            (select seq from ledger.entries where seq > (select seq from moved) order by seq limit ?)`,
          [this.#many],
        );
        if (typeof next?.seq !== 'number') break;
        moved = next.seq;
        await connection.run(
          `insert or ignore into keys select ${PREFIX}, seq from ledger.entries where seq > ? and seq <= ? order by 1`,
          [Number(next.after), moved],
        );
        await connection.run(
          'update moved set (seq, leaf_hash) = (select seq, leaf_hash from ledger.entries where seq = ?)',
          [moved],
        );
        await connection.script('commit');
      }
      this.#moved = head;
    } finally {
      await connection.close();
    }
  }

  async #open(busyTimeout = this.#busyTimeout): Promise<SqliteConnection> {
    const connection = await openConnection(dedupePath(this.#path));
    try {
      await chmod(dedupePath(this.#path), 0o600).catch(() => undefined);
      await useLog(connection, busyTimeout);
      await connection.script(
        'pragma synchronous = normal; pragma wal_autocheckpoint = 4000; pragma cache_size = -8192;',
      );
      // Otherwise nothing is locked: another process may be moving keys.
      const [made] = await connection.all("select 1 from sqlite_schema where name = 'moved'");
      if (made === undefined) await connection.script(CREATE_TABLES);
      await attachToRead(connection, this.#path, 'ledger');
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }
}
