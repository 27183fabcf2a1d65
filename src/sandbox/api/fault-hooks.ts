import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Drawn, Faults, FaultTarget } from '../faults.ts';
import { AnswerError, forbidden, invalidRequest, unauthorized } from './answers.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The endpoint's name for faults. */
    target?: Exclude<FaultTarget, 'any' | 'webhooks'>;
  }
}

const drawnFor = new WeakMap<FastifyRequest, Drawn>();

/** The faults drawn for a request. */
export function faultsOf(request: FastifyRequest): Drawn {
  return drawnFor.get(request) ?? { number: 0, find: () => null };
}

/** Applies faults to every route in this scope that has a target in its config. */
export function addFaultHooks(app: FastifyInstance, faults: Faults): void {
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());

  app.addHook('onRequest', async (request, reply) => {
    const { target } = request.routeOptions.config;
    if (target === undefined) return;
    const drawn = faults.draw(target);
    drawnFor.set(request, drawn);
    const latency = drawn.find('latency');
    if (latency !== null) await sleep(latency.ms, undefined, { signal: closing.signal }).catch(() => undefined);
    if (drawn.find('time-out')?.carriedOut === false) {
      // Never answered: the request ends when the caller gives up or the sandbox closes.
      reply.hijack();
      return;
    }
    if (drawn.find('dropped-connection')?.carriedOut === false) {
      reply.hijack();
      request.raw.socket.destroy();
      return;
    }
    const tooMany = drawn.find('too-many-requests');
    if (tooMany !== null) {
      if (tooMany.retryAfter !== null) reply.header('retry-after', String(tooMany.retryAfter));
      throw new AnswerError(429, 'rate_limited', 'Too many requests.');
    }
    const serverError = drawn.find('server-error');
    if (serverError !== null) throw new AnswerError(serverError.status, 'server_error', 'Internal error.');
    if (drawn.find('bad-request') !== null) throw invalidRequest('A parameter is not valid.');
    if (drawn.find('unauthorized') !== null) throw unauthorized('This API key is not valid.');
    if (drawn.find('payment-required') !== null)
      throw new AnswerError(402, 'payment_required', 'The subscription has expired.');
    if (drawn.find('forbidden') !== null) throw forbidden('The plan has no access to the API.');
  });

  app.addHook('onSend', async (request, reply, payload: unknown) => {
    const drawn = drawnFor.get(request);
    if (drawn === undefined) return payload;
    if (drawn.find('time-out') !== null) {
      // Held until the caller gives up or the sandbox closes.
      await new Promise<void>((resolve) => {
        reply.raw.once('close', resolve);
        closing.signal.addEventListener('abort', () => resolve(), { once: true });
      });
      request.raw.socket.destroy();
      return payload;
    }
    if (drawn.find('dropped-connection') !== null) {
      reply.hijack();
      request.raw.socket.destroy();
      return payload;
    }
    if (typeof payload !== 'string') return payload;
    if (drawn.find('web-page') !== null) {
      reply.type('text/html; charset=utf-8');
      return '<!doctype html><title>One moment, please</title><p>Checking your browser …</p>';
    }
    if (drawn.find('invalid-json') !== null) return payload.replace(/"/, "'");
    if (drawn.find('truncated-json') !== null) return payload.slice(0, Math.floor(payload.length * 0.6));
    if (drawn.find('cut-off') !== null) {
      // Announces more than is sent: the connection ends inside the body.
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(reply.statusCode, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(payload),
      });
      raw.write(payload.slice(0, Math.floor(payload.length * 0.6)), () => raw.destroy());
    }
    return payload;
  });
}
