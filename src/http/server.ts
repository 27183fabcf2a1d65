import { readFileSync } from 'node:fs';
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { countDue, loadLastTimes, loadSealTimes } from '../attention/figures.ts';
import { listCases } from '../cases/list-cases.ts';
import type { Context } from '../context/context.ts';
import { metricsLabelOf } from '../context/metrics-label.ts';
import { publicUrlOf } from '../core/address.ts';
import { codeOf, OutsideError } from '../core/errors.ts';
import { dateIn } from '../core/zoned-days.ts';
import { newestCheckpoint } from '../ledger/stored-checkpoints.ts';
import { probeWrite } from '../store/probe-write.ts';
import { lastSeq } from '../store/queries/fold-position.ts';
import { createAdminApp } from './admin.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createPublicApp } from './public.ts';
import { readOnAfterRefusals } from './reading-on.ts';
import { receiveInto } from './receive.ts';

/** A running server. */
export interface Server {
  /** Where the service should deliver: `<publicUrl>/webhooks/<source>`. */
  readonly publicUrl: string;
  /** The actual address of the public listener, whatever PUBLIC_URL says. */
  readonly publicListener: string;
  readonly adminUrl: string;
  /**
   * Reports at /readyz that it is about to stop, and closes each connection with its next answer, while it keeps
   * serving: this gives a load balancer time to send requests elsewhere. Resolves after this many milliseconds.
   */
  drain(milliseconds: number): Promise<void>;
  /** Finishes requests in flight, then stops. Does not close the context. */
  close(): Promise<void>;
}

const WARNINGS_EVERY_MS = 60_000;

/** Starts both listeners, the projector and the watch for warnings. Rejects if an address cannot be bound. */
export async function startServer(context: Context): Promise<Server> {
  const { config, log, projector, ledger } = context;
  const metrics = metricsOf(context);
  await context.recordRegimes();
  let draining = false;
  const ready = createReadiness(context);
  const health = { notReady: async () => (draining ? 'the server is shutting down' : ready()) };
  const publicApp = createPublicApp({
    config,
    webhooks: receiveInto(context, metrics),
    health,
    verifierKey: context.verifierKey,
    subjects: context,
    tiles: config.publishTiles ? context : null,
    logger: log,
  });
  const adminApp = await createAdminApp({ ...context, config: servedConfig(config, publicApp) }, metrics, health);
  const apps: FastifyInstance[] = [publicApp, adminApp];
  const connections = connectionsWithin(config.connectionLimit, openFilesLimit());
  if (connections < config.connectionLimit)
    log.warn(
      { connections, CONNECTION_LIMIT: config.connectionLimit },
      'too few open files allowed for CONNECTION_LIMIT: raise `ulimit -n`; until then fewer connections are accepted',
    );
  for (const app of apps) {
    limitPipelining(app.server);
    readOnAfterRefusals(app.server);
  }
  for (const [listener, app, limit] of [
    ['public', publicApp, connections],
    ['admin', adminApp, Math.min(ADMIN_CONNECTIONS, connections)],
  ] as const)
    limitConnections(app.server, limit, reportRefused(log, metrics, listener, limit));
  publicApp.addHook('onSend', async (_request, reply) => {
    if (draining) void reply.header('connection', 'close');
  });
  try {
    await listen(publicApp, { host: config.host, port: config.port, portName: 'PORT', hostName: 'HOST' });
    await listen(adminApp, {
      host: config.adminHost,
      port: config.adminPort,
      portName: 'ADMIN_PORT',
      hostName: 'ADMIN_HOST',
    });
  } catch (error) {
    for (const app of apps) await app.close();
    throw error;
  }
  projector.start((listener) => ledger.onAppended(listener));
  const stopWatch = watchWarnings(context);
  const stopComputing = computeDeadlinesDaily(context);
  return {
    publicUrl: publicUrlOf(config, portOf(publicApp)),
    publicListener: publicUrlOf({ publicUrl: null, host: config.host }, portOf(publicApp)),
    adminUrl: publicUrlOf({ publicUrl: null, host: config.adminHost }, portOf(adminApp)),
    async drain(milliseconds) {
      draining = true;
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
    },
    async close() {
      draining = true;
      stopWatch();
      stopComputing();
      await Promise.all(apps.map(closeApp));
    },
  };
}

