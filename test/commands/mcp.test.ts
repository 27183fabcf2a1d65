import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, it } from 'vitest';
import { openCase } from '../../src/cases/move-case.ts';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import { createLog } from '../../src/log/log.ts';
import { deliver, environment, serveHere } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

it('`mcp` answers an assistant over standard input and output, citing entries of the given sources only, and changes nothing', async () => {
  const folder = await temporaryFolder();
  const serving = await serveHere(folder);
  const { body } = await deliver(
    serving.url,
    JSON.stringify({
      event: 'consent.recorded',
      data: {
        consent_id: 'rec-mcp-1',
        banner_id: 'bnr_1',
        visitor_hash: 'visitor-of-the-assistant',
        consent: { analytics: true },
        recorded_at: '2026-05-01T10:00:00.000Z',
      },
    }),
  );
  await serving.stop();
  const env = environment(folder);
  const context = await openContext(loadConfig(env, folder), createLog('fatal'));
  await context.sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
  const caseIds: string[] = [];
  for (const source of ['default', 'bolt']) {
    const opened = await openCase(context.cases, {
      source,
      actor: 'test',
      receivedAt: '2026-06-01T00:00:00Z',
      kind: 'access',
      channel: 'letter',
      requesterName: 'Rosa Requester',
      jurisdiction: 'DE',
    });
    if (opened.outcome === 'refused') throw new Error(opened.problems.join());
    caseIds.push(opened.caseId);
  }
  await context.close();

  const client = new Client({ name: 'a test', version: '1' });
  const cli = join(import.meta.dirname, '../../dist/src/cli.js');
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [cli, 'mcp', '--source', 'default'],
      cwd: folder,
      env: { ...(process.env as Record<string, string>), ...env },
    }),
  );
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'consent_at',
      'list_sources',
      'policy_texts',
      'requests_due',
    ]);
    for (const { annotations } of tools) expect(annotations?.readOnlyHint).toBe(true);
    const ask = async (name: string, args: Record<string, unknown>) => {
      const { content, isError } = await client.callTool({ name, arguments: args });
      const [first] = content as { text: string }[];
      return { text: first?.text ?? '', isError: isError === true };
    };
    expect(JSON.parse((await ask('list_sources', {})).text)).toMatchObject({ sources: [{ slug: 'default' }] });
    const at = new Date().toISOString();
    const found = await ask('consent_at', { source: 'default', identifier: 'rec-mcp-1', at });
    expect(JSON.parse(found.text)).toMatchObject({
      outcome: 'found',
      standing: [{ purposes: [{ purpose: 'analytics', state: 'granted' }] }],
      decisions: [{ entries: [{ seq: body.seq }] }],
    });
    const due = await ask('requests_due', {});
    expect(JSON.parse(due.text)).toMatchObject({ requests: [{ caseId: caseIds[0], legalLimit: '2026-07-01' }] });
    expect(due.text).not.toMatch(/Rosa|bolt/);
    for (const [name, args] of [
      ['consent_at', { source: 'bolt', identifier: 'x', at }],
      ['requests_due', { source: 'bolt' }],
      ['policy_texts', { source: 'bolt', policyId: 'p' }],
      ['consent_at', { source: 'default', identifier: '', at: 'yesterday' }],
    ] as const)
      expect([name, (await ask(name, args)).isError]).toEqual([name, true]);
  } finally {
    await client.close();
  }
});
