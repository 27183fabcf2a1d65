import type { FastifyReply } from 'fastify';

/** Sends a page. */
export function html(reply: FastifyReply, page: string, status = 200): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(page);
}

/** Fields of a form: each name once, each value a text that can be stored (JSON may hold half a surrogate pair); what is none is left out. */
export function formOf(body: unknown): Readonly<Record<string, string>> {
  const entries = typeof body === 'object' && body !== null ? Object.entries(body as Record<string, unknown>) : [];
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, Buffer.from(value).toString()]] : [])),
  );
}