/** Binds an address. If that fails, rejects with an OutsideError that names the two variables. */
async function listen(
  app: FastifyInstance,
  {
    host,
    port,
    portName,
    hostName,
  }: { readonly host: string; readonly port: number; readonly portName: string; readonly hostName: string },
) {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const remedy = {
      EADDRINUSE: `another program, or another \`consent-ledger serve\`, uses this port. Stop it, or choose another ${portName}`,
      EACCES: `this user may not use ports below 1024. Choose a higher ${portName}, and put a reverse proxy in front of it`,
      EADDRNOTAVAIL: `this machine does not have that address. Correct ${hostName}; 0.0.0.0 is every address`,
      ENOTFOUND: `the name of the host is unknown. Correct ${hostName}`,
    }[codeOf(error)];
    if (remedy === undefined) throw error;
    throw new OutsideError(`Cannot listen on ${host}:${port}: ${remedy} (${codeOf(error)}).`, { cause: error });
  }
}

/** The configuration with the port actually bound: pages show addresses of the public listener, and PORT may be 0. */
function servedConfig(config: Context['config'], publicApp: FastifyInstance): Context['config'] {
  return {
    ...config,
    get port() {
      return portOf(publicApp) || config.port;
    },
  };
}

/** Milliseconds to wait for requests in progress. */
const ANSWER_MS = 10_000;

/** Cuts off requests that are not answered by then or are still arriving. */
async function closeApp(app: FastifyInstance): Promise<void> {
  const late = setTimeout(() => app.server.closeAllConnections(), ANSWER_MS);
  await app.close();
  clearTimeout(late);
}

function portOf(app: FastifyInstance): number {
  const address = app.server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Milliseconds for which a result about the store is reused. */
const PROBE_EVERY_MS = 2000;

/** Whether deliveries can be stored; tests it with a write, at most every two seconds. */
function createReadiness({
  store,
  refusal,
  noticeLoss,
}: Pick<Context, 'store' | 'refusal' | 'noticeLoss'>): () => Promise<string | null> {
  let asked: { readonly at: number; readonly answer: Promise<string | null> } | null = null;
  async function probe(): Promise<string | null> {
    try {
      await probeWrite(store);
      await noticeLoss();
      return refusal() === null ? null : REFUSES;
    } catch {
      return 'the store is not writable';
    }
  }
  return async () => {
    if (refusal() !== null) return REFUSES;
    const now = performance.now();
    if (asked === null || now - asked.at > PROBE_EVERY_MS) asked = { at: now, answer: probe() };
    return asked.answer;
  };
}

const REFUSES = 'the ledger refuses new entries: see `consent-ledger doctor`';

function metricsOf(context: Context): Metrics {
  const { store, projector, epoch, jobs, distribution, log } = context;
  const witnesses = async () =>
    Object.values((await context.witnessState()).witnesses).filter((standing) => standing.epoch === epoch);
  return createMetrics({
    slugs: () => context.sources.list().map(({ slug }) => slug),
    labelOf: (slug) => metricsLabelOf(context, slug),
    ledgerSeq: () => lastSeq(store.read),
    projectedSeq: () => projector.position(),
    witnessedSeq: async () => new Map((await witnesses()).map(({ name, size }) => [name, size])),
    sealedSeq: async () => (await newestCheckpoint(store.read))?.size ?? 0,
    databaseBytes: () => store.sizeOnDisk(),
    warnings: () => context.warnings(),
    due: () => countDue(context.cases, context.clock()),
    lastTimes: async () => {
      const sources = context.sources.list().map(({ slug }) => slug);
      const pulled = context.listPulled().map(({ slug }) => slug);
      return { ...(await loadLastTimes(store.read, { sources, pulled })), ...(await loadSealTimes(store.read)) };
    },
    verification: () => context.lastVerification(),
    witnessedAt: async () => new Map((await witnesses()).flatMap(({ name, at }) => (at === null ? [] : [[name, at]]))),
    build: { version: context.version, node: process.versions.node, database: store.engine },
    clock: context.clock,
    onError: (error, metric) => log.warn({ err: error, metric }, 'a metric could not be computed'),
    queues: () => jobs.figures(),
    wakeUps: distribution === null ? null : async () => (await distribution.open()).state(),
  });
}

/** Logs each warning once when it arises, and once when it ends. */
function watchWarnings(context: Pick<Context, 'warnings' | 'log'>): () => void {
  const { log } = context;
  let known = new Map<string, string>();
  const look = async () => {
    try {
      const present = new Map<string, string>();
      for (const { code, source, sentence, remedy } of await context.warnings()) {
        const key = `${code} ${source ?? ''}`;
        present.set(key, sentence);
        if (!known.has(key)) log.warn({ warning: code, source, remedy }, sentence);
      }
      for (const [key, sentence] of known) if (!present.has(key)) log.info(`over: ${sentence}`);
      known = present;
    } catch (error) {
      log.warn({ err: error }, 'could not load the warnings');
    }
  };
  void look();
  const timer = setInterval(() => void look(), WARNINGS_EVERY_MS);
  return () => clearInterval(timer);
}

/**
 * Deadlines depend on the day, and those of ten thousand open requests take a second or two: they are computed and
 * cached (list-cases.ts) at start and soon after midnight, instead of when the first person opens a page.
 */
function computeDeadlinesDaily({ cases, clock, log }: Pick<Context, 'cases' | 'log' | 'clock'>): () => void {
  let day = '';
  const look = async () => {
    const now = clock().toISOString();
    const today = dateIn(now, cases.timeZone);
    if (today === day) return;
    day = today;
    await listCases(cases, { open: true, now }).catch((error: unknown) =>
      log.debug({ err: error }, 'deadlines were not computed in advance'),
    );
  };
  void look();
  const timer = setInterval(() => void look(), WARNINGS_EVERY_MS);
  return () => clearInterval(timer);
}

/** Descriptors that the public listener leaves for the admin listener, the database, the journal and calls to the service. */
const DESCRIPTORS_KEPT_BACK = 300;
/**
 * Maximum connections of the admin listener. A browser opens up to six, and one that follows events counts as being
 * answered: these take half at most (event-stream.ts).
 */
const ADMIN_CONNECTIONS = 200;
const REFUSED_LOGGED_EVERY_MS = 60_000;

/** Counts refused connections, and logs them once a minute at most: a refused client sees only a broken connection. */
function reportRefused(log: Context['log'], metrics: Metrics, listener: 'public' | 'admin', limit: number): () => void {
  let [loggedAt, refused] = [-Infinity, 0];
  return () => {
    metrics.countRefusedConnection(listener);
    refused += 1;
    const now = performance.now();
    if (now - loggedAt < REFUSED_LOGGED_EVERY_MS) return;
    log.warn(
      { listener, limit, refused },
      'connections were refused: every connection that the listener accepts is busy',
    );
    [loggedAt, refused] = [now, 0];
  };
}

/** How many of the requested connections the public listener may have. `descriptors`: how many the process may open. */
export function connectionsWithin(asked: number, descriptors: number): number {
  return Math.min(asked, Math.max(descriptors - DESCRIPTORS_KEPT_BACK, Math.floor(descriptors / 3)));
}

/** How many files and connections this process may have open; Infinity if the system does not say. */
function openFilesLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? Infinity : Number(limit);
  } catch {
    return Infinity;
  }
}

