import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import sqlite3 from 'sqlite3';
import { moveCase } from '../src/cases/move-case.ts';
import { loadConfig } from '../src/config/config.ts';
import { openContext } from '../src/context/context.ts';
import { startServer } from '../src/http/server.ts';
import { appendDelivery } from '../src/ledger/append-delivery.ts';
import { createLog } from '../src/log/log.ts';
import { createSignInLink } from '../src/people/links.ts';
import { type Figure, median, withFolder } from './figures.ts';

const LOOKS = 7;
const DAY = 86_400_000;
const SOURCES = 1000;

type Context = Awaited<ReturnType<typeof openContext>>;

/** Pages that an officer opens, with a ledger of a million entries of which a hundredth are requests, and a thousand sources. */
const pages = (caseId: string, seq: number): readonly [string, string][] => [
  ['Today', '/'],
  ['Today of one source', '/?source=default'],
  ['requests', '/cases'],
  ['requests that are overdue', '/cases?state=overdue'],
  ['search of requests', '/cases?search=person-77'],
  ['a request', `/cases/${caseId}`],
  ['a new request', '/cases/new'],
  ['deliveries', '/deliveries'],
  ['deliveries of one source', '/deliveries?source=default'],
  ['an entry', `/entries/${seq}`],
  ['consent of a visitor', '/consent?subject=visitor-77&source=default'],
  ['contradictory decisions', '/consent/contradictions'],
  ['undelivered decisions', '/consent/undelivered'],
  ['decisions', '/consent/decisions'],
  ['policies', '/policies'],
  ['documents', '/documents'],
  ['schedules', '/documents/schedules'],
  ['sources', '/sources'],
  ['a source', '/sources/default'],
  ['scans', '/scans'],
  ['banners', '/banners'],
  ['evidence', '/evidence'],
  ['profile', '/settings/profile'],
  ['metrics', '/metrics'],
];

/**
 * Time to first byte of pages opened by an officer, compared with the slowest of their statements run alone. With
 * PAGES_FOLDER the filled ledger is kept in that folder, and the next run uses it again.
 */
export function benchPages(scale: number): Promise<Figure[]> {
  const kept = process.env.PAGES_FOLDER;
  return kept === undefined ? withFolder((folder) => openPages(folder, scale)) : openPages(kept, scale);
}

async function openPages(folder: string, scale: number): Promise<Figure[]> {
  const dataDir = join(folder, 'data');
  const isFilled = existsSync(join(folder, 'filled'));
  await mkdir(dataDir, { recursive: true });
  const env = {
    DATA_DIR: dataDir,
    PORT: '0',
    ADMIN_PORT: '0',
    WEBHOOK_SECRETS: 'bench-secret-0123456789',
    SYNC_SCHEDULE: 'off',
    SERVICE_BASE_URL: 'http://127.0.0.1:9/api/v1',
    SERVICE_API_KEY: 'bench-key-0123456789',
  };
  const context = await openContext(loadConfig(env, folder), createLog('fatal'));
  try {
    const entries = Math.max(20_000, Math.round(1_000_000 * scale));
    if (!isFilled) await fill(context, entries);
    await writeFile(join(folder, 'filled'), '');
    const server = await startServer(context);
    try {
      const { token } = await createSignInLink(context, { actor: 'bench' });
      const get = await signIn(server.adminUrl, token);
      const [shown, other] = await context.store.read
        .selectFrom('cases')
        .select('case_id')
        .where('source', '=', 'default')
        .orderBy('opened_seq', 'desc')
        .limit(2)
        .execute();
      const caseId = shown?.case_id ?? '';
      const figures: Figure[] = [];
      const note = () => writeNote(context, other?.case_id ?? '');
      for (const [name, path, before] of [
        ...pages(caseId, 1000).map(([one, at]) => [one, at, null] as const),
        ['Today after a change', '/', note] as const,
        ['a request after a change', `/cases/${caseId}`, note] as const,
      ]) {
        const looks = [await get(path)];
        const seen: Statement[] = [];
        for (let look = 1; look <= LOOKS; look += 1) {
          await before?.();
          const statements = watchStatements();
          looks.push(await get(path));
          seen.push(...statements());
        }
        const slowest = await slowestAlone(context, seen);
        const first = median(looks.slice(1).map(({ first: one }) => one));
        figures.push({
          name: `page: ${name}`,
          value: `first byte ${first.toFixed(0)} ms (on first opening ${looks[0]?.first.toFixed(0)} ms), ${Math.round((looks[1]?.bytes ?? 0) / 1024)} kB`,
          baseline: `slowest statement ${slowest.toFixed(1)} ms`,
          ratio: first / slowest,
          wanted: '≤ 50 ms, or < 2 × the statement',
          reached: (first <= 50 || first < 2 * slowest) && looks[1]?.status === 200,
        });
      }
      return figures;
    } finally {
      await server.close();
    }
  } finally {
    await context.close();
  }
}

