import { readPolicyText } from '../../src/texts/policy-text.ts';
import { formatCount, formatTime } from '../format.ts';
import { renderJson } from '../render/json.ts';
import { describeText, type PolicyTextInterval } from '../policy-texts.ts';
import { evidenceName } from './banners.ts';
import type { PackContext, PackPart } from './context.ts';

/** The policies that the decisions name, by the times in which they were in force, and their texts by the times in which these were seen. */
export const policies: PackPart = (context) =>
  context.disclosure === 'full'
    ? {
        name: 'policies.json',
        what: 'the policies that were in force at the time of the decisions',
        content: renderJson({
          note:
            'Policies: as the service reported them; commitment is what the ledger holds for the entry with the report, not a hash of the text. ' +
            'Texts: as they were fetched; textSha256 is the hash of the visible text (policy-texts.txt), commitment that of the entry with the answer.',
          bannerAsShown:
            context.banner.evidence.length === 0
              ? 'not evidenced'
              : context.banner.evidence.map((one) => ({ file: evidenceName(one), ...one })),
          policies: context.policies,
          texts: context.texts.map((text, place) => ({ text: place + 1, ...text })),
        }),
      }
    : null;

/** The texts themselves, to read: under which text the person decided. */
export const policyTexts: PackPart = (context) =>
  context.disclosure === 'full' && context.texts.length > 0
    ? {
        name: 'policy-texts.txt',
        what: 'the texts of these policies at the time, as they were fetched',
        content: readableTexts(context),
      }
    : null;

/** One text in memory at a time. */
async function* readableTexts({ input, texts }: PackContext): AsyncGenerator<Uint8Array> {
  for (const [place, text] of texts.entries()) {
    const [entry] = text.textSha256 === null ? [] : await input.history.rawEntries(input, [text.bodySeq]);
    const head = [`${'='.repeat(72)}`, `Text ${place + 1}: ${describeText(text)}`, ...factsOf(text, input.timeZone)];
    const lines =
      text.textSha256 === null
        ? ['The service answered that there is no text.']
        : entry?.body == null
          ? ['The text is not kept any more: it was erased. Its hash remains.']
          : readPolicyText(entry.body, text.contentType).lines;
    yield Buffer.from([...head, '', ...lines, '', ''].join('\r\n'), 'utf8');
  }
}

function factsOf(text: PolicyTextInterval, zone: string): string[] {
  const seen = (at: string) => formatTime(at, zone);
  return [
    text.notBefore === null
      ? `Seen first ${seen(text.firstSeen)}; it was there by then.`
      : `Came between ${seen(text.notBefore)}, when the text before was seen last, and ${seen(text.firstSeen)}.`,
    text.nextSeen === null ? 'No later text has been seen.' : `The next text was seen first ${seen(text.nextSeen)}.`,
    `SHA-256 of the lines below, joined by line feeds: ${text.textSha256 ?? 'none'}; entry ${formatCount(text.bodySeq)} of the ledger.`,
  ];
}