/**
 * Maximum requests of one connection handled in one turn of the event loop. Webhook senders send one and wait for its
 * response.
 */
const PIPELINED = 16;

/**
 * Closes a connection that sends more than {@link PIPELINED} requests at once, without handling the excess. Node
 * handles all requests in a chunk before turning to another connection: hundreds on each of some connections would keep
 * everyone else waiting for many seconds.
 */
export function limitPipelining(server: HttpServer): void {
  const inThisTurn = new Map<Socket, number>();
  const handlers = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    if (inThisTurn.size === 0) setImmediate(() => inThisTurn.clear());
    const before = inThisTurn.get(socket) ?? 0;
    inThisTurn.set(socket, before + 1);
    if (before >= PIPELINED) return void socket.destroy();
    for (const handle of handlers) handle.call(server, request, response);
  });
}

/** A connection; Node's HTTP server marks one that has a request. */
type HttpSocket = Socket & { readonly _httpMessage?: { readonly req: IncomingMessage } | null };

/**
 * Limits the connections of a server. A new connection over the limit replaces the one that has waited longest for a
 * request to arrive, or else one that is idle between two requests. A connection whose request is being answered is
 * never closed: if that applies to all, the new one is closed and `onRefused` is called.
 */
export function limitConnections(server: HttpServer, limit: number, onRefused?: () => void): void {
  // In order of arrival.
  const open = new Set<HttpSocket>();
  const served = new WeakSet<Socket>();
  server.on('request', (request) => served.add(request.socket));
  server.on('connection', (socket: HttpSocket) => {
    if (open.size >= limit) {
      const closed = oldestOf(open, served) ?? socket;
      open.delete(closed);
      closed.destroy();
      if (closed === socket) return onRefused?.();
    }
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
}

function oldestOf(open: ReadonlySet<HttpSocket>, served: WeakSet<Socket>): HttpSocket | null {
  let keptAlive: HttpSocket | null = null;
  for (const socket of open) {
    const message = socket._httpMessage;
    const answering = message !== null && message !== undefined;
    if (answering ? !message.req.complete : !served.has(socket)) return socket;
    if (!answering) keptAlive ??= socket;
  }
  return keptAlive;
}
