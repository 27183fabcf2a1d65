import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

test('secret addresses are passed on by the chart and not logged by the proxies', () => {
  const prefixes = [...read('src/http/public.ts').matchAll(/prefix: '\/(\w)'/g)].map(([, prefix]) => prefix);
  expect(prefixes.length).toBeGreaterThanOrEqual(3);
  const [, unlogged] =
    /location ~ \^\/\[(\w+)\]\/ \{\s+access_log off;/.exec(read('deploy/nginx/consent-ledger.conf')) ?? [];
  expect([...(unlogged ?? '')].sort()).toEqual([...prefixes].sort());
  for (const prefix of prefixes) {
    expect(read('deploy/caddy/Caddyfile')).toContain(`/${prefix}/*`);
    expect(read('deploy/helm/consent-ledger/templates/ingresses.yaml')).toContain(`"/${prefix}"`);
    expect(read('docs/deployment.md')).toContain(`\`/${prefix}/\``);
  }
});
