import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, vi } from 'vitest';
import { fetchDescription } from '../../src/service/openapi.ts';
import { longest } from '../../src/service/outgoing-http.ts';
import { type Ran, runHere } from '../cli/command-line.ts';
import { ON_LOOPBACK } from '../service/answering-server.ts';
import { environment, SECRET, type Serving, startServing } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';
import type { HostileAnswer } from './hostile-answers.ts';

/** The result of a command, its log, and its duration in milliseconds. */
interface Met extends Ran {
  readonly logged: string;
  readonly elapsedMs: number;
}

/** An installation whose sources are all at a hostile service, each with one of the answers. */
export interface HostileWorld {
  readonly serving: Serving;
  run(...args: readonly string[]): Promise<Ran>;
  /** Runs the command that gets the answer. */
  meet(answer: HostileAnswer): Promise<Met>;
  /** Values that must never be printed. */
  readonly secrets: readonly string[];
}

/** Starts service, installation and `serve`, whose jobs get the same answers; stopped when the test ends. */
export async function createHostileWorld(
  answers: readonly HostileAnswer[],
  env: Record<string, string> = {},
): Promise<HostileWorld> {
  shortenTimes();
  const folder = await temporaryFolder();
  const sources = answers.map((answer, nth) => {
    const id = createHash('sha256').update(answer.name).digest('hex').slice(0, 24);
    return { answer, slug: `s-${nth}`, apiKey: `pak_live_${id}`, siteKey: `pk_${id}` };
  });
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    void buffer(request).then(
      (body) => {
        const key =
          request.headers.authorization?.slice('Bearer '.length) ??
          new URL(request.url ?? '/', 'http://x').searchParams.get('siteKey') ??
          '';
        const path = request.url ?? '/';
        const source = sources.find(
          ({ slug, apiKey, siteKey }) => key === apiKey || key === siteKey || path === `/policy/imprint/${slug}`,
        );
        if (source === undefined) return response.writeHead(404).end();
        // A public page is found through a list that is as documented.
        if (source.answer.at === 'hosted' && path.endsWith('/policies')) {
          const policy = { id: 'p', policy_type: 'imprint', url: `${origin}/policy/imprint/${source.slug}` };
          return response.end(JSON.stringify({ count: 1, policies: [policy] }));
        }
        const nth = counts.get(key) ?? 0;
        counts.set(key, nth + 1);
        if (response.socket?.listenerCount('error') === 1) response.socket.on('error', () => undefined);
        return source.answer.respond({ request, response, body, nth, origin, key });
      },
      () => undefined,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lines = sources.map(({ slug, apiKey, siteKey }) =>
    [slug, `${origin}/api/v1`, origin, apiKey, siteKey].join(','),
  );
  await writeFile(`${folder}/sources.csv`, ['slug,base_url,site_url,api_key,site_key', ...lines].join('\n'));
  await writeFile(`${folder}/items.csv`, 'policy_type,jurisdiction\nimprint,DE\nimprint,GB\n');
  const environmentHere = environment(folder, { SYNC_SCHEDULE: 'off', ...env });
  const run = (...args: readonly string[]) => runHere(folder, args, environmentHere);
  /** The nightly check of the API description. */
  const describe = async (slug: string): Promise<Ran> => {
    const { apiKey } = sources.find((one) => one.slug === slug) ?? expect.fail(slug);
    const fetched = await fetchDescription({
      destinations: ON_LOOPBACK,
      baseUrl: `${origin}/api/v1`,
      apiKey,
      retries: 1,
    });
    const isFetched = fetched.outcome === 'fetched';
    return { code: isFetched ? 0 : 1, stdout: '', stderr: isFetched ? '' : fetched.sentence };
  };
  const imported = await run('source', 'import', 'sources.csv');
  expect(imported.code, imported.stderr).toBe(0);
  const serving = await startServing(folder, environmentHere);
  return {
    serving,
    run,
    secrets: [SECRET, ...sources.flatMap(({ apiKey, siteKey }) => [apiKey, siteKey])],
    async meet(answer) {
      const { slug } = sources.find((one) => one.answer === answer) ?? expect.fail(`no source meets ${answer.name}`);
      const form = ['--type', 'imprint', '--jurisdiction', 'DE', '--no-wait'];
      const command = {
        list: ['policy', 'list'],
        log: ['sync'],
        generate: ['policy', 'generate', ...form],
        bulk: ['policy', 'bulk', '--file', `${folder}/items.csv`, '--no-wait'],
        publish: ['policy', 'publish', 'p', '--no-wait'],
        embed: ['policy', 'snapshot', '--type', 'imprint'],
        hosted: ['policy', 'snapshot', '--policy', 'p'],
        openapi: null,
        mcp: ['policy', 'generate', '--via', 'mcp', ...form],
      }[answer.at];
      const before = performance.now();
      let logged = '';
      const log = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
        logged += String(chunk);
        return true;
      });
      try {
        const ran = command === null ? await describe(slug) : await run(...command, '--source', slug);
        return { ...ran, logged, elapsedMs: performance.now() - before };
      } finally {
        log.mockRestore();
      }
    },
  };
}

