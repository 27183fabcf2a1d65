import { generateKeyPairSync } from 'node:crypto';
import { appendFile, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addBannerEvidence } from '../../src/banners/evidence.ts';
import type { Context } from '../../src/context/context.ts';
import { verifierKeyOf } from '../../src/crypto/checkpoint.ts';
import { appendDelivery } from '../../src/ledger/append-delivery.ts';
import { bytes } from '../tampering.ts';

/** Numbers of entries in the attacked world (attack-world.ts). */
export interface Places {
  readonly consent: number;
  readonly other: number;
  readonly request: number;
  readonly change: number;
  readonly middle: number;
  readonly last: number;
  /** The newest, which is not sealed. */
  readonly end: number;
  /** An erased entry, and its erasure. */
  readonly erased: number;
  readonly erasure: number;
  /** The entry that begins the second epoch, and a legal hold. */
  readonly epoch: number;
  readonly hold: number;
}

/** One way to tamper with an installation. */
export interface Attack {
  readonly what: string;
  /** Statements against the database. */
  readonly sql?: (at: Places) => readonly string[];
  /** Changes files of DATA_DIR. */
  readonly files?: (dataDir: string) => Promise<unknown>;
  /** What the program is made to do afterwards, `clockMs` from now. */
  readonly does?: (context: Context) => Promise<unknown>;
  readonly clockMs?: number;
  /** Settings with which it runs from then on. */
  readonly env?: (dataDir: string) => Readonly<Record<string, string>>;
  /** It takes both the statements and the files. */
  readonly needsFiles?: true;
  /** Edits entries: an attacker with the keys then rewrites hashes, MACs, checkpoints and read models. */
  readonly rewrites?: true;
  /** An attacker with the keys begins an epoch afterwards, as a restore does. */
  readonly beginsEpoch?: true;
  /** The reason why the attack is not found. */
  readonly limit?: string;
  /** The same, for an attacker who holds the keys. */
  readonly limitWithKeys?: string;
}

const other = bytes('{"event":"consent.recorded","data":{"consent_id":"x"}}');
const random = bytes(Buffer.alloc(32, 5));
const COPY = 'kind, dedupe_key, received_at, meta, body, salt, commitment, leaf_hash, mac';

const entry = (what: string, sql: (at: Places) => readonly string[]): Attack => ({ what, sql, rewrites: true });
const undone: Pick<Attack, 'limitWithKeys'> = {
  limitWithKeys: 'the edit does not survive: recomputing hashes and numbers restores the original ones',
};
const appended: Pick<Attack, 'limitWithKeys'> = {
  limitWithKeys: 'this is an append like those of the program: a holder of the keys may append',
};
const column = (name: string, value: string, what = `\`${name}\` of an entry edited`): Attack =>
  entry(what, ({ consent }) => [`update entries set ${name} = ${value} where seq = ${consent}`]);
const database = (what: string, ...sql: string[]): Attack => ({ what, sql: () => sql });
const files = (what: string, work: (dataDir: string) => Promise<unknown>): Attack => ({ what, files: work });

const CREDENTIALS =
  'secrets are compared with nothing: someone who can write to the database can sign in, and what they do then is an entry';

