import type { Send } from '../policies/call.ts';
import { generateViaMcp } from '../service/mcp.ts';
import { ServiceError } from '../service/service-error.ts';

/** Sends a generation through the service's MCP endpoint instead of the REST API (docs/service.md §4.9). */
export const sendViaMcp: Send = ({ source, body, timeoutMs, signal }) => {
  const { siteUrl, apiKey } = source;
  if (siteUrl === null)
    throw new ServiceError('bad-request', {
      detail: `${source.slug} has no public origin of the service`,
      about: 'policies',
      unsent: true,
    });
  return generateViaMcp({ siteUrl, apiKey, body, timeoutMs, signal });
};
