import { Readable } from 'node:stream';
import { z } from 'zod';
import { contradictionWords, type SaidSignals, signalWords } from '../../../../reports/signal-words.ts';
import {
  bannerPhrase,
  type CitedDecision,
  evidenceWords,
  type LookUp,
  lookUpConsent,
  policyWords,
  purposeStateWords,
  purposeWord,
  readLookUpTime,
  standingWords,
  timeBasisWord,
  wayInWords,
} from '../../../consent/look-up.ts';
import { renderStatement } from '../../../consent/statement.ts';
import { isoNow } from '../../../core/clock.ts';
import type { BannerStanding } from '../../../core/consent-timeline.ts';
import type { Source } from '../../../core/source.ts';
import { momentText } from '../../../core/time-words.ts';
import { dateIn, localTimeOf } from '../../../core/zoned-days.ts';
import { lastCheckpoint } from '../../../documents/begin-document.ts';
import type { BannerNames } from '../../../store/queries/history-banners.ts';
import type { ProofNeeds } from '../entries/load-proof.ts';
import { attachment } from '../parts/attachment.ts';
import { pagesWith, type Said, text, type Visit } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  Badge,
  type Column,
  Facts,
  Input,
  Moment,
  NoSources,
  Notice,
  Panel,
  Problems,
  SourceChoice,
  Table,
  TextLines,
} from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';

/** A look-up checks the entries that it reads, as a proof does. */
type Needs =
  | ProofNeeds
  | ('ledger' | 'clock' | 'config' | 'sources' | 'projector' | 'documents' | 'version' | 'seal' | 'loadProfile');

const { page, form } = pagesWith<Needs>();

/** Looks up a person's consent. The form is posted, so that no identifier appears in an address or log. */
const consent = page({
  path: '/consent',
  rule: { who: 'read', source: 'installation' },
  load({ context, permitted }, said: Said<{ readonly answer: Answered }>) {
    const now = localTimeOf(context.clock().toISOString(), context.config.timeZone);
    return { sources: permitted.list(), form: { at: now, ...said.form } };
  },
  show: (data, { frame, said }) => (
    <ConsentPage frame={frame} {...data} problems={said.problems} answer={said.answer ?? null} />
  ),
});

const wanted = z.object({ identifier: text, at: text, source: text });

const lookUp = form({
  path: '/consent',
  rule: { who: 'read', source: 'form' },
  body: wanted,
  async act(visit) {
    const found = await answerTo(visit, true);
    return 'problems' in found
      ? consent.again(visit, { fields: {}, said: { problems: found.problems }, status: found.status })
      : consent.again(visit, { fields: {}, said: { answer: found.answer }, status: 200 });
  },
});

const statement = form({
  path: '/consent/statement',
  rule: { who: 'read', source: 'form' },
  body: wanted,
  async act(visit) {
    const { context, reply } = visit;
    // Seals entries after the last checkpoint, so that the statement can print their proof.
    await context.seal();
    const found = await answerTo(visit, false);
    if ('problems' in found)
      return consent.again(visit, { fields: {}, said: { problems: found.problems }, status: found.status });
    const { answer } = found;
    if (answer.outcome === 'not-found') return consent.again(visit, { fields: {}, said: { answer }, status: 200 });
    const source = context.sources.findAny(answer.source);
    const { documents, config, version } = context;
    const bytes = renderStatement({
      answer,
      sourceName: source?.name ?? answer.source,
      profile: await context.loadProfile(source),
      checkpoint: await lastCheckpoint(documents, answer.asOf),
      timeZone: config.timeZone,
      version,
      madeAt: isoNow(context.clock),
      sample: documents.sample,
    });
    const day = dateIn(answer.at, config.timeZone);
    return reply
      .header('content-disposition', attachment(`consent-statement ${source?.name ?? answer.source} ${day}.pdf`))
      .type('application/pdf')
      .send(Readable.from(bytes));
  },
});

export const routes = [consent, lookUp, statement];

/** Makes the look-up requested by a form, in the name of the signed-in person. */
async function answerTo(
  { context, by, fields }: Visit<Needs, z.infer<typeof wanted>>,
  withTexts: boolean,
): Promise<{ readonly answer: Answered } | { readonly problems: readonly string[]; readonly status: number }> {
  const { identifier, source } = fields;
  const typed = fields.at.trim();
  if (typed === '') return { problems: ['Enter the time.'], status: 422 };
  const read = readLookUpTime(typed, context.config.timeZone, isoNow(context.clock));
  if (read.problem !== undefined)
    return { problems: [`Invalid time "${typed.slice(0, 60)}": ${read.problem}`], status: 422 };
  const { at } = read;
  const asOf = await context.projector.catchUp();
  const answer = await lookUpConsent(context, { source, identifier, at, asOf, actor: by.officer, withTexts });
  if (answer.outcome === 'untrusted') return { problems: [answer.problem], status: 409 };
  return answer.outcome === 'refused' ? { problems: answer.problems, status: 422 } : { answer };
}

