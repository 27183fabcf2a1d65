import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { addBannerEvidence } from '../../src/banners/evidence.ts';
import { moveCase } from '../../src/cases/move-case.ts';
import { loadConfig } from '../../src/config/config.ts';
import { type Context, openContext } from '../../src/context/context.ts';
import { sourceOptionsSchema } from '../../src/core/source.ts';
import { originOf, parseVerifierKey, verifierKeyOf } from '../../src/crypto/checkpoint.ts';
import { type Entry, placeEntry, sealEntry } from '../../src/crypto/entry.ts';
import { deriveKeys } from '../../src/crypto/keys.ts';
import { producePack } from '../../src/documents/produce-pack.ts';
import { produceReport } from '../../src/documents/produce-report.ts';
import { addDocumentSchedule } from '../../src/documents/schedules.ts';
import { carryOut as carryOutErasure } from '../../src/erasure/erase.ts';
import { placeHold } from '../../src/erasure/holds.ts';
import { planErasure } from '../../src/erasure/plan.ts';
import { createHandOver, revokeHandOver } from '../../src/hand-over/hand-over.ts';
import { appendDelivery } from '../../src/ledger/append-delivery.ts';
import { beginEpoch } from '../../src/ledger/epochs.ts';
import { entryFromRow } from '../../src/ledger/read-entries.ts';
import { type OutsideNote, verifyPublicly } from '../../src/ledger/verify/verify-publicly.ts';
import { createLog } from '../../src/log/log.ts';
import { createApiToken } from '../../src/people/api-tokens.ts';
import { invitePerson, setDisabled } from '../../src/people/people.ts';
import { environment } from '../serving.ts';
import { alterFile } from '../tampering.ts';
import type { Attack, Places } from './attacks.ts';
import { serveAuthority } from './time-stamping-authority.ts';
import { startWitness } from './witness-stand-in.ts';

export const levels = ['database', '+ DATA_DIR', '+ keys'] as const;
export type Level = (typeof levels)[number];

/** A small installation with some data of every kind, and what it handed out: a verifier key and its checkpoints. */
export interface AttackedWorld {
  readonly folder: string;
  readonly places: Places;
  readonly verifierKey: string;
  /** The file that WITNESSES names. */
  readonly policy: string;
  readonly outside: readonly OutsideNote[];
  remove(): Promise<void>;
}

// SQLite: the attacks are statements in its dialect, and copying the world is copying a file.
const open = (folder: string, policy: string, { env = {}, clock }: OpenOptions = {}) =>
  openContext(
    loadConfig(
      environment(folder, {
        SYNC_SCHEDULE: 'off',
        LOG_LEVEL: 'fatal',
        DATABASE_URL: '',
        INSTANCE_KEY,
        WITNESSES: policy,
        ...env,
      }),
      folder,
    ),
    createLog('fatal'),
    clock === undefined ? {} : { clock },
  );
interface OpenOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: () => Date;
}
export const INSTANCE_KEY = Buffer.alloc(32, 3).toString('base64');
const keys = deriveKeys(Buffer.alloc(32, 3));

