import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { readPolicyText } from '../../src/policy-texts/policy-text.ts';
import { embedForms } from '../../src/sandbox/dialect.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { get, type Json, NOON, post, withSandbox } from './sandbox-world.ts';

const described = async (sandbox: Sandbox, key = sandbox.clients[0]!.readKey): Promise<Json> =>
  (await get(sandbox, '/openapi', key)).body;

async function embed(sandbox: Sandbox, type: string): Promise<{ type: string; text: string; headers: Headers }> {
  const { siteKey } = sandbox.clients[0]!;
  const answer = await fetch(`${sandbox.siteUrl()}/api/embed/policy?siteKey=${siteKey}&type=${type}`);
  expect(answer.status).toBe(200);
  const text = await answer.text();
  return { type: answer.headers.get('content-type')!.split(';')[0]!, text, headers: answer.headers };
}

describe.each(embedForms)('the embed endpoint with %s', (form) => {
  it('answers as its description says, cached and with a validator', async () => {
    await withSandbox({ overrides: { embed: form } }, async (sandbox) => {
      const description = await described(sandbox);
      expect((await new Validator().validate(structuredClone(description))).errors ?? []).toEqual([]);
      const { content } = description.paths['/api/embed/policy'].get.responses['200'];
      for (const type of ['privacy-policy', 'hub']) {
        const answer = await embed(sandbox, type);
        expect(Object.keys(content)).toEqual([answer.type]);
        const schema = { components: description.components, ...content[answer.type].schema };
        const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
        const value: unknown = answer.type === 'application/json' ? JSON.parse(answer.text) : answer.text;
        expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
        expect(answer.headers.get('etag')).toMatch(/^"\w+"$/);
        expect(answer.headers.get('age')).toBe('0');
      }
    });
  });

  it('gives a text that the product reads, and changes only with the text', async () => {
    let now = NOON;
    await withSandbox({ overrides: { embed: form }, clock: () => now }, async (sandbox) => {
      const { apiKey } = sandbox.clients[0]!;
      const publish = async (name: string): Promise<void> => {
        const asked = { policy_type: 'imprint', jurisdiction: 'DE', business_name: name };
        const { body } = await post(sandbox, '/policies/generate', apiKey, asked);
        await post(sandbox, `/policies/${body.id}/publish`, apiKey);
        now = new Date(now.getTime() + 300_000);
      };
      const read = async () => {
        const answer = await embed(sandbox, 'imprint');
        return readPolicyText(Buffer.from(answer.text), answer.type);
      };
      await publish('Müller & Söhne');
      const first = await read();
      expect(first.form).not.toBe('json/1');
      expect(first.lines.join('\n')).toContain(
        'this paragraph would name Müller & Söhne, its site nordlicht.example and how to reach it.',
      );
      // Another policy with the same words, later.
      await publish('Müller & Söhne');
      expect((await read()).sha256).toBe(first.sha256);
      await publish('Meier');
      expect((await read()).sha256).not.toBe(first.sha256);
    });
  });

  it('names every policy in the hub', async () => {
    await withSandbox({ overrides: { embed: form } }, async (sandbox) => {
      const answer = await embed(sandbox, 'hub');
      const { lines } = readPolicyText(Buffer.from(answer.text), answer.type);
      for (const title of ['Privacy Policy', 'Cookie Policy']) expect(lines.join('\n')).toContain(title);
    });
  });
});

describe('form A of a generation', () => {
  it.each([true, false])(
    'states the rest of the quota, or does not (%s), by REST and MCP, as described',
    async (tells) => {
      await withSandbox({ overrides: { tellsRemaining: tells } }, async (sandbox) => {
        const { apiKey } = sandbox.clients[0]!;
        const asked = { policy_type: 'imprint', jurisdiction: 'DE' };
        const { body } = await post(sandbox, '/policies/generate', apiKey, asked);
        expect('policies_remaining' in body).toBe(tells);
        const client = new Client({ name: 'test', version: '1' });
        await client.connect(
          new StreamableHTTPClientTransport(new URL(`${sandbox.siteUrl()}/api/mcp`), {
            requestInit: { headers: { authorization: `Bearer ${apiKey}` } },
          }),
        );
        const called: Json = await client.callTool({ name: 'generate_policy', arguments: asked });
        await client.close();
        expect('policies_remaining' in JSON.parse(called.content[0].text)).toBe(tells);
        const { properties, required } = (await described(sandbox)).components.schemas.GeneratedPolicyA;
        expect('policies_remaining' in properties).toBe(tells);
        expect(required.includes('policies_remaining')).toBe(tells);
      });
    },
  );
});

describe('the description below the API root', () => {
  it('may require a key like every REST endpoint, and says so; that of the site does not', async () => {
    await withSandbox({ overrides: { openapiNeedsKey: true } }, async (sandbox) => {
      const { readKey, webhooksKey, revokedKey } = sandbox.clients[0]!;
      const status = async (key: string | null): Promise<number> => (await get(sandbox, '/openapi', key)).status;
      expect([await status(null), await status(revokedKey), await status(webhooksKey)]).toEqual([401, 401, 403]);
      const description = await described(sandbox, readKey);
      expect(description.paths['/openapi'].get.security).toBeUndefined();
      expect(Object.keys(description.paths['/openapi'].get.responses)).toContain('401');
      expect((await new Validator().validate(structuredClone(description))).errors ?? []).toEqual([]);
      const open = await fetch(`${sandbox.siteUrl()}/openapi`);
      expect(await open.json()).toEqual(description);
    });
  });
});
