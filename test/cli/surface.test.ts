import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { engine } from '../servers/databases.ts';
import { serveHere } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';
import { commandsOf, createCommandLine, deliverTo, runIn, startEmptyService } from './command-line.ts';

const whole = await createCommandLine();
const names = commandsOf(whole.program).map(({ name }) => name);
const SECRET = 'a-signing-secret-of-the-tests';

/** How to run each command for its JSON. `null`: another suite checks its output. */
function runsOf(ids: { caseId: string; file: string; delivered: number }): Record<string, readonly string[] | null> {
  const period = ['--from', '2020-01-01', '--to', '2100-01-01', '--format', 'json'];
  return {
    // With the keys in the environment, it must not write others: test/config.test.ts
    init: engine === 'sqlite' ? [] : null,
    doctor: [],
    serve: [],
    worker: [],
    'people list': [],
    'people set-up': ['--admin-url', 'https://ledger.example.org'],
    'people invite': ['olga@acme.example', '--name', 'Olga', '--admin-url', 'https://ledger.example.org'],
    'people change': ['olga@acme.example', '--role', 'auditor'],
    'people reset': ['olga@acme.example', '--admin-url', 'https://ledger.example.org'],
    'people disable': ['olga@acme.example'],
    'people enable': ['olga@acme.example'],
    'token create': ['--admin-url', 'https://ledger.example.org'],
    // Needs an account that has been joined: test/http/api.test.ts.
    'token api': null,
    'token list': [],
    'token revoke': null,
    // Its standard output is the protocol: test/commands/mcp.test.ts.
    mcp: null,
    'source list': [],
    'source add': ['shop', '--webhook-secret-env', 'GIVEN'],
    'source change': ['shop', '--name', 'Shop'],
    'source rotate': ['shop', '--webhook-secret-file', '-'],
    'source retire': ['shop', 'RETIRED'],
    'source check': ['default'],
    'source import': ['--template'],
    'source discover': ['default'],
    'source offboard': ['shop'],
    'delivery list': [],
    'delivery show': [String(ids.delivered)],
    'delivery fixture': [String(ids.delivered)],
    // They run until stopped, or need a receiver: test/commands/delivery.test.ts
    'delivery tail': null,
    'delivery resend': null,
    'delivery test': null,
    'delivery diagnose': [],
    'delivery readmit': [],
    sync: [],
    'sync status': [],
    'sync cancel': [],
    'sync dismiss': null,
    'dsar list': [],
    'dsar show': [ids.caseId],
    'dsar deadline': ['--kind', 'access', '--received', '2026-07-01', '--place', 'DE'],
    'profile show': [],
    // test/commands/profile.test.ts
    'profile set': null,
    'profile own': null,
    'dsar open': ['--received', '2026-07-01T14:02:00Z', '--kind', 'access', '--channel', 'letter', '--language', 'en'],
    'dsar move': [ids.caseId, 'note', 'text=called back'],
    'dsar letter': [ids.caseId, 'acknowledgement', '--language', 'en'],
    // They need a public address and a pack: test/http/hand-over.test.ts
    'dsar hand-over create': null,
    'dsar hand-over list': [],
    'dsar hand-over revoke': null,
    'dsar task add': [ids.caseId, '--what', 'Delete the customer in the shop', '--due', '2100-01-01'],
    'dsar task list': [ids.caseId],
    'dsar task link': [ids.caseId, '1'],
    'dsar task revoke': [ids.caseId, '1'],
    'dsar task finish': [ids.caseId, '1', '--outcome', 'done'],
    // It needs a mail server: test/http/tasks.test.ts
    'dsar task mail': null,
    'dsar pack': [ids.caseId],
    'policy generate': ['--type', 'privacy-policy', '--jurisdiction', 'GB'],
    'policy bulk': null,
    'policy list': [],
    'policy publish': ['pol_1', '--no-wait'],
    'policy show': ['pol_1'],
    'policy snapshot': [],
    // Meaningless before anything is stored; has another suite.
    'policy diff': null,
    'policy text': null,
    'policy openapi': null,
    'policy calls': [],
    'policy settle': ['req-unknown', '--as', 'created'],
    // They need a decision, a file or an entry, and are tested in other suites.
    'consent show': null,
    'consent record': null,
    'banner name': ['bnr_1', 'Main site'],
    'banner evidence add': null,
    'banner evidence list': [],
    'banner evidence show': null,
    'banner evidence retract': null,
    'scan list': [],
    'scan show': [],
    'integration list': [],
    'report list': [],
    'report consent-audit': period,
    'report delivery-log': period,
    'report dsar-register': period,
    'report reconciliation': period,
    'report scan-audit': period,
    'document list': [],
    'document check': [ids.file],
    'notify list': [],
    // They need a server to send to: test/attention/notify.test.ts
    'notify test': null,
    'notify checkpoint': null,
    'ledger verify': [],
    'ledger checkpoint': [],
    'ledger key': [],
    'ledger prove': ['1'],
    'ledger receipt': ['1'],
    'ledger consistency': ['1'],
    'ledger witness': null,
    'ledger events': [],
    'ledger erase': ['--finish'],
    'ledger rebuild': [],
    'ledger readings': [],
    'retention show': [],
    'retention run': ['--officer', 'Olga'],
    'hold add': ['--reason', 'claim', '--officer', 'Olga'],
    'hold list': [],
    'hold lift': null,
    'store copy': null,
    'store reopen': null,
    // test/commands/backup.test.ts
    backup: null,
    restore: null,
    export: null,
    demo: null,
    'demo tamper': null,
    completion: ['bash'],
    sandbox: ['--port', '0'],
    'sandbox trigger': null,
    'sandbox deliveries': null,
    'sandbox redeliver': null,
    'sandbox keys': null,
    'sandbox revoke': null,
  };
}

