import type { SameRequest } from '../../../cases/duplicates.ts';
import type { PageFrame } from '../parts/layout.tsx';
import { Input, Moment, Panel } from '../parts/parts.tsx';
import type { CasePageData } from './load-case.ts';
import { CaseForm } from './move-forms.tsx';

const commonTexts: Readonly<Record<SameRequest['because'], string>> = {
  email: 'the same e-mail address',
  subject: 'the same id from the requester’s device',
  name: 'the same name',
};

/**
 * Whether a request was recorded more than once: the case that it duplicates, its own duplicates, and cases that may be
 * the same request.
 */
export function SamePanel({ frame, data }: { readonly frame: PageFrame; readonly data: CasePageData }) {
  const { view, sameAs } = data.shown;
  const { row, folded } = view;
  const { duplicateOf, duplicates = [], ownReceipt } = folded;
  const shown = view.open ? sameAs : [];
  if (duplicateOf === null && duplicates.length === 0 && shown.length === 0) return null;
  return (
    <Panel id="same" title="The same request">
      {duplicateOf === null ? null : (
        <>
          <p>
            Closed as a duplicate of <CaseLink caseId={duplicateOf} />, where it is answered. That request runs from the
            earlier of the two receipts.
          </p>
          {frame.canWork ? (
            <CaseForm frame={frame} data={data} move="reopen">
              <Input
                id="not-duplicate-reason"
                name="reason"
                label="Reason"
                maxLength={300}
                value={`Not a duplicate of ${duplicateOf}`}
              />
              <button class="quiet" type="submit">
                Not a duplicate: reopen
              </button>
            </CaseForm>
          ) : null}
        </>
      )}
      {duplicates.length === 0 ? null : (
        <>
          <p>Closed as duplicates of this request:</p>
          <ul class="plain">
            {duplicates.map(({ caseId, receivedAt }) => (
              <li key={caseId}>
                <CaseLink caseId={caseId} />, received <Moment iso={receivedAt} timeZone={frame.timeZone} />
              </li>
            ))}
          </ul>
          {ownReceipt === undefined ? null : (
            <p class="small">
              This one was received <Moment iso={ownReceipt.at} timeZone={frame.timeZone} />. The period runs from the
              earliest receipt, <Moment iso={row.receipt_at} timeZone={frame.timeZone} /> (GDPR Art. 12(3)).
            </p>
          )}
        </>
      )}
      {shown.length === 0 ? null : (
        <>
          <p>These open requests of the same kind may be the same request, recorded twice:</p>
          <ul class="plain">
            {shown.map(({ caseId, receivedAt, channel, because }) => (
              <li key={caseId}>
                <CaseLink caseId={caseId} />, received <Moment iso={receivedAt} timeZone={frame.timeZone} /> by{' '}
                <bdi>{channel}</bdi>: {commonTexts[because]}
                {frame.canWork ? (
                  <CaseForm frame={frame} data={data} move="close-duplicate">
                    <input type="hidden" name="duplicateOf" value={caseId} />
                    <button class="quiet" type="submit">
                      Same request: close this one, continue with {caseId}
                    </button>
                  </CaseForm>
                ) : null}
              </li>
            ))}
          </ul>
          <p class="small">The period runs from the earlier of the two receipts. You can undo this.</p>
        </>
      )}
    </Panel>
  );
}

function CaseLink({ caseId }: { caseId: string }) {
  return <a href={`/cases/${encodeURIComponent(caseId)}`}>{caseId}</a>;
}