const onEntries: readonly Attack[] = [
  column('body', other),
  column('body', bytes(''), '`body` of an entry emptied'),
  column('meta', bytes('{}')),
  column('salt', random),
  column('salt', bytes('short'), '`salt` of an entry of another length'),
  { ...column('commitment', random), ...undone },
  { ...column('leaf_hash', random), ...undone },
  { ...column('mac', random), ...undone },
  column('dedupe_key', random),
  column('received_at', `'2020-01-01T00:00:00.000Z'`),
  column('source', `'acme'`),
  { ...column('source_seq', '77'), ...undone },
  column('kind', `'consent-log'`, '`kind` of an entry turned into another one'),
  column('kind', `'ŷebhook'`, '`kind` of an entry: a letter with the same low byte'),
  column('kind', `'webhook '`, '`kind` of an entry: a space at its end'),
  column('kind', `'secret'`, '`kind` of an entry: an unknown one'),
  column('body', `'text'`, '`body` of an entry as text instead of bytes'),
  column('received_at', '5', '`received_at` of an entry as a number'),
  entry('a consent turned into a refusal', ({ consent }) => [
    `update entries set body = cast(replace(cast(body as text), 'true', 'false') as blob) where seq = ${consent}`,
  ]),
  entry('a request reassigned to another person', ({ request }) => [
    `update entries set body = cast(replace(cast(body as text), 'zoe', 'max') as blob) where seq = ${request}`,
  ]),
  entry('an officer’s action edited', ({ change }) => [
    `update entries set body = cast(replace(cast(body as text), 'Olga', 'Anna') as blob) where seq = ${change}`,
  ]),
  entry('content of two entries swapped', ({ consent, other: second }) => [
    `create table kept as select seq, body, meta, salt, commitment from entries where seq in (${consent}, ${second})`,
    `update entries set (body, meta, salt, commitment) = (select body, meta, salt, commitment from kept where kept.seq = ${consent + second} - entries.seq) where seq in (${consent}, ${second})`,
    'drop table kept',
  ]),
  entry('two entries swapped', ({ consent, other: second }) => [
    `update entries set seq = -1 where seq = ${consent}`,
    `update entries set seq = ${consent} where seq = ${second}`,
    `update entries set seq = ${second} where seq = -1`,
  ]),
  entry('an entry deleted', ({ consent }) => [`delete from entries where seq = ${consent}`]),
  entry('the first entry deleted', () => ['delete from entries where seq = 1']),
  entry('a request deleted', ({ request }) => [`delete from entries where seq = ${request}`]),
  entry('an entry deleted and the others renumbered', ({ consent }) => [
    `delete from entries where seq = ${consent}`,
    `update entries set seq = seq - 1 where seq > ${consent}`,
  ]),
  entry('the last sealed entry deleted', ({ last }) => [`delete from entries where seq >= ${last}`]),
  entry('an unsealed entry deleted', ({ end }) => [`delete from entries where seq >= ${end}`]),
  {
    ...entry('an unsealed entry deleted, and what DATA_DIR says of the highest number', ({ end }) => [
      `delete from entries where seq >= ${end}`,
    ]),
    files: (dataDir) => rm(join(dataDir, 'high-water'), { recursive: true }),
    needsFiles: true,
    limit:
      'between an append and the next seal (five minutes, or until a warning after an hour if somebody holds up the worker or its jobs) nothing outside the database knows about an entry',
  },
  entry('everything from the middle onwards deleted', ({ middle }) => [`delete from entries where seq > ${middle}`]),
  entry('every entry of one source deleted', () => [`delete from entries where source = 'default'`]),
  entry('all entries deleted', () => ['delete from entries']),
  {
    ...entry('an entry copied to the end', ({ consent, end }) => [
      `insert into entries (seq, source, source_seq, ${COPY}) select ${end + 1}, 'acme', 50, ${COPY} from entries where seq = ${consent}`,
    ]),
    ...appended,
  },
  {
    ...entry('an entry put at the end under a key of its own', ({ consent, end }) => [
      `insert into entries (seq, source, source_seq, ${COPY}) select ${end + 1}, 'acme', 60, kind, ${random}, received_at, meta, ${other}, salt, commitment, leaf_hash, mac from entries where seq = ${consent}`,
    ]),
    ...appended,
  },
  {
    ...entry('an entry far past the end', ({ consent }) => [
      `insert into entries (seq, source, source_seq, ${COPY}) select 900, 'acme', 50, ${COPY} from entries where seq = ${consent}`,
    ]),
    ...appended,
  },
  entry('an entry with the number 0', ({ consent }) => [
    `insert into entries (seq, source, source_seq, ${COPY}) select 0, 'acme', 50, ${COPY} from entries where seq = ${consent}`,
  ]),
  entry('an entry with a negative number', ({ consent }) => [
    `insert into entries (seq, source, source_seq, ${COPY}) select -3, 'acme', 50, ${COPY} from entries where seq = ${consent}`,
  ]),
  database(
    'content of an entry nulled without a recorded erasure',
    'update entries set body = null, meta = null, salt = null where seq = 3',
  ),
  database('salt of an entry nulled', 'update entries set salt = null where seq = 3'),
  database('body of an entry nulled', 'update entries set body = null where seq = 3'),
];

