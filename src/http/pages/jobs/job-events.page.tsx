import { sendJobEvents } from '../../job-events.ts';
import { pagesWith } from '../parts/define-page.ts';

const { file } = pagesWith<'jobs' | 'log'>();

/** Progress of a job as server-sent events. */
const events = file({
  path: '/jobs/:jobId/events',
  rule: { who: 'read', source: 'job' },
  send: ({ context, reply, params, request }) => sendJobEvents(context, reply, params.jobId, request.server.closing),
});

export const routes = [events];
