import { formatCount, formatTime, listed } from '../../reports/format.ts';
import { type Block, fine } from '../../reports/render/blocks.ts';
import { renderPdf } from '../../reports/render/pdf.ts';
import type { CheckpointToPrint } from '../../reports/report.ts';
import type { ControllerProfile } from '../law/profile.ts';
import {
  bannerPhrase,
  type CitedDecision,
  type LookUp,
  policyWords,
  purposeStateWords,
  purposeWord,
  standingWords,
  timeBasisWord,
  wayInWords,
} from './look-up.ts';

interface StatementInput {
  readonly answer: Extract<LookUp, { outcome: 'found' }>;
  readonly sourceName: string;
  readonly profile: ControllerProfile | null;
  readonly checkpoint: CheckpointToPrint | null;
  readonly timeZone: string;
  readonly version: string;
  /** ISO 8601 UTC. */
  readonly madeAt: string;
  readonly sample: boolean;
}

/**
 * A printable answer to a look-up: a person's consent, with the decisions and entries that determine it (GDPR Art.
 * 7(1)). One page for an ordinary person. It is not registered: the look-up is the entry, and the file contains the
 * hash of a person.
 */
export function renderStatement(input: StatementInput): AsyncGenerator<Uint8Array> {
  const { answer, profile, sourceName, version, madeAt, sample } = input;
  const frame = {
    title: 'Consent statement',
    owner: profile?.name ?? sourceName,
    footer: `Look-up recorded as entry ${formatCount(answer.recorded)}. As known at entry ${formatCount(answer.asOf)} of the ledger.`,
    language: 'en',
    producer: `consent-ledger ${version}`,
    createdAt: madeAt,
    watermark: sample ? 'SAMPLE' : null,
    kind: 'report',
  } as const;
  return renderPdf(frame, statementBlocks(input));
}

function* statementBlocks({ answer, sourceName, checkpoint, timeZone, madeAt }: StatementInput): Generator<Block> {
  const time = (iso: string) => formatTime(iso, timeZone);
  yield { block: 'title', text: 'Consent statement', subtitle: time(answer.at) };
  yield {
    block: 'facts',
    pairs: [
      ['Source', sourceName],
      ['Visitor', listed(answer.subjects) || 'not named in the record'],
      ['Decisions', `${formatCount(answer.total)} in all, ${formatCount(answer.later)} of them later`],
      ['Made', time(madeAt)],
    ],
  };
  if (answer.knownThen !== null) {
    const then = standingWords(answer.knownThen, answer.bannerNames);
    yield {
      block: 'notice',
      tone: 'warning',
      title: 'What had been received by then gave a different result',
      text: then.length === 0 ? 'Nothing had been received yet.' : '',
      items: then,
    };
  }
  yield {
    block: 'table',
    caption: 'Consent at that time',
    columns: [
      { title: 'Purpose', share: 3 },
      { title: 'State', share: 3 },
      { title: 'Since', share: 3 },
      { title: 'Banner', share: 3 },
      { title: 'Entries', share: 1.5 },
    ],
    rows: standingRows(answer, time),
    empty: 'No decision had been made by then.',
  };
  for (const decision of answer.decisions) yield* decisionBlocks(decision, time);
  if (checkpoint !== null)
    yield {
      block: 'facts',
      pairs: [
        ['Checkpoint', `over ${formatCount(checkpoint.size)} entries`],
        ['Root hash (SHA-256)', checkpoint.rootHex],
        ['Verifier key', checkpoint.verifierKey],
      ],
    };
  yield fine(
    'Every entry cited here was checked against its commitment and against a signed checkpoint. This shows that the records are unchanged since they were sealed, not who sent them. Generated from the records; not legal advice.',
  );
}

function standingRows(
  { standing, decisions, bannerNames }: StatementInput['answer'],
  time: (iso: string) => string,
): string[][] {
  const entries = new Map(decisions.map(({ decisionId, entries: of }) => [decisionId, of.map(({ seq }) => seq)]));
  return standing.flatMap(({ bannerId, purposes, necessary }) => [
    ...purposes.map(({ purpose, state, since, decisionId }) => [
      purposeWord(purpose),
      purposeStateWords[state],
      time(since),
      bannerPhrase(bannerId, bannerNames),
      (entries.get(decisionId) ?? []).join(', '),
    ]),
    ...(necessary.length === 0
      ? []
      : [[necessary.join(', '), 'necessary, needs no consent', '', bannerPhrase(bannerId, bannerNames), '']]),
  ]);
}

function* decisionBlocks(decision: CitedDecision, time: (iso: string) => string): Generator<Block> {
  yield { block: 'heading', level: 2, text: `Decision ${decision.decisionId}` };
  yield {
    block: 'facts',
    pairs: [
      ['Made', `${time(decision.at)} (${timeBasisWord(decision.timeBasis)})`],
      ['Under', policyWords(decision)],
      ...decision.policy.texts.map(
        ({ bodySeq, textSha256 }) =>
          ['Text', `entry ${bodySeq}, ${textSha256 === null ? 'no text' : `SHA-256 ${textSha256}`}`] as const,
      ),
      ...(decision.contradictions.length === 0 ? [] : [['Contradicted', decision.contradictions.join('; ')] as const]),
      ...decision.entries.map(
        ({ seq, wayIn, receivedAt, commitment }) =>
          [`Entry ${seq}`, `${wayInWords[wayIn]}, received ${time(receivedAt)}, commitment ${commitment}`] as const,
      ),
    ],
  };
}