type Answered = Extract<LookUp, { outcome: 'found' | 'not-found' }>;

interface ConsentProps {
  readonly frame: PageFrame;
  readonly sources: readonly Pick<Source, 'slug' | 'name'>[];
  readonly form: Readonly<Record<string, string>>;
  readonly problems?: readonly string[];
  readonly answer?: Answered | null;
}

/** The look-up: enter an id and a time, and read the consent at that time. */
function ConsentPage({ frame, sources, form, problems = [], answer = null }: ConsentProps) {
  const value = (name: string) => form[name] ?? '';
  return (
    <Page title="Consent look-up" frame={frame} current="consent">
      <h1>Consent look-up</h1>
      <p class="lead">
        One person’s consent at a given time: purposes, decisions and policy texts. Each look-up is recorded in the
        ledger, without the identifier itself.
      </p>
      <Problems title="The look-up failed:" problems={problems} />
      <Panel id="look-up" title="Who and when">
        {sources.length === 0 ? (
          <NoSources frame={frame} />
        ) : (
          <PostForm frame={frame} action="/consent">
            <div class="pair thirds">
              <Input
                id="identifier"
                label="Visitor, e-mail or record"
                maxLength={500}
                value={value('identifier')}
                autocomplete="off"
                spellcheck={false}
                hint="A visitor hash, an e-mail address, or the id of a consent record."
              />
              <Input id="at" label="At" type="datetime-local" value={value('at')} hint={`In ${frame.timeZone}.`} />
              <SourceChoice frame={frame} sources={sources} value={value('source')} />
            </div>
            <button type="submit">Look up</button>
          </PostForm>
        )}
      </Panel>
      {answer === null ? null : answer.outcome === 'not-found' ? (
        <Notice tone="warn">
          No consent record matches. This does not mean that no data is held (GDPR Art. 11(2)). The look-up is entry{' '}
          {answer.recorded}.
        </Notice>
      ) : (
        <Answer frame={frame} form={form} answer={answer} />
      )}
    </Page>
  );
}

interface AnswerProps {
  readonly frame: PageFrame;
  readonly form: ConsentProps['form'];
  readonly answer: Extract<LookUp, { outcome: 'found' }>;
}

function Answer({ frame, form, answer }: AnswerProps) {
  const { standing, knownThen, decisions, bannerNames, at, total, later, recorded, subjects } = answer;
  const then = knownThen === null ? [] : standingWords(knownThen, bannerNames);
  return (
    <>
      <Panel id="answer" title="Consent at that time">
        <p>
          <Moment iso={at} timeZone={frame.timeZone} />, of visitor{' '}
          <span class="mono">{subjects.join(', ') || 'not named'}</span>: {total}{' '}
          {total === 1 ? 'decision' : 'decisions'} in all, {later} later. As known at entry {answer.asOf}.
        </p>
        {knownThen === null ? null : (
          <Notice tone="warn">
            {then.length === 0 ? (
              <strong>None of these records had been received by then.</strong>
            ) : (
              <>
                <strong>The records received by then said something else:</strong> {then.join('; ')}
              </>
            )}
          </Notice>
        )}
        {standing.length === 0 ? (
          <p>No decision had been made by then.</p>
        ) : (
          <Standing frame={frame} standing={standing} names={bannerNames} />
        )}
        <PostForm frame={frame} action="/consent/statement" class="buttons">
          {['identifier', 'at', 'source'].map((name) => (
            <input key={name} type="hidden" name={name} value={form[name] ?? ''} />
          ))}
          <button type="submit" class="quiet">
            Download as PDF
          </button>
        </PostForm>
        <p class="hint">This look-up is recorded as entry {recorded}; the PDF counts as another one.</p>
      </Panel>
      {decisions.map((decision) => (
        <Decision key={decision.decisionId} frame={frame} decision={decision} />
      ))}
    </>
  );
}

interface StandingProps {
  readonly frame: PageFrame;
  readonly standing: readonly BannerStanding[];
  readonly names: BannerNames;
}

