import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  bannerWord,
  type CitedDecision,
  evidenceWords,
  type LookUp,
  lookUpConsent,
  policyWords,
  purposeStateWords,
  purposeWord,
  standingWords,
  wayInWords,
} from '../../consent/look-up.ts';
import type { Context } from '../../context.ts';
import { localTimeOf, momentAt } from '../../core/zoned-days.ts';
import { renderPage, Csrf, Page, type PageFrame } from './layout.tsx';
import { sourcesOf } from '../auth/access.ts';
import { officerOf } from '../auth/sessions.ts';
import { formOf, html, pageFrame } from './frame.ts';
import type { BannerStanding } from '../../core/consent-timeline.ts';
import type { Source } from '../../core/source.ts';
import type { BannerNames } from '../../store/queries/history-banners.ts';
import {
  Badge,
  Choice,
  type Column,
  Facts,
  Input,
  Moment,
  Notice,
  Panel,
  Problems,
  sourceOptions,
  Table,
} from './parts.tsx';

/** The look-up of a person's consent. The form is posted, so that no identifier appears in an address or a log. */
export async function consentRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/consent', (request, reply) =>
    send(request, reply, {
      form: { at: localTimeOf(context.clock().toISOString(), context.config.timeZone), source: 'default' },
    }),
  );

  app.post('/consent', async (request, reply) => {
    const form = formOf(request.body);
    const { identifier = '', source = '' } = form;
    const at = momentOf(form['at'] ?? '');
    if (at === null) return send(request, reply, { form, problems: ['Enter the time.'] }, 422);
    const asOf = await context.projector.catchUp();
    const actor = officerOf(request).officer;
    const answer = await lookUpConsent(context, { source, identifier, at, asOf, actor });
    if (answer.outcome === 'untrusted') return send(request, reply, { form, problems: [answer.problem] }, 409);
    return answer.outcome === 'refused'
      ? send(request, reply, { form, problems: answer.problems }, 422)
      : send(request, reply, { form, answer });
  });

  function send(
    request: FastifyRequest,
    reply: FastifyReply,
    shown: Omit<ConsentProps, 'frame' | 'sources'>,
    status = 200,
  ): FastifyReply {
    const props = { frame: pageFrame(context, request, reply), sources: sourcesOf(context, request).list(), ...shown };
    return html(reply, renderPage(<ConsentPage {...props} />), status);
  }

  function momentOf(local: string): string | null {
    try {
      return momentAt(local, context.config.timeZone);
    } catch {
      return null;
    }
  }
}

interface ConsentProps {
  readonly frame: PageFrame;
  readonly sources: readonly Pick<Source, 'slug' | 'name'>[];
  readonly form: Readonly<Record<string, string>>;
  readonly problems?: readonly string[];
  readonly answer?: Extract<LookUp, { outcome: 'found' | 'not-found' }> | null;
}

/** The look-up: paste an id and a time, read how consent stood. */
function ConsentPage({ frame, sources, form, problems = [], answer = null }: ConsentProps) {
  const value = (name: string) => form[name] ?? '';
  return (
    <Page title="Consent look-up" frame={frame} current="consent">
      <h1>Consent look-up</h1>
      <p class="lead">
        What one person had consented to at a given time: purposes, decisions and policy texts. Each look-up is recorded
        in the ledger, without the identifier itself.
      </p>
      <Problems title="The look-up failed:" problems={problems} />
      <Panel id="look-up" title="Who and when">
        {sources.length === 0 ? (
          <p>No sources yet.</p>
        ) : (
          <form method="post" action="/consent">
            <Csrf token={frame.csrf} />
            <div class="pair">
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
              <Choice id="source" label="Source" value={value('source')} options={sourceOptions(sources)} />
            </div>
            <button type="submit">Look up</button>
          </form>
        )}
      </Panel>
      {answer === null ? null : answer.outcome === 'not-found' ? (
        <Notice tone="warn">
          No consent record matches. This does not mean that no data is held (GDPR Art. 11(2)). The look-up is entry{' '}
          {answer.recorded}.
        </Notice>
      ) : (
        <Answer frame={frame} answer={answer} />
      )}
    </Page>
  );
}

function Answer({ frame, answer }: { frame: PageFrame; answer: Extract<LookUp, { outcome: 'found' }> }) {
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
            <strong>What had been received by then said something else:</strong>{' '}
            {then.length === 0 ? 'nothing yet.' : then.join('; ')}
          </Notice>
        )}
        {standing.length === 0 ? (
          <p>No decision had been made by then.</p>
        ) : (
          <Standing frame={frame} standing={standing} names={bannerNames} />
        )}
        <p class="soft small">This look-up is recorded as entry {recorded}.</p>
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
    { title: 'Banner', cell: ({ bannerId }) => bannerWord(bannerId, names) },
    {
      title: 'By decision',
      cell: ({ purpose }) => purpose && <a href={`#${anchorOf(purpose.decisionId)}`}>{purpose.decisionId}</a>,
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
      <Facts
        rows={[
          [
            'Made',
            <>
              <Moment iso={decision.at} timeZone={timeZone} /> <span class="soft">({decision.timeBasis})</span>
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
                    <span class="soft small">{evidenceWords(one)}</span>
                  </div>
                )),
          ],
          ...decision.entries.map(
            (entry) =>
              [
                `Entry ${entry.seq}`,
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