const onErasures: readonly Attack[] = [
  entry('content put into an erased entry', ({ erased }) => [
    `update entries set meta = ${bytes('{}')}, body = ${other}, salt = ${random} where seq = ${erased}`,
  ]),
  entry('an erasure that names another entry', ({ erasure, consent, erased }) => [
    `update entries set body = cast(replace(cast(body as text), '"seqs":[${erased}]', '"seqs":[${consent}]') as blob) where seq = ${erasure}`,
  ]),
  entry('the record of an erasure nulled', ({ erasure }) => [
    `update entries set meta = null, body = null, salt = null where seq = ${erasure}`,
  ]),
  {
    ...entry('an entry nulled under a forged erasure', ({ consent, end }) => [
      `update entries set meta = null, body = null, salt = null where seq = ${consent}`,
      `insert into entries (seq, source, source_seq, ${COPY}) select ${end + 1}, 'acme', 50, 'erasure', ${random}, received_at, ${bytes('{}')}, cast('{"seqs":[${consent}]}' as blob), salt, commitment, leaf_hash, mac from entries where seq = ${end}`,
    ]),
    ...appended,
  },
  entry('an erasure deleted', ({ erasure }) => [`delete from entries where seq = ${erasure}`]),
  entry('the reason of an erasure edited', ({ erasure }) => [
    `update entries set body = cast(replace(cast(body as text), '"mistake"', '"retention"') as blob) where seq = ${erasure}`,
  ]),
  entry('the hash of an erased document edited', ({ erasure }) => [
    `update entries set body = cast(json_set(cast(body as text), '$.documents[0].sha256', '${'ab'.repeat(32)}') as blob) where seq = ${erasure}`,
  ]),
  entry('an erased document removed from its erasure', ({ erasure }) => [
    `update entries set body = cast(json_set(cast(body as text), '$.documents', json('[]')) as blob) where seq = ${erasure}`,
  ]),
  entry('a person added to those whose rows are not pulled again', ({ erasure }) => [
    `update entries set body = cast(json_set(cast(body as text), '$.suppress', json('[{"source":"default","subject":"${'cd'.repeat(32)}"}]')) as blob) where seq = ${erasure}`,
  ]),
  files('the record of an erasure in DATA_DIR edited', async (dataDir) =>
    inFolder(join(dataDir, 'erasures'), async (path) =>
      writeFile(path, (await readFile(path, 'utf8')).replace('"mistake"', '"retention"')),
    ),
  ),
  files('the record of an erasure in DATA_DIR removed', async (dataDir) =>
    inFolder(join(dataDir, 'erasures'), (path) => rm(path)),
  ),
  files('an erased document put back', async (dataDir) => {
    const [record = ''] = await readdir(join(dataDir, 'erasures'));
    const said = await readFile(join(dataDir, 'erasures', record), 'utf8');
    const id = /"documentId":"([\w-]+)"/.exec(said)?.[1] ?? '';
    await writeFile(join(dataDir, 'documents', `${id}.csv`), 'seq,event');
  }),
];

const onEpochs: readonly Attack[] = [
  entry('the officer who restored a backup edited', ({ epoch }) => [
    `update entries set body = cast(replace(cast(body as text), 'Olga', 'Anna') as blob) where seq = ${epoch}`,
  ]),
  entry('the number of an epoch edited in the entry that begins it', ({ epoch }) => [
    `update entries set body = cast(replace(cast(body as text), '"epoch":2', '"epoch":3') as blob) where seq = ${epoch}`,
  ]),
  entry('the checkpoint that an epoch continues taken out', ({ epoch }) => [
    `update entries set body = cast(json_set(cast(body as text), '$.checkpoint', null) as blob) where seq = ${epoch}`,
  ]),
  entry('the entry that begins an epoch deleted', ({ epoch }) => [`delete from entries where seq = ${epoch}`]),
  entry('the entry that begins an epoch nulled', ({ epoch }) => [
    `update entries set meta = null, body = null, salt = null where seq = ${epoch}`,
  ]),
  entry('the entry that begins an epoch deleted, and epoch 1 reinstated', ({ epoch }) => [
    `delete from entries where seq = ${epoch}`,
    `update settings set value = '1' where name = 'epoch'`,
  ]),
  {
    ...entry('entries cut off, and an invented epoch begun there', ({ middle, epoch }) => [
      `delete from entries where seq > ${middle}`,
      `insert into entries (seq, source, source_seq, ${COPY}) select ${middle + 1}, source, 50, kind, ${random}, received_at, meta, cast(replace(cast(body as text), '"epoch":2', '"epoch":3') as blob), salt, commitment, leaf_hash, mac from entries where seq = ${epoch}`,
      `update settings set value = '3' where name = 'epoch'`,
    ]),
  },
  {
    ...entry('entries cut off, and a restore recorded to explain it', ({ middle }) => [
      `delete from entries where seq > ${middle}`,
    ]),
    beginsEpoch: true,
  },
];

