import type { Discovery, EventDiscovery } from '../../../../receivers/discover/discover.ts';
import type { Effects } from '../../../../receivers/discover/effects.ts';
import { counted } from '../../../../reports/format.ts';
import { visibleText } from '../../../../reports/render/text.ts';
import { changePhrase } from '../../../core/reading-change.ts';
import type { Source } from '../../../core/source.ts';
import type { FieldMapping } from '../../../sources/changes.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { type Column, Done, Facts, Field, Panel, Problems, Table } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { hasOwnNames, RereadForm } from './reread.tsx';

interface FieldsProps {
  readonly frame: PageFrame;
  readonly source: Source;
  readonly found: Discovery;
  /** Null: nothing should change. */
  readonly proposal: FieldMapping | null;
  /** E-mail addresses of the admins. */
  readonly admins: readonly string[];
  readonly problems?: readonly string[];
  readonly done?: string | null;
}

/** Which fields of a source's payloads are understood; a proposal is accepted with one click. */
export function FieldsPage(props: FieldsProps) {
  const { frame, source, found, proposal, admins, problems = [], done = null } = props;
  const doubtful = doubtfulIn(found);
  return (
    <Page title={`Fields of ${source.name}`} frame={frame} within="sources">
      <h1>
        Fields of <bdi>{source.name}</bdi>
      </h1>
      <p class="lead">
        What <a href={`/sources/${source.slug}`}>the source</a> sent recently, as shapes without values, and which of
        them are understood.
      </p>
      <Done text={done} />
      <Problems title="Nothing was changed:" problems={problems} />
      {proposal === null && doubtful.length === 0 ? null : <ProposalPanel {...props} />}
      {found.samples === 0 ? (
        <Panel id="nothing" title="Nothing yet">
          <p>
            No deliveries and no rows yet. <a href={`/sources/${source.slug}`}>Set up the webhook or pull the log</a>,
            and come back.
          </p>
        </Panel>
      ) : proposal === null && doubtful.length === 0 ? (
        <p>Nothing needs changing.</p>
      ) : null}
      <NecessaryPanel {...props} />
      {hasOwnNames(source) ? (
        <Panel id="earlier" title="Earlier deliveries">
          <p>
            What arrived before names were accepted is still read without them. It can be read again with the current
            ones.
          </p>
          <RereadForm frame={frame} source={source} admins={admins} />
        </Panel>
      ) : null}
      {found.notJson === 0 ? null : (
        <p>{counted(found.notJson, 'body is', 'bodies are')} not a JSON object and could not be examined.</p>
      )}
      {found.events.map((event, place) => (
        <EventPanel key={place} event={event} place={place} />
      ))}
    </Page>
  );
}

/** Asks whether purposes that are never refused need consent at all (ePrivacy Directive Art. 5(3)). */
function NecessaryPanel({ frame, source, found }: FieldsProps) {
  const purposes = new Map(
    found.events.flatMap(({ alwaysGranted }) => alwaysGranted.map(({ purpose, count }) => [purpose, count] as const)),
  );
  if (purposes.size === 0) return null;
  return (
    <Panel id="necessary" title="Purposes that are never refused">
      <p>
        Every record that names these grants them, while visitors refuse others. If a purpose is strictly necessary for
        the site, it needs no consent, and a record that names it as granted is not consent to it. Only you know: tick
        those that need no consent.
      </p>
      <PostForm frame={frame} action={`/sources/${source.slug}/necessary`}>
        {[...purposes].map(([purpose, count]) => (
          <label key={purpose} class="box">
            <input type="checkbox" name={`purpose:${purpose}`} value="yes" disabled={!frame.canWork} />{' '}
            <span>
              <bdi class="outside">{visibleText(purpose)}</bdi>: granted in all {count} records that name it
            </span>
          </label>
        ))}
        {frame.canWork ? (
          <p class="buttons">
            <button type="submit">These need no consent</button>
          </p>
        ) : null}
      </PostForm>
    </Panel>
  );
}

type FieldProposal = EventDiscovery['proposals'][number];

function doubtfulIn({ events }: Discovery): readonly FieldProposal[] {
  return events.flatMap(({ proposals }) => proposals.filter(({ doubt }) => doubt !== null));
}

