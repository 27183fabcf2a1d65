import type { FastifyReply } from 'fastify';
import { sha256Hex } from '../../../crypto/hash.ts';
import { allowScript } from './passkey-script.ts';

/**
 * Moves the progress bar of a job, and reloads the page when the job has ended, unless someone is filling in a form.
 * Without the script, the link next to the bar does the same.
 */
export const liveScript = `
for (const place of document.querySelectorAll('[data-job]')) {
  const events = new EventSource('/jobs/' + encodeURIComponent(place.dataset.job) + '/events');
  const bar = place.querySelector('progress');
  const words = place.querySelector('[data-message]');
  events.addEventListener('progress', ({ data }) => {
    const { done, total, text } = JSON.parse(data);
    if (total !== null) {
      bar.max = Math.max(total, 1);
      bar.value = done;
    }
    words.textContent = text;
  });
  events.addEventListener('end', () => {
    events.close();
    if (document.activeElement === null || !document.activeElement.matches('input, select, textarea')) location.reload();
    else words.textContent = 'Done. Refresh to see the result.';
  });
}
`.trimStart();

/** Its address changes with its content, so it can be cached for a long time. */
export const liveScriptPath = `/assets/live-${sha256Hex(Buffer.from(liveScript)).slice(0, 12)}.js`;

/** Lets a page run the script and receive this site's events. */
export function allowLive(reply: FastifyReply): void {
  allowScript(reply);
  void reply.header(
    'content-security-policy',
    `${String(reply.getHeader('content-security-policy'))};connect-src 'self'`,
  );
}