function Standing({ frame, standing, names }: StandingProps) {
  // Necessary purposes follow those of their banner, in one row without a decision.
  const rows = standing.flatMap(({ bannerId, purposes, necessary }) => [
    ...purposes.map((purpose) => ({ bannerId, name: purposeWord(purpose.purpose), purpose })),
    ...(necessary.length === 0 ? [] : [{ bannerId, name: necessary.join(', '), purpose: null }]),
  ]);
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { title: 'Purpose', cell: ({ name }) => name },
    {
      title: 'State',
      cell: ({ purpose }) =>
        purpose === null ? (
          <span class="soft">necessary, needs no consent</span>
        ) : (
          <Badge
            text={purposeStateWords[purpose.state]}
            tone={purpose.state === 'granted' ? 'good' : purpose.state === 'disputed' ? 'bad' : 'warn'}
          />
        ),
    },
    {
      title: 'Since',
      cell: ({ purpose }) => purpose && <Moment iso={purpose.since} timeZone={frame.timeZone} />,
    },
    { title: 'Banner', cell: ({ bannerId }) => bannerPhrase(bannerId, names) },
    {
      title: 'By decision',
      cell: ({ purpose }) =>
        purpose && (
          <a class="outside" href={`#${anchorOf(purpose.decisionId)}`}>
            {purpose.decisionId}
          </a>
        ),
    },
  ];
  return (
    <Table caption="Necessary purposes need no consent and are listed separately." columns={columns} rows={rows} />
  );
}

function anchorOf(decisionId: string): string {
  return `decision-${encodeURIComponent(decisionId)}`;
}

function Decision({ frame, decision }: { frame: PageFrame; decision: CitedDecision }) {
  const { timeZone } = frame;
  return (
    <Panel id={anchorOf(decision.decisionId)} title={`Decision ${decision.decisionId}`}>
      {decision.disputed ? (
        <Notice tone="bad">
          <strong>Its records contradict each other:</strong> {decision.contradictions.join('; ')}
        </Notice>
      ) : null}
      <SignalsContradict signals={decision.signals} />
      <Facts
        rows={[
          [
            'Made',
            <>
              <Moment iso={decision.at} timeZone={timeZone} />{' '}
              <span class="soft">({timeBasisWord(decision.timeBasis)})</span>
            </>,
          ],
          [
            'Choice',
            Object.entries(decision.outcomes)
              .map(([purpose, state]) => `${purposeWord(purpose)}: ${purposeStateWords[state]}`)
              .join('; ') || 'none named',
          ],
          decision.caseId === null
            ? null
            : ['Request', <a href={`/cases/${encodeURIComponent(decision.caseId)}`}>{decision.caseId}</a>],
          ['Under', policyWords(decision)],
          ...decision.policy.texts.map(
            (text) =>
              [
                'Text',
                <>
                  entry {text.bodySeq}, first seen <Moment iso={text.firstSeen} timeZone={timeZone} />, SHA-256{' '}
                  <span class="mono">{text.textSha256 ?? 'no text'}</span>
                  <PolicyText lines={text.lines} />
                </>,
              ] as const,
          ),
          [
            'Banner as shown',
            decision.banner.length === 0
              ? 'not evidenced'
              : decision.banner.map((one) => (
                  <div key={one.seq}>
                    <a href={`/banners/evidence/${one.seq}/file`} download>
                      {one.fileName}
                    </a>{' '}
                    <span class="soft small">{evidenceWords(one, (iso) => momentText(iso, timeZone))}</span>
                  </div>
                )),
          ],
          ...signalRows(decision.signals, timeZone),
          ...decision.entries.map(
            (entry) =>
              [
                <a href={`/entries/${entry.seq}`}>Entry {entry.seq}</a>,
                <>
                  {wayInWords[entry.wayIn]}, received <Moment iso={entry.receivedAt} timeZone={timeZone} />
                  {entry.signature === null ? '' : `, signature ${entry.signature}`}
                  <br />
                  <span class="soft small">
                    commitment <span class="mono">{entry.commitment}</span>
                  </span>
                </>,
              ] as const,
          ),
        ]}
      />
    </Panel>
  );
}

function SignalsContradict({ signals }: { signals: SaidSignals | null }) {
  const words = signals === null ? [] : contradictionWords(signals.contradictions);
  return words.length === 0 ? null : (
    <Notice tone="bad">
      <strong>What accompanies it says something else:</strong>
      <ul>
        {words.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </Notice>
  );
}

/** What each signal says, one row for each. */
function signalRows(signals: SaidSignals | null, timeZone: string) {
  if (signals === null) return [];
  return signalWords(signals.decoded, (iso) => momentText(iso, timeZone)).map(
    ({ title, says, damaged }) =>
      [
        title,
        <>
          {damaged ? <Badge text="damaged" tone="warn" /> : null}
          {says.map((text) => (
            <div key={text}>{text}</div>
          ))}
        </>,
      ] as const,
  );
}

/** The text that was in force. */
function PolicyText({ lines }: { lines: readonly string[] | null | undefined }) {
  if (lines === undefined) return null;
  if (lines === null) return <p class="hint">The text was erased.</p>;
  if (lines.length === 0) return null;
  return (
    <details>
      <summary>Read the text</summary>
      <TextLines lines={lines} />
    </details>
  );
}
