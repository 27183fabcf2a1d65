import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLetterStep, type LetterStep } from '../../../reports/letters/texts.ts';
import type { Context } from '../../context.ts';
import { CodedError } from '../../core/errors.ts';
import { renderPage } from '../../dashboard/layout.tsx';
import { fingerprint, LetterPage } from '../../dashboard/letter-page.tsx';
import {
  draftLetter,
  LETTER_TEXT_LENGTH,
  letterFormats,
  type LetterWish,
  produceLetter,
} from '../../documents/produce-letter.ts';
import { officerOf } from '../auth/guard.ts';
import { formOf, html } from '../html.ts';
import { frameOf, untilProjected } from './frame.ts';

interface CaseParams {
  readonly Params: { readonly caseId: string };
}
type Form = Readonly<Record<string, string>>;

/** The page on which an officer writes a letter of a case, looks at it and makes it. */
export async function letterRoutes(app: FastifyInstance, context: Context): Promise<void> {
  const deps = () => ({ ...context.documents, cases: context.cases });

  app.get<CaseParams>('/cases/:caseId/letter', (request, reply) => {
    const { step = '', language = '' } = formOf(request.query);
    return sendLetter(request, reply, {
      caseId: request.params.caseId,
      step: stepOf(step),
      language: language || null,
    });
  });

  // Letters of other scripts than Latin take nine characters of a form for one of theirs.
  app.post<CaseParams>(
    '/cases/:caseId/letter',
    { bodyLimit: 16_384 + LETTER_TEXT_LENGTH * 12 },
    async (request, reply) => {
      const { caseId } = request.params;
      const form = formOf(request.body);
      const wish = await wishOf(caseId, form);
      const format = letterFormats.find((one) => one === form['format']) ?? 'pdf';
      // A letter that was switched to another one is looked at before it is made.
      const make = form['do'] === 'make' && wish.text != null;
      if (!make) return sendLetter(request, reply, wish, { format });
      const made = await produceLetter(deps(), { ...wish, format, actor: officerOf(request).officer });
      switch (made.outcome) {
        case 'produced':
          await untilProjected(context, made.seq);
          return reply.redirect(`/cases/${encodeURIComponent(caseId)}?done=letter#letters`, 303);
        case 'unknown-case':
          throw new CodedError('not_found', 'Unknown case.');
        case 'unknown-source':
          throw new CodedError('not_found', `The source ${made.source} of this case is no longer configured.`);
        case 'refused':
        case 'invalid':
          return sendLetter(request, reply, wish, { format, problems: [made.problem] }, 422);
        default:
          return made satisfies never;
      }
    },
  );

  /** What a sent form wishes for. A text that another one was chosen for, or that nobody edited when the language changed, starts anew (null). */
  async function wishOf(caseId: string, form: Form): Promise<LetterWish> {
    const { shownStep = '', shownStart = '0', start = shownStart, unedited = '', text = '' } = form;
    const step = stepOf(form['step'] ?? '');
    const wish = { caseId, step, language: form['language'] ?? null, recipient: form['recipient'] ?? null };
    if (step !== shownStep) return { ...wish, text: null, recipient: null };
    if (fingerprint(text) !== unedited && start === shownStart) return { ...wish, text };
    const draft = await draftLetter(deps(), { ...wish, text: null });
    const chosen = draft.outcome === 'drafted' ? draft.starts[Number(start)] : undefined;
    return { ...wish, text: chosen ?? text };
  }

  async function sendLetter(
    request: FastifyRequest,
    reply: FastifyReply,
    wish: LetterWish,
    shown: { readonly format?: string; readonly problems?: readonly string[] } = {},
    status = 200,
  ): Promise<FastifyReply> {
    let draft = await draftLetter(deps(), wish);
    // The first text to start from stands in the form.
    if (draft.outcome === 'drafted' && wish.text == null && draft.starts[0] !== undefined)
      draft = await draftLetter(deps(), { ...wish, text: draft.starts[0] });
    if (draft.outcome !== 'drafted') throw new CodedError('not_found', 'Unknown case.');
    const props = { frame: frameOf(context, request, reply), caseId: wish.caseId, draft, ...shown };
    return html(reply, renderPage(<LetterPage {...props} />), status);
  }
}

function stepOf(text: string): LetterStep {
  if (!isLetterStep(text)) throw new CodedError('invalid_request', 'Choose which letter to write.');
  return text;
}
