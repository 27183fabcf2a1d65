import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import { vi } from 'vitest';
import { addBannerEvidence, nameBanner, retractBannerEvidence } from '../../src/banners/evidence.ts';
import { openCase } from '../../src/cases/move-case.ts';
import { offboardSource } from '../../src/context/offboard.ts';
import type { ActionName } from '../../src/core/action.ts';
import { sha256Hex } from '../../src/crypto/hash.ts';
import { addAttachment } from '../../src/documents/attachments.ts';
import { saveOwnText } from '../../src/documents/letter-texts.ts';
import { produceLetter } from '../../src/documents/produce-letter.ts';
import { addDocumentSchedule, removeDocumentSchedule } from '../../src/documents/schedules.ts';
import { createHandOver, revokeHandOver } from '../../src/hand-over/hand-over.ts';
import { findPersonByEmail } from '../../src/people/people.ts';
import { removeSecondFactor, setSecondFactor } from '../../src/people/second-factor.ts';
import type { TableName } from '../../src/store/schema.ts';
import { readSetting } from '../../src/store/settings.ts';
import { recountConsentLogs } from '../../src/sync/recount.ts';
import { deliverTo } from '../cli/command-line.ts';
import { fill, keyPair, opened, type Place } from '../commands/backup-world.ts';
import { tokenOf } from '../http/api-caller.ts';
import { approvalIn, createSubject, makeMoves, makePack, OFFICER } from '../http/hand-over-world.ts';
import { createVisitor, PASSWORD, setPassword, signedIn, signedInAs } from '../http/office-world.ts';
import { fetchedText, seedRequests } from '../http/pages/seed.ts';
import { serveAuthority } from '../ledger/time-stamping-authority.ts';
import { startWitness } from '../ledger/witness-stand-in.ts';
import { addSoftPasskey } from '../people/soft-passkey.ts';
import { deliver } from '../serving.ts';
import { PATIENTLY, temporaryFolder } from '../temporary.ts';
import { type Installation, PUBLIC_URL, signInLooker } from './installation.ts';
import { backupAndRestore, type MakeDatabase } from './movements.ts';

/** What a feature leaves in an installation. The matrix checks that it does. */
export interface Leaves {
  readonly tables?: readonly TableName[];
  /** Names in DATA_DIR. */
  readonly files?: readonly string[];
  /** Names of settings; of those with an object after a colon, the part before. */
  readonly settings?: readonly string[];
  readonly actions?: readonly ActionName[];
}

/** What features need not claim, and why. */
export const elsewhere: Partial<Record<keyof Leaves, Readonly<Record<string, string>>>> = {
  actions: {
    'installation.moved': 'by `store copy --retire`, a movement',
    'installation.reopened': 'by `store reopen` (test/commands/store-copy.test.ts)',
    'reading.adopted': 'by the upgrade, a movement',
    // Entries like others of their feature, which need a service, a mail server or a clock that misbehaves.
    'mail.unsent': 'like mail.sent (test/documents/mail-once.test.ts)',
    'mail.unknown': 'like mail.sent (test/documents/mail-once.test.ts)',
    'sync.form-learned': 'like sync.finished (test/sync)',
    'repeat.settled': 'like sync.finished (test/sync/settle-repeats.test.ts)',
    'hand-over.expired': 'like hand-over.revoked (test/http/hand-over.test.ts)',
  },
  settings: {
    single_sign_on: 'needs a provider (test/http/single-sign-on.test.ts)',
    // Marks of something that did not end or failed: nothing is moved then.
    erasure_unfinished: 'until an erasure has ended',
    moved_to: 'by `store copy --retire`, a movement',
    unfinished_copy: 'during `store copy`',
    unfinished_restore: 'during `restore`',
    seal_failure: 'while the ledger cannot be sealed',
    write_probe: 'while nobody asks whether the server can write it is empty',
    data_directory: 'PostgreSQL only, of the place',
  },
  files: {
    backups: 'where an operator may keep backups; the program only looks whether there are any',
    'ledger.sqlite': 'the database, on SQLite',
    'ledger.sqlite-dedupe': 'the database, on SQLite',
    'ledger.sqlite-read-models': 'the database, on SQLite',
    'marker.json': 'PostgreSQL only, of the place',
  },
};

/** A row of the matrix: something that an installation can have, which no movement may lose. */
export interface Feature {
  readonly name: string;
  readonly leaves: Leaves;
  /** Moves or changes an empty installation before it is opened. */
  begin?(place: Place, makeDatabase: MakeDatabase | null): Promise<Place>;
  setUp?(made: Installation): Promise<unknown>;
  /** Addresses of the pages that show it. */
  readonly pages?: (made: Installation) => readonly string[] | Promise<readonly string[]>;
}

