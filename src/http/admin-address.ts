import type { FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';

/**
 * The address of the officer's pages, without a slash at its end: ADMIN_URL, as registered with providers and bound to
 * passkeys, whatever a proxy says about the request; without it, the address to which the request was sent.
 */
export function adminAddressOf({ adminUrl }: Pick<Config, 'adminUrl'>, request: FastifyRequest): string {
  return adminUrl ?? `${request.protocol}://${request.host}`;
}
