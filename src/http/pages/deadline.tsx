import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { type ComputedCase, computeCase, readDeadlineCase } from '../../law/deadline-case.ts';
import { dateIn } from '../../core/zoned-days.ts';
import { DeadlinePage } from '../../dashboard/deadline-page.tsx';
import { renderPage } from '../../dashboard/layout.tsx';
import { formOf, html } from '../html.ts';
import { frameOf } from './frame.ts';

/** The deadline calculator of the officer: a form that is sent in the address, so that an answer can be kept as a link. */
export async function deadlineRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/deadline', async (request, reply) => {
    const form = formOf(request.query);
    const asked = form['received'] !== undefined;
    let problems: readonly string[] = [];
    let computed: ComputedCase | null = null;
    if (asked) {
      const read = readDeadlineCase(caseOf(form));
      if (read.outcome === 'refused') problems = read.problems;
      else computed = computeCase(read.value, context.cases.regimes);
    }
    const shown = asked ? form : { ...(await ownForm()), ...form };
    const frame = frameOf(context, request, reply);
    const page = <DeadlinePage frame={frame} form={shown} problems={problems} computed={computed} />;
    return html(reply, renderPage(page), problems.length > 0 ? 422 : 200);
  });

  /** The controller of this installation, received today. */
  async function ownForm(): Promise<Readonly<Record<string, string>>> {
    const [source] = context.sources.list();
    const profile = source === undefined ? null : await context.cases.profileOf(source.slug);
    const { timeZone } = context.config;
    return {
      kind: 'access',
      received: dateIn(context.clock().toISOString(), timeZone),
      country: profile?.country ?? '',
      region: profile?.region ?? '',
      timeZone,
    };
  }
}

/** The case that the form describes, in the shape of the calculator; what is empty is left out. */
function caseOf(form: Readonly<Record<string, string>>): unknown {
  const text = (name: string) => form[name]?.trim() || null;
  const pair = (asked: string, received: string) =>
    text(asked) === null && text(received) === null ? null : { askedAt: text(asked), receivedAt: text(received) };
  const clarification = pair('clarificationAsked', 'clarificationReceived');
  return {
    kind: text('kind'),
    received: text('received') ?? '',
    place: text('place'),
    controller: { country: text('country'), region: text('region'), timeZone: text('timeZone') },
    extension: text('noticeAt') === null ? null : { noticeAt: text('noticeAt'), until: text('until') },
    clarifications: clarification === null ? null : [clarification],
    identity: pair('identityAsked', 'identityReceived'),
    fee: pair('feeAsked', 'feeReceived'),
  };
}
