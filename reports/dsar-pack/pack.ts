import { parseFolded } from '../../src/cases/folded.ts';
import { parsePurposes } from '../../src/core/consent-judgement.ts';
import { timelineOf } from '../../src/core/consent-timeline.ts';
import { createTally, sha256Hex } from '../../src/crypto/hash.ts';
import { missingProfileParts } from '../../src/law/profile.ts';
import type { ProofFiles } from '../../src/ledger/prove-entry.ts';
import { readPolicyText } from '../../src/policy-texts/policy-text.ts';
import type { DecisionRow } from '../../src/store/queries/history-decisions.ts';
import { decisionColumns } from '../consent-audit.ts';
import { recordsContext } from '../consent-record/context.ts';
import { consentRecordOf } from '../consent-record.ts';
import { limits, noLegalAdvice } from '../create-report.ts';
import { textsIn } from '../letters/languages.ts';
import { tagOf } from '../letters/letter.ts';
import { fill } from '../letters/wording.ts';
import type { PolicyTextInterval } from '../policy-texts.ts';
import { renderCsv, renderJson } from '../render/csv-json.ts';
import type { ZipFile } from '../render/zip.ts';
import { contentsOfPack } from './described.ts';
import { type GatheredPack, type PackFile, type PackPart, type WrittenFile, withholdingSource } from './gather.ts';
import { bannerFiles, evidenceName, historyPage } from './history-page.ts';
import { type HistoryWords, historyWords } from './history-words.ts';
import { letter, letterOfPack, packFileNames } from './letter.ts';
import { filesOfProof, isWitnessed, type PackProofs, type ProvenEntry, proofFilesOf } from './proofs.ts';
import { readmeTextsIn } from './readme-texts.ts';

/** A part that is in the pack only with full disclosure. */
function inFull(name: string, what: string, content: (context: GatheredPack) => PackFile['content']): PackPart {
  return (context) => (context.disclosure === 'full' ? { name, what, content: content(context) } : null);
}

/** The parts of a pack, in order. README.txt and manifest.json come last because they describe the others. */
const parts: readonly PackPart[] = [
  letter,
  historyPage,
  inFull(
    'decisions.csv',
    'the same for a spreadsheet: every record, including those reported twice',
    ({ cite, banner, decisions }) => renderCsv(decisionColumns(cite, banner.cite), decisions()),
  ),
  inFull('decisions.json', 'the same for a program', (context) =>
    renderJson({ case: context.input.case.case_id, records: decisionsOf(context) }),
  ),
  inFull('records-27560.json', 'the decisions as consent records (ISO/IEC TS 27560)', (context) =>
    renderJson({ '@context': recordsContext, case: context.input.case.case_id, records: consentRecords(context) }),
  ),
  // A faithful copy (GDPR Art. 15(3)). Left out under a law that bars identifiers from the answer: identifiers cannot
  // be removed from exact bytes without changing them.
  (context) =>
    context.disclosure === 'full' && withholdingSource(context.input) === null
      ? {
          name: 'records.jsonl',
          what: 'the records exactly as received, one per line',
          content: rawRecords(context),
        }
      : null,
  inFull('policies.json', 'the policies that were in force at the time of the decisions', (context) =>
    renderJson({
      note:
        'Policies: as the service reported them; commitment is that of the ledger entry with the report, not a hash of the text. ' +
        `Texts: as they were fetched; textSha256 is the hash of the visible text (${packFileNames(context).policyTexts}.txt), commitment that of the entry with the response.`,
      bannerAsShown:
        context.banner.evidence.length === 0
          ? 'not evidenced'
          : context.banner.evidence.map((one) => ({ file: evidenceName(one), ...one })),
      policies: context.policies,
      texts: context.texts.map((text, place) => ({ text: place + 1, ...text })),
    }),
  ),
  // The readable texts under which the person decided.
  (context) =>
    context.disclosure === 'full' && context.texts.length > 0
      ? {
          name: `${packFileNames(context).policyTexts}.txt`,
          what: 'the texts of these policies at the time, as they were fetched',
          content: readableTexts(context),
        }
      : null,
  caseFile,
];