const onHolds: readonly Attack[] = [
  entry('a legal hold edited to another source', ({ hold }) => [
    `update entries set body = cast(replace(cast(body as text), '"acme"', '"bolt"') as blob) where seq = ${hold}`,
  ]),
  entry('a legal hold deleted', ({ hold }) => [`delete from entries where seq = ${hold}`]),
  entry('a legal hold nulled', ({ hold }) => [
    `update entries set meta = null, body = null, salt = null where seq = ${hold}`,
  ]),
  database(
    'a legal hold edited in the read models',
    `update action_history set details = replace(details, '"acme"', '"bolt"') where action = 'hold.placed'`,
  ),
  database('a legal hold deleted in the read models', `delete from action_history where action = 'hold.placed'`),
  database(
    'a legal hold marked as lifted in the read models',
    `update action_history set action = 'hold.lifted' where action = 'hold.placed'`,
  ),
];

const UNTOUCHED =
  'no entry is touched: the notes of the journal, and those that were handed out, still fit the entries';
const lastOne = 'where size = (select max(size) from checkpoints)';
const onCheckpoints: readonly Attack[] = [
  database('`root` of a checkpoint edited', `update checkpoints set root = ${random} ${lastOne}`),
  database('`size` of a checkpoint edited', `update checkpoints set size = size - 2 ${lastOne}`),
  database(
    'a checkpoint over more entries than there are',
    `insert into checkpoints select 1024, epoch, root, frontier, note, created_at, mac from checkpoints ${lastOne}`,
  ),
  database(
    'a checkpoint of an impossible size',
    `insert into checkpoints select -4, epoch, root, frontier, note, created_at, mac from checkpoints ${lastOne}`,
  ),
  database(
    '`frontier` of a checkpoint edited',
    `update checkpoints set frontier = ${bytes(Buffer.alloc(64))} ${lastOne}`,
  ),
  database(
    '`created_at` of a checkpoint edited',
    `update checkpoints set created_at = '2020-01-01T00:00:00.000Z' ${lastOne}`,
  ),
  database('`mac` of a checkpoint edited', `update checkpoints set mac = ${random} ${lastOne}`),
  database(
    'the signature of a note edited',
    `update checkpoints set note = replace(note, substr(note, length(note) - 19, 6), 'AAAAAA') ${lastOne}`,
  ),
  database(
    'the size in a note edited',
    `update checkpoints set note = replace(note, char(10) || size || char(10), char(10) || (size + 1) || char(10)) ${lastOne}`,
  ),
  database(
    'a line added to a note',
    `update checkpoints set note = replace(note, char(10) || char(10), char(10) || 'more' || char(10) || char(10)) ${lastOne}`,
  ),
  database(
    'the note of another checkpoint',
    `update checkpoints set note = (select note from checkpoints order by size limit 1) ${lastOne}`,
  ),
  {
    ...database(
      'the newest checkpoint deleted, so that those who watch from outside are shown an earlier one',
      `delete from checkpoints ${lastOne}`,
    ),
    limit: UNTOUCHED,
  },
  {
    ...database('every checkpoint deleted', 'delete from checkpoints'),
    limit: UNTOUCHED,
  },
];

const onIdentity: readonly Attack[] = [
  database('`epoch` raised', `update settings set value = '3' where name = 'epoch'`),
  database(
    '`epoch` raised and entries cut off',
    `update settings set value = '3' where name = 'epoch'`,
    'delete from entries where seq > 6',
  ),
  database('`epoch` set to a word', `update settings set value = 'two' where name = 'epoch'`),
  database('`instance_id` edited', `update settings set value = 'aaaaaaaaaa' where name = 'instance_id'`),
  database('`instance_id` deleted', `delete from settings where name = 'instance_id'`),
  database('the pin of the identity deleted', `delete from settings where name in ('identity_pin', 'instance_id')`),
  database('the pin of the identity edited', `update settings set value = '00' where name = 'identity_pin'`),
  database(
    'the fingerprint of a key edited',
    `update settings set value = '0000000000000000' where name = 'fingerprint_signing'`,
  ),
];

const onSchema: readonly Attack[] = [
  database(
    'a trigger that drops requests',
    `create trigger t before insert on entries when new.source = 'x' begin select raise(ignore); end`,
  ),
  database(
    'a trigger on a read model',
    `create trigger t after insert on cases begin delete from cases where case_id = new.case_id; end`,
  ),
  database(
    'a view in place of a table',
    'alter table documents rename to hidden',
    'create view documents as select * from hidden',
  ),
  database('a unique index', 'create unique index one on quarantine (received_at)'),
  database('a column added', 'alter table cases add column more text'),
  database('a column dropped', 'alter table decision_history drop column region'),
  database('an index dropped', 'drop index quarantine_source'),
];

