import type { CallIntent } from '../core/call.ts';
import { compareSideBySide, loadTextOfEntry, loadTextPage, type StoredText } from '../policy-snapshots/stored-texts.ts';
import { readPolicyText } from '../policy-texts/policy-text.ts';
import { readGenerated } from '../service/policies.ts';
import { ServiceError } from '../service/service-error.ts';
import type { Query } from '../store/store.ts';
import type { CallRow } from './settle-calls.ts';
import type { PolicyView } from './show.ts';

/** What a person was shown, and said, before a policy was made public. */
export type ShownText = NonNullable<CallIntent['shown']>;

/** The text in the service's response to a generation from here. */
export interface GeneratedText {
  readonly call: CallRow;
  /** The entry of the response. */
  readonly seq: number;
  /** SHA-256 of the visible text, hex, as `readPolicyText` gives it for the response. */
  readonly sha256: string;
  /** As a reader sees it. */
  readonly lines: readonly string[];
}

/**
 * Why the text that would become public is not known here. `not-here`: no response to a call from here contains it
 * (generated in the service, or in a batch, whose response has no texts). `erased`: the response was erased. `updated`:
 * a delivery reported a change after the generation. `differs`: the public page had another text after the generation.
 */
export type Unknown = 'not-here' | 'erased' | 'updated' | 'differs';

type SeenText = NonNullable<Awaited<ReturnType<typeof loadTextOfEntry>>>;

/** What is known here of a text before it is made public. The service publishes what it has saved by then. */
export interface BeforePublishing {
  readonly generated: GeneratedText | null;
  /** Null: nothing speaks against the generated text. */
  readonly unknown: Unknown | null;
  /** The newest text fetched from the public page; null: none was. */
  readonly published: SeenText | null;
  /** From what is public to the generated text; null: too different, or one of them is missing. */
  readonly difference: ReturnType<typeof compareSideBySide>;
}

/** What is known of the text of a policy before it is published; a comparison takes at most `compareMs`. */
export async function loadBeforePublishing(
  read: Query,
  view: PolicyView,
  compareMs: number,
): Promise<BeforePublishing> {
  const { source, policyId, history } = view;
  const { generated, isErased } = await loadGenerated(read, view);
  const [newest] = await loadTextPage(read, { source, target: `hosted:${policyId}`, before: null, limit: 1 });
  const published = newest === undefined ? null : await loadTextOfEntry(read, source, newest.first_seq);
  const both = generated === null || published?.stored == null ? null : { generated, stored: published.stored };
  const difference =
    both === null || published?.look.text_sha256 === null
      ? null
      : compareSideBySide(both.stored, plainText(both.generated), compareMs);
  return { generated, unknown: whyUnknown(), published, difference };

  function whyUnknown(): Unknown | null {
    if (generated === null) return isErased ? 'erased' : 'not-here';
    if (history.some(({ change, seq }) => change === 'updated' && seq > generated.call.intent_seq)) return 'updated';
    const isNewer = newest !== undefined && newest.first_seen >= generated.call.asked_at;
    const isSame = newest?.text_sha256 === generated.sha256 || difference?.length === 0;
    return isNewer && newest.text_sha256 !== null && !isSame ? 'differs' : null;
  }
}

/** What is recorded with the call: what was shown, and whether the person says that they read it in the service. */
export function shownOf({ generated }: Pick<BeforePublishing, 'generated'>, readInService: boolean): ShownText {
  return { textSha256: generated?.sha256 ?? null, seq: generated?.seq ?? null, readInService };
}

async function loadGenerated(
  read: Query,
  { calls }: PolicyView,
): Promise<{ readonly generated: GeneratedText | null; readonly isErased: boolean }> {
  const call = calls.findLast(({ operation, answer_seq: seq }) => operation === 'generate' && seq !== null);
  const seq = call?.answer_seq ?? null;
  if (call === undefined || seq === null) return { generated: null, isErased: false };
  const row = await read.selectFrom('entries').select('body').where('seq', '=', seq).executeTakeFirst();
  const body = row?.body ?? null;
  if (body === null) return { generated: null, isErased: true };
  if (!hasText(body, call.policy_id)) return { generated: null, isErased: false };
  const { form, lines, sha256 } = readPolicyText(body, 'application/json');
  if (form === 'json/1') return { generated: null, isErased: false };
  return {
    generated: { call, seq, sha256, lines: form === 'plain/1' ? lines.map(withoutMarks) : lines },
    isErased: false,
  };
}

function hasText(body: Buffer, policyId: string | null): boolean {
  try {
    const { id, html, markdown } = readGenerated(body);
    return id === policyId && (html ?? markdown ?? '').trim() !== '';
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

/**
 * A line of Markdown without its marks of quotations, emphasis and links, as `htmlLines` writes the same line of a page:
 * otherwise every emphasis would be a difference.
 */
export function withoutMarks(line: string): string {
  return line
    .replace(/^(?:\s{0,3}> ?)+/, '')
    .replace(/^\s*[-*+] (?=\S)/, '- ')
    .replace(
      /\[([^\][]{1,500})\]\((https?:\/\/[^\s()?#]{1,2000}|mailto:[^\s()?#]{1,500}|\/[^\s()?#]{0,2000})[^\s()]{0,2000}\)/g,
      '$1 <$2>',
    )
    .replace(/(\*{1,3})(?=\S)([^*]{1,2000})(?<=\S)\1/g, '$2')
    .replace(/(?<![\w])(_{1,3})(?=\S)([^_]{1,2000})(?<=\S)\1(?![\w])/g, '$2')
    .trim();
}

function plainText({ seq, sha256, lines }: GeneratedText): StoredText {
  const bytes = Buffer.from(lines.join('\n'), 'utf8');
  return { seq, bytes, contentType: 'text/plain; charset=utf-8', bodySha256: sha256 };
}