/** Shortens time-outs, so a missing response costs half a second instead of minutes. */
function shortenTimes(): void {
  const before = { ...longest };
  Object.assign(longest, { exchangeMs: 500, pauseMs: 5 });
  onTestFinished(() => void Object.assign(longest, before));
}

/**
 * Sends signed deliveries in the background until told to stop. Returns the number sent, the number refused, and the
 * longest response time.
 */
export function deliverAlong({ url }: Serving): () => Promise<{ sent: number; refused: number; slowestMs: number }> {
  const script = fileURLToPath(new URL('./deliver-along.js', import.meta.url));
  const child = spawn(process.execPath, [script, `${url}/webhooks/default`, SECRET], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = text(child.stdout);
  return async () => {
    child.stdin.end();
    return JSON.parse(await said) as { sent: number; refused: number; slowestMs: number };
  };
}

/** Tries one answer after another; returns a sentence for each fault. */
export async function meetAll(world: HostileWorld, answers: readonly HostileAnswer[]): Promise<string[]> {
  const faults: string[] = [];
  for (const answer of answers) {
    const found = await world.meet(answer).then(
      (ran) => faultsOf(answer, ran, world.secrets).map((fault) => `${fault}: ${ran.stdout}${ran.stderr}`),
      (error: unknown) => [`it crashed: ${String(error)}`],
    );
    faults.push(...found.map((fault) => `${answer.name}: ${fault.slice(0, 500)}`));
  }
  return faults;
}

/** The faults in how a command ended after an answer; empty if there are none. */
function faultsOf(answer: HostileAnswer, ran: Met, secrets: readonly string[]): string[] {
  const said = `${ran.stdout}\n${ran.stderr}`;
  const { ends = 'ill' } = answer;
  const wanted = { well: [0], ill: [1], either: [0, 1] }[ends];
  return [
    ...(wanted.includes(ran.code ?? -1) ? [] : [`it ended with ${ran.code}`]),
    ...(/\n\s+at .+[:(]\d+/.test(said + ran.logged) ? ['it printed a stack trace'] : []),
    ...(secrets.some((secret) => said.includes(secret) || ran.logged.includes(secret)) ? ['it printed a secret'] : []),
    ...(said.includes('hunter2') ? ['it printed a password'] : []),
    ...(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(said) ? ['it printed control characters'] : []),
    ...(said.length > 4000 ? [`it printed ${said.length} characters`] : []),
    ...(ends === 'ill' && !/[A-Z][a-z’]+ [^.]+\./.test(said) ? ['it said nothing'] : []),
    ...(answer.at === 'log' && ends === 'ill' && !/\b0 new\b/.test(said) ? ['it kept rows'] : []),
    ...(ran.elapsedMs > 20_000 ? [`it took ${Math.round(ran.elapsedMs)} ms`] : []),
  ];
}
