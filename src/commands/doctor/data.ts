import { open, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { countQuarantined } from '../../attention/deliveries.ts';
import { loadSealTimes } from '../../attention/figures.ts';
import { UNSEALED_MS } from '../../attention/operator-warnings.ts';
import { countUnsent, readCheckpointMail } from '../../attention/send-notices.ts';
import { listBucketBackups } from '../../backup/bucket-backups.ts';
import { type BackupFile, listBackups } from '../../backup/delete-old-backups.ts';
import type { Context } from '../../context/context.ts';
import { verifierKeyPath } from '../../context/data-directory.ts';
import type { BucketAddress } from '../../core/address.ts';
import { UsageError } from '../../core/errors.ts';
import { dateIn, localTimeOf } from '../../core/zoned-days.ts';
import { parseTreeHead } from '../../crypto/checkpoint.ts';
import { explainSignOn } from '../../http/auth/sign-on-failure.ts';
import { discoverProvider } from '../../http/auth/single-sign-on-routes.tsx';
import { findLastEnded } from '../../jobs/jobs.ts';
import { findNextScheduled, nextTime } from '../../jobs/schedule.ts';
import { readWitnessState } from '../../ledger/cosigned-checkpoints.ts';
import { FOREIGN_KEY, stateOfKeyFile } from '../../ledger/identity.ts';
import { firstDatedBefore, lastEntry, readEntryPages } from '../../ledger/read-entries.ts';
import { latestDatedCheckpoint, newestCheckpoint } from '../../ledger/stored-checkpoints.ts';
import { diagnoseEntry } from '../../ledger/verify/entry-fault.ts';
import { openBucket } from '../../outside/bucket.ts';
import { checkMailServer } from '../../outside/mail.ts';
import { BucketError } from '../../outside/s3.ts';
import { SendError } from '../../outside/send-error.ts';
import { loadFoldPosition } from '../../projections/position.ts';
import { counted } from '../command-io.ts';
import { type DoctorCheck, fault, type Line, note, ok, runChecks } from './finding.ts';

const MEBIBYTE = 1024 ** 2;
/** A larger database is not read in full, because that takes seconds per GiB. */
const READ_THROUGH_BYTES = 512 * MEBIBYTE;
const ENTRIES_CHECKED = 1000;
/** If syncing is slower than this, deliveries noticeably wait for the disk. */
const SLOW_SYNC_MS = 50;
/** No disk is this fast: it reports data as written before it is. */
const IMPLAUSIBLE_SYNC_MS = 0.02;
const LAG_ENTRIES = 1000;
/** Clocks that differ by less are not reported. */
const CLOCK_MS = 300_000;

/** What the checks look at of the installation. */
type Installation = Pick<
  Context,
  | 'config'
  | 'store'
  | 'journal'
  | 'keys'
  | 'instance'
  | 'epoch'
  | 'verifierKey'
  | 'refusal'
  | 'warnings'
  | 'witnessPolicy'
  | 'witnessState'
  | 'clock'
>;

/** The installation, and the end of its ledger. */
interface Ledgered extends Installation {
  /** 0: the ledger is empty. */
  readonly lastSeq: number;
  readonly lastAt: string | null;
  /**
   * The folder of the database, whose disk commits wait for (with PostgreSQL, they wait for the server's). DATA_DIR may
   * be on another disk.
   */
  readonly databaseFolder: string;
}

const checks: readonly DoctorCheck<Ledgered>[] = [
  checkStore,
  checkDisk,
  checkSync,
  checkLastEntries,
  checkClock,
  checkTimes,
  checkSealing,
  checkWitnesses,
  checkKeyFile,
  checkProjector,
  checkWorker,
  checkBackups,
  checkNotifications,
  checkSignOn,
  async ({ warnings }) => (await warnings()).map(({ sentence, remedy, code }) => fault(code, sentence, remedy)),
];

/** Checks the stored data: durable, sound, sealed and projected. */
export async function checkData(context: Installation): Promise<readonly Line[]> {
  const last = await lastEntry(context.store.read);
  const { database, dataDir } = context.config;
  return runChecks(checks, {
    ...context,
    lastSeq: last?.seq ?? 0,
    lastAt: last?.receivedAt ?? null,
    databaseFolder: database.engine === 'sqlite' ? dirname(database.path) : dataDir,
  });
}

async function checkKeyFile({ config, verifierKey }: Pick<Context, 'config' | 'verifierKey'>): Promise<Line[]> {
  const path = verifierKeyPath(config.dataDir);
  if ((await stateOfKeyFile(path, verifierKey)) !== 'foreign') return [];
  return [
    fault(
      'verifier key',
      `${FOREIGN_KEY}.`,
      `Find out who replaced it and who got a copy. Delete ${path}: the next command writes it again.`,
    ),
  ];
}

async function checkStore({ store, config, refusal }: Pick<Context, 'config' | 'store' | 'refusal'>): Promise<Line[]> {
  const bytes = await store.sizeOnDisk();
  const readThrough = bytes <= READ_THROUGH_BYTES;
  const { schemaVersion, deviations, damage } = await store.inspect({ readThrough });
  const size = `${(bytes / MEBIBYTE).toFixed(1)} MiB`;
  const lines: Line[] = deviations.map((deviation) =>
    fault(
      'database',
      `The database has an unsafe setting: ${deviation}.`,
      store.engine === 'sqlite'
        ? 'Is it on a network file system? Move it to a local disk.'
        : 'Change it in the server’s configuration (docs/configuration.md, PostgreSQL).',
    ),
  );
  for (const { found, rebuilt } of damage ?? [])
    lines.push(
      rebuilt === null
        ? fault('database', `The database file is damaged: ${found}.`, 'Restore a backup and check the disk.')
        : fault(
            'database',
            `The file ${rebuilt} is damaged: ${found}.`,
            'Check the disk. Stop every process of consent-ledger and delete the file: it is rebuilt from the ledger.',
          ),
    );
  // Skipped if a warning already reports it.
  const differences = refusal()?.code === 'schema-altered' ? [] : await store.schemaDifferences({ quick: false });
  for (const difference of differences)
    lines.push(
      fault(
        'database',
        `The tables differ from those this program created: ${difference}.`,
        'Find out who changed them, then undo the change or restore a backup.',
      ),
    );
  if (lines.length > 0) return lines;
  const unread = store.engine === 'sqlite' ? '; too large to check here' : '; use pg_amcheck to check its files';
  const soundness = damage === null ? unread : ', structure sound';
  return [
    ok(
      'database',
      `${nameOf(config.database)}: schema version ${schemaVersion}, write-ahead log, every commit synced, ${size}${soundness}.`,
    ),
  ];
}

/** Without the password. */
function nameOf(database: Context['config']['database']): string {
  if (database.engine === 'sqlite') return database.path;
  const { hostname, pathname } = new URL(database.url);
  return `PostgreSQL${pathname} on ${hostname}`;
}

async function checkDisk({ databaseFolder: folder }: Ledgered): Promise<Line> {
  const { bavail, bsize, blocks } = await statfs(folder);
  const share = Math.round((bavail / blocks) * 100);
  // Low disk space is reported as a warning.
  return ok('disk', `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GiB free on the data disk (${share} %).`);
}

async function checkSync({ databaseFolder: folder }: Ledgered): Promise<Line> {
  const median = await measureSync(folder);
  const text = `${median.toFixed(median < 1 ? 2 : 1)} ms`;
  if (median > SLOW_SYNC_MS)
    return note(
      'disk',
      `Syncing a page to disk takes ${text}, and every delivery waits for that.`,
      'Use a local SSD; network disks and busy disks are slow.',
    );
  if (median < IMPLAUSIBLE_SYNC_MS)
    return note(
      'disk',
      `Syncing a page takes ${text}: no disk is that fast, so this one may report writes before they are durable.`,
      'Make sure that DATA_DIR is not on a RAM disk and that the disk’s cache survives a power failure.',
    );
  return ok('disk', `Syncing a page to disk takes ${text}.`);
}

/** Median milliseconds to write and sync 4 KiB. */
async function measureSync(folder: string): Promise<number> {
  const path = join(folder, `.sync-speed-${process.pid}`);
  const times: number[] = [];
  const file = await open(path, 'wx', 0o600);
  try {
    const page = Buffer.alloc(4096, 1);
    for (let round = 0; round < 21; round += 1) {
      const started = performance.now();
      await file.write(page, 0, page.length, round * page.length);
      await file.datasync();
      times.push(performance.now() - started);
    }
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
  return times.sort((a, b) => a - b)[10] ?? 0;
}

async function checkLastEntries({ store, keys, lastSeq }: Ledgered): Promise<Line[]> {
  if (lastSeq === 0) return [ok('ledger', 'The ledger is empty.')];
  const first = Math.max(0, lastSeq - ENTRIES_CHECKED);
  let expected = first + 1;
  for await (const page of readEntryPages(store.read, first, lastSeq)) {
    for (const entry of page) {
      const found =
        entry.seq !== expected
          ? { seq: expected, sentence: 'the entry is missing' }
          : diagnoseEntry(entry, keys.instance);
      if (found !== null) {
        const remedy =
          'Run `consent-ledger ledger verify` to list every fault. Do not change the database or the journal.';
        return [fault('ledger', `Entry ${found.seq} was altered: ${found.sentence}.`, remedy)];
      }
      expected += 1;
    }
  }
  const which = first === 0 ? `All ${lastSeq}` : `The last ${lastSeq - first} of ${lastSeq}`;
  return [
    ok('ledger', `${which} entries are unaltered${first === 0 ? '' : '; `consent-ledger ledger verify` checks all'}.`),
  ];
}

function checkClock({ lastAt, clock }: Ledgered): Line[] {
  const ahead = lastAt === null ? 0 : Date.parse(lastAt) - clock().getTime();
  if (ahead < CLOCK_MS) return [];
  return [
    fault(
      'clock',
      `The last entry is dated ${Math.round(ahead / 60_000)} minutes in the future: this machine’s clock was set back.`,
      'Enable NTP.',
    ),
  ];
}

/** Entries after a checkpoint or stamp that say they are older: the clock was set back, or somebody changed it on purpose. */
async function checkTimes({ store, epoch }: Ledgered): Promise<Line[]> {
  const newest = await latestDatedCheckpoint(store.read);
  const { witnesses } = await readWitnessState(store);
  const stated = [
    ...(newest === null ? [] : [{ what: 'the checkpoint', size: newest.size, at: newest.created_at }]),
    ...Object.values(witnesses).flatMap(({ name, size, at, epoch: of }) =>
      at === null || size === 0 || of !== epoch ? [] : [{ what: `the statement of ${name}`, size, at }],
    ),
  ];
  for (const { what, size, at } of stated) {
    const entry = await firstDatedBefore(store.read, size, new Date(Date.parse(at) - CLOCK_MS).toISOString());
    if (entry !== null)
      return [
        note(
          'clock',
          `Entry ${entry.seq} says that it was received on ${entry.receivedAt}, but was appended after ${what} over ${counted(size, 'entry', 'entries')} was made on ${at}: its place is proven, its time is not.`,
          'Enable NTP. `consent-ledger ledger verify` names all such times; do not rely on them.',
        ),
      ];
  }
  return [];
}

async function checkSealing({ store, journal, epoch, clock, lastSeq }: Ledgered): Promise<Line[]> {
  if (lastSeq === 0) return [];
  const checkpoint = await newestCheckpoint(store.read);
  const size = checkpoint?.size ?? 0;
  const newest = await journal.newest(epoch);
  const journalled = newest === null ? 0 : (parseTreeHead(newest)?.size ?? 0);
  const lines: Line[] = [];
  if (journalled < size)
    lines.push(
      fault(
        'journal',
        `The journal ends at a checkpoint over ${journalled} entries, the database at one over ${size}.`,
        'Restore DATA_DIR/journal from the backup that belongs to this database; `consent-ledger ledger verify` lists each checkpoint.',
      ),
    );
  else if (journalled === size && size > 0)
    lines.push(ok('journal', `Journal and database agree on the last checkpoint, over ${size} entries.`));
  const { unsealed } = await loadSealTimes(store.read);
  const isLate = unsealed !== null && clock().getTime() - Date.parse(unsealed) > UNSEALED_MS;
  // A warning says so (attention/operator-warnings.ts).
  if (!isLate)
    lines.push(
      ok(
        'sealing',
        checkpoint === null
          ? 'Nothing has been sealed yet.'
          : `The last checkpoint was made at ${checkpoint.created_at}; ${counted(lastSeq - size, 'entry', 'entries')} came after it.`,
      ),
    );
  return lines;
}

/** Whether anything leaves this machine. Late witnesses, or witnesses that have seen another history, are reported as warnings. */
async function checkWitnesses({ config, witnessPolicy, witnessState, warnings, epoch }: Ledgered): Promise<Line[]> {
  if (config.witnesses === null)
    return [
      note(
        'witnesses',
        'Checkpoints do not leave this machine: someone who has its keys could rewrite the whole ledger unnoticed.',
        'List witnesses, a time-stamping authority or a folder elsewhere in WITNESSES (docs/proofs.md).',
      ),
    ];
  let policy: Awaited<ReturnType<typeof witnessPolicy>>;
  try {
    policy = await witnessPolicy();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.problems.map((problem) => fault('witnesses', problem, 'Correct the file (docs/proofs.md).'));
  }
  const { witnesses } = await witnessState();
  const failing = Object.values(witnesses).filter(({ error, forked }) => error !== null && !forked);
  const lines = failing.map(({ name, error }) =>
    note(
      'witnesses',
      `${name} failed at the last attempt: ${error ?? ''}.`,
      'Run `consent-ledger ledger witness` to try again.',
    ),
  );
  if (config.checkpointLock === null)
    for (const { name } of policy?.witnesses.filter(({ kind }) => kind === 'bucket') ?? [])
      lines.push(
        note(
          'witnesses',
          `Copies in the bucket of ${name} are not locked: anyone with its keys can delete them.`,
          'Create a bucket with object lock and set CHECKPOINT_LOCK, for example COMPLIANCE 3650 days.',
        ),
      );
  if ((await warnings()).some(({ code }) => code === 'witness-late' || code === 'witness-forked')) return lines;
  const seen = Object.values(witnesses).filter((standing) => standing.epoch === epoch && standing.at !== null);
  const words = seen.map(({ name, size, at }) => `${name} over ${counted(size, 'entry', 'entries')} (${at ?? ''})`);
  const said =
    words.length === 0
      ? `${counted(policy?.witnesses.length ?? 0, 'witness', 'witnesses')} configured; none has been asked yet.`
      : `Witnessed by ${words.join(', ')}.`;
  return [...lines, ok('witnesses', said)];
}

async function checkProjector({ store, lastSeq }: Ledgered): Promise<Line[]> {
  const lag = lastSeq - ((await loadFoldPosition(store.read, 'projector'))?.seq ?? 0);
  // Read models ahead of the ledger are reported as a warning.
  if (lag < 0) return [];
  const count = await countQuarantined(store.read);
  const quarantined = count === 0 ? 'the quarantine is empty' : `${count} in quarantine`;
  if (lag <= LAG_ENTRIES)
    return [
      ok(
        'read models',
        `${lag === 0 ? 'The read models are up to date' : `The read models are ${lag} entries behind`}; ${quarantined}.`,
      ),
    ];
  return [
    fault(
      'read models',
      `The read models are ${lag} entries behind the ledger.`,
      'Check that a server is running. If it is and this number does not fall, look in its log; `consent-ledger ledger rebuild` rebuilds them.',
    ),
  ];
}

/** A worker looks every second. */
const WORKER_SILENT_MS = 60_000;

async function checkWorker({ store, clock, config }: Pick<Context, 'config' | 'store' | 'clock'>): Promise<Line> {
  const next = await findNextScheduled(store.read);
  const remedy = 'Start `consent-ledger serve`, or `consent-ledger worker` next to `serve --no-worker`.';
  if (next === null)
    return note('jobs', 'No worker has ever run here: nothing is synced or sealed automatically.', remedy);
  const late = clock().getTime() - Date.parse(next.nextAt);
  if (late > WORKER_SILENT_MS)
    return note('jobs', `No worker is running: ${next.name} was due ${Math.floor(late / 60_000)} minutes ago.`, remedy);
  return ok(
    'jobs',
    `No scheduled job is late; ${next.name} is due next, at ${localTimeOf(next.nextAt, config.timeZone).slice(11)}.`,
  );
}

/** Milliseconds that a scheduled backup may take before it counts as missed. */
const BACKUP_MS = 3_600_000;

/** Whether the newest backup is as recent as the schedule requires, and the last attempt succeeded. */
async function checkBackups({
  store,
  config,
  clock,
  instance,
}: Pick<Context, 'config' | 'store' | 'instance' | 'clock'>): Promise<Line[]> {
  const { folder, bucket, schedule } = config.backup;
  const remedy = 'Set BACKUP_FOLDER or BACKUP_BUCKET, BACKUP_RECIPIENTS and BACKUP_SCHEDULE (docs/backup.md).';
  if (schedule === null || (folder === null && bucket === null))
    return [
      note(
        'backup',
        'No backups are scheduled. If something else backs up this machine, it must include the database and DATA_DIR.',
        remedy,
      ),
    ];
  const lines: Line[] = [];
  const job = await findLastEnded(store.read, 'backup');
  if (job?.state === 'failed')
    lines.push(
      fault(
        'backup',
        `The backup of ${job.updatedAt} failed: ${(job.error ?? '').split('\n')[0]}`,
        'Fix the cause, then run `consent-ledger backup` to make one now.',
      ),
    );
  const look = async (place: string, list: () => Promise<readonly BackupFile[]>): Promise<Line> => {
    const [newest] = await list();
    if (newest === undefined) return fault('backup', `There is no backup in ${place}.`, 'Run `consent-ledger backup`.');
    const due = nextTime(schedule, config.timeZone, newest.madeAt);
    const at = newest.madeAt.toISOString();
    return due !== null && clock().getTime() - due.getTime() > BACKUP_MS
      ? fault(
          'backup',
          `The newest backup was made at ${at}; one was due at ${due.toISOString()}.`,
          'Check that a worker is running, then run `consent-ledger backup` to make one now.',
        )
      : ok('backup', `The newest backup was made at ${at}. Rehearse restoring it (docs/backup.md).`);
  };
  const found: Line[] = [];
  if (folder !== null)
    try {
      found.push(await look(folder, () => listBackups(folder, instance)));
    } catch (error) {
      const { code = 'error' } = error as NodeJS.ErrnoException;
      const sentence = `The folder ${folder} cannot be read (${code}).`;
      found.push(fault('backup', sentence, 'Mount it, or correct BACKUP_FOLDER.'));
    }
  if (bucket !== null) found.push(...(await checkBackupBucket(config, bucket, instance, look)));
  return [...lines, ...found.filter(({ level }) => level !== 'ok' || lines.length === 0)];
}

/** Whether the single sign-on provider responds, and has the issuer name configured here. */
async function checkSignOn({ config: { signOn } }: Pick<Context, 'config'>): Promise<Line[]> {
  if (signOn === null) return [];
  try {
    await discoverProvider(signOn);
    return [ok('single sign-on', `${signOn.issuer} answers.`)];
  } catch (error) {
    const reason = explainSignOn(error, signOn.issuer).words;
    const sentence = `${signOn.issuer} does not answer as an OpenID Connect provider: ${reason}.`;
    return [
      fault('single sign-on', sentence, 'Correct OIDC_ISSUER: <issuer>/.well-known/openid-configuration must answer.'),
    ];
  }
}

/** Whether notices can be sent: the mail server responds and accepts our login, and nothing is waiting to be sent. */
async function checkNotifications({
  store,
  config,
  clock,
}: Pick<Context, 'config' | 'store' | 'clock'>): Promise<Line[]> {
  const { mail, notify } = config;
  if (mail === null && notify.chatUrl === null && notify.webhook === null) return [];
  const lines: Line[] = [];
  if (mail !== null)
    try {
      await checkMailServer(mail);
      lines.push(ok('notifications', `The mail server ${mail.host} accepts mail from ${mail.from.address}.`));
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      const remedy = 'Correct SMTP_URL, then run `consent-ledger notify test --to <address>`.';
      lines.push(fault('notifications', `${error.message[0]?.toUpperCase() ?? ''}${error.message.slice(1)}.`, remedy));
    }
  if (mail !== null && config.checkpointMail.to.length > 0)
    lines.push(await checkCheckpointMail(store, config, clock()));
  const { count, error } = await countUnsent(store.read);
  if (count > 0)
    lines.push(
      fault(
        'notifications',
        `${counted(count, 'notification')} could not be sent yet: ${error ?? ''}.`,
        'Fix the cause: they are retried for half a day. To try a channel now, run `consent-ledger notify test`.',
      ),
    );
  return lines;
}

/** Milliseconds that a mail server may be down before the mail counts as missed. */
const CHECKPOINT_MAIL_MS = 24 * 3_600_000;

async function checkCheckpointMail(
  store: Context['store'],
  { checkpointMail: { schedule }, timeZone }: Context['config'],
  now: Date,
): Promise<Line> {
  const last = await readCheckpointMail(store);
  if (last === null)
    return note(
      'notifications',
      'No checkpoint has been mailed yet.',
      'Run `consent-ledger notify checkpoint` to mail one now.',
    );
  const due = schedule === null ? null : nextTime(schedule, timeZone, new Date(last.at));
  const sentence = `The checkpoint over ${counted(last.size, 'entry', 'entries')} was mailed on ${dateIn(last.at, timeZone)}`;
  return due !== null && now.getTime() - due.getTime() > CHECKPOINT_MAIL_MS
    ? fault(
        'notifications',
        `${sentence}; one was due at ${due.toISOString()}.`,
        'Check that a worker is running, then run `consent-ledger notify checkpoint` to mail one now.',
      )
    : ok('notifications', `${sentence}.`);
}

/** Whether the bucket responds, has a recent enough backup, and locks what it should. */
async function checkBackupBucket(
  { storage, backup }: Context['config'],
  address: BucketAddress,
  instance: string,
  look: (place: string, list: () => Promise<readonly BackupFile[]>) => Promise<Line>,
): Promise<Line[]> {
  const bucket = openBucket(storage, address);
  try {
    const line = await look(bucket.name, () => listBucketBackups(bucket, instance));
    const named = { ...line, sentence: line.level === 'ok' ? `${bucket.name}: ${line.sentence}` : line.sentence };
    if (backup.lock === null || (await bucket.canLock()) !== false) return [named];
    const sentence = `${bucket.name} cannot lock objects: with BACKUP_LOCK, no backup can be uploaded.`;
    return [named, fault('backup', sentence, 'Create a bucket with object lock, or set BACKUP_LOCK=off.')];
  } catch (error) {
    if (!(error instanceof BucketError)) throw error;
    const remedy = 'Correct BACKUP_BUCKET, AWS_ENDPOINT_URL_S3, AWS_REGION or the keys (docs/configuration.md).';
    return [fault('backup', `${bucket.name} cannot be read: ${error.message}.`, remedy)];
  }
}
