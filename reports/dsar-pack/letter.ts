import { missingProfileParts } from '../../src/core/profile.ts';
import { dateIn } from '../../src/core/zoned-days.ts';
import { noLegalAdvice } from '../closing.ts';
import { formatComputation, formatCount, formatDate } from '../format.ts';
import type { Block } from '../render/blocks.ts';
import { renderHtml } from '../render/html.tsx';
import { renderPdf } from '../render/pdf.ts';
import { letterhead, packFrame, type PackContext, type PackPart } from './context.ts';
import { readFolded } from './input.ts';
import { controllerBlocks } from './letter-controller.ts';
import { withholdsIdentifiers } from './withheld.ts';
import { askedFor, wantsInformation, wordingOf } from './wording.ts';

/**
 * The letter to the requester. A PDF; where the embedded font lacks a character of a name, or the text runs from right to left, an HTML
 * page instead, which the reader's own fonts can show: an answer must not fail because of somebody's name.
 */
export const letter: PackPart = async (context) => {
  const what = 'our answer to the request';
  const frame = packFrame(context, titleOf(context), 'letter');
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of renderPdf(frame, letterBlocks(context))) pieces.push(piece);
  } catch (error) {
    if (!(error instanceof Error && error.name === 'UnprintableText')) throw error;
    return {
      name: 'letter.html',
      what: `${what} (a page, because the font of the PDF lacks characters of it)`,
      content: renderHtml(frame, letterBlocks(context)),
    };
  }
  return { name: 'letter.pdf', what, content: inOrder(pieces) };
};

