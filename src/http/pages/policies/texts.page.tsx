import { z } from 'zod';
import { formatCount } from '../../../../reports/format.ts';
import { CodedError } from '../../../core/errors.ts';
import { compareSideBySide, loadTextOfEntry } from '../../../policy-snapshots/stored-texts.ts';
import { number, pagesWith, text, type Visit } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { Facts, Moment, Panel } from '../parts/parts.tsx';
import {
  Came,
  COMPARE_MS,
  DifferenceTable,
  Lines,
  policyAddress,
  type SeenText,
  sourceNamed,
  textAddress,
} from './text-parts.tsx';

type Needs = 'store' | 'sources' | 'projector';
const { page } = pagesWith<Needs>();

/** One text, and when it was seen. */
const oneText = page({
  path: '/policies/text',
  rule: { who: 'read', source: 'query' },
  query: z.object({ source: text, entry: number }),
  async load({ context, permitted, fields: { source: slug, entry } }) {
    const { slug: source } = sourceNamed(permitted, slug);
    return { source, text: await textOf(context, source, entry) };
  },
  show: (data, { frame }) => <TextPage frame={frame} {...data} />,
});

/** The changes between two texts. */
const difference = page({
  path: '/policies/difference',
  rule: { who: 'read', source: 'query' },
  query: z.object({ source: text, older: number, newer: number }),
  async load({ context, permitted, fields }) {
    const { slug: source } = sourceNamed(permitted, fields.source);
    const [older, newer] = await Promise.all([
      textOf(context, source, fields.older),
      textOf(context, source, fields.newer),
    ]);
    const stretches =
      older.stored === null || newer.stored === null
        ? ('missing' as const)
        : compareSideBySide(older.stored, newer.stored, COMPARE_MS);
    return { source, older, newer, stretches };
  },
  show: (data, { frame }) => <DifferencePage frame={frame} {...data} />,
});

export const routes = [oneText, difference];

async function textOf(
  { store, projector }: Visit<Needs>['context'],
  source: string,
  entry: number | null,
): Promise<SeenText> {
  await projector.catchUp();
  const text = entry === null ? null : await loadTextOfEntry(store.read, source, entry);
  if (text === null) throw new CodedError('not_found');
  return text;
}

/** Where a text was fetched, in words. */
function targetWords(target: string): string {
  const name = target.slice(target.indexOf(':') + 1);
  return target.startsWith('hosted:') ? `public page of ${name}` : `embed endpoint for ${name}`;
}

function textName({ look, version }: SeenText): string {
  return version === null ? `Text of entry ${look.seq}` : `Text ${version.version}`;
}

function TextPage({ frame, source, text }: { frame: PageFrame; source: string; text: SeenText }) {
  const { look, version } = text;
  const { timeZone } = frame;
  return (
    <Page title={`${textName(text)}, ${targetWords(look.target)}`} frame={frame} within="policies">
      <h1>{textName(text)}</h1>
      <p class="lead">
        <bdi>{targetWords(look.target)}</bdi>, {frame.sourceName(source)}
      </p>
      <Panel id="about" title="When it was seen">
        <Facts
          rows={[
            version === null ? null : ['Came', <Came text={version} timeZone={timeZone} />],
            version === null
              ? ['Seen', <Moment iso={look.origin_to} timeZone={timeZone} />]
              : [
                  'Last seen',
                  <Moment
                    iso={version.last_seen < version.first_seen ? version.first_seen : version.last_seen}
                    timeZone={timeZone}
                  />,
                ],
            version?.policy_id == null
              ? null
              : ['Policy', <a href={policyAddress(source, version.policy_id)}>{version.policy_id}</a>],
            ['SHA-256 of the text', <span class="mono">{look.text_sha256 ?? 'no text'}</span>],
            ['Bytes', <a href={`/entries/${look.body_seq}`}>Entry {formatCount(look.body_seq)}</a>],
          ]}
        />
      </Panel>
      <Panel id="text" title="Text">
        <Lines text={text} />
      </Panel>
    </Page>
  );
}

interface DifferenceProps {
  readonly frame: PageFrame;
  readonly source: string;
  readonly older: SeenText;
  readonly newer: SeenText;
  /** Null: the texts differ too much. */
  readonly stretches: ReturnType<typeof compareSideBySide> | 'missing';
}

function DifferencePage({ frame, source, older, newer, stretches }: DifferenceProps) {
  const nameOf = (text: SeenText) => (
    <>
      <a href={textAddress(source, text.look.seq)}>{textName(text)}</a>, first seen{' '}
      <Moment iso={text.version?.first_seen ?? text.look.origin_to} timeZone={frame.timeZone} />
    </>
  );
  return (
    <Page title="Changes in a policy" frame={frame} within="policies">
      <h1>What changed</h1>
      <p class="lead">
        <bdi>{targetWords(newer.look.target)}</bdi>, {frame.sourceName(source)}
        {older.look.target === newer.look.target ? null : (
          <>
            , compared with <bdi>{targetWords(older.look.target)}</bdi>
          </>
        )}
      </p>
      <Panel id="difference" title="Older and newer text">
        {stretches === 'missing' ? (
          <p>One of the two texts was erased.</p>
        ) : stretches === null ? (
          <p>
            The two texts are too different to compare line by line: read {nameOf(older)} and {nameOf(newer)}.
          </p>
        ) : stretches.length === 0 ? (
          <p>
            The two texts are the same: {nameOf(older)} and {nameOf(newer)}.
          </p>
        ) : (
          <DifferenceTable older={nameOf(older)} newer={nameOf(newer)} stretches={stretches} />
        )}
      </Panel>
    </Page>
  );
}