const onSources: readonly Attack[] = [
  database('field names of a source edited', `update sources set options = replace(options, '"who"', '"whom"')`),
  database(
    'field names of a source removed',
    `update sources set options = json_set(options, '$.fieldNames', json('{}'))`,
  ),
  database(
    'event names of a source edited',
    `update sources set options = json_set(options, '$.eventNames', json('{"dsar.submitted":"x.y"}'))`,
  ),
  database('offset of a source edited', `update sources set options = replace(options, '+00:00', '+09:00')`),
  database('banners of a source edited', `update sources set options = json_set(options, '$.banners', json('["b"]'))`),
  database(
    'controller profile of a source edited',
    `update sources set options = json_set(options, '$.controllerFile', '/tmp/x')`,
  ),
  database(
    'recipe of a source edited',
    `update sources set options = json_set(options, '$.subjectRecipe', json('{"algorithm":"sha256","normalise":"none","salt":"s"}'))`,
  ),
  database(
    'encoding of a secret edited',
    `update sources set options = json_set(options, '$.secretEncodings', json('{"aaaaaaaa":"hex"}'))`,
  ),
  database('invalid options of a source', `update sources set options = 'x'`),
  database('a source renamed', `update sources set slug = 'bolt' where slug = 'acme'`),
  database('a source deleted', `delete from sources where slug = 'acme'`),
  database('a source marked as offboarded', `update sources set offboarded_at = created_at where slug = 'acme'`),
];

/** Changes the declaration of an index without touching its content. */
function declareIndex(from: string, to: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
  return `pragma writable_schema = on /* decision_history */;
    update sqlite_schema set sql = replace(sql, ${quoted(from)}, ${quoted(to)}) where name = 'decision_history_at';
    pragma writable_schema = reset`;
}

const onReadModels: readonly Attack[] = [
  database(
    'a decision edited',
    `update decision_history set purposes = '{"granted":["ads"],"denied":[],"necessary":[]}'`,
  ),
  database('a decision deleted', 'delete from decision_history where seq = (select min(seq) from decision_history)'),
  database(
    'a decision before the first entry',
    'update decision_history set seq = -1 where seq = (select min(seq) from decision_history)',
  ),
  database(
    'a decision past the last entry',
    'update decision_history set seq = 900 where seq = (select min(seq) from decision_history)',
  ),
  database('the subject of a decision edited', `update decision_history set subject = 'somebody else'`),
  database('the commitment of a decision edited', `update decision_history set commitment = '00'`),
  database(
    'the present state of a decision edited',
    `update decisions set state = 'given'`,
    `update decisions set region = 'FR'`,
  ),
  database('a delivery deleted', 'delete from delivery_history where seq = (select min(seq) from delivery_history)'),
  database('a count of deliveries edited', 'update delivery_counts set deliveries = 900'),
  database('a case deleted', 'delete from cases'),
  database('the receipt of a case edited', `update cases set receipt_at = '2030-01-01T00:00:00.000Z'`),
  database('the history of a case edited', `update case_history set actor = 'nobody'`),
  database('an action edited', `update action_history set actor = 'nobody'`),
  database('an action deleted', 'delete from action_history where seq = (select min(seq) from action_history)'),
  database('banner evidence assigned to another banner', `update banner_evidence set banner_id = 'b2'`),
  database('a policy edited', `update policies set title = 'x', jurisdiction = 'FR'`),
  database(
    'a delivery hidden in quarantine',
    `insert into quarantine (seq, source, event, reason, received_at) values (3, 'default', 'x', 'y', '2026-01-01T00:00:00.000Z')`,
  ),
  database('a forged file in the table of documents', `update documents set sha256 = '${'ab'.repeat(32)}'`),
  database('the table of documents emptied', 'delete from documents'),
  database('position of the read models past the end', `update fold_positions set seq = 900 where name = 'projector'`),
  {
    what: 'position of the read models moved back',
    sql: ({ consent }) => [
      `update fold_positions set seq = ${consent} where name = 'projector'`,
      `delete from delivery_history where seq >= ${consent}`,
    ],
  },
  database(
    'an index filled with other values, and its declaration put back',
    declareIndex('(source, at', `(case when seq > 1 then 'x' else source end, at`),
    `reindex decision_history_at /* decision_history */`,
    declareIndex(`(case when seq > 1 then 'x' else source end, at`, '(source, at'),
  ),
];