it('every command prints exactly one JSON document on standard output with --json', async () => {
  const folder = await temporaryFolder();
  const key = 'pak_live_for_this_test_only';
  const env = {
    DATA_DIR: folder,
    PORT: '0',
    ADMIN_PORT: '0',
    WEBHOOK_SECRETS: SECRET,
    GIVEN: 'another-secret-of-the-tests',
    SERVICE_BASE_URL: await startEmptyService(key),
    SERVICE_API_KEY: key,
  };
  const server = await serveHere(folder, env);
  await deliverTo(`${server.url}/webhooks/default`, 'a-wrong-secret-of-the-tests', '{"event":"ping"}');
  const answer = await deliverTo(
    `${server.url}/webhooks/default`,
    SECRET,
    JSON.stringify({
      event: 'dsar.submitted',
      request_id: 'r1',
      request_type: 'access',
      name: 'Ada',
      jurisdiction: 'DE',
    }),
  );
  const delivered = (JSON.parse(answer.text) as { seq: number }).seq;
  await server.stop();
  const cases = JSON.parse((await runIn(folder, ['dsar', 'list', '--json'], { env })).stdout) as { caseId: string }[];

  const runs = runsOf({ caseId: cases[0]?.caseId ?? '', file: import.meta.filename, delivered });
  expect(Object.keys(runs).sort()).toEqual([...names].sort());
  let secretId = '';
  const looked: string[] = [];
  for (const [name, args] of Object.entries(runs)) {
    if (args === null) continue;
    const isLong = ['serve', 'worker', 'sandbox'].includes(name);
    const all = [...name.split(' '), ...args.map((arg) => (arg === 'RETIRED' ? secretId : arg)), '--json'];
    const ran = await runIn(folder, all, {
      env,
      input: 'a-third-secret-of-the-tests\n',
      ...(isLong ? { until: /\}\s*$/ } : {}),
    });
    expect({ name, document: parsed(ran.stdout), stderr: ran.stderr }).toMatchObject({
      document: expect.anything() as object,
    });
    expect([0, 1, 3], `${name} ended with ${ran.code}: ${ran.stderr}`).toContain(ran.code);
    for (const secret of [SECRET, key, env.GIVEN, 'a-third-secret-of-the-tests']) {
      // The sandbox invents secrets and shows them on purpose.
      expect(ran.stdout + ran.stderr, name).not.toContain(secret);
    }
    if (name === 'source add')
      secretId = (parsed(ran.stdout) as { source: { webhookSecrets: string[] } }).source.webhookSecrets[0] ?? '';
    looked.push(name);
  }
  expect(looked.length).toBe(Object.values(runs).filter((args) => args !== null).length);
  expect(looked.length).toBeGreaterThan(names.length / 2);
});

/** They begin an installation, or need none. */
const needNone = ['init', 'serve', 'doctor', 'report list', 'dsar deadline', 'completion', 'sandbox', 'source import'];

it('every command but those that create an installation refuses a folder without one, names it, and leaves it as it was', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: `${folder}/dtaa`, PORT: '0', ADMIN_PORT: '0', WEBHOOK_SECRETS: SECRET, GIVEN: SECRET };
  const runs: ReturnType<typeof runsOf> = {
    ...runsOf({ caseId: 'default-1', file: import.meta.filename, delivered: 1 }),
    backup: ['--out', `${folder}/backups`, '--passphrase-file', import.meta.filename],
    export: ['--out', `${folder}/everything`],
    restore: ['--database-as-it-is'],
    mcp: [],
    'delivery tail': [],
    'ledger witness': [],
    'store copy': ['--to', `sqlite:${folder}/copy.sqlite`],
    'store reopen': ['--other-is-lost'],
    'token revoke': ['1'],
    'policy calls': [],
    'banner evidence list': [],
  };
  const looked: string[] = [];
  for (const [name, args] of Object.entries(runs)) {
    if (args === null || needNone.includes(name)) continue;
    const ran = await runIn(folder, [...name.split(' '), ...args], {
      env,
      input: 'a-third-secret-of-the-tests\n',
      begins: false,
    });
    expect({ name, ...ran }).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr, name).toMatch(
      engine === 'sqlite' ? /There is no installation in .*\/dtaa/ : /no installation in/,
    );
    expect(ran.stderr, name).toContain('init');
    expect(await readdir(folder), name).toEqual([]);
    looked.push(name);
  }
  expect(looked.length).toBeGreaterThan(names.length / 2);
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
