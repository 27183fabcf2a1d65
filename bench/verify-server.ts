/**
 * The baseline of receiving: an application that uses the built receivers as shown in the README, verifies each
 * delivery and keeps none.
 */
import Fastify from 'fastify';
import type * as Receivers from '../receivers/public.ts';

const built = new URL('../dist/receivers/public.js', import.meta.url).href;
const { webhookEndpoint } = (await import(built)) as typeof Receivers;
const [secret = ''] = process.argv.slice(2);
const kept = Promise.resolve({ outcome: 'stored' as const, seq: 1 });

const app = Fastify();
await app.register(webhookEndpoint, {
  bodyLimit: 1_048_576,
  findSource: (slug) => (slug === 'default' ? { secrets: [{ id: 'main', value: secret }] } : null),
  accept: () => kept,
});
process.once('SIGTERM', () => void app.close());
console.log(JSON.stringify({ publicUrl: await app.listen({ port: 0, host: '127.0.0.1' }) }));