/** The list of files in a pack, as it is sealed in the ledger. */
export interface SealedList {
  /** SHA-256 of manifest.json, hex. */
  readonly sha256: string;
  /** SHA-256 of each listed file, by its name; without the proofs. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * The files of the pack that answers a case, up to its list of files. The same data give the same bytes. It contains a
 * person's records only if the disclosure is full, the required identity check was made, and the subject is that person's
 * alone (gather.ts). Each file must be read to its end before the next. `proofs`: of the entries in it; null: none.
 */
export async function* packFiles(
  context: GatheredPack,
  proofs: PackProofs | null,
): AsyncGenerator<ZipFile, SealedList, void> {
  const written: WrittenFile[] = [];
  for (const part of parts) {
    const file = await part(context);
    if (file !== null) yield counted(file, written);
  }
  for await (const file of bannerFiles(context)) yield counted(file, written);
  const content = readme(context, [...written], proofs === null ? null : { witnessed: await isWitnessed(context) });
  yield counted({ name: 'README.txt', what: 'what the files are', content }, written);
  const proven: ProvenEntry[] = [];
  if (proofs !== null)
    for await (const file of proofFilesOf(context, proofs, proven)) yield file.isEntry ? file : counted(file, written);
  const list = await bytesOf(manifest(context, written, proofs === null ? null : proven));
  yield { name: 'manifest.json', content: inOnePiece(list) };
  const listed = written.filter(({ name }) => !name.startsWith('proofs/'));
  return { sha256: sha256Hex(list), files: Object.fromEntries(listed.map(({ name, sha256 }) => [name, sha256])) };
}

/** The files that prove the list of a pack, at the end of it. */
export const sealFiles = (proof: ProofFiles): Iterable<ZipFile> => filesOfProof('manifest', proof);

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

async function* inOnePiece(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Passes a file on and records its size and hash once it has been read to its end. */
function counted({ name, what, content }: PackFile, written: WrittenFile[]): ZipFile {
  async function* passed(): AsyncGenerator<Uint8Array> {
    const tally = createTally();
    yield* tally.pass(content);
    written.push({ name, what, ...tally.total() });
  }
  return { name, content: passed() };
}

/** The case and how its deadline was computed, without officers' internal notes. */
function caseFile({ input, reference, disclosure }: GatheredPack): PackFile {
  return {
    name: 'case.json',
    what: 'the request and how its deadline was calculated',
    content: renderJson({
      reference,
      case: {
        id: input.case.case_id,
        requestId: input.case.request_id,
        kind: input.case.kind,
        ...partsOf(input.case.folded),
        jurisdiction: input.case.jurisdiction,
        language: input.case.language,
        receivedAt: input.case.receipt_at,
        receiptBasis: input.case.receipt_basis,
        channel: input.case.channel,
      },
      deadline: { ...input.deadline, timeZone: input.timeZone },
      identity: input.identity,
      match: input.match.status,
      disclosure,
    }),
  };
}

/** The rights of a request with several, and what was done about each. */
function partsOf(folded: string) {
  const { parts } = parseFolded(folded);
  return parts === undefined
    ? {}
    : { rights: parts.map(({ kind, outcome, ground, at }) => ({ kind, outcome, ground, at })) };
}

/** The list of files with their hashes, the checkpoint and how to verify: the last file of the pack. */
function manifest(
  context: GatheredPack,
  written: readonly WrittenFile[],
  proven: readonly ProvenEntry[] | null,
): AsyncIterable<Uint8Array> {
  const { input, reference, disclosure } = context;
  return renderJson({
    reference,
    case: input.case.case_id,
    source: input.source,
    regime: input.deadline.regime,
    disclosure,
    covers: 'consent and policy records only',
    generatedAt: input.generatedAt,
    generator: `consent-ledger ${input.version}`,
    sample: input.sample,
    asOf: input.asOf,
    files: written,
    ...(proven === null ? {} : { proofs: proven }),
    notStatedByTheController:
      input.profile === null ? ['the controller profile as a whole'] : missingProfileParts(input.profile),
    checkpoint: input.checkpoint,
    verify: [
      'Each file: its SHA-256 is listed above (`sha256sum FILE`).',
      ...(proven === null
        ? []
        : [
            'Everything at once, offline: open verify.html in a browser and drop the ZIP on it, or run `node verify.mjs PACK.zip`. Get the verifier key from the controller through a separate channel.',
            'Each entry: proofs/<entry>.tlog-proof is a C2SP tlog-proof; its extra data are the leaf data and the salt, with which .meta and .body give the commitment. This list itself is sealed: proofs/manifest.*.',
          ]),
      'The pack as a whole: its SHA-256 is in the ledger; the controller finds it with `consent-ledger document check FILE`.',
      'The ledger: `consent-ledger ledger verify` recomputes every hash. The checkpoint is a C2SP tlog-checkpoint signed with Ed25519, over a Merkle tree as in RFC 6962.',
    ],
    limits: [...limits, noLegalAdvice],
  });
}

/** What the files are and how to check them, in plain text and in the language of the letter. */
async function* readme(
  context: GatheredPack,
  written: readonly WrittenFile[],
  proofs: { readonly witnessed: boolean } | null,
): AsyncGenerator<Uint8Array> {
  const { input } = context;
  const tag = tagOf(letterOfPack(context));
  const [texts, t] = [textsIn(tag), readmeTextsIn(tag)];
  if (texts === undefined) throw new Error(`there are no texts in ${tag}`);
  const { handOver, frame } = texts;
  const names = written.map(({ name }) => name);
  const contents = contentsOfPack(texts, names);
  const lost = names.filter((name) => /^banner-evidence\/entry-\d+-\w+\.txt$/.test(name));
  const lines = [
    `${handOver.title}${input.sample ? ' (SAMPLE)' : ''}`,
    fill(frame.reference, { reference: input.case.case_id }),
    '',
    t.start,
    '',
    handOver.contents,
    ...[
      ...(proofs === null ? contents.slice(0, -1) : contents),
      ...lost.map((file) => fill(t.lost, { file })),
      ...(proofs === null ? [] : [t.keys]),
      ...(proofs?.witnessed === true && input.witnessed?.stamps.length !== 0 ? [t.witnessed] : []),
    ].map((line) => `- ${line}`),
    '',
    // The last step is about a published key, which a file cannot vouch for.
    ...(proofs === null ? [] : [handOver.check, ...handOver.checkSteps.slice(0, 2).map((step) => `- ${step}`), '']),
    ...(names.some((name) => name.endsWith('.csv')) ? [t.spreadsheet, ''] : []),
    t.noLegalAdvice,
    '',
  ];
  yield Buffer.from(lines.join('\r\n'), 'utf8');
}

async function* consentRecords(context: GatheredPack): AsyncGenerator<Record<string, unknown>> {
  const { input, cite } = context;
  const rows = [];
  for await (const row of context.decisions()) rows.push(row);
  for (const decision of timelineOf(rows)) {
    const policyId = decision.rows.find(({ policy_id }) => policy_id !== null)?.policy_id ?? null;
    const deliveries = decision.rows.filter(({ via }) => via === 'webhook').map(({ seq }) => Number(seq));
    yield consentRecordOf({
      source: input.source,
      asOf: input.asOf,
      decision,
      signatures: await input.history.signatures(input, deliveries),
      citation: cite({ policy_id: policyId, at: decision.at }),
      banner: context.banner.cite(decision),
      profile: input.profile,
      checkpoint: input.checkpoint,
      // Empty because the proofs are separate files of the pack.
      proofs: new Map(),
    });
  }
}

const AT_ONCE = 200;

async function* rawRecords(context: GatheredPack): AsyncGenerator<Uint8Array> {
  let page: DecisionRow[] = [];
  for await (const row of context.decisions()) {
    page.push(row);
    if (page.length < AT_ONCE) continue;
    yield* rawLines(context, page);
    page = [];
  }
  yield* rawLines(context, page);
}

/**
 * The exact bytes of each record, with what is needed to check it against the ledger. Its commitment is SHA-256(tag ‖
 * salt ‖ SHA-256(meta) ‖ SHA-256(body)); see docs/ledger-format.md, Checking a commitment.
 */
async function* rawLines({ input }: GatheredPack, page: readonly DecisionRow[]): AsyncGenerator<Uint8Array> {
  const seqs = page.map(({ seq }) => Number(seq));
  for (const entry of await input.history.rawEntries(input, seqs)) {
    const said = {
      entry: Number(entry.seq),
      kind: entry.kind,
      received: entry.received_at,
      commitment: entry.commitment.toString('hex'),
      ...(entry.body === null || entry.meta === null || entry.salt === null
        ? { erased: true }
        : { salt: entry.salt.toString('hex'), meta_sha256: sha256Hex(entry.meta), ...bodyOf(entry.body) }),
    };
    yield Buffer.from(`${JSON.stringify(said)}\n`, 'utf8');
  }
}

/** Text if the bytes are UTF-8, so that the commitment can be recomputed from it; otherwise base64. */
function bodyOf(body: Buffer): { body: string } | { body_base64: string } {
  const text = body.toString('utf8');
  return Buffer.from(text, 'utf8').equals(body) ? { body: text } : { body_base64: body.toString('base64') };
}

async function* decisionsOf(context: GatheredPack): AsyncGenerator<Record<string, unknown>> {
  const columns = decisionColumns(context.cite, context.banner.cite);
  for await (const row of context.decisions())
    yield {
      ...Object.fromEntries(columns.map(({ title, value }) => [title, value(row)])),
      purposes: parsePurposes(row.purposes),
    };
}

/** Holds one text in memory at a time. */
async function* readableTexts(context: GatheredPack): AsyncGenerator<Uint8Array> {
  const { input, texts } = context;
  const words = historyWords(context);
  const { heads } = words.texts;
  for (const [place, text] of texts.entries()) {
    const [entry] = text.textSha256 === null ? [] : await input.history.rawEntries(input, [text.bodySeq]);
    const title = words.say(heads.text, { number: `${place + 1}`, of: words.textOf(text) });
    const lines =
      text.textSha256 === null
        ? [heads.noText]
        : entry?.body == null
          ? [heads.erased]
          : readPolicyText(entry.body, text.contentType).lines;
    const head = ['='.repeat(72), title, ...factsOf(text, words)];
    yield Buffer.from([...head, '', ...lines, '', ''].join('\r\n'), 'utf8');
  }
}

function factsOf(text: PolicyTextInterval, { texts: { heads }, say, time, count }: HistoryWords): string[] {
  const first = time(text.firstSeen);
  return [
    text.notBefore === null
      ? say(heads.existed, { first })
      : say(heads.came, { previous: time(text.notBefore), first }),
    text.nextSeen === null ? heads.isLast : say(heads.next, { next: time(text.nextSeen) }),
    say(heads.sha256, { sha256: text.textSha256 ?? heads.noSha256, entry: count(text.bodySeq) }),
  ];
}
