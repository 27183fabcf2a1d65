import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { accountStates, type SandboxClient } from '../clients.ts';
import type { SendOptions } from '../compose.ts';
import { type Faults, faultSchema, isScenarioName, scenarios } from '../faults.ts';
import { type ApiKey, isSameText } from '../keys.ts';
import { type DeliveryRecord, deliveryNotes, type Outbox } from '../webhooks.ts';
import { forbidden, invalidRequest, notFound } from './answers.ts';
import { firstProblem } from './consent-logs.ts';

const httpUrl = z.url({ protocol: /^https?$/ });

/** The request of `sandbox trigger` to a running sandbox. */
const triggerSchema = z.strictObject({
  event: z.string(),
  /** Slug; default the first client. */
  client: z.string().optional(),
  /** Merged over the happening, under the sandbox's own names. */
  happening: z.record(z.string(), z.unknown()).optional(),
  /** Top-level fields of the payload. */
  set: z.record(z.string(), z.unknown()).optional(),
  to: httpUrl.optional(),
  note: z.enum(deliveryNotes).optional(),
  count: z.number().int().min(1).max(10_000).default(1),
});
export type TriggerInput = z.input<typeof triggerSchema>;

const faultsSchema = z.union([
  z.strictObject({ scenario: z.string() }),
  z.strictObject({ faults: z.array(faultSchema) }),
]);
const endpointsSchema = z.strictObject({
  endpoints: z
    .array(z.strictObject({ url: httpUrl, events: z.union([z.literal('all'), z.array(z.string())]).default('all') }))
    .max(20),
});
const redeliverSchema = z.strictObject({ to: httpUrl.optional() });
const revokeSchema = z.strictObject({ key: z.string() });
const accountSchema = z.strictObject({ account: z.enum(accountStates) });

export interface ControlRoutes {
  readonly clients: readonly SandboxClient[];
  readonly keys: readonly ApiKey[];
  readonly faults: Faults;
  readonly outbox: Outbox;
  readonly send: (client: string, event: string, options?: SendOptions) => Promise<DeliveryRecord[]>;
}

/**
 * The controls of the sandbox under /_sandbox, which the service does not have. Only for this machine, and not for web
 * pages shown in a browser on it.
 */
export function addControlRoutes(app: FastifyInstance, { clients, keys, faults, outbox, send }: ControlRoutes): void {
  app.addHook('onRequest', async (request) => {
    const isLocal =
      /^(127\.|::1$|::ffff:127\.)/.test(request.ip) &&
      /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(request.headers.host ?? '');
    if (!isLocal || request.headers.origin !== undefined)
      throw forbidden('The controls answer only to programs on this machine.');
    if (request.method !== 'GET' && !/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
      throw invalidRequest('Send application/json.');
    }
  });
  app.get('/clients', async () => ({
    clients: clients.map(({ seed: _seed, ...client }) => ({ ...client, endpoints: client.endpoints })),
  }));
  app.get('/keys', async () => ({ keys }));
  app.post('/keys/revoke', async (request) => {
    const { key: value } = read(revokeSchema, request.body);
    const key = keys.find((one) => isSameText(one.value, value));
    if (key === undefined) throw notFound('No such API key.');
    key.revoked = true;
    return key;
  });
  app.get('/faults', async () => ({ faults: faults.list(), counts: faults.counts() }));
  app.put('/faults', async (request) => {
    const wanted = read(faultsSchema, request.body);
    if ('faults' in wanted) faults.set(wanted.faults);
    else if (isScenarioName(wanted.scenario)) faults.set(scenarios[wanted.scenario]);
    else throw notFound('No such scenario.');
    return { faults: faults.list() };
  });
  app.get('/deliveries', async () => ({ deliveries: outbox.log() }));
  app.post<{ Params: { id: string } }>('/deliveries/:id/redeliver', async (request) => {
    const { to } = read(redeliverSchema, request.body ?? {});
    const record = await outbox.redeliver(request.params.id, to);
    if (record === null) throw notFound('No such delivery.');
    return record;
  });
  app.put<{ Params: { slug: string } }>('/clients/:slug/endpoints', async (request) => {
    const client = clients.find(({ slug }) => slug === request.params.slug);
    if (client === undefined) throw notFound('No such client.');
    const { endpoints } = read(endpointsSchema, request.body);
    client.endpoints.splice(0, client.endpoints.length, ...endpoints);
    return { endpoints: client.endpoints };
  });
  app.put<{ Params: { slug: string } }>('/clients/:slug/account', async (request) => {
    const client = clients.find(({ slug }) => slug === request.params.slug);
    if (client === undefined) throw notFound('No such client.');
    client.account = read(accountSchema, request.body).account;
    return { account: client.account };
  });
  app.post('/trigger', async (request) => {
    const {
      event,
      client = clients[0]?.slug ?? '',
      happening,
      set,
      to,
      note,
      count,
    } = read(triggerSchema, request.body);
    const options: SendOptions = {
      ...(happening === undefined ? {} : { happening }),
      ...(set === undefined ? {} : { set }),
      ...(to === undefined ? {} : { url: to }),
      ...(note === undefined ? {} : { note }),
    };
    const deliveries: DeliveryRecord[] = [];
    for (let n = 0; n < count; n += 1) {
      const made = await send(client, event, options).catch((error: unknown) => {
        throw invalidRequest(error instanceof Error ? error.message : String(error));
      });
      deliveries.push(...made);
    }
    return { deliveries };
  });
}

function read<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw invalidRequest(firstProblem(parsed.error));
  return parsed.data;
}
