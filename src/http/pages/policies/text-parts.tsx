import type { ComponentChildren } from 'preact';
import { formatCount } from '../../../../reports/format.ts';
import { CodedError } from '../../../core/errors.ts';
import type { Source } from '../../../core/source.ts';
import type { PublicAddress } from '../../../policies/show.ts';
import type { compareSideBySide, loadTextOfEntry, TextRow } from '../../../policy-snapshots/stored-texts.ts';
import { readPolicyText } from '../../../policy-texts/policy-text.ts';
import type { Visit } from '../parts/define-page.ts';
import { Moment, TextLines } from '../parts/parts.tsx';

/** Maximum time that a comparison may occupy the server, in milliseconds. */
export const COMPARE_MS = 500;

/** A stored text with where it was seen; null: there is none. */
export type Texts = Awaited<ReturnType<typeof loadTextOfEntry>>;
export type SeenText = NonNullable<Texts>;

/** The address of a policy's page. */
export function policyAddress(source: string, id: string, more: Record<string, string> = {}): string {
  return `/policies/policy?${new URLSearchParams({ source, id, ...more }).toString()}`;
}

/** The address of a text: that of the entry that holds it. */
export function textAddress(source: string, entry: number): string {
  return `/policies/text?${new URLSearchParams({ source, entry: String(entry) }).toString()}`;
}

/** The address of the changes between the texts of two entries. */
export function differenceAddress(source: string, older: number, newer: number): string {
  return `/policies/difference?${new URLSearchParams({ source, older: String(older), newer: String(newer) }).toString()}`;
}

/** The named source, if the person may see it. Throws `not_found`. */
export function sourceNamed(permitted: Visit<never>['permitted'], slug: string): Source {
  const source = permitted.findAny(slug);
  if (source === null) throw new CodedError('not_found');
  return source;
}

/** When a text came into force, as far as known. */
export function Came({ text, timeZone }: { text: TextRow; timeZone: string }) {
  const first = <Moment iso={text.first_seen} timeZone={timeZone} />;
  if (text.not_before === null) return <span>{first} or before</span>;
  return (
    <span>
      between <Moment iso={text.not_before} timeZone={timeZone} /> and {first}
    </span>
  );
}

/** The text, or why there is none. */
export function Lines({ text }: { text: Texts }) {
  if (text === null || text.stored === null) return <p>The text was erased.</p>;
  if (text.look.text_sha256 === null)
    return <p>There was no text: the service answered that the page does not exist.</p>;
  return <TextLines lines={readPolicyText(text.stored.bytes, text.stored.contentType).lines} />;
}

/** Where two texts differ, side by side. */
export function DifferenceTable({
  older,
  newer,
  stretches,
}: {
  readonly older: ComponentChildren;
  readonly newer: ComponentChildren;
  readonly stretches: NonNullable<ReturnType<typeof compareSideBySide>>;
}) {
  return (
    <table class="difference">
      <caption>Lines that changed, with three around them.</caption>
      <thead>
        <tr>
          <th scope="col">{older}</th>
          <th scope="col">{newer}</th>
        </tr>
      </thead>
      <tbody>
        {stretches.map(({ line, rows }) => (
          <>
            <tr class="gap">
              <td colSpan={2}>From line {formatCount(line)} of the newer text</td>
            </tr>
            {rows.map((row, place) => (
              <DifferentLine key={place} {...row} />
            ))}
          </>
        ))}
      </tbody>
    </table>
  );
}

function DifferentLine({ older, newer }: { older: string | null; newer: string | null }) {
  const isSame = older === newer;
  return (
    <tr class={isSame ? 'same' : 'changed'}>
      <td>{older === null ? null : isSame ? older : <del>{older}</del>}</td>
      <td>{newer === null ? null : isSame ? newer : <ins>{newer}</ins>}</td>
    </tr>
  );
}

/** A public address of the service: the link works, its words are without the token. */
export function PublicLink({ href, words }: PublicAddress) {
  return (
    <a href={href} rel="noopener noreferrer">
      {words}
    </a>
  );
}
