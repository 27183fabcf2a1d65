import { expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { runHere } from '../cli/command-line.ts';
import { temporaryFolder } from '../temporary.ts';

it('`policy` generates a policy with --via mcp and records intent and result', async () => {
  const sandbox = createSandbox({ seed: 7, clock: () => new Date(), clients: 1, consentRows: 5 });
  const { baseUrl, siteUrl } = await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const folder = await temporaryFolder();
  const client = sandbox.clients[0];
  const env = {
    DATA_DIR: folder,
    SERVICE_BASE_URL: baseUrl,
    SERVICE_SITE_URL: siteUrl,
    SERVICE_API_KEY: client?.apiKey ?? '',
    WEBHOOK_SECRETS: 'a-signing-secret-of-the-tests',
  };
  const asked = ['policy', 'generate', '--type', 'imprint', '--jurisdiction', 'DE', '--via', 'mcp', '--json'];
  const made = await runHere(folder, asked, env);
  expect(made.code, made.stderr).toBe(0);
  const document = JSON.parse(made.stdout) as { outcome: string; policy: { id: string } };
  expect(document.outcome).toBe('done');
  expect(sandbox.worlds[0]?.shelf.find(document.policy.id, new Date())?.policyType).toBe('imprint');
  const calls = await runHere(folder, ['policy', 'calls', '--json'], env);
  expect(calls.stdout).toContain(document.policy.id);
  expect(calls.stdout).toContain('"mcp"');
  expect(calls.stdout).not.toContain(client?.apiKey);

  expect((await runHere(folder, [...asked, '--form', 'b'], env)).code).toBe(2);
  const { SERVICE_SITE_URL: _none, ...without } = env;
  const unset = await runHere(folder, asked, without);
  expect(unset.code).toBe(2);
  expect(unset.stderr).toContain('SERVICE_SITE_URL');
});