export async function createAttackedWorld(): Promise<AttackedWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-'));
  // Outside DATA_DIR, because the attacks work on a copy of that.
  const policy = join(await mkdtemp(join(tmpdir(), 'consent-ledger-')), 'policy');
  await writeFile(join(folder, 'controller.yaml'), 'name: Acme GmbH\ncountry: DE\n');
  const before = await open(folder, policy);
  const restored = await restoredOnce(before);
  const context = await open(folder, policy);
  const deliver = async (event: string, data: Record<string, unknown>, source = 'default') => {
    const rawBody = Buffer.from(JSON.stringify({ event, data }));
    const delivery = {
      source,
      rawBody,
      headers: {},
      secretId: 'aaaaaaaa',
      verdict: 'verified',
      contentType: null,
    } as const;
    return (await appendDelivery(context.ledger, delivery, new Date().toISOString())).seq;
  };
  const decide = (n: number, source?: string) =>
    deliver(
      'consent.recorded',
      { consent_id: `c-${n}`, banner_id: 'b1', visitor_hash: `v-${n % 3}`, consent: { ads: true } },
      source,
    );
  const seal = async () => {
    const sealing = await context.seal();
    if (sealing.outcome !== 'sealed') throw new Error(sealing.outcome);
    const witnessing = await context.witness();
    if (witnessing.outcome !== 'witnessed' || !witnessing.quorum) throw new Error(JSON.stringify(witnessing));
    return { where: 'an earlier checkpoint', note: sealing.checkpoint.note };
  };
  const authority = await serveAuthority();
  const witness = await startWitness('witness.example/1', context.verifierKey, {
    clock: () => BigInt(Math.floor(Date.now() / 1000)),
  });
  await writeFile(
    policy,
    `witness one ${witness}\ntimestamp tsa ${authority.caFile} ${authority.url}\ngroup both all one tsa\nquorum both\n`,
  );
  const options = sourceOptionsSchema.parse({ fieldNames: { subject: ['who'] } });
  await context.sources.add({ slug: 'acme', options }, 'Olga');
  await deliver('policy.published', { policy_id: 'p1', title: 'Privacy', jurisdiction: 'DE', version: 1 });
  const hold = await placeHold(context, {
    officer: 'Olga',
    reason: 'a claim',
    source: 'acme',
    caseId: null,
    subject: null,
    from: null,
    to: null,
  });
  if (hold.outcome !== 'placed') throw new Error(JSON.stringify(hold));
  const consent = await decide(1);
  const second = await decide(2);
  await decide(2);
  await decide(3, 'acme');
  const outside = [restored.outside, await seal()];
  const request = await deliver('dsar.submitted', {
    request_id: 'r-1',
    type: 'access',
    jurisdiction: 'DE',
    language: 'en',
    email: 'zoe@example.net',
  });
  const middle = await decide(4);
  const evidence = {
    bannerId: 'b1',
    fileName: 'b.txt',
    bytes: Buffer.from('the banner'),
    from: '2026-01-01T00:00:00.000Z',
    to: null,
    note: null,
  };
  await addBannerEvidence(context, { source: 'default', actor: 'Olga', ...evidence });
  await context.sources.change('default', { options: { ...options, banners: ['b1'] } }, 'Olga');
  const change = await context.projector.catchUp();
  const aWhileAgo = new Date(Date.now() - 600_000).toISOString().slice(0, 16);
  await context.store.transaction((tx) =>
    tx.insertMany('rejected_counts', [{ source: 'default', minute: aWhileAgo, reason: 'mismatch', count: 3 }]),
  );
  const report = {
    name: 'consent-audit',
    source: 'default',
    from: '2020-01-01',
    to: '2100-01-01',
    format: 'csv',
  } as const;
  const made = await produceReport(context.documents, { ...report, actor: 'Olga' });
  if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
  await giveAccess(context);
  await decide(5);
  const erased = await decide(8);
  const list = await produceReport(context.documents, { ...report, name: 'delivery-log', actor: 'Olga' });
  if (list.outcome !== 'produced') throw new Error(JSON.stringify(list));
  const plan = { by: 'entries', seqs: [erased], documentIds: [list.documentId] } as const;
  const word = { officer: 'Olga', confirmedBy: null, reason: 'mistake', law: 'eu-gdpr', despite: [] } as const;
  const done = await carryOutErasure(context.erasure, await planErasure(context.erasure, plan), word);
  if (done.outcome !== 'erased') throw new Error(JSON.stringify(done));
  const last = await decide(6);
  outside.push(await seal());
  const end = await decide(7);
  await context.projector.catchUp();
  const verifierKey = verifierKeyOf(originOf(context.instance, context.epoch), context.keys.verifying);
  await context.close();
  return {
    folder,
    places: {
      ...{ consent, other: second, request, change, middle, last, end, erased, erasure: done.seqs[0] ?? 0 },
      ...{ epoch: restored.epoch, hold: hold.seq },
    },
    verifierKey,
    policy,
    outside,
    async remove() {
      await rm(folder, { recursive: true });
      await rm(dirname(policy), { recursive: true });
    },
  };
}

