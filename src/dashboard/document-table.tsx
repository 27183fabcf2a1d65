import { findReport } from '../../reports/index.ts';
import { formatCount, formatPeriod } from '../../reports/format.ts';
import { isLetterStep } from '../../reports/letters/texts.ts';
import { sizeText } from './format.ts';
import type { DocumentRow } from './load-today.ts';
import { Moment } from './parts.tsx';
import { letterText } from './words.ts';

/** Registered files. The link downloads; each download is an entry. */
export function DocumentTable({
  documents,
  total,
  timeZone,
}: {
  documents: readonly DocumentRow[];
  total?: number;
  timeZone: string;
}) {
  if (documents.length === 0) return <p>None yet.</p>;
  const more = (total ?? documents.length) - documents.length;
  return (
    <table class="stacks" role="table">
      <caption>
        {more > 0 ? `The newest ${documents.length} of ${formatCount(total ?? 0)}. ` : ''}Each download is recorded in
        the ledger.
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader">
            Document
          </th>
          <th scope="col" role="columnheader">
            Made
          </th>
          <th scope="col" role="columnheader">
            SHA-256
          </th>
          <th scope="col" role="columnheader" class="number">
            Downloads
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {documents.map((document) => (
          <tr role="row" key={document.document_id}>
            <th scope="row" role="rowheader">
              <a href={`/documents/${encodeURIComponent(document.document_id)}/download`} download>
                {titleOf(document)}
                <span class="soft">
                  {' '}
                  ({document.format.toUpperCase()}, {sizeText(document.bytes)})
                </span>
              </a>
              <br />
              <span class="soft small">{aboutOf(document)}</span>
            </th>
            <td role="cell" data-label="Made">
              <span class="small">
                <Moment iso={document.created_at} timeZone={timeZone} />
                <br />
                <span class="soft">by {document.actor}</span>
              </span>
            </td>
            <td role="cell" data-label="SHA-256">
              <span class="mono" title={document.sha256}>
                {document.sha256.slice(0, 12)}…
              </span>
            </td>
            <td role="cell" data-label="Downloads" class="number">
              {formatCount(document.downloads)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function titleOf({ name, case_id, parameters }: DocumentRow): string {
  if (name === 'letter') {
    const { step, language } = JSON.parse(parameters) as { step?: unknown; language?: unknown };
    const title = typeof step === 'string' && isLetterStep(step) ? letterText(step) : 'Letter';
    return `${title} for ${case_id ?? ''} (${typeof language === 'string' ? language : ''})`;
  }
  const title = findReport(name)?.title ?? name;
  return case_id === null ? title : `${title === name ? 'Response pack' : title} for ${case_id}`;
}

/** Period and source, as far as the document has them. */
function aboutOf({ parameters, source, as_of }: DocumentRow): string {
  const { from, to } = JSON.parse(parameters) as { from?: unknown; to?: unknown };
  const period = typeof from === 'string' && typeof to === 'string' ? `${periodText(from, to)} · ` : '';
  return `${period}${source} · as of entry ${formatCount(as_of)}`;
}

function periodText(from: string, to: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(from) && /^\d{4}-\d{2}-\d{2}$/.test(to)
    ? formatPeriod(from, to)
    : `${from} – ${to}`;
}