const journal = async (dataDir: string, change: (text: string) => string) => {
  const folder = join(dataDir, 'journal');
  for (const name of await readdir(folder))
    await writeFile(join(folder, name), change(await readFile(join(folder, name), 'utf8')));
};
const inFolder = async (folder: string, work: (path: string) => Promise<unknown>) => {
  for (const name of await readdir(folder)) await work(join(folder, name));
};
const onFiles: readonly Attack[] = [
  files('the journal deleted', (dataDir) => rm(join(dataDir, 'journal'), { recursive: true })),
  files('a note removed from the journal', (dataDir) =>
    journal(dataDir, (text) => text.slice(text.indexOf('\n\n\n') + 3 || 1)),
  ),
  files('the size in a note of the journal edited', (dataDir) =>
    journal(dataDir, (text) => text.replace(/\n(\d+)\n/, (_, size) => `\n${Number(size) + 1}\n`)),
  ),
  files('the signature in a note of the journal edited', (dataDir) =>
    journal(dataDir, (text) => text.replace(/....\n\n/, 'AAA=\n\n')),
  ),
  files('a forged note in the journal', (dataDir) =>
    journal(
      dataDir,
      (text) => `${text}consent-ledger/x/2\n900\n${'A'.repeat(43)}=\n\n— consent-ledger/x/2 ${'A'.repeat(90)}\n\n`,
    ),
  ),
  files('text between the notes of the journal', (dataDir) => journal(dataDir, (text) => `all is well\n\n${text}`)),
  files('a document altered', (dataDir) => inFolder(join(dataDir, 'documents'), (path) => appendFile(path, ' '))),
  files('a document removed', (dataDir) => inFolder(join(dataDir, 'documents'), (path) => rm(path))),
  files('a file of banner evidence altered', (dataDir) =>
    inFolder(join(dataDir, 'evidence'), (path) => appendFile(path, ' ')),
  ),
  files('a file of banner evidence removed', (dataDir) => inFolder(join(dataDir, 'evidence'), (path) => rm(path))),
  files('the verifier key replaced with another one', async (dataDir) => {
    const path = join(dataDir, 'log.vkey');
    const [name = ''] = (await readFile(path, 'utf8')).split('+');
    await writeFile(path, `${verifierKeyOf(name, generateKeyPairSync('ed25519').publicKey)}\n`);
  }),
  files('the verifier key put under the name of another epoch', async (dataDir) => {
    const path = join(dataDir, 'log.vkey');
    await writeFile(path, (await readFile(path, 'utf8')).replace(/\/2\+/, '/1+'));
  }),
  {
    ...files('the verifier key removed', (dataDir) => rm(join(dataDir, 'log.vkey'))),
    limit: 'the program writes it again when it starts, and those who check have a copy of their own',
  },
];

const witnessed = async (dataDir: string, ending: string): Promise<readonly string[]> => {
  const folder = join(dataDir, 'witnessed');
  const names = (await readdir(folder)).filter((name) => name.endsWith(ending)).sort();
  return names.map((name) => join(folder, name));
};
/** Changes the newest file with an ending, given the one before it. */
const onNewest =
  (ending: string, work: (newest: string, earlier: string) => Promise<unknown>) => async (dataDir: string) => {
    const [earlier = '', newest = ''] = (await witnessed(dataDir, ending)).slice(-2);
    await work(newest, earlier);
  };