const DAY = 86_400_000;
const day = (offset: number) => new Date(Date.now() + offset * DAY).toISOString().slice(0, 10);

/** A request of its own for a feature, so that none depends on another; resolves with its case. */
async function openRequest(
  { world }: Pick<Installation, 'world'>,
  reference: string,
  kind = 'access',
  daysAgo = 3,
): Promise<string> {
  const seq = await world.event('dsar.submitted', {
    ...{ request_id: reference, type: kind, name: 'Ada Lovelace', email: `${reference}@example.org` },
    ...{
      jurisdiction: 'DE',
      language: 'en',
      visitor_hash: `visitor-${reference}`,
      submitted_at: new Date(Date.now() - daysAgo * DAY).toISOString(),
    },
  });
  return `default-${seq}`;
}

/** The same, ready to be answered. */
async function openReadyRequest(made: Installation, reference: string): Promise<string> {
  const caseId = await openRequest(made, reference);
  await makeMoves(made.world, caseId, [
    ['start', {}],
    ['confirm-identity', { how: 'Logged in to the customer account' }],
    ['mark-system', { system: 'shop', result: 'nothing-found' }],
    ['mark-system', { system: 'newsletter', result: 'nothing-found' }],
    ['mark-ready', {}],
  ]);
  return caseId;
}

const decision = (id: string, more: object = {}) => ({
  ...{
    consent_id: id,
    banner_id: 'bnr_1',
    visitor_hash: `visitor-${id}`,
    consent: { analytics: true, marketing: false },
  },
  ...{ policy_version: '3', recorded_at: new Date(Date.now() - 9 * DAY).toISOString(), ...more },
});

function assertOutcome<T extends { readonly outcome: string }, O extends T['outcome']>(
  done: T,
  outcome: O,
): Extract<T, { readonly outcome: O }> {
  if (done.outcome !== outcome) throw new Error(JSON.stringify(done));
  return done as Extract<T, { readonly outcome: O }>;
}

/** Waits until no job of a kind is waiting or running. */
async function untilDone({ world: { context } }: Installation, kind: string): Promise<void> {
  await vi.waitFor(async () => {
    const jobs = await context.jobs.list({ kind });
    if (jobs.length === 0 || jobs.some(({ finishedAt }) => finishedAt === null)) throw new Error(`${kind} runs`);
    const failed = jobs.find(({ state }) => state !== 'done');
    if (failed !== undefined) throw new Error(`${kind}: ${failed.error}`);
  }, PATIENTLY);
}

/** The values of a page's form. */
function fieldsOf(page: string, action: string): Record<string, string> {
  const [form = ''] = page.split('<form').filter((one) => one.startsWith(` method="post" action="${action}"`));
  const unescaped = (text: string) =>
    text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  const inputs = [...form.matchAll(/<input[^>]*>/g)].flatMap(([tag]) => {
    const name = /name="([^"]*)"/.exec(tag)?.[1];
    const isTicked = !/type="(?:checkbox|radio)"/.test(tag) || / checked/.test(tag);
    return name === undefined || !isTicked ? [] : [[name, unescaped(/ value="([^"]*)"/.exec(tag)?.[1] ?? '')]];
  });
  const areas = [...form.matchAll(/<textarea[^>]*name="([^"]*)"[^>]*>([^<]*)</g)].map(([, name = '', text = '']) => [
    name,
    unescaped(text),
  ]);
  const choices = [...form.matchAll(/<select[^>]*name="([^"]*)"[^>]*>(.*?)<\/select>/gs)].map(
    ([, name = '', options = '']) => [name, /<option value="([^"]*)"[^>]* selected/.exec(options)?.[1] ?? ''],
  );
  return Object.fromEntries([...inputs, ...areas, ...choices]) as Record<string, string>;
}

function assertDone(page: { readonly status: number; readonly text: string }, status = 303): void {
  if (page.status !== status)
    throw new Error(`answered with ${page.status}: ${/<main[^]*<\/main>/.exec(page.text)?.[0].slice(0, 2000)}`);
}

