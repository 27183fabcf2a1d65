import { historyColumns } from './columns.ts';
import { appendTo, type Projection, type ProjectedEntry, type Row } from './projection.ts';

/** What officers added and retracted as evidence of how banners were shown, and what they call the banners. */
export const bannerEvidence: Projection = {
  name: 'banner-evidence',
  tables: ['banner_evidence'],
  async fold(_state, batch) {
    const rows = batch.flatMap((entry) => evidenceRow(entry) ?? []);
    return rows.length === 0 ? [] : [appendTo('banner_evidence', rows)];
  },
};

function evidenceRow(entry: ProjectedEntry): Row<'banner_evidence'> | null {
  const { action, commitment } = entry;
  const same = { ...historyColumns(entry), commitment };
  if (action?.action === 'banner.evidence-added')
    return {
      ...same,
      change: 'added',
      evidence: entry.seq,
      actor: action.actor,
      banner_id: action.bannerId,
      sha256: action.sha256,
      bytes: action.bytes,
      media_type: action.mediaType,
      file_name: action.fileName,
      shown_from: action.from,
      shown_to: action.to,
      note: action.note,
    };
  const withoutFile = {
    sha256: null,
    bytes: null,
    media_type: null,
    file_name: null,
    shown_from: null,
    shown_to: null,
  };
  if (action?.action === 'banner.evidence-retracted')
    return {
      ...same,
      ...withoutFile,
      change: 'retracted',
      evidence: action.evidence,
      actor: action.actor,
      banner_id: action.bannerId,
      note: action.reason,
    };
  if (action?.action === 'banner.named')
    return {
      ...same,
      ...withoutFile,
      change: 'named',
      evidence: entry.seq,
      actor: action.actor,
      banner_id: action.bannerId,
      note: action.name,
    };
  return null;
}