/** Puts another time into the last cosignature: the 8 bytes after the key's hash (c2sp.org/tlog-cosignature). */
async function redate(path: string, seconds: bigint): Promise<void> {
  const line = await lineOfWitness(path);
  const encoded = line.slice(line.lastIndexOf(' ') + 1);
  const signature = Buffer.from(encoded, 'base64');
  signature.writeBigUInt64BE(seconds, 4);
  await writeFile(path, (await readFile(path, 'utf8')).replace(encoded, signature.toString('base64')));
}
const lineOfWitness = async (path: string) => (await readFile(path, 'utf8')).trimEnd().split('\n').at(-1) ?? '';
const onWitnesses: readonly Attack[] = [
  files(
    'the size in a cosigned checkpoint edited',
    onNewest('.txt', async (path) => writeFile(path, (await readFile(path, 'utf8')).replace(/\n(\d+)\n/, '\n1\n'))),
  ),
  files('the cosignature of an earlier checkpoint put in its place', (dataDir) =>
    onNewest('.txt', async (path, earlier) =>
      writeFile(path, (await readFile(path, 'utf8')).replace(await lineOfWitness(path), await lineOfWitness(earlier))),
    )(dataDir),
  ),
  files('the cosignature cut off', (dataDir) =>
    onNewest('.txt', async (path) =>
      writeFile(path, (await readFile(path, 'utf8')).replace(`${await lineOfWitness(path)}\n`, '')),
    )(dataDir),
  ),
  files(
    'the newest cosigned checkpoint removed',
    onNewest('.txt', (path) => rm(path)),
  ),
  files(
    'a timestamp replaced with the token of another checkpoint',
    onNewest('.tsr', async (path, earlier) => writeFile(path, await readFile(earlier))),
  ),
  files('a byte of a timestamp edited', (dataDir) =>
    onNewest('.tsr', async (path) => {
      const bytesOfToken = await readFile(path);
      // Within the token's time.
      const place = bytesOfToken.indexOf('Z', 0, 'latin1') - 3;
      bytesOfToken[place] = (bytesOfToken[place] ?? 0) ^ 1;
      await writeFile(path, bytesOfToken);
    })(dataDir),
  ),
  files(
    'the newest timestamp removed',
    onNewest('.tsr', (path) => rm(path)),
  ),
  files(
    'the checkpoint that a timestamp covers removed',
    onNewest('.note', (path) => rm(path)),
  ),
  files('everything that witnesses signed removed', (dataDir) => rm(join(dataDir, 'witnessed'), { recursive: true })),
  files('every cosigned checkpoint replaced with the first one', async (dataDir) => {
    const [first = '', ...others] = await witnessed(dataDir, '.txt');
    for (const path of others) await writeFile(path, await readFile(first));
  }),
  files(
    'a cosigned checkpoint put under the size of another one',
    onNewest('.txt', (path, earlier) => rename(path, earlier)),
  ),
  files('the cosignature given the time 0', (dataDir) => onNewest('.txt', (path) => redate(path, 0n))(dataDir)),
  files('the cosignature dated into the far future', (dataDir) =>
    onNewest('.txt', (path) => redate(path, 1n << 39n))(dataDir),
  ),
  files('a cosigned checkpoint of another ledger put beside', async (dataDir) => {
    const [path = ''] = await witnessed(dataDir, '.txt');
    const foreign = (await readFile(path, 'utf8')).replaceAll(/consent-ledger\/\w+\//g, 'consent-ledger/ffffffffff/');
    await writeFile(path.replace(/\d{16}/, '0000000000000900'), foreign);
  }),
  database(
    'the record of the witnesses claims that they have seen more',
    `update settings set value = json_set(value, '$.quorum.size', 900, '$.witnesses', (select json_group_object(key, json_set(value, '$.size', 900)) from json_each(settings.value, '$.witnesses'))) where name = 'witnesses'`,
  ),
  {
    ...database('the record of the witnesses in the database deleted', `delete from settings where name = 'witnesses'`),
    limit:
      'it is only used for display: the next run rewrites it, and what the witnesses signed is in DATA_DIR/witnessed and with them',
  },
];

const ENDED = 'update hand_overs set';
const onAccess: readonly Attack[] = [
  database('an officer made owner', `update people set role = 'owner' where name = 'otto'`),
  database('an account given every source', `update people set sources = null where name = 'otto'`),
  database('a disabled account enabled', 'update people set disabled_at = null'),
  database(
    'an account added',
    `insert into people (person_id, email, name, role, created_at) values ('p-x', 'x@example.net', 'x', 'owner', '2026-01-01T00:00:00.000Z')`,
  ),
  {
    ...database('an account deleted', `delete from people where name = 'otto'`),
    limit: 'nobody gains access by it, and what the person did remains in the entries',
  },
  {
    ...database(
      'the password or passkey of an account replaced',
      `update people set password = 'x' where name = 'olga'`,
    ),
    limit: CREDENTIALS,
  },
  database('an API token allowed to act', `update api_tokens set scope = 'work'`),
  database('an API token given every source', 'update api_tokens set sources = null'),
  database(
    'an API token assigned to another person',
    `update api_tokens set person_id = (select person_id from people where name = 'olga')`,
  ),
  database('the life of an API token prolonged', `update api_tokens set expires_at = '2999-01-01T00:00:00.000Z'`),
  {
    ...database('the secret of an API token replaced', `update api_tokens set token_hash = ${random}`),
    limit: CREDENTIALS,
  },
  database(
    'an API token added',
    `insert into api_tokens (token_id, token_hash, person_id, label, scope, created_at, expires_at) select 't-x', ${random}, person_id, 'x', 'work', created_at, '2999-01-01T00:00:00.000Z' from people where name = 'olga'`,
  ),
  database('a link that was revoked opens its pack again', `${ENDED} revoked_at = null`),
  database('the life of a link to a pack prolonged', `${ENDED} expires_at = '2999-01-01T00:00:00.000Z'`),
  database('a link to a pack opens another document', `${ENDED} document_id = 'x'`),
  database(
    'a scheduled report sent to other people',
    `update schedules set payload = replace(payload, 'p-', 'q-') where name like 'document-%'`,
  ),
  database(
    'the times of a scheduled report edited',
    `update schedules set cron = '* * * * *' where name like 'document-%'`,
  ),
  {
    ...database('a scheduled report removed', `delete from schedules where name like 'document-%'`),
    limit: 'a report that is not made is missed by its recipients; nothing wrong is shown',
  },
];

const onRefused: readonly Attack[] = [
  database('the count of refused deliveries lowered', 'update rejected_counts set count = count - 1'),
  database('counts of refused deliveries deleted', 'delete from rejected_counts'),
  database(
    'a count that leaves no room for more',
    `insert into rejected_counts values ('acme', '2026-01-01T00:00', 'mismatch', 9223372036854775807)`,
  ),
  database(
    'a refused delivery that takes up all room',
    `insert into rejected_deliveries (source, received_at, address, reason, bytes, sealed) values ('acme', '9999-01-01', '192.0.2.1', 'mismatch', 999999999, ${random})`,
  ),
];

const outOfScope: readonly Attack[] = [
  {
    ...database('the count of repeats edited', 'update arrivals set count = 900'),
    limit: 'repeats are counted outside the ledger; a report records what it prints as an entry',
  },
  {
    ...database('jobs deleted', 'delete from jobs'),
    limit: 'work is lost or delayed, but no evidence: schedules create it again',
  },
  {
    ...database(
      'a session added',
      `insert into sessions (id_hash, officer, way, browser, created_at, expires_at) values (${random}, 'x', 'link', 'x', '2026-01-01', '2999-01-01')`,
    ),
    limit: CREDENTIALS,
  },
  {
    ...database('refused deliveries deleted, without their counts', 'delete from rejected_deliveries'),
    limit: 'their bodies are kept outside the ledger for 72 hours, as far as there is room; they are still counted',
  },
];

const delivered = ({ ledger, clock }: Context) => {
  const delivery = {
    source: 'default',
    headers: {},
    secretId: 'aaaaaaaa',
    verdict: 'verified',
    contentType: null,
    rawBody: Buffer.from('{"event":"consent.recorded","data":{"consent_id":"c-late","banner_id":"b1"}}'),
  } as const;
  return appendDelivery(ledger, delivery, clock().toISOString());
};
const onSurroundings: readonly Attack[] = [
  {
    what: 'the clock set back by a day before an entry is appended',
    does: delivered,
    clockMs: -86_400_000,
  },
  {
    what: 'the clock set back by four minutes',
    does: delivered,
    clockMs: -240_000,
    limit: 'clocks differ, and are corrected by small steps: contradictions of up to five minutes are not reported',
  },
  {
    what: 'a law switched off in REGIMES_FILE',
    files: (dataDir) => writeFile(join(dataDir, 'regimes.yaml'), 'disable: [eu-gdpr]\n'),
    env: (dataDir) => ({ REGIMES_FILE: join(dataDir, 'regimes.yaml') }),
    limit:
      'the rules are the operator’s choice: a change is an entry when the server starts or a document is made, and documents print such rules as the installation’s own',
  },
  {
    what: 'a forged picture of a banner uploaded as evidence',
    does: (context) =>
      addBannerEvidence(context, {
        ...{
          source: 'default',
          bannerId: 'b1',
          fileName: 'banner.pdf',
          bytes: Buffer.from('%PDF-1.7 forged'),
          note: null,
        },
        ...{ from: '2026-01-01T00:00:00.000Z', to: null, actor: 'Mallory' },
      }),
    limit:
      'an officer may upload any file: the entry, the report and the verifier name who did, and say that nothing proves what it shows',
  },
];

export const attacks: readonly (readonly [string, readonly Attack[]])[] = [
  ['Entries', onEntries],
  ['Erasures', onErasures],
  ['Epochs', onEpochs],
  ['Legal holds', onHolds],
  ['Checkpoints', onCheckpoints],
  ['Identity', onIdentity],
  ['Schema', onSchema],
  ['Sources', onSources],
  ['Read models', onReadModels],
  ['Files', onFiles],
  ['Witnesses', onWitnesses],
  ['Access', onAccess],
  ['Refused deliveries', onRefused],
  ['Clock, rules and uploads', onSurroundings],
  ['Outside the ledger', outOfScope],
];