/** An owner, an officer and an account that was disabled; the officer's token and scheduled report; two packs handed over, of which one link was revoked. */
async function giveAccess(context: Context): Promise<void> {
  const by = { officer: 'Olga', personId: null, role: 'owner' } as const;
  const invite = async (name: string, role: 'owner' | 'officer', sources: string[] | null) => {
    const invited = await invitePerson(context, { name, email: `${name}@example.net`, role, sources }, by);
    if (invited.outcome !== 'done') throw new Error(JSON.stringify(invited));
    const { personId, createdAt } = invited.person;
    await context.store.transaction((tx) =>
      tx.query.updateTable('people').set({ joined_at: createdAt }).where('person_id', '=', personId).execute(),
    );
    return { ...invited.person, joinedAt: createdAt };
  };
  await invite('olga', 'owner', null);
  const officer = await invite('otto', 'officer', ['acme']);
  await setDisabled(context, (await invite('gone', 'officer', null)).personId, true, by);
  const wanted = { label: 'export', scope: 'read', sources: ['acme'], days: 30 } as const;
  const token = await createApiToken(context, officer, { ...wanted, sources: [...wanted.sources] }, by);
  if (token.outcome !== 'made') throw new Error(JSON.stringify(token));
  const report = { name: 'dsar-register', source: 'acme', format: 'pdf', covers: 'month', cron: '0 6 1 * *' };
  const added = await addDocumentSchedule(context, { ...report, recipients: [officer.personId], actor: 'Olga' });
  if (added.outcome !== 'added') throw new Error(JSON.stringify(added));
  const of = await context.store.read.selectFrom('cases').select('case_id').executeTakeFirstOrThrow();
  const caseId = of.case_id;
  for (const [move, details] of [
    ['start', {}],
    ['confirm-identity', { how: 'signed in' }],
    ['mark-ready', {}],
  ] as const) {
    const { version } = await context.store.read
      .selectFrom('cases')
      .select('version')
      .where('case_id', '=', caseId)
      .executeTakeFirstOrThrow();
    const moved = await moveCase(context.cases, { caseId, basedOn: version, move, details, actor: 'Olga' });
    if (moved.outcome !== 'moved') throw new Error(`${move}: ${JSON.stringify(moved)}`);
    await context.projector.catchUp();
  }
  const deps = { ...context.documents, cases: context.cases };
  const pack = await producePack(deps, { caseId, actor: 'Olga' });
  if (pack.outcome !== 'produced') throw new Error(JSON.stringify(pack));
  await context.projector.catchUp();
  for (const reference of ['one', 'two']) {
    const given = { caseId, actor: 'Olga', approvedBy: 'Anna', publicUrl: 'https://privacy.example', reference };
    const handed = await createHandOver(context, given);
    if (handed.outcome !== 'created') throw new Error(JSON.stringify(handed));
    if (reference === 'one') await revokeHandOver(context, handed.handOver.hand_over_id, 'Olga');
  }
}

/** The first epoch: an entry and a checkpoint, and the entry that begins the second one, as after a restore. */
async function restoredOnce(context: Context): Promise<{ readonly outside: OutsideNote; readonly epoch: number }> {
  const { store, instance, clock, ledger } = context;
  await appendDelivery(
    ledger,
    {
      ...{ source: 'default', headers: {}, secretId: 'aaaaaaaa', verdict: 'verified', contentType: null },
      rawBody: Buffer.from(
        '{"event":"consent.recorded","data":{"consent_id":"c-0","banner_id":"b1","visitor_hash":"v-0"}}',
      ),
    },
    new Date().toISOString(),
  );
  const sealing = await context.seal();
  if (sealing.outcome !== 'sealed') throw new Error(sealing.outcome);
  const { first } = await beginEpoch(
    { store, keys: context.keys.instance, clock },
    { instance, epoch: 2, publicKey: context.keys.verifying },
    { actor: 'Olga', backup: null, checkpoint: sealing.checkpoint.note, lost: null, faults: 0 },
  );
  await context.close();
  return { outside: { where: 'a checkpoint of the first epoch', note: sealing.checkpoint.note }, epoch: first };
}

const SAYS_NOTHING = `update entries set body = cast(json_set(cast(body as text), '$.files', json('[]')) as blob) where cast(body as text) like '%"checkpoint.witnessed"%'`;

