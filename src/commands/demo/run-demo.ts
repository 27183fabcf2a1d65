import { copyFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { consentRecordText } from '../../../reports/consent-record.ts';
import { loadConfig } from '../../config/config.ts';
import { loadConsentRecord } from '../../consent/record.ts';
import { type Context, openContext } from '../../context/context.ts';
import { producePack } from '../../documents/produce-pack.ts';
import { produceReport } from '../../documents/produce-report.ts';
import { type Server, startServer } from '../../http/server.ts';
import type { Verification } from '../../ledger/verify/verify-ledger.ts';
import { createLog } from '../../log/log.ts';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { listContradicted } from '../../store/queries/decisions-in.ts';
import { syncSource } from '../../sync/sync-source.ts';
import { startWorker } from '../../worker/worker.ts';
import { type CommandIo, counted, createProgress } from '../command-io.ts';
import { answerWithdrawals, DEMO_OFFICER, fetchTexts, prepareAnswer, showBanners } from './keep-evidence.ts';

const DAY = 86_400_000;
const CLIENTS = 2;

/** The results of the demo. */
export interface DemoResult {
  readonly folder: string;
  readonly deliveries: { readonly sent: number; readonly accepted: number; readonly refused: number };
  readonly rows: { readonly pulled: number; readonly stored: number };
  /**
   * What makes the records evidence: fetches of policy texts, evidence of banners, contradictory decisions, withdrawals
   * by request.
   */
  readonly evidence: {
    readonly texts: number;
    readonly banners: readonly number[];
    readonly disputed: readonly { readonly source: string; readonly decisionId: string; readonly at: string }[];
    readonly withdrawals: readonly string[];
  };
  readonly files: readonly string[];
  readonly verification: Verification;
  readonly attention: string;
  readonly readMoreAt: { readonly publicUrl: string; readonly adminUrl: string };
}

/** The running demo. */
interface Demo {
  readonly context: Context;
  readonly result: DemoResult;
  close(): Promise<void>;
}

/** Runs sandbox and product against each other over HTTP: a month of traffic, sync, report, pack, verification. */
export async function runDemo(folder: string, io: CommandIo): Promise<Demo> {
  const steps = createSteps(io);
  // A full hour, so that runs within the same hour give the same result.
  const end = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
  const start = new Date(end.getTime() - 30 * DAY);
  const clock = createDemoClock(start);
  // The sandbox runs in the simulated month too, so it shows the texts in force then.
  const sandbox = createSandbox({ seed: 7, clock: () => clock.now(), clients: CLIENTS, startedAt: start, endsAt: end });
  const opened: (() => Promise<void>)[] = [() => sandbox.close()];
  const close = async () => {
    for (const shut of opened.reverse()) await shut();
  };
  try {
    const urls = await sandbox.listen({ port: 0 });
    const config = loadConfig(await demoEnvironment(folder, sandbox, urls), folder);
    const context = await openContext(config, createLog('error'), { clock: clock.now, sample: true });
    opened.push(() => context.close());
    await addFurtherClients(context, sandbox, folder, urls);
    const server = await startServer(context);
    opened.push(() => server.close());
    for (const [place, client] of sandbox.clients.entries()) {
      client.webhookUrl = `${server.publicUrl}/webhooks/${slugOf(sandbox, place)}`;
    }
    steps.done(`sandbox at ${urls.siteUrl}, webhooks at ${server.publicUrl}`);
    const result = await tellTheStory({ folder, io, steps, sandbox, context, server, clock });
    const worker = await startWorker(context);
    opened.push(() => worker.stop());
    return { context, result, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Stage {
  readonly folder: string;
  readonly io: CommandIo;
  readonly steps: ReturnType<typeof createSteps>;
  readonly sandbox: Sandbox;
  readonly context: Context;
  readonly server: Server;
  readonly clock: DemoClock;
}

async function tellTheStory(stage: Stage): Promise<DemoResult> {
  const { io, steps, sandbox, context, server, clock, folder } = stage;
  const progress = createProgress(io, 'deliveries');
  let texts = 0;
  const deliveries = await playMonth(sandbox, context, clock, {
    onDelivery: (sent) => progress.report(sent, null),
    everyThirdDay: async () => {
      texts += await fetchTexts(context);
    },
  });
  progress.end();
  clock.release();
  texts += await fetchTexts(context);
  await context.projector.catchUp();
  steps.done(
    `a month of signed webhooks of ${counted(CLIENTS, 'client')}: ${deliveries.accepted} kept, ${deliveries.refused} refused because of their signature`,
  );

  const rows = { pulled: 0, stored: 0 };
  for (const source of context.sources.list()) {
    const synced = await syncSource(context.sync, { source, actor: DEMO_OFFICER });
    if (synced.outcome !== 'done') throw new Error(`the sync of ${source.slug} did not end: ${synced.outcome}`);
    for (const banner of synced.banners) {
      if (banner.outcome !== 'finished')
        throw new Error(`the sync of ${source.slug} failed: ${JSON.stringify(banner)}`);
      rows.pulled += banner.rows;
      rows.stored += banner.stored;
    }
  }
  steps.done(`consent log pulled: ${counted(rows.pulled, 'row')}`);

  steps.done(`policy texts fetched as visitors see them: ${counted(texts, 'fetch', 'fetches')}`);

  const banners = await showBanners(context, sandbox);
  const withdrawals: string[] = [];
  for (const { slug } of context.sources.list()) withdrawals.push(...(await answerWithdrawals(context, slug)));
  const disputed = await listContradicted(context.store.read);
  steps.done(
    `evidence kept: ${counted(banners.length, 'file')} of banner evidence, ${counted(withdrawals.length, 'withdrawal')} by request, ${counted(disputed.length, 'disputed decision')}`,
  );

  const files = await makeDocuments(context, folder, disputed[0] ?? null);
  steps.done(`documents made: ${files.map((file) => relative(folder, file)).join(', ')}`);

  await context.seal();
  const verification = await context.verify();
  const { faults, entries, checkpoints } = verification;
  if (faults.length > 0) throw new Error(`the ledger has faults: ${JSON.stringify(faults)}`);
  steps.done(
    `ledger verified: ${counted(entries, 'entry', 'entries')} under ${counted(checkpoints, 'signed checkpoint')}, nothing altered`,
  );
  const { sentence } = await context.attention();
  return {
    folder,
    deliveries,
    rows,
    evidence: { texts, banners, disputed, withdrawals },
    files,
    verification,
    attention: sentence,
    readMoreAt: { publicUrl: server.publicUrl, adminUrl: server.adminUrl },
  };
}

/** The first client is the source configured by the environment; the others are added, as an agency does. */
async function addFurtherClients(
  context: Pick<Context, 'sources'>,
  sandbox: Sandbox,
  folder: string,
  urls: { baseUrl: string; siteUrl: string },
): Promise<void> {
  const [first, ...others] = sandbox.clients;
  if (first === undefined) throw new Error('the sandbox has no client');
  const optionsOf = (client: typeof first, controllerFile: string | null) => ({
    banners: client.banners.map(({ id }) => id),
    controllerFile,
    subjectRecipe: client.subjectRecipe,
  });
  const changed = await context.sources.change(
    'default',
    { options: fullOptions(optionsOf(first, null)) },
    DEMO_OFFICER,
  );
  if (changed.outcome !== 'done') throw new Error(`the source default could not be set: ${JSON.stringify(changed)}`);
  for (const client of others) {
    const { slug, name, apiKey, siteKey, webhookSecret } = client;
    const options = fullOptions(optionsOf(client, await writeProfile(folder, slug, name)));
    const added = await context.sources.add(
      { slug, name, ...urls, apiKey, siteKey, webhookSecrets: [webhookSecret], options },
      DEMO_OFFICER,
    );
    if (added.outcome !== 'done') throw new Error(`the source ${slug} could not be added: ${JSON.stringify(added)}`);
  }
}

function fullOptions<T extends object>(options: T) {
  return { fieldNames: {}, assumedOffset: '+00:00', ...options };
}

function slugOf(sandbox: Sandbox, place: number): string {
  return place === 0 ? 'default' : (sandbox.clients[place]?.slug ?? '');
}

async function makeDocuments(
  context: Pick<
    Context,
    | 'store'
    | 'ledger'
    | 'keys'
    | 'instance'
    | 'sources'
    | 'projector'
    | 'cases'
    | 'documents'
    | 'cosigned'
    | 'seal'
    | 'loadProfile'
    | 'clock'
  >,
  folder: string,
  disputed: { readonly source: string; readonly decisionId: string } | null,
): Promise<string[]> {
  const { documents, cases } = context;
  const to = new Date(context.clock().getTime() + DAY).toISOString().slice(0, 10);
  const from = new Date(context.clock().getTime() - 31 * DAY).toISOString().slice(0, 10);
  const files: string[] = [];
  const keep = async (path: string, name: string) => {
    const file = join(folder, name);
    await copyFile(path, file);
    files.push(file);
  };
  for (const { slug } of context.sources.list()) {
    for (const format of ['pdf', 'csv'] as const) {
      const report = await produceReport(documents, {
        name: 'consent-audit',
        source: slug,
        from,
        to,
        format,
        actor: DEMO_OFFICER,
      });
      if (report.outcome !== 'produced') throw new Error(`no report: ${JSON.stringify(report)}`);
      await keep(report.path, `consent-audit-${slug}.${format}`);
    }
    const prepared = await prepareAnswer(context, slug);
    if (prepared === null) continue;
    const pack = await producePack({ ...documents, cases }, { caseId: prepared.row.case_id, actor: DEMO_OFFICER });
    if (pack.outcome !== 'produced') throw new Error(`no pack: ${JSON.stringify(pack)}`);
    await keep(pack.path, `dsar-pack-${prepared.row.case_id}.zip`);
  }
  if (disputed !== null) {
    const source = context.sources.find(disputed.source);
    const found = await loadConsentRecord(context, {
      source: disputed.source,
      id: disputed.decisionId,
      actor: DEMO_OFFICER,
      asOf: await context.projector.catchUp(),
      profile: await context.loadProfile(source),
      checkpoint: null,
    });
    if (found.outcome !== 'found') throw new Error(`no consent record: ${JSON.stringify(found)}`);
    const file = join(folder, 'consent-record-disputed.json');
    await writeFile(file, consentRecordText(found.record));
    files.push(file);
  }
  await context.projector.catchUp();
  return files;
}

/** Prints each step when it is done, with its duration. */
function createSteps(io: CommandIo): { done(what: string): void } {
  let last = performance.now();
  return {
    done(what) {
      const now = performance.now();
      io.stderr.write(`  ✓ ${what} (${((now - last) / 1000).toFixed(1)} s)\n`);
      last = now;
    },
  };
}

/** The demo's clock: follows the simulated month, then real time. Never runs backwards during the simulation. */
interface DemoClock {
  now(): Date;
  /** Advances the clock to this time in the simulated month. */
  advanceTo(moment: Date): void;
  /** Switches to real time. */
  release(): void;
}

/** A clock that stays at `start` until it is advanced. */
function createDemoClock(start: Date): DemoClock {
  let played: number | null = start.getTime();
  return {
    now: () => new Date(played ?? Date.now()),
    advanceTo(moment) {
      if (played !== null) played = Math.max(played, moment.getTime());
    },
    release() {
      played = null;
    },
  };
}

// Times in a body of the sandbox's plain dialect: when it happened, sometimes also until when a consent is valid.
const moments = /"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)"/g;

/** When a simulated delivery arrives: shortly after its event, before `end`; null if its body has no time. */
function arrivalOf(body: Buffer, end: Date, delay: number): Date | null {
  const past = [...body.toString('utf8').matchAll(moments)]
    .map(([, text]) => Date.parse(text as string))
    .filter((moment) => moment <= end.getTime());
  return past.length === 0 ? null : new Date(Math.max(...past) + delay);
}

/** The controller profile of the demo's clients: complete, and evidently made up. */
function profileOf(name: string): object {
  return {
    name: `${name} (SAMPLE)`,
    address: ['Sample Street 1', '10115 Berlin', 'Germany'],
    country: 'DE',
    region: 'BE',
    email: 'privacy@sample.example',
    website: 'https://sample.example',
    dataProtectionOfficer: 'Sam Sample, dpo@sample.example',
    purposes: [
      {
        purpose: 'Proving consent choices',
        lawfulBasis: 'GDPR Art. 6(1)(c) with Art. 7(1)',
        retention: 'while relied on, and 3 years after',
      },
      { purpose: 'Statistics of use', lawfulBasis: 'GDPR Art. 6(1)(a)', retention: '13 months', names: 'analytics' },
      { purpose: 'Marketing', lawfulBasis: 'GDPR Art. 6(1)(a)', retention: 'until withdrawn' },
      {
        purpose: 'Remembering settings',
        lawfulBasis: 'GDPR Art. 6(1)(a)',
        retention: '12 months',
        names: 'preferences',
      },
    ],
    dataCategories: ['consent choices with their time', 'hashed visitor identifier', 'region'],
    dataSources: ['the consent banner on the website'],
    storedIn: ['DE'],
    recipients: [
      {
        name: 'The policy service (processor)',
        purpose: 'operates the consent banner',
        country: 'IE',
        address: 'Sample Quay 2, Dublin, Ireland',
        contact: 'privacy@policy-service.example',
      },
    ],
    noTransfers: true,
    automatedDecisions: 'None within the meaning of GDPR Art. 22.',
    supervisoryAuthority: {
      name: 'Berliner Beauftragte für Datenschutz und Informationsfreiheit',
      address: 'Alt-Moabit 59-61, 10555 Berlin',
      website: 'https://www.datenschutz-berlin.de',
    },
    withdrawalMethod: 'At any time through "Cookie settings" at the foot of each page.',
    otherSystems: [
      { id: 'shop', name: 'Shop database' },
      { id: 'newsletter', name: 'Newsletter tool' },
    ],
    signatory: 'Sam Sample, data protection officer',
    requestForm: true,
    translations: {
      de: {
        dataProtectionOfficer: 'Sam Sample, dpo@sample.example',
        purposes: [
          {
            purpose: 'Nachweis von Einwilligungen',
            lawfulBasis: 'Art. 6 Abs. 1 Buchst. c i. V. m. Art. 7 Abs. 1 DSGVO',
            retention: 'solange wir uns auf sie berufen, danach 3 Jahre',
          },
          { purpose: 'Nutzungsstatistik', lawfulBasis: 'Art. 6 Abs. 1 Buchst. a DSGVO', retention: '13 Monate' },
          { purpose: 'Werbung', lawfulBasis: 'Art. 6 Abs. 1 Buchst. a DSGVO', retention: 'bis zum Widerruf' },
          {
            purpose: 'Speichern von Einstellungen',
            lawfulBasis: 'Art. 6 Abs. 1 Buchst. a DSGVO',
            retention: '12 Monate',
          },
        ],
        dataCategories: [
          'Einwilligungsentscheidungen mit Zeitpunkt',
          'pseudonyme Besucherkennung (Hashwert)',
          'Region',
        ],
        dataSources: ['das Einwilligungsbanner auf unserer Website'],
        recipients: [
          {
            name: 'Der Policy-Dienst (Auftragsverarbeiter)',
            purpose: 'Betrieb des Einwilligungsbanners',
            country: 'IE',
          },
        ],
        automatedDecisions: 'Es finden keine automatisierten Entscheidungen im Sinne des Art. 22 DSGVO statt.',
        withdrawalMethod: 'Jederzeit über „Cookie-Einstellungen“ am Ende jeder Seite.',
        otherSystems: [
          { id: 'shop', name: 'Shop-Datenbank' },
          { id: 'newsletter', name: 'Newsletter-Programm' },
        ],
        signatory: 'Sam Sample, Datenschutzbeauftragte Person',
      },
    },
  };
}

/** The environment of the demo's installation: the first client as the source `default`, and none of the user's own settings. */
async function demoEnvironment(
  folder: string,
  sandbox: Sandbox,
  urls: { baseUrl: string; siteUrl: string },
): Promise<Record<string, string>> {
  const [client] = sandbox.clients;
  if (client === undefined) throw new Error('the sandbox has no client');
  const controllerFile = join(folder, 'controller.json');
  await writeFile(controllerFile, `${JSON.stringify(profileOf(client.name), null, 2)}\n`);
  const env = {
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    ADMIN_PORT: '0',
    SERVICE_BASE_URL: urls.baseUrl,
    SERVICE_SITE_URL: urls.siteUrl,
    SERVICE_API_KEY: client.apiKey,
    SERVICE_SITE_KEY: client.siteKey,
    WEBHOOK_SECRETS: client.webhookSecret,
    CONTROLLER_FILE: controllerFile,
    TIME_ZONE: 'Europe/Berlin',
    LOG_LEVEL: 'error',
  };
  // Lets every other command work in this folder: `cd demo-output && consent-ledger dsar list`.
  const lines = Object.entries({ ...env, PORT: '8080', ADMIN_PORT: '8081' }).map(([name, value]) => `${name}=${value}`);
  await writeFile(join(folder, '.env'), `${lines.join('\n')}\n`, { mode: 0o600 });
  return env;
}

/** Writes the profile of another client; returns its path. */
async function writeProfile(folder: string, slug: string, name: string): Promise<string> {
  const path = join(folder, `controller-${slug}.json`);
  await writeFile(path, `${JSON.stringify(profileOf(name), null, 2)}\n`);
  return path;
}

/** Plays a month of the sandbox's traffic over HTTP, advancing the clock with it; seals at the end of each day. */
async function playMonth(
  sandbox: Sandbox,
  context: Pick<Context, 'seal'>,
  clock: DemoClock,
  doing: { readonly onDelivery: (sent: number) => void; readonly everyThirdDay: () => Promise<void> },
): Promise<{ sent: number; accepted: number; refused: number }> {
  let sent = 0;
  let days = 0;
  let day = clock.now().toISOString().slice(0, 10);
  const traffic = await sandbox.playTraffic({
    async deliver(delivery) {
      // Between one and ten seconds, always the same for a delivery.
      const arrival = arrivalOf(delivery.body, sandbox.window.end, 1000 + (delivery.body.length % 10) * 1000);
      if (arrival !== null) clock.advanceTo(arrival);
      const today = clock.now().toISOString().slice(0, 10);
      if (today !== day) {
        day = today;
        await context.seal();
        days += 1;
        if (days % 3 === 1) await doing.everyThirdDay();
      }
      return sandbox.outbox.deliver(delivery);
    },
    onDelivery: () => {
      sent += 1;
      doing.onDelivery(sent);
    },
  });
  const sum = (count: (one: (typeof traffic)[number]) => number) =>
    traffic.reduce((total, one) => total + count(one), 0);
  return { sent, accepted: sum((one) => one.accepted), refused: sum((one) => one.refused) };
}