/** A change of a request, as an officer would make it. */
async function writeNote({ cases, projector, store }: Context, caseId: string): Promise<void> {
  const { version } = await store.read
    .selectFrom('cases')
    .select('version')
    .where('case_id', '=', caseId)
    .executeTakeFirstOrThrow();
  const note = { move: 'note', details: { text: 'The requester called.' }, actor: 'bench' };
  const moved = await moveCase(cases, { caseId, basedOn: version, ...note });
  if (moved.outcome !== 'moved') throw new Error(`the note was not written: ${JSON.stringify(moved)}`);
  await projector.projected(moved.seq);
}

interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly ms: number;
}

/** Records every reading statement until the returned function is called. */
function watchStatements(): () => readonly Statement[] {
  const prototype = sqlite3.Statement.prototype as unknown as {
    all: (this: { sql: string }, ...rest: unknown[]) => unknown;
  };
  const { all } = prototype;
  const seen: Statement[] = [];
  prototype.all = function (parameters, done) {
    const started = performance.now();
    const noted = (...results: unknown[]) => {
      seen.push({ sql: this.sql, parameters: parameters as unknown[], ms: performance.now() - started });
      (done as (...results: unknown[]) => void)(...results);
    };
    return all.call(this, parameters, noted);
  };
  return () => {
    prototype.all = all;
    return seen;
  };
}

/** Milliseconds of the slowest of these statements when nothing else runs. */
async function slowestAlone(context: Context, statements: readonly Statement[]): Promise<number> {
  const slowestFirst = [...statements].sort((a, b) => b.ms - a.ms);
  const distinct = [...new Map(slowestFirst.map((one) => [one.sql, one])).values()].slice(0, 5);
  const alone = [];
  for (const { sql, parameters } of distinct) {
    const times = [];
    for (let round = 0; round < LOOKS; round += 1) {
      const started = performance.now();
      await context.store.read.executeQuery(CompiledQuery.raw(sql, [...parameters]));
      times.push(performance.now() - started);
    }
    alone.push(median(times));
  }
  return Math.max(0, ...alone);
}

async function fill(context: Context, entries: number): Promise<void> {
  for (let n = 0; n < SOURCES; n += 1) {
    const added = await context.sources.add({ slug: `s${n}`, name: `Client ${n}` }, 'bench');
    if (added.outcome !== 'done') throw new Error(`the source was not added: ${JSON.stringify(added)}`);
  }
  const started = Date.now();
  const headers = { 'user-agent': 'bench' };
  const step = 2000;
  for (let from = 0; from < entries; from += step) {
    const places = Array.from({ length: Math.min(step, entries - from) }, (_, n) => from + n);
    await Promise.all(
      places.map((n) => {
        const at = new Date(started - 60 * DAY + (n / entries) * 60 * DAY).toISOString();
        const event =
          n % 100 === 0
            ? {
                event: 'dsar.submitted',
                data: {
                  ...{
                    request_id: `r-${n}`,
                    type: ['access', 'deletion', 'opt-out'][(n / 100) % 3],
                    name: `Person ${n}`,
                  },
                  ...{
                    email: `person-${n}@example.org`,
                    jurisdiction: 'DE',
                    visitor_hash: `visitor-${n % 5000}`,
                    submitted_at: at,
                  },
                },
              }
            : {
                event: 'consent.recorded',
                data: {
                  ...{ consent_id: randomUUID(), banner_id: `bnr_${n % 3}`, visitor_hash: `visitor-${n % 200_000}` },
                  ...{
                    consent: { analytics: n % 2 === 0, marketing: n % 3 === 0 },
                    policy_version: '3',
                    recorded_at: at,
                  },
                },
              };
        const source = n % 3 === 0 ? `s${n % SOURCES}` : 'default';
        const rawBody = Buffer.from(JSON.stringify(event));
        const delivery = {
          source,
          rawBody,
          headers,
          secretId: 'bench',
          verdict: 'verified',
          contentType: 'application/json',
        } as const;
        return appendDelivery(context.ledger, delivery, at);
      }),
    );
    if (from % 100_000 === 0) await context.projector.catchUp();
  }
  await context.projector.catchUp();
}

/** Signs in like a browser; requests a page and measures the time to the first byte. */
async function signIn(adminUrl: string, token: string) {
  const cookies = new Map<string, string>();
  const send = async (path: string, init: RequestInit = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const started = performance.now();
    const response = await fetch(adminUrl + path, {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers, cookie },
    });
    const first = performance.now() - started;
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const text = await response.text();
    return { status: response.status, first, bytes: Buffer.byteLength(text), text };
  };
  const { text } = await send(`/sign-in?token=${token}`);
  const csrf = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
  await send('/sign-in', { method: 'POST', body: new URLSearchParams({ token, _csrf: csrf }) });
  return (path: string) => send(path);
}
