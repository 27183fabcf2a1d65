import type { z } from 'zod';
import { FINDINGS_TOGETHER, type SettleOutcome, settleFindings } from '../../../attention/settle-findings.ts';
import { conclusions, conclusionWords, FINDING_REASON, type FindingKind, OPEN_AGAIN } from '../../../core/finding.ts';
import { dateText } from '../../../core/time-words.ts';
import type { Settlement } from '../../../store/queries/settled-findings.ts';
import { several, text, ticked, type Visit } from './define-page.ts';
import type { PageFrame } from './layout.tsx';
import { Choice, Input, Moment } from './parts.tsx';
import { PostForm } from './post-form.tsx';

/** A finding as listed: what a tick box stands for. */
export interface ListedFinding {
  readonly source: string;
  readonly key: string;
  /** The newest entry of it on this page. */
  readonly upTo: number;
  readonly settlement: Settlement | null;
}

/** The fields of {@link SettleForm}; `form` tells two of one page apart. */
export const settleFields = {
  finding: several,
  all: ticked,
  shown: several,
  conclusion: text,
  reason: text,
  until: text,
};

/** The sentences that a page with the form shows after it, for `?done=…`. */
export const settleDone = {
  settled: 'Recorded. Your name, the time and what you found are in the ledger.',
  nothing: 'Nothing was changed: somebody had settled these before.',
};

/** What the form says; `ticked`: the boxes that were ticked. */
export interface SettleSaid {
  readonly ticked: readonly string[];
}

function tickOf({ source, key, upTo, settlement }: ListedFinding): string {
  return [source, upTo, settlement?.seq ?? 0, encodeURIComponent(key)].join(' ');
}

function readTick(tick: string) {
  const [, source = '', upTo = '0', replaces = '0', key = ''] =
    /^(\S{1,100}) (\d{1,15}) (\d{1,15}) (\S*)$/.exec(tick) ?? [];
  try {
    return { source, upTo: Number(upTo), replaces: Number(replaces), key: decodeURIComponent(key) };
  } catch {
    // Not one that a page made: a source of this name does not exist.
    return { source: '', upTo: 0, replaces: 0, key: '' };
  }
}

/** Settles what a person ticked in the form, or all that the page showed. */
export async function settleTicked(
  visit: Visit<'store' | 'ledger' | 'clock' | 'config' | 'projector', z.output<z.ZodObject<typeof settleFields>>>,
  kind: FindingKind,
): Promise<SettleOutcome> {
  const { context, permitted, by, fields } = visit;
  const outcome = await settleFindings(context, {
    kind,
    findings: (fields.all ? fields.shown : fields.finding).slice(0, FINDINGS_TOGETHER + 1).map(readTick),
    ...{ conclusion: fields.conclusion, reason: fields.reason, until: fields.until, actor: by.officer },
    sees: (source) => permitted.findAny(source) !== null,
  });
  const last = outcome.outcome === 'settled' ? outcome.seqs.at(-1) : undefined;
  if (last !== undefined) await visit.projected(last);
  return outcome;
}

/** The box of a row. `about`: names it for screen reader users. */
export function TickBox(props: {
  readonly form: string;
  readonly finding: ListedFinding;
  readonly about: string;
  readonly said: Partial<SettleSaid>;
}) {
  const { form, finding, about, said } = props;
  const value = tickOf(finding);
  return (
    <input
      type="checkbox"
      name="finding"
      form={form}
      value={value}
      checked={said.ticked?.includes(value) ?? false}
      aria-label={about}
    />
  );
}

interface SettleFormProps {
  readonly frame: PageFrame;
  readonly id: string;
  readonly kind: FindingKind;
  readonly action: string;
  readonly findings: readonly ListedFinding[];
  /** The fields of the page's filter, to come back to it. */
  readonly filter: Readonly<Record<string, string>>;
  /** Whether the page shows what is settled: it can then be opened again. */
  readonly isSettled: boolean;
  /** What was typed into it. */
  readonly typed: Readonly<Record<string, string>>;
}

/** What was found out about the ticked rows, in one form for one or many; nothing for people who may not work, or without rows. */
export function SettleForm({ frame, id, kind, action, findings, filter, isSettled, typed }: SettleFormProps) {
  if (!frame.canWork || findings.length === 0) return null;
  const choices = conclusions[kind];
  const value = (name: string) => (typed['form'] === id ? (typed[name] ?? '') : '');
  const withReason = choices.filter(({ needsReason }) => needsReason === true).map(({ label }) => `“${label}”`);
  return (
    <PostForm frame={frame} action={action} id={id}>
      <h3>{isSettled ? 'Change the conclusion' : 'What was found'}</h3>
      <p class="hint">
        For every ticked row: an entry of its own, with your name and the time. It holds until something new arrives.
        Nothing counts as consent because of it.
      </p>
      <input type="hidden" name="form" value={id} />
      <input type="hidden" name="kind" value={kind} />
      {Object.entries(filter).map(([name, one]) => (
        <input type="hidden" key={name} name={name} value={one} />
      ))}
      {findings.map((one) => (
        <input type="hidden" key={tickOf(one)} name="shown" value={tickOf(one)} />
      ))}
      <div class="pair">
        <Choice
          id={`${id}-conclusion`}
          name="conclusion"
          label="What was found"
          value={value('conclusion')}
          required
          options={[
            ['', 'Choose …'],
            ...choices.map((one) => [one.id, one.label] as const),
            ...(isSettled ? [[OPEN_AGAIN, 'Open again'] as const] : []),
          ]}
        />
        {choices.some(({ needsUntil }) => needsUntil === true) ? (
          <Input
            id={`${id}-until`}
            name="until"
            label="Accepted until"
            type="date"
            value={value('until')}
            optional
            hint="The last day. Afterwards it is to do again."
          />
        ) : null}
        <Input
          id={`${id}-reason`}
          name="reason"
          label="Reason"
          value={value('reason')}
          maxLength={FINDING_REASON}
          optional
          hint={`How you know, without names of visitors.${withReason.length === 0 ? '' : ` Needed for ${withReason.join(' and ')}.`}`}
        />
      </div>
      {findings.length > 1 ? (
        <label class="box">
          <input type="checkbox" name="all" value="yes" checked={value('all') === 'yes'} /> All {findings.length} rows
          above, ticked or not
        </label>
      ) : null}
      <button type="submit">Record</button>
    </PostForm>
  );
}

/** Who settled a finding, when, how and why. */
export function SettledBy({ frame, settlement }: { readonly frame: PageFrame; readonly settlement: Settlement }) {
  const { actor, at, seq, reason } = settlement;
  return (
    <div>
      {conclusionWords(settlement, dateText)}
      {reason === null ? null : <p class="hint outside">{reason}</p>}
      <p class="soft small">
        <bdi>{actor}</bdi>, <Moment iso={at} timeZone={frame.timeZone} />, <a href={`/entries/${seq}`}>entry {seq}</a>
      </p>
    </div>
  );
}