export const features: readonly Feature[] = [
  {
    name: 'the ledger itself',
    leaves: {
      tables: ['entries', 'checkpoints', 'settings', 'fold_positions', 'action_history'],
      files: ['keys', 'journal', 'high-water', 'log.vkey'],
      settings: ['instance_id', 'epoch', 'identity_pin', 'fingerprint_instance', 'fingerprint_signing', 'reading'],
    },
    pages: () => ['/', '/evidence'],
  },
  {
    name: 'an earlier epoch, from which a backup was restored',
    leaves: { actions: ['installation.restored'] },
    async begin(place, makeDatabase) {
      const context = await opened(place);
      await fill(context, 3);
      await context.seal();
      await context.close();
      return (await backupAndRestore.move(place, makeDatabase)).place;
    },
    pages: () => ['/evidence'],
  },
  {
    name: 'deliveries: decisions, requests, scans, integrations',
    leaves: {
      tables: [
        ...([
          'entries',
          'arrivals',
          'delivery_history',
          'delivery_counts',
          'delivery_quarters',
          'decision_history',
        ] as const),
        ...(['decision_quarters', 'decisions', 'case_history', 'cases', 'scan_history', 'scans'] as const),
        ...(['integration_history', 'integrations', 'ambiguous_repeats', 'quarantine', 'decision_judgements'] as const),
      ],
    },
    async setUp({ world }) {
      await seedRequests(world);
      await world.event('consent.recorded', decision('twice'));
      await world.event('consent.recorded', decision('twice'));
      // With neither an id nor a time, a repeat may be a new choice.
      for (let repeat = 0; repeat < 2; repeat += 1)
        await world.event('consent.recorded', {
          banner_id: 'bnr_1',
          visitor_hash: 'visitor-8',
          consent: { analytics: true },
        });
      // One that becomes known late: a later decision is judged again.
      const late = { visitor_hash: 'visitor-late', consent: { analytics: false } };
      await world.event(
        'consent.recorded',
        decision('later', { ...late, recorded_at: new Date(Date.now() - 5 * DAY).toISOString() }),
      );
      await world.event(
        'consent.recorded',
        decision('earlier', { visitor_hash: 'visitor-late', consent: { analytics: true } }),
      );
      await deliver(world.url, '{"event":"policy.published","status":"live"}');
    },
    pages: () => [
      '/deliveries',
      '/deliveries/unread',
      '/cases',
      '/consent/decisions',
      '/scans',
      '/figures',
      '/entries/3',
    ],
  },
  {
    name: 'deliveries with a wrong signature',
    leaves: { tables: ['rejected_deliveries', 'rejected_counts'] },
    async setUp({ world }) {
      const { status } = await deliverTo(`${world.url}/webhooks/default`, 'another secret', '{"event":"scan"}');
      if (status !== 401) throw new Error(`answered with ${status}`);
    },
    pages: () => ['/deliveries/refused'],
  },
  {
    name: 'deliveries that nobody understood, set aside by an officer',
    leaves: { tables: ['set_aside'], actions: ['unread.set-aside'] },
    async setUp({ world, owner }) {
      const seq = await world.event('something.else', { a: 1 });
      await owner.get('/deliveries/unread');
      const form = { source: 'default', event: 'something.else', named: 'yes', upTo: String(seq) };
      assertDone(await owner.post('/deliveries/unread/set-aside', form));
    },
    pages: () => ['/deliveries/unread'],
  },
  {
    name: 'a contradictory decision, settled by an officer',
    leaves: { tables: ['settled_findings'], actions: ['finding.settled'] },
    async setUp({ world, owner }) {
      const at = new Date(Date.now() - 3_600_000).toISOString();
      const record = { consent_id: 'settled', banner_id: 'bnr_1', visitor_hash: 'visitor-settled', recorded_at: at };
      await world.event('consent.recorded', { ...record, consent: { analytics: true } });
      const seq = await world.event('consent.recorded', { ...record, consent: { analytics: false } });
      await owner.get('/consent/contradictions');
      const form = {
        finding: `default ${seq} 0 ${encodeURIComponent('r:settled')}`,
        conclusion: 'disputed',
        reason: 'asked',
      };
      assertDone(await owner.post('/consent/contradictions/settle', form));
    },
    pages: () => ['/consent/contradictions?settled=yes'],
  },
  {
    name: 'several sources, one with its own controller profile, one offboarded',
    leaves: {
      tables: ['sources'],
      files: ['profiles'],
      settings: ['sources_version', 'environment_source'],
      actions: ['source.added', 'source.changed', 'source.offboarded'],
    },
    async setUp({ world: { context }, owner }) {
      for (const slug of ['shop', 'former'])
        assertOutcome(
          await context.sources.add({ slug, webhookSecrets: [`a-secret-of-${slug}-0123456789`] }, 'test'),
          'done',
        );
      assertOutcome(await context.sources.change('shop', { name: 'Shop' }, 'test'), 'done');
      assertDone(await owner.post('/settings/profile/own', { source: 'shop' }));
      assertOutcome(
        await offboardSource(context, { slug: 'former', actor: 'test', reason: 'the contract ended' }),
        'done',
      );
    },
    pages: () => ['/sources', '/sources/shop', '/sources/former', '/settings/profile?source=shop'],
  },
  {
    name: 'field names accepted from a proposal, and deliveries read again with them',
    leaves: { settings: ['discovery_proposal'], actions: ['source.mapping-accepted', 'source.reread'] },
    async setUp({ world, run }) {
      for (let n = 0; n < 12; n += 1) {
        const stuff = {
          serial: `s-${n}`,
          besucher: sha256Hex(Buffer.from(`v${n}`)),
          verdict: n % 2 === 0 ? 'agreed' : 'declined',
        };
        await world.event('choice_saved', {
          stuff: { ...stuff, moment: new Date(Date.now() - n * 60_000).toISOString() },
        });
      }
      await run('source', 'discover', 'default');
      await run('source', 'discover', 'default', '--accept');
      await run('ledger', 'rebuild', '--reread', 'default');
    },
    pages: () => ['/sources/default', '/sources/default/fields'],
  },
  {
    name: 'the controller profile',
    leaves: { files: ['controller.yaml'], actions: ['profile.changed'] },
    async setUp({ owner }) {
      const page = await owner.get('/settings/profile');
      assertDone(
        await owner.post('/settings/profile', { ...fieldsOf(page.text, '/settings/profile'), phone: '+49 30 1111111' }),
      );
    },
    pages: () => ['/settings/profile'],
  },
  {
    name: 'deadline rules of its own',
    leaves: { actions: ['regimes.changed'] },
    async begin(place) {
      const file = join(await temporaryFolder(), 'regimes.yaml');
      await writeFile(file, 'confirm: [ca-qc]\n');
      return { ...place, env: { ...place.env, REGIMES_FILE: file } };
    },
    pages: () => ['/deadline?kind=access&received=2026-07-01&place=CA-QC'],
  },
  {
    name: 'the consent log of the service',
    leaves: {
      tables: ['sync_positions'],
      actions: ['sync.finished', 'sync.failed', 'sync.banner-dismissed', 'sync.banner-restored', 'sync.recounted'],
    },
    async setUp({ run, world }) {
      const { context } = world;
      await world.event('consent.recorded', decision('gone', { banner_id: 'bnr_gone' }));
      await run('sync', '--source', 'default');
      const source = context.sources.find('default');
      const { banner_id: bannerId } = await context.store.read
        .selectFrom('sync_positions')
        .select('banner_id')
        .where('last_success_at', 'is not', null)
        .executeTakeFirstOrThrow();
      if (source === null) throw new Error('no source');
      const recount = { source, bannerId: bannerId === '' ? null : bannerId, actor: OFFICER };
      const service = context.sync.serviceFor({ source, baseUrl: source.baseUrl ?? '', apiKey: source.apiKey ?? '' });
      assertOutcome(await recountConsentLogs({ ...context.sync, service }, recount), 'counted');
      for (const more of [[], ['--restore'], []])
        await run('sync', 'dismiss', '--source', 'default', '--banner', 'bnr_gone', ...more);
    },
    pages: () => ['/sources/default', '/consent/undelivered'],
  },
  {
    name: 'policies made at the service, and its list',
    leaves: {
      tables: [
        'calls',
        'call_plans',
        'call_items',
        'call_slots',
        'positions',
        'listed_policies',
        'policy_lists',
        'policy_history',
        'policies',
      ],
    },
    async setUp({ world, run }) {
      await run('policy', 'generate', '--type', 'privacy-policy', '--jurisdiction', 'GB', '--business-name', 'Acme');
      const list = join(await temporaryFolder(), 'list.csv');
      await writeFile(list, 'policy_type,jurisdiction,business_name\nprivacy-policy,GB,Bolt\ncookie-policy,DE,Bolt\n');
      await run('policy', 'bulk', '--file', list);
      await run('policy', 'list');
      await world.event('policy.created', {
        policy_id: 'pol_1',
        policy_type: 'privacy-policy',
        version: '3',
        jurisdiction: 'DE',
      });
      await world.event('policy.published', { policy_id: 'pol_1', policy_type: 'privacy-policy', version: '3' });
      await vi.waitFor(async () => {
        const followed = await world.context.store.read.selectFrom('positions').select('name').execute();
        if (followed.length === 0) throw new Error('nothing follows the policies');
      }, PATIENTLY);
    },
    pages: () => [
      '/policies',
      '/policies/calls?source=default',
      '/policies/bulk',
      '/policies/policy?source=default&id=pol_1',
    ],
  },
  {
    name: 'texts of policies as visitors see them',
    leaves: { tables: ['snapshot_history', 'policy_texts'] },
    async setUp({ world, run }) {
      const at = (days: number) => new Date(Date.now() - days * DAY).toISOString();
      await fetchedText(world, { at: at(8), page: '<p>First</p>' });
      await fetchedText(world, { at: at(2), page: '<p>Second</p>' });
      await run('policy', 'snapshot', '--type', 'privacy-policy');
    },
    pages: async ({ world: { context } }) => {
      const { body_seq: entry } = await context.store.read
        .selectFrom('policy_texts')
        .select('body_seq')
        .where('target', '=', 'hosted:pol_1')
        .orderBy('version', 'desc')
        .executeTakeFirstOrThrow();
      return [`/policies/text?source=default&entry=${entry}`, '/policies'];
    },
  },
  {
    name: 'evidence of banners',
    leaves: {
      tables: ['banner_evidence'],
      files: ['evidence'],
      actions: ['banner.named', 'banner.evidence-added', 'banner.evidence-retracted'],
    },
    async setUp({ world: { context } }) {
      const of = { source: 'default', actor: OFFICER, bannerId: 'bnr_1' };
      assertOutcome(await nameBanner(context, { ...of, name: 'Main site' }), 'named');
      const add = async (n: number) =>
        assertOutcome(
          await addBannerEvidence(context, {
            ...{ ...of, fileName: `banner-${n}.html`, bytes: Buffer.from(`<!doctype html><p>Banner ${n}</p>`) },
            ...{ from: new Date(Date.now() - 30 * DAY).toISOString(), to: null, note: 'first layer' },
          }),
          'added',
        );
      await add(1);
      const { seq } = await add(2);
      await context.projector.catchUp();
      assertOutcome(await retractBannerEvidence(context, { seq, actor: OFFICER, reason: 'another site' }), 'retracted');
    },
    pages: () => ['/banners'],
  },
  {
    name: 'reports',
    leaves: {
      tables: ['documents'],
      files: ['documents'],
      actions: ['document.produced', 'counters.observed', 'document.downloaded'],
    },
    async setUp({ run, owner, world }) {
      for (const format of ['pdf', 'csv'])
        await run('report', 'consent-audit', '--from', day(-30), '--to', day(1), '--format', format);
      await run('report', 'delivery-log', '--from', day(-30), '--to', day(1));
      const { document_id: id } = await world.context.store.read
        .selectFrom('documents')
        .select('document_id')
        .executeTakeFirstOrThrow();
      assertDone(await owner.get(`/documents/${id}/download`), 200);
    },
    pages: () => ['/documents'],
  },
  {
    name: 'a scheduled report',
    leaves: { tables: ['schedules'], actions: ['document.schedule-added', 'document.schedule-removed'] },
    async setUp({ world: { context } }) {
      const wanted = {
        name: 'consent-audit',
        source: 'default',
        format: 'pdf',
        cron: '0 6 1 * *',
        covers: 'month',
        recipients: [],
        actor: OFFICER,
      };
      await context.projector.catchUp();
      assertOutcome(await addDocumentSchedule(context, wanted), 'added');
      const { scheduleId } = assertOutcome(await addDocumentSchedule(context, { ...wanted, covers: 'year' }), 'added');
      await removeDocumentSchedule(context, { scheduleId, source: 'default', actor: OFFICER });
    },
    pages: () => ['/documents/schedules'],
  },
  {
    name: 'a request with a pack, a letter that was mailed with a file, and an answer',
    leaves: {
      tables: ['jobs', 'job_counts'],
      actions: ['case.moved', 'document.manifest', 'document.mailed', 'mail.attempted'],
    },
    async setUp(made) {
      const { world, owner } = made;
      const { context } = world;
      const caseId = await openReadyRequest(made, 'with-pack');
      await makePack(world, caseId);
      const file = { caseId, actor: OFFICER, fileName: 'bill.txt', bytes: Buffer.from('12 euros') };
      const { documentId: fileId } = assertOutcome(await addAttachment(context.documents, file), 'added');
      const deps = { ...context.documents, cases: context.cases };
      const letter = { caseId, step: 'acknowledgement', text: null, format: 'pdf', actor: OFFICER } as const;
      const { documentId, seq } = assertOutcome(await produceLetter(deps, letter), 'produced');
      await context.projector.projected(seq);
      await owner.get(`/cases/${caseId}`);
      assertDone(await owner.post(`/cases/${caseId}/letters/${documentId}/mail`, { [`file-${fileId}`]: 'yes' }));
      await untilDone(made, 'letter-mail');
    },
    pages: async (made) => [await pageOf(made, 'with-pack'), '/documents?name=attachment'],
  },
  {
    name: 'a request on paper',
    leaves: { actions: ['case.opened'] },
    async setUp({ world: { context } }) {
      const request = {
        source: 'default',
        kind: 'erasure',
        jurisdiction: 'DE',
        requesterName: 'Grace Hopper',
        requesterEmail: null,
      } as const;
      const at = {
        receivedAt: new Date(Date.now() - DAY).toISOString(),
        subject: null,
        message: 'By letter.',
        actor: OFFICER,
      };
      const opened = await openCase(context.cases, { ...request, ...at, channel: 'letter' });
      if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened));
      await context.projector.projected(opened.seq);
    },
    pages: () => ['/cases'],
  },
  {
    name: 'a withdrawal by request',
    leaves: { actions: ['consent.withdrawn-by-request'] },
    async setUp(made) {
      await made.world.event('consent.recorded', decision('withdraws', { visitor_hash: 'visitor-withdraws' }));
      const caseId = await openRequest(made, 'withdraws', 'opt-out');
      await makeMoves(made.world, caseId, [
        ['start', {}],
        ['confirm-identity', { how: 'Logged in to the customer account' }],
        ['mark-system', { system: 'shop', result: 'nothing-found' }],
        ['mark-system', { system: 'newsletter', result: 'nothing-found' }],
        ['mark-ready', {}],
        ['answer', { channel: 'e-mail', disclosure: 'no-match' }],
      ]);
    },
    pages: async (made) => [await pageOf(made, 'withdraws'), '/consent/decisions'],
  },
  {
    name: 'a request for which a second person approved a refusal',
    leaves: {},
    async setUp(made) {
      const path = join(made.place.folder, 'controller.yaml');
      await writeFile(path, `${await readFile(path, 'utf8')}\nsecondPersonFor: [refuse]\n`);
      const caseId = await openRequest(made, 'refused');
      await makeMoves(made.world, caseId, [['start', {}]]);
      const otto = await signedInAs(made.world, 'officer', { name: 'Otto', email: 'otto@acme.example' });
      const page = await otto.get(`/cases/${caseId}`);
      assertDone(await otto.post(`/cases/${caseId}/moves`, approvalIn(page.text, 'refuse')));
    },
    pages: async (made) => [await pageOf(made, 'refused')],
  },
  {
    name: 'a task for the owner of another system',
    leaves: { actions: ['mail.sent'] },
    async setUp(made) {
      const caseId = await openRequest(made, 'with-task');
      await made.run(
        'dsar',
        'task',
        'add',
        caseId,
        '--what',
        'Delete the customer in the shop',
        '--due',
        day(20),
        '--owner',
        'Sam',
        '--owner-email',
        'sam@example.org',
      );
      await made.run('dsar', 'task', 'mail', caseId, '1');
      await untilDone(made, 'task-mail');
      await made.world.context.projector.catchUp();
    },
    pages: async (made) => [await pageOf(made, 'with-task')],
  },
  {
    name: 'a hand-over',
    leaves: {
      tables: ['hand_overs'],
      actions: [
        'hand-over.created',
        'hand-over.revoked',
        'hand-over.opened',
        'hand-over.code-refused',
        'hand-over.downloaded',
      ],
    },
    async setUp(made) {
      const { context } = made.world;
      const caseId = await openReadyRequest(made, 'handed-over');
      await makePack(made.world, caseId);
      const create = async () =>
        assertOutcome(await createHandOver(context, { caseId, actor: OFFICER, publicUrl: PUBLIC_URL }), 'created');
      await revokeHandOver(context, (await create()).handOver.hand_over_id, OFFICER);
      const { link, code } = await create();
      const subject = createSubject(made.world, link.slice(`${PUBLIC_URL}/h/`.length));
      await subject.enter(code === '00000000' ? '11111111' : '00000000');
      await subject.follow(await subject.enter(code));
      assertDone(await subject.get(`${new URL(link).pathname}/pack`), 200);
      await context.projector.catchUp();
    },
    pages: async (made) => [await pageOf(made, 'handed-over')],
  },
  {
    name: 'messages of a requester: one answered, one that is open',
    leaves: {},
    async setUp(made) {
      const caseId = await openRequest(made, 'with-messages');
      const wrote = (text: string) =>
        made.run('dsar', 'move', caseId, 'requester-message', 'about=question', `text=${text}`, 'channel=phone');
      await wrote('Which data?');
      await made.run('dsar', 'move', caseId, 'reply', 'text=What the letter lists.');
      await wrote('And the rest?');
      await untilDone(made, 'reply-mail');
    },
    pages: async (made) => [await pageOf(made, 'with-messages'), '/cases?messages=open'],
  },
  {
    name: 'an own wording of letters',
    leaves: { actions: ['letter-text.changed'] },
    async setUp({ world: { context } }) {
      const place = { source: null, step: 'acknowledgement', language: 'en' } as const;
      const change = { text: 'Thank you for your request.', basedOn: 0, actor: OFFICER };
      assertOutcome(await saveOwnText(context, place, change), 'saved');
      await context.projector.catchUp();
    },
    pages: () => ['/settings/letters?step=acknowledgement&language=en'],
  },
  {
    name: 'legal holds',
    leaves: { actions: ['hold.placed', 'hold.lifted'] },
    async setUp({ run }) {
      await run('hold', 'add', '--reason', 'a claim', '--officer', 'Olga', '--source', 'default', '--to', day(-400));
      const { holdId } = await run<{ holdId: string }>(
        'hold',
        'add',
        '--reason',
        'an inquiry',
        '--officer',
        'Olga',
        '--to',
        day(-400),
      );
      await run('hold', 'lift', holdId, '--reason', 'it ended', '--officer', 'Olga');
    },
    pages: () => ['/settings/retention'],
  },
  {
    name: 'an erasure, and a proposal that waits for a second person',
    leaves: { files: ['erasures'], settings: ['erasure-proposal'] },
    async setUp({ world, run, owner, place }) {
      const profile = join(place.folder, 'controller.yaml');
      const seq = await world.event('consent.recorded', decision('erased'));
      await run(
        'ledger',
        'erase',
        String(seq),
        '--yes',
        '--reason',
        'mistake',
        '--law',
        'eu-gdpr',
        '--officer',
        'Olga',
      );
      await world.event('consent.recorded', decision('to-be-erased'));
      await writeFile(profile, `${await readFile(profile, 'utf8')}\nerasureNeedsSecondOfficer: true\n`);
      const person = { by: 'subject', source: 'default', identifier: 'visitor-to-be-erased' };
      const preview = await owner.post('/settings/erasures/preview', person);
      const digest = /name="digest" value="(\w+)"/.exec(preview.text)?.[1] ?? '';
      const confirmed = { ...person, reason: 'request', law: 'eu-gdpr', sure: 'yes', digest };
      assertDone(await owner.post('/settings/erasures', confirmed));
      await world.context.projector.catchUp();
    },
    pages: () => ['/settings/erasures'],
  },
  {
    name: 'consent that was looked up, and a sealed record of it',
    leaves: { actions: ['consent.looked-up', 'consent.record-sealed', 'record.viewed'] },
    async setUp({ world, run, owner }) {
      await world.event('consent.recorded', decision('looked-up'));
      await run('consent', 'show', 'visitor-looked-up');
      await run('consent', 'record', 'looked-up');
      await owner.get('/cases');
    },
    pages: () => ['/consent/contradictions'],
  },
  {
    name: 'accounts with a password, a second factor, tokens, saved views, a calendar and preferences',
    leaves: {
      tables: [
        'people',
        'recovery_codes',
        'passkeys',
        'api_tokens',
        'sessions',
        'sign_in_links',
        'sign_in_failures',
        'idempotency_keys',
      ],
      settings: ['saved_views', 'calendar', 'notify_preferences'],
      actions: [
        ...(['person.added', 'person.changed', 'person.disabled', 'person.enabled', 'person.link-created'] as const),
        ...(['person.password-set', 'person.second-factor-set', 'person.token-created', 'token.created'] as const),
        ...(['session.opened', 'session.closed', 'session.refused', 'person.session-revoked'] as const),
        ...(['person.second-factor-removed', 'person.token-revoked'] as const),
      ],
    },
    async setUp({ world, run, owner }) {
      const { context } = world;
      const invited = await run<{ url: string }>(
        'people',
        'invite',
        'pia@acme.example',
        '--name',
        'Pia',
        '--role',
        'officer',
        '--source',
        'default',
        '--admin-url',
        'http://127.0.0.1:8081',
      );
      const token = new URL(invited.url).searchParams.get('token') ?? '';
      const pia = createVisitor(world.adminUrl);
      await pia.get(`/join?token=${token}`);
      assertDone(await pia.post('/join', { token, password: PASSWORD }));
      const person = await findPersonByEmail(context, 'pia@acme.example');
      if (person === null) throw new Error('not invited');
      const secret = new Secret({ size: 20 });
      const code = new TOTP({ secret }).generate({ timestamp: context.clock().getTime() });
      assertOutcome(await setSecondFactor(context, person, secret.base32, code), 'set');
      const problem = await addSoftPasskey(context, person);
      if (problem !== null) throw new Error(problem);
      await run('people', 'reset', 'pia@acme.example', '--admin-url', 'http://127.0.0.1:8081');
      const other = await findPersonByEmail(context, 'pia@acme.example');
      if (other === null) throw new Error('no account');
      await removeSecondFactor(context, other);
      assertOutcome(await setSecondFactor(context, other, secret.base32, code), 'set');
      await run('people', 'change', 'pia@acme.example', '--name', 'Pia Park');
      await run('people', 'disable', 'pia@acme.example');
      await run('people', 'enable', 'pia@acme.example');
      await (await signedIn(world)).post('/sign-out', {});
      const tina = await signedInAs(world, 'officer', { name: 'Tina', email: 'tina@acme.example' });
      await setPassword(world, tina.personId);
      await tina.get('/account');
      assertDone(
        await tina.post('/account/tokens', { label: 'old', scope: 'read', days: '30', present: PASSWORD }),
        200,
      );
      const [, tokenId = ''] = /name="token" value="(t-[0-9a-f]{8})"/.exec((await tina.get('/account')).text) ?? [];
      assertDone(await tina.post('/account/tokens/revoke', { token: tokenId }));
      await signInLooker(world);
      const [, session = ''] = /name="session" value="([0-9a-f]{64})"/.exec((await owner.get('/account')).text) ?? [];
      assertDone(await owner.post('/account/sessions', { session }));
      const stranger = createVisitor(world.adminUrl);
      await stranger.get('/sign-in');
      await stranger.post('/sign-in', { email: 'pia@acme.example', password: 'not this one at all' });
      const caller = await tokenOf(world, 'officer', { scope: 'work', name: 'Program' });
      const answer = await caller.post(
        '/api/v1/holds',
        { reason: 'asked once', to: '2020-01-01T00:00:00.000Z' },
        { 'idempotency-key': 'matrix-0123456789abcdef' },
      );
      if (answer.status >= 300) throw new Error(answer.text);
      await owner.get('/cases');
      assertDone(await owner.post('/cases/views', { name: 'Erasures', kind: 'erasure' }));
      assertDone(await owner.post('/cases/calendar', {}));
      await owner.get('/settings/notifications');
      assertDone(await owner.post('/settings/notifications', { digest: 'yes', groups: 'installation' }));
    },
    pages: () => ['/people', '/account', '/settings/notifications', '/cases?kind=erasure'],
  },
  {
    name: 'witnesses, a time-stamping authority, a folder and a bucket elsewhere',
    leaves: { files: ['witnessed'], settings: ['witnesses'], actions: ['checkpoint.witnessed'] },
    async setUp({ world, place, run }) {
      const { context } = world;
      const authority = await serveAuthority();
      const lines = [
        `witness other ${await startWitness('witness.example/1', context.verifierKey)}`,
        `timestamp tsa ${authority.caFile} ${authority.url}`,
        `directory share ${await temporaryFolder()}`,
        'bucket vault s3://ledger/checkpoints',
        'group all-of all other tsa share vault',
        'quorum all-of',
      ];
      const policy = join(await temporaryFolder(), 'policy');
      await writeFile(policy, `${lines.join('\n')}\n`);
      place.env['WITNESSES'] = policy;
      await run('ledger', 'witness');
      // What was signed is recorded once something else was appended.
      await world.event('consent.recorded', decision('witnessed'));
      await run('ledger', 'witness');
    },
    pages: () => ['/evidence'],
  },
  {
    name: 'an export, and a backup in a bucket',
    leaves: { files: ['exports', 'outgoing'], actions: ['export.made', 'export.downloaded', 'backup.made'] },
    async setUp(made) {
      const { owner, run } = made;
      await owner.get('/documents/export');
      assertDone(await owner.post('/documents/export', {}));
      await untilDone(made, 'export');
      assertDone(await owner.get('/documents/export/download'), 200);
      const { recipient } = await keyPair();
      await run('backup', '--out', 's3://ledger/backups', '--recipient', recipient);
    },
    pages: () => ['/documents/export'],
  },
  {
    name: 'notices and checkpoints that were mailed, and an address that waits for its confirmation',
    leaves: { settings: ['notified', 'checkpoint_mail', 'new_address'] },
    async setUp({ world, place, run }) {
      const { context } = world;
      Object.assign(place.env, { CHECKPOINT_MAIL_TO: 'dpo@acme.example' });
      await run('notify', 'checkpoint');
      const nina = await signedInAs(world, 'admin', { name: 'Nina', email: 'nina@acme.example' });
      await setPassword(world, nina.personId);
      await nina.get('/account');
      assertDone(await nina.post('/account/address', { email: 'nina.new@acme.example', present: PASSWORD }));
      await openRequest({ world }, 'to-be-noticed', 'access', 27);
      await context.jobs.enqueue({ kind: 'notify', payload: null });
      await vi.waitFor(async () => {
        if ((await readSetting(context.store, 'notified')) === null) throw new Error('nothing was notified');
      }, PATIENTLY);
    },
    pages: () => ['/settings/notifications'],
  },
  {
    name: 'the last verification and comparison',
    leaves: { settings: ['ledger_verified', 'read_models_checked'] },
    async setUp({ run }) {
      await run('ledger', 'verify');
      await run('ledger', 'rebuild', '--check');
    },
    pages: () => ['/evidence'],
  },
];

/** The page of the request with a reference. */
async function pageOf({ world: { context } }: Installation, reference: string): Promise<string> {
  const { case_id: caseId } = await context.store.read
    .selectFrom('cases')
    .select('case_id')
    .where('request_id', '=', reference)
    .executeTakeFirstOrThrow();
  return `/cases/${caseId}`;
}