function ProposalPanel({ frame, source, found, proposal }: FieldsProps) {
  const doubtful = doubtfulIn(found);
  return (
    <Panel id="proposal" title="Proposal">
      <p>
        Review it first: a wrong name is worse than none. It applies to everything that arrives from now on; afterwards,
        earlier deliveries can be read again as well.
      </p>
      {proposal === null ? null : (
        <>
          <ul class="plain">
            {Object.entries(proposal.eventNames).map(([given, documented]) => (
              <li key={given} class="outside">
                The event “{visibleText(given)}” seems to be <code>{documented}</code>.
              </li>
            ))}
            {found.events.flatMap(({ event, samples, proposals }) =>
              proposals
                .filter(({ doubt }) => doubt === null)
                .map((one) => (
                  <li key={`${event ?? ''} ${one.field} ${one.path}`} class="outside">
                    <ProposedField proposal={one} samples={samples} />
                  </li>
                )),
            )}
            {Object.entries(proposal.secretEncodings).map(([id, encoding]) => (
              <li key={id}>
                The signing secret <code>{id}</code> matches when decoded as {encoding}.{' '}
                <a href="/deliveries/refused">Readmit the refused deliveries</a> afterwards.
              </li>
            ))}
          </ul>
          <EffectsList title="What it changes in the payloads examined" effects={found.effects} />
        </>
      )}
      {doubtful.length === 0 ? null : (
        <>
          <h3>Not part of the proposal</h3>
          <p>
            These fields would change how payloads are read that are already understood. Only you can decide about them.
          </p>
          {found.events.flatMap(({ event, samples, proposals }) =>
            proposals
              .filter(({ doubt }) => doubt !== null)
              .map((one) => (
                <section key={`${event ?? ''} ${one.field} ${one.path}`}>
                  <p class="outside">
                    <strong>
                      <code>{visibleText(one.path)}</code>: {one.doubt}.
                    </strong>{' '}
                    <ProposedField proposal={one} samples={samples} />
                  </p>
                  <Table
                    caption={`What ${visibleText(one.path)} would change`}
                    columns={exampleColumns}
                    rows={one.effects.examples}
                  />
                </section>
              )),
          )}
        </>
      )}
      {frame.canWork ? (
        <PostForm frame={frame} action={`/sources/${source.slug}/fields`}>
          <input type="hidden" name="proposal" value={proposal?.proposalId ?? ''} />
          {doubtful.length === 0 ? null : (
            <Field
              id="include"
              label="Include these fields nevertheless"
              hint={`Type each name as shown above, for example ${visibleText(doubtful[0]?.path ?? '')}. Leave it empty to leave them out.`}
            >
              <input
                id="include"
                name="include"
                aria-describedby="include-hint"
                required={proposal === null}
                autocomplete="off"
              />
            </Field>
          )}
          <p class="buttons">
            <button type="submit">{proposal === null ? 'Accept what is typed' : 'Accept the proposal'}</button>
          </p>
        </PostForm>
      ) : null}
    </Panel>
  );
}

function ProposedField({ proposal, samples }: { readonly proposal: FieldProposal; readonly samples: number }) {
  const { what, path, because, foundBefore, foundAfter } = proposal;
  return (
    <>
      {what} seems to be in <code>{visibleText(path)}</code>: {because.join(', ')}. Found in {foundAfter} of {samples}{' '}
      instead of {foundBefore}.
    </>
  );
}

type Example = Effects['examples'][number];

const exampleColumns: readonly Column<Example>[] = [
  { title: 'Entry', cell: ({ seq }) => (seq === null ? 'not stored' : <a href={`/entries/${seq}`}>{seq}</a>) },
  { title: 'Read now', cell: ({ before }) => <bdi class="outside">{visibleText(before)}</bdi> },
  { title: 'Would be read', cell: ({ after }) => <bdi class="outside">{visibleText(after)}</bdi> },
];

/** What a mapping changes in the payloads examined, with examples side by side. */
function EffectsList({ title, effects }: { readonly title: string; readonly effects: Effects }) {
  if (effects.changes.length === 0) return <p>No choice, time or visitor that is read now would change.</p>;
  return (
    <>
      <p>{effects.changes.map(({ change, count }) => changePhrase(change, count)).join(', ')}.</p>
      <Table caption={title} columns={exampleColumns} rows={effects.examples} />
    </>
  );
}

type Path = EventDiscovery['paths'][number];

const pathColumns: readonly Column<Path>[] = [
  { title: 'Field', cell: ({ path }) => <bdi class="outside">{visibleText(path)}</bdi> },
  { title: 'In', isNumber: true, cell: ({ present }) => present },
  { title: 'Different values', isNumber: true, cell: ({ distinct }) => distinct },
  { title: 'Values look like', cell: ({ shapes }) => <bdi class="outside">{visibleText(shapes.join(' | '))}</bdi> },
];

function EventPanel({ event, place }: { readonly event: EventDiscovery; readonly place: number }) {
  const name =
    event.event === 'row'
      ? 'Rows of the consent log'
      : event.event === null
        ? 'Unknown events'
        : visibleText(event.event);
  const list = (words: readonly string[]) => (words.length === 0 ? 'none' : words.map(visibleText).join(', '));
  return (
    <Panel id={`event-${place}`} title={`${name} (${event.samples})`}>
      <Facts
        rows={[
          event.platforms.length === 0
            ? null
            : [
                'Looks like',
                event.platforms.map(({ name: one, count }) => `${one}: ${count} of ${event.samples}`).join(', '),
              ],
          ['Understood', list(event.understood)],
          ['Not in every payload', list(event.missing)],
          event.unread.length === 0 ? null : ['Not read', <span class="outside">{list(event.unread)}</span>],
        ]}
      />
      <details class="more">
        <summary>{counted(event.paths.length, 'field', 'fields')}</summary>
        <div>
          <Table caption={null} columns={pathColumns} rows={event.paths} />
        </div>
      </details>
    </Panel>
  );
}
