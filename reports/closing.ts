import type { Block } from './render/blocks.ts';
import type { CheckpointToPrint } from './report.ts';
import { formatCount } from './format.ts';

/** What no document of this program proves. Printed in each of them. */
export const limits: readonly string[] = [
  'It shows that the records are unchanged since they were sealed. It does not prove who sent them: the signature of a delivery (HMAC) convinces only those who hold the same secret.',
  'It does not prove that the service delivered everything. Gaps that this installation could see are listed; what the service never reported cannot be.',
  'Times before the first checkpoint that left this installation rest on its own clock and on what the service stated.',
  'The service reports the choice, not the screen on which it was made. How a banner looked is known only where an officer added evidence of it, and is that officer’s statement.',
  'Policy texts are not part of the deliveries. Versions and dates are as reported; the text in force is evidenced only where a copy of it was kept.',
  'Subjects are hashed identifiers as the service sent them. One person may have several, and one identifier may stand for several people who share a device.',
];

export const noLegalAdvice =
  'This document was put together by a program from the records named above. It gives no legal advice; whether it meets a particular duty is for the controller and its counsel to judge.';

/** Under which name a PDF has the checkpoint attached. */
const CHECKPOINT_FILE = 'checkpoint.txt';

/** The checkpoint and how to verify: the same section in every document. */
export function verificationBlocks(checkpoint: CheckpointToPrint | null, asOf: number): Block[] {
  const blocks: Block[] = [];
  if (checkpoint === null) {
    blocks.push({
      block: 'notice',
      tone: 'warning',
      title: 'Not sealed',
      text: 'No checkpoint was available when this document was made. What it says can be compared with the ledger, but not against a signed tree head.',
    });
  } else {
    blocks.push({
      block: 'facts',
      pairs: [
        ['Checkpoint', `over ${formatCount(checkpoint.size)} entries`],
        ['Root hash (SHA-256)', checkpoint.rootHex],
        ['Verifier key', checkpoint.verifierKey],
      ],
    });
    blocks.push({
      block: 'verbatim',
      text: checkpoint.note.trimEnd(),
      file: {
        name: CHECKPOINT_FILE,
        description: 'The signed checkpoint (C2SP tlog-checkpoint)',
        content: checkpoint.note,
      },
    });
    if (checkpoint.size < asOf) {
      const open = asOf - checkpoint.size;
      blocks.push({
        block: 'paragraph',
        look: 'fine',
        text: `${formatCount(open)} of the ${formatCount(asOf)} entries behind this document came after this checkpoint; a later checkpoint covers them.`,
      });
    }
  }
  blocks.push(
    { block: 'heading', level: 2, text: 'How to verify' },
    {
      block: 'list',
      ordered: true,
      items: [
        'Is this file genuine? The SHA-256 of the file stands in the ledger: “consent-ledger document check FILE” finds it.',
        'Is the ledger unchanged? “consent-ledger ledger verify” recomputes every hash and compares them with the journal of checkpoints.',
        `Without this program: the note above is a C2SP tlog-checkpoint, signed with Ed25519, over a Merkle tree as RFC 6962 describes it. Any tool for that format reads it with the verifier key. In a PDF it is attached as ${CHECKPOINT_FILE}.`,
      ],
    },
  );
  return blocks;
}

export function limitsBlocks(more: readonly string[] = []): Block[] {
  return [
    { block: 'list', items: [...more, ...limits] },
    { block: 'paragraph', look: 'strong', text: noLegalAdvice },
  ];
}
