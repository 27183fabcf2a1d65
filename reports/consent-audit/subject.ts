import { subjectForms } from '../../src/core/subject.ts';
import type { DecisionRow } from '../../src/store/queries/history-decisions.ts';
import { formatCount, formatTime } from '../format.ts';
import { type Block, table } from '../render/blocks.ts';
import type { ReportInput } from '../report.ts';
import { bannerWord, notStated, purposesInWords, stateWord, viaWords } from '../words.ts';

/** Everything recorded about one subject up to asOf, whatever the period: the history, not only the last state. */
export interface SubjectAppendix {
  readonly subject: string;
  readonly decisions: readonly {
    readonly seq: number;
    readonly at: string;
    readonly receivedAt: string;
    readonly state: string;
    readonly purposes: string;
    readonly bannerId: string | null;
    readonly policyId: string | null;
    readonly policyVersion: string | null;
    readonly via: string;
    readonly contradicts: boolean;
    readonly repeated: boolean;
  }[];
  /** How many older records were left out. */
  readonly left: number;
}

/** The most records in an appendix; the pack of a request has all of them. */
const LISTED = 2000;

/** Null if no subject was requested. */
export async function loadSubjectAppendix(input: ReportInput): Promise<SubjectAppendix | null> {
  const { subject = null } = input;
  if (subject === null) return null;
  const decisions: SubjectAppendix['decisions'][number][] = [];
  let left = 0;
  for await (const row of input.history.decisionRowsOf(input, subjectForms(subject))) {
    decisions.push(recordOf(row));
    if (decisions.length > LISTED) {
      decisions.shift();
      left += 1;
    }
  }
  return { subject, decisions, left };
}

function recordOf(row: DecisionRow): SubjectAppendix['decisions'][number] {
  return {
    seq: Number(row.seq),
    at: row.at,
    receivedAt: row.received_at,
    state: row.state,
    purposes: row.purposes,
    bannerId: row.banner_id,
    policyId: row.policy_id,
    policyVersion: row.policy_version,
    via: row.via,
    contradicts: Number(row.conflicts) === 1,
    repeated: Number(row.is_first) !== 1,
  };
}

export function* subjectBlocks({ subject, decisions, left }: SubjectAppendix, input: ReportInput): Generator<Block> {
  yield { block: 'heading', level: 1, text: 'Appendix  History of one subject' };
  yield {
    block: 'paragraph',
    text: `Every record of the subject ${subject} up to entry ${formatCount(input.asOf)}, from any period, in order of receipt.${
      left > 0 ? ` ${formatCount(left)} older ones are left out.` : ''
    }`,
  };
  yield table({
    caption: 'History of the subject',
    columns: [
      { title: 'When', share: 2.4, value: (one) => formatTime(one.at, input.timeZone).replace(' ', '\n') },
      {
        title: 'Decision',
        share: 2,
        value: (one) =>
          `${stateWord(one.state)}${one.contradicts ? '\n(contradicts)' : one.repeated ? '\n(reported again)' : ''}`,
      },
      { title: 'Purposes', share: 4, value: (one) => purposesInWords(one.purposes) },
      { title: 'Banner', share: 2, value: (one) => bannerWord(one.bannerId, input) },
      {
        title: 'Policy, version',
        share: 2.2,
        value: (one) =>
          one.policyId === null
            ? notStated
            : `${one.policyId}${one.policyVersion === null ? '' : `, ${one.policyVersion}`}`,
      },
      { title: 'Known from', share: 2, value: (one) => viaWords[one.via] ?? one.via },
      { title: 'Entry', share: 1.2, align: 'right', value: (one) => formatCount(one.seq) },
    ],
    rows: decisions,
    empty: 'The ledger has no record of this subject up to this position.',
  });
}