/** Carries the attack out on a copy; resolves with the first finder, or null. */
export async function findAttack(
  world: AttackedWorld,
  group: string,
  attack: Attack,
  level: Level,
): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-'));
  try {
    await cp(world.folder, folder, { recursive: true });
    await carryOut(folder, world, group, attack, level);
    if (attack.does !== undefined) await act(folder, world, attack);
    return await findIn(folder, world, attack, level);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What the program itself is made to do. */
async function act(folder: string, world: AttackedWorld, { does, env, clockMs = 0 }: Attack): Promise<void> {
  const clock = () => new Date(Date.now() + clockMs);
  const context = await open(folder, world.policy, { clock, env: env?.(folder) ?? {} });
  try {
    await does?.(context);
  } finally {
    await context.close();
  }
}

async function carryOut(
  folder: string,
  world: AttackedWorld,
  group: string,
  attack: Attack,
  level: Level,
): Promise<void> {
  const statements = [...(attack.sql?.(world.places) ?? [])];
  if (level !== 'database') {
    await attack.files?.(folder);
    // Signed files contradict edits of what was signed, and of nothing else. Removing them where nothing does would only be noticed.
    const isHidden = attack.limit !== undefined || (level === '+ keys' && attack.limitWithKeys !== undefined);
    if (!isHidden && (attack.rewrites === true || ['Checkpoints', 'Identity'].includes(group))) {
      await rm(join(folder, 'journal'), { recursive: true });
      await rm(join(folder, 'witnessed'), { recursive: true });
      statements.unshift(`delete from settings where name = 'witnesses'`);
      if (group !== 'Checkpoints') statements.unshift('delete from checkpoints');
      // With the keys, the entry that says what witnesses signed is rewritten too.
      if (level === '+ keys' && attack.rewrites === true) statements.push(SAYS_NOTHING);
    }
  }
  await alterFile(join(folder, 'ledger.sqlite'), ...statements);
}

async function findIn(folder: string, world: AttackedWorld, attack: Attack, level: Level): Promise<string | null> {
  let context: Context;
  try {
    context = await open(folder, world.policy, { env: attack.env?.(folder) ?? {} });
  } catch (error) {
    if ((error as Error).name === 'UsageError') return 'start';
    throw error;
  }
  try {
    if (level === '+ keys' && attack.rewrites) await forge(context);
    if (level === '+ keys' && attack.beginsEpoch) {
      const { instance, store, clock } = context;
      const identity = { instance, epoch: context.epoch + 1, publicKey: context.keys.verifying };
      const begun = { actor: 'Olga', backup: null, checkpoint: null, lost: null, faults: 0 };
      await beginEpoch({ store, keys, clock }, identity, begun);
      await context.close();
      context = await open(folder, world.policy);
      await context.seal();
    }
    // Folding read models that match edited entries needs no key.
    if (attack.rewrites) await context.rebuild().catch(() => undefined);
    const verified = await context.verify();
    if (verified.faults.length > 0) return context.refusal() === null ? 'verify' : 'verify, start';
    // Times that contradict those of witnesses are named without counting as a fault.
    if (verified.misdated.length > 0) return 'verify';
    if (context.refusal() !== null) return 'start';
    const { counts, position, indexes } = await context.readModels.check();
    if (Object.keys(counts).length > 0 || position !== null || indexes.length > 0) return 'rebuild --check';
    const key = parseVerifierKey(world.verifierKey);
    if (key === null) throw new Error(world.verifierKey);
    const { faults } = await verifyPublicly({ read: context.store.read, key, outside: world.outside, now: new Date() });
    return faults.length > 0 ? 'verify --public' : null;
  } finally {
    await context.close();
  }
}

function rowOf(entry: Entry) {
  return {
    ...{ seq: entry.seq, source: entry.source, source_seq: entry.sourceSeq, kind: entry.kind },
    ...{ dedupe_key: entry.dedupeKey, received_at: entry.receivedAt, meta: entry.meta, body: entry.body },
    ...{ salt: entry.salt, commitment: entry.commitment, leaf_hash: entry.leafHash, mac: entry.mac },
  };
}

/** Forges as an attacker with the keys does after editing entries: numbers, hashes and MACs, then seals and read models. */
async function forge({ store, seal }: Context): Promise<void> {
  const rows = await store.read.selectFrom('entries').selectAll().orderBy('seq').execute();
  const last = new Map<string, number>();
  const forged = rows.map(entryFromRow).map((entry, place): Entry => {
    const { source, meta, salt } = entry;
    const sourceSeq = (last.get(source) ?? 0) + 1;
    last.set(source, sourceSeq);
    const body = entry.body === null ? null : Buffer.from(entry.body);
    if (meta === null || body === null || salt === null) {
      const none = Buffer.alloc(0);
      const { commitment } = entry;
      const bare = { ...entry, meta: none, body: none };
      return { ...placeEntry(bare, place + 1, sourceSeq, none, commitment, keys.append), meta, body, salt };
    }
    return sealEntry(
      { ...entry, meta, body },
      place + 1,
      sourceSeq,
      Buffer.concat([salt, Buffer.alloc(32)]).subarray(0, 32),
      keys.append,
    );
  });
  await store.transaction(async (tx) => {
    await tx.query.deleteFrom('entries').execute();
    // Row by row as stored: an erased entry has no content.
    await tx.insertMany('entries', forged.map(rowOf) as never);
  });
  await seal();
}