async function* inOrder(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

function titleOf({ input }: PackContext): string {
  return `Answer to your request of ${formatDate(dateIn(input.case.receipt_at, input.timeZone))}`;
}

/** The letter as blocks. */
export function* letterBlocks(context: PackContext): Generator<Block> {
  const { input, disclosure } = context;
  const wording = wordingOf(input.deadline.regime);
  const { refusal, extension } = readFolded(input);
  yield* address(context);
  yield { block: 'heading', level: 1, text: titleOf(context) };
  yield {
    block: 'paragraph',
    text: input.case.requester_name === null ? 'Dear Sir or Madam,' : `Dear ${input.case.requester_name},`,
  };
  const received = formatDate(dateIn(input.case.receipt_at, input.timeZone));
  yield {
    block: 'paragraph',
    text: `On ${received} you ${askedFor(input.case.kind)}. This letter answers that request under ${wording.law}.`,
  };
  if (extension !== null) {
    yield {
      block: 'paragraph',
      text: `On ${formatDate(dateIn(extension.noticeAt, input.timeZone))} we told you that we need more time, for this reason: ${extension.reasons}`,
    };
  }
  if (refusal !== null) yield* refusalBlocks(refusal);
  else if (disclosure === 'no-match') yield* noMatchBlocks(context, wording.noMatch);
  else if (disclosure === 'full') yield* fullBlocks(context, wording.access);
  else yield* categoriesBlocks(context);
  yield* scopeBlocks(context);
  if (refusal === null && (wantsInformation(input.case.kind) || disclosure === 'full')) {
    yield { block: 'heading', level: 1, text: 'About the processing' };
    yield* controllerBlocks(input.profile);
    if (wording.never !== null) yield { block: 'paragraph', look: 'fine', text: wording.never };
  }
  yield* rightsBlocks(context);
  yield* deadlineBlocks(context);
  yield* closingBlocks(context);
}

function* address({ input }: PackContext): Generator<Block> {
  const { profile } = input;
  const own =
    profile === null || profile.role === 'processor'
      ? []
      : [
          profile.address.join(', '),
          [profile.email, profile.phone, profile.website].filter((one) => one !== null).join(' · '),
        ];
  const [first = '', ...rest] = letterhead(input).split('\n');
  yield { block: 'paragraph', look: 'strong', text: first };
  yield { block: 'lines', look: 'muted', lines: [...rest, ...own].filter((line) => line !== '') };
  if (profile?.role === 'processor') {
    yield {
      block: 'lines',
      look: 'muted',
      lines: [`Drafted by ${profile.name} as processor; the controller approves its release.`],
    };
  }
  if (profile?.role === 'joint' && profile.controllerOrJointContact !== null) {
    yield {
      block: 'lines',
      look: 'muted',
      lines: [`Contact point of the joint controllers (Art. 26): ${profile.controllerOrJointContact}`],
    };
  }
  yield { block: 'gap', points: 22 };
  const requester = [input.case.requester_name, input.case.requester_email].filter((line) => line !== null);
  yield { block: 'lines', lines: requester.length === 0 ? ['To the person who made the request'] : requester };
  yield { block: 'gap', points: 18 };
  yield {
    block: 'lines',
    look: 'muted',
    align: 'right',
    lines: [
      formatDate(dateIn(input.generatedAt, input.timeZone)),
      `Our reference: ${input.case.case_id}`,
      ...(input.case.request_id === null ? [] : [`Your request: ${input.case.request_id}`]),
    ],
  };
}

function* refusalBlocks(refusal: { reasons: string; basis: string; remedies: string }): Generator<Block> {
  yield { block: 'heading', level: 1, text: 'We cannot do what you asked' };
  yield { block: 'paragraph', text: refusal.reasons };
  yield {
    block: 'facts',
    pairs: [
      ['Ground', refusal.basis],
      ['What you can do', refusal.remedies],
    ],
  };
}

function* noMatchBlocks({ input }: PackContext, place: string): Generator<Block> {
  yield { block: 'heading', level: 1, text: 'We cannot link you to a consent record' };
  yield {
    block: 'paragraph',
    text:
      'The consent records are kept under hashed identifiers of visitors, without names or addresses. From what your request contains we are not in a position ' +
      `to tell which of them, if any, are yours (${place}). That does not mean that there are none.`,
  };
  yield { block: 'paragraph', look: 'strong', text: 'This is how you can help us:' };
  yield {
    block: 'list',
    ordered: true,
    items: [
      'Open our website on the device and in the browser in which you made your choice, and send us the visitor identifier that the consent banner has stored there (in its cookie or in the settings of the banner).',
      'Tell us on which website, and about when, you made or changed your choice.',
      `Send it to us${input.profile?.email == null ? '' : ` at ${input.profile.email}`} with our reference ${input.case.case_id}. We then search again.`,
    ],
  };
}

function* fullBlocks(context: PackContext, place: string): Generator<Block> {
  const { found, input } = context;
  yield { block: 'heading', level: 1, text: 'Your consent records' };
  const [first, last] = [found.first, found.last].map((at) =>
    at === null ? '' : formatDate(dateIn(at, input.timeZone)),
  );
  const when = first === last ? `of ${first}` : `from ${first} to ${last}`;
  yield {
    block: 'paragraph',
    text: `Yes, we process personal data about you (${place}). We hold ${formatCount(found.decisions)} consent ${found.decisions === 1 ? 'decision' : 'decisions'} ${when} under ${
      input.match.status === 'from-device'
        ? 'the visitor identifier that you sent us from your device'
        : 'an identifier computed from the e-mail address that you gave us'
    }. A copy of all of them is enclosed: every record that we hold, not only those of the last twelve months.`,
  };
  if (input.identity.how !== null)
    yield {
      block: 'paragraph',
      text: `We checked that the request comes from you: ${input.identity.how.replace(/[.\s]+$/, '')}.`,
    };
  yield {
    block: 'list',
    items: [
      'history.html: your decisions to read, in any browser',
      'decisions.csv and decisions.json: the same for a spreadsheet or a program',
      'policies.json: the policies that were in force at the time',
      ...(context.texts.length === 0 ? [] : ['policy-texts.txt: the texts of these policies, as we fetched them']),
      ...(withholdsIdentifiers(input.deadline.regime)
        ? []
        : ['records.jsonl: the records exactly as we received them']),
    ],
  };
}

function* categoriesBlocks({ input }: PackContext): Generator<Block> {
  yield { block: 'heading', level: 1, text: 'Our answer' };
  if (input.identity.status !== 'met') {
    yield {
      block: 'paragraph',
      text:
        'We could not confirm that the request comes from the person whose data it is about. To protect that person we disclose no specific pieces of data. ' +
        'We answer your request as one for the categories of data: what is collected, where it comes from, what for, and who receives it.',
    };
    return;
  }
  if (!wantsInformation(input.case.kind)) {
    yield {
      block: 'paragraph',
      text: 'What we have done about it is said in the message that this letter comes with.',
    };
    if (input.case.kind === 'erasure') {
      yield {
        block: 'paragraph',
        text:
          'The record that a consent was given or withdrawn is itself evidence that we must be able to show. Unless that message says otherwise, it is kept restricted to this ' +
          'purpose (Art. 17(3)(b) and (e) GDPR) and erased when its retention ends.',
      };
    }
    return;
  }
  yield {
    block: 'paragraph',
    text: 'This answer states the categories of data, where they come from, what for, and who receives them. It holds no specific pieces of data.',
  };
}

function* scopeBlocks({ input }: PackContext): Generator<Block> {
  yield { block: 'heading', level: 1, text: 'What this answer covers' };
  const systems = input.systems ?? (input.profile?.otherSystems ?? []).map(({ name }) => ({ name, result: null }));
  yield {
    block: 'paragraph',
    text:
      'This pack covers consent and policy records only.' +
      (systems.length === 0
        ? ' Data in other systems of the controller is not part of it.'
        : ' The controller’s other systems:'),
  };
  const words = {
    'nothing-found': 'searched, nothing found',
    attached: 'searched, what was found is attached separately',
    'not-applicable': 'holds no data of this kind',
  } as const;
  if (systems.length > 0)
    yield {
      block: 'list',
      items: systems.map(({ name, result }) => `${name}: ${result === null ? 'not yet reported' : words[result]}`),
    };
}

function* rightsBlocks({ input }: PackContext): Generator<Block> {
  const wording = wordingOf(input.deadline.regime);
  const authority = input.profile?.supervisoryAuthority ?? null;
  yield { block: 'heading', level: 1, text: 'Your rights' };
  const where =
    authority === null
      ? []
      : [
          `The authority responsible for us: ${[authority.name, authority.address, authority.website].filter((part) => part !== null).join(', ')}.`,
        ];
  yield { block: 'list', items: [...wording.rights, wording.complaint, ...where] };
  const contact = input.profile?.dataProtectionOfficer ?? null;
  if (contact !== null) yield { block: 'paragraph', text: `Data protection officer: ${contact}` };
}

function* deadlineBlocks({ input }: PackContext): Generator<Block> {
  const { aimFor, legalLimit, explanation, citation } = input.deadline;
  yield { block: 'heading', level: 1, text: 'By when we had to answer' };
  yield {
    block: 'facts',
    pairs: [
      ['Aimed for', formatDate(aimFor)],
      ['Legal limit', formatDate(legalLimit)],
      ['Computed', formatComputation(explanation, citation)],
      ['According to', citation],
    ],
  };
}

function* closingBlocks(context: PackContext): Generator<Block> {
  const { input } = context;
  const lacking = input.profile === null ? ['the controller profile as a whole'] : missingProfileParts(input.profile);
  if (lacking.length > 0) {
    yield {
      block: 'notice',
      tone: 'warning',
      title: 'Not stated in this answer',
      text: 'The following has not been stated by the controller and is left open here:',
      items: lacking,
    };
  }
  yield { block: 'gap', points: 10 };
  yield {
    block: 'lines',
    lines: [
      'Yours faithfully',
      '',
      '',
      ...(input.profile?.signatory == null ? [] : [input.profile.signatory]),
      letterhead(input).split('\n')[0] ?? '',
    ],
  };
  yield { block: 'gap', points: 14 };
  yield {
    block: 'paragraph',
    look: 'fine',
    text: `manifest.json lists the enclosed files with their SHA-256 and says how to check them. ${noLegalAdvice}`,
  };
}
