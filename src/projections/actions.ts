import type { Action } from '../core/action.ts';
import { REGIMES } from '../core/vocabulary.ts';
import { periodKey } from '../store/queries/counters.ts';
import { historyColumns } from './columns.ts';
import { appendTo, type ProjectedEntry, type Projection, type Row } from './projection.ts';

/** The audit trail: what officers, the operator and the program itself did. */
export const actions: Projection = {
  name: 'actions',
  tables: ['action_history'],
  async fold(_state, batch) {
    const rows = batch.filter((entry) => entry.kind === 'action').map(actionRow);
    return rows.length === 0 ? [] : [appendTo('action_history', rows)];
  },
};

/** An action that this version cannot read is still listed, under the name in its meta. */
function actionRow(entry: ProjectedEntry): Row<'action_history'> {
  const { action, actor } = entry.meta;
  return {
    ...historyColumns(entry),
    action: entry.action?.action ?? (typeof action === 'string' ? action : 'unknown'),
    actor: entry.action?.actor ?? (typeof actor === 'string' ? actor : 'unknown'),
    object: entry.action === null ? null : objectOf(entry.action),
    details: entry.action === null ? '{}' : entry.body.toString('utf8'),
  };
}

/** The object of an action; null if it has none, like signing in. */
function objectOf(action: Action): string | null {
  switch (action.action) {
    case 'case.moved':
    case 'case.opened':
    case 'consent.withdrawn-by-request':
    case 'mail.attempted':
    case 'mail.sent':
    case 'mail.unsent':
    case 'mail.unknown':
      return action.caseId;
    case 'document.manifest':
      return action.reference;
    case 'checkpoint.witnessed':
      return action.files.at(-1)?.name ?? null;
    case 'document.produced':
    case 'document.downloaded':
    case 'document.mailed':
      return action.documentId;
    case 'document.schedule-added':
    case 'document.schedule-removed':
      return action.scheduleId;
    case 'source.added':
    case 'source.changed':
    case 'source.offboarded':
    case 'source.reread':
    case 'source.mapping-accepted':
    case 'profile.changed':
      return action.sourceSlug;
    case 'sync.finished':
    case 'sync.failed':
    case 'sync.recounted':
    case 'sync.banner-dismissed':
    case 'sync.banner-restored':
      return action.bannerId;
    case 'banner.evidence-added':
    case 'banner.evidence-retracted':
    case 'banner.named':
      return action.bannerId;
    case 'reading.adopted':
      return String(action.version);
    case 'consent.looked-up':
      return action.about;
    case 'consent.record-sealed':
      return action.sha256;
    case 'person.added':
    case 'person.changed':
    case 'person.disabled':
    case 'person.enabled':
    case 'person.link-created':
    case 'person.password-set':
    case 'person.second-factor-set':
    case 'person.second-factor-removed':
    case 'person.session-revoked':
    case 'person.token-created':
    case 'person.token-revoked':
      return action.personId;
    case 'session.refused':
      return action.personId;
    case 'record.viewed':
      return action.object;
    case 'repeat.settled':
      return String(action.delivery);
    case 'unread.set-aside':
      return action.event;
    case 'finding.settled':
      return action.key;
    case 'counters.observed':
      return periodKey(action);
    case 'hand-over.created':
    case 'hand-over.opened':
    case 'hand-over.code-refused':
    case 'hand-over.downloaded':
    case 'hand-over.revoked':
    case 'hand-over.expired':
      return action.handOverId;
    case 'regimes.changed':
      return REGIMES;
    case 'letter-text.changed':
      return `${action.step} ${action.language}`;
    case 'hold.placed':
    case 'hold.lifted':
      return action.holdId;
    case 'session.opened':
    case 'session.closed':
    case 'token.created':
    case 'installation.moved':
    case 'installation.reopened':
    case 'installation.restored':
    case 'backup.made':
    case 'export.made':
    case 'export.downloaded':
    case 'sync.form-learned':
      return null;
  }
}

/** The evidence that officers added or retracted of how banners were shown, and the names they gave banners. */
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
