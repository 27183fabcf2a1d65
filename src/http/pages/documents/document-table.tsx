import { formatCount, formatPeriod } from '../../../../reports/format.ts';
import { findReport } from '../../../../reports/index.ts';
import { isLetterStep } from '../../../../reports/letters/texts.ts';
import { languageText } from '../../../core/language.ts';
import { dateText, momentText } from '../../../core/time-words.ts';
import { dateIn } from '../../../core/zoned-days.ts';
import type { DocumentRow } from '../../../documents/check.ts';
import type { PageFrame } from '../parts/layout.tsx';
import { Badge, type Column, Moment, Table } from '../parts/parts.tsx';
import { letterText, sizeText } from '../parts/words.ts';

/** Registered files. The link downloads; each download is an entry. */
export function DocumentTable({
  frame: { timeZone, sourceName },
  documents,
  awaiting,
  total,
  also = [],
}: {
  frame: PageFrame;
  documents: readonly DocumentRow[];
  /** Ids of those that a second person has yet to approve. */
  awaiting: ReadonlySet<string>;
  total?: number;
  /** Additional columns. */
  also?: readonly Column<DocumentRow>[];
}) {
  if (documents.length === 0) return <p>None yet.</p>;
  const more = (total ?? documents.length) - documents.length;
  const columns: readonly Column<DocumentRow>[] = [
    {
      title: 'Document',
      cell: (document) => (
        <>
          {document.erased_at === null ? (
            <a href={`/documents/${encodeURIComponent(document.document_id)}/download`} class="outside" download>
              {titleOf(document)}
              <span class="soft">
                {' '}
                ({document.name === 'attachment' ? 'file' : document.format.toUpperCase()}, {sizeText(document.bytes)})
              </span>
            </a>
          ) : (
            <>
              {titleOf(document)}
              <span class="soft"> (erased on {dateText(dateIn(document.erased_at, timeZone))})</span>
            </>
          )}
          {awaiting.has(document.document_id) ? (
            <>
              {' '}
              <Badge text="not approved yet" tone="warn" />
            </>
          ) : null}
          <br />
          <span class="soft small">{aboutOf(document, sourceName)}</span>
        </>
      ),
    },
    {
      title: 'Made',
      cell: ({ created_at, actor }) => (
        <span class="small">
          <Moment iso={created_at} timeZone={timeZone} />
          <br />
          <span class="soft">by {actor}</span>
        </span>
      ),
    },
    {
      title: 'SHA-256',
      cell: ({ sha256 }) => (
        <span class="mono" title={sha256}>
          {sha256.slice(0, 12)}…
        </span>
      ),
    },
    { title: 'Downloads', isNumber: true, cell: ({ downloads }) => formatCount(downloads) },
    ...also,
  ];
  const unapproved = documents.some(({ document_id: id }) => awaiting.has(id))
    ? ' What is not approved yet is for review: a second person has to approve it before it leaves.'
    : '';
  const some = more > 0 ? `The newest ${documents.length} of ${formatCount(total ?? 0)}. ` : '';
  return (
    <Table
      caption={`${some}Each download is recorded in the ledger.${unapproved}`}
      columns={columns}
      rows={documents}
    />
  );
}

/** A document within its case, for a selection list: `Response pack for default-46, made 21 Nov 2026, 11:32`. */
export function optionText(document: DocumentRow, timeZone: string): string {
  return `${titleOf(document)}, made ${momentText(document.created_at, timeZone)}`;
}

function titleOf({ name, case_id: caseId, parameters }: DocumentRow): string {
  return documentTitle({ name, caseId, parameters: JSON.parse(parameters) as Readonly<Record<string, unknown>> });
}

/** `Response pack for default-46`, `Consent audit`, `Erasure certificate`. */
export function documentTitle({
  name,
  caseId,
  parameters: { step, language, fileName },
}: {
  readonly name: string;
  readonly caseId: string | null;
  readonly parameters: Readonly<Record<string, unknown>>;
}): string {
  if (name === 'letter') {
    const title = typeof step === 'string' && isLetterStep(step) ? letterText(step) : 'Letter';
    const inLanguage = typeof language === 'string' ? `, in ${languageText(language.replace(/-.*/, ''))}` : '';
    return `${title} for ${caseId ?? ''}${inLanguage}`;
  }
  if (name === 'attachment') return `${typeof fileName === 'string' ? fileName : 'File'} for ${caseId ?? ''}`;
  const title = findReport(name)?.title;
  if (caseId !== null) return `${title ?? 'Response pack'} for ${caseId}`;
  return title ?? `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`;
}

/** Period and source, if the document has them. */
function aboutOf({ parameters, source, as_of }: DocumentRow, sourceName: PageFrame['sourceName']): string {
  const { from, to } = JSON.parse(parameters) as { from?: unknown; to?: unknown };
  const period = typeof from === 'string' && typeof to === 'string' ? `${periodText(from, to)} · ` : '';
  return `${period}${sourceName(source)} · as of entry ${formatCount(as_of)}`;
}

function periodText(from: string, to: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(from) && /^\d{4}-\d{2}-\d{2}$/.test(to)
    ? formatPeriod(from, to)
    : `${from} – ${to}`;
}
