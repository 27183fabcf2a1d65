import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { lookUpConsent } from '../../consent/look-up.ts';
import type { Context } from '../../context.ts';
import { localTimeOf, momentAt } from '../../core/zoned-days.ts';
import { ConsentPage, type ConsentProps } from '../../dashboard/consent-page.tsx';
import { renderPage } from '../../dashboard/layout.tsx';
import { officerOf } from '../auth/guard.ts';
import { formOf, html } from '../html.ts';
import { frameOf } from './frame.ts';

/** The look-up of a person's consent. A form that is posted, so that no identifier stands in an address or a log. */
export async function consentRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/consent', (request, reply) =>
    send(request, reply, {
      form: { at: localTimeOf(context.clock().toISOString(), context.config.timeZone), source: 'default' },
    }),
  );

  app.post('/consent', async (request, reply) => {
    const form = formOf(request.body);
    const { identifier = '', source = '' } = form;
    const at = momentOf(form['at'] ?? '');
    if (at === null) return send(request, reply, { form, problems: ['Enter the time.'] }, 422);
    const asOf = await context.projector.catchUp();
    const actor = officerOf(request).officer;
    const answer = await lookUpConsent(context, { source, identifier, at, asOf, actor });
    return answer.outcome === 'refused'
      ? send(request, reply, { form, problems: answer.problems }, 422)
      : send(request, reply, { form, answer });
  });

  function send(
    request: FastifyRequest,
    reply: FastifyReply,
    shown: Omit<ConsentProps, 'frame' | 'sources'>,
    status = 200,
  ): FastifyReply {
    const props = { frame: frameOf(context, request, reply), sources: context.sources.list(), ...shown };
    return html(reply, renderPage(<ConsentPage {...props} />), status);
  }

  function momentOf(local: string): string | null {
    try {
      return momentAt(local, context.config.timeZone);
    } catch {
      return null;
    }
  }
}
