import { isUtf8 } from 'node:buffer';
import type { Reading } from '../../../../receivers/read.ts';
import { decompressed } from '../../../../receivers/unpack.ts';
import { counted, formatCount } from '../../../../reports/format.ts';
import { visibleText } from '../../../../reports/render/text.ts';
import { loadDelivery, type ShownEntry } from '../../../attention/deliveries.ts';
import { CodedError } from '../../../core/errors.ts';
import { indentJson } from '../../../core/json.ts';
import type { Source } from '../../../core/source.ts';
import { momentText } from '../../../core/time-words.ts';
import { TEST_EVENT } from '../../../core/vocabulary.ts';
import { sizeCovering } from '../../../ledger/published-checkpoint.ts';
import { listAdminAddresses } from '../../../people/people.ts';
import { outcomeTexts, verdictText } from '../deliveries/delivery-words.ts';
import { number, pagesWith } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { Badge, Facts, Moment, Notice, Panel } from '../parts/parts.tsx';
import { phrase, sizeText } from '../parts/words.ts';
import { RereadForm } from '../sources/reread.tsx';

const { page } = pagesWith<'store' | 'projector' | 'sources' | 'readOneDelivery'>();

const kindTexts: Readonly<Record<string, string>> = {
  webhook: 'delivery',
  'consent-log': 'row of the consent log',
  snapshot: 'fetched policy text',
  action: 'action',
  call: 'call to the service',
  erasure: 'erasure',
};

/** One ledger entry in full: its content, how it was judged and read, its hashes. */
const oneEntry = page({
  path: '/entries/:seq',
  rule: { who: 'read', source: 'entry', views: 'object' },
  async load({ context, params }) {
    await context.projector.catchUp();
    const seq = number.parse(params.seq);
    const entry = seq === null ? null : await loadDelivery(context.store.read, seq);
    if (entry === null) throw new CodedError('not_found', 'Unknown entry.');
    const source = context.sources.findAny(entry.source);
    const reading =
      entry.kind === 'webhook' && !entry.erased && source !== null
        ? await context.readOneDelivery(bytesOf(entry), {
            receivedAt: entry.receivedAt,
            options: source.options,
            encoding: encodingOf(entry),
          })
        : null;
    return {
      entry,
      reading,
      source: context.sources.find(entry.source),
      admins: await listAdminAddresses(context),
      // Every checkpoint covers all entries before it: the newest is the one under which the entry is proven.
      provenUnder: await sizeCovering(context.store.read, entry.seq),
    };
  },
  show: (data, { frame }) => <EntryPage frame={frame} {...data} />,
});

export const routes = [oneEntry];

/** The exact bytes of a content. */
function bytesOf({ bodyText, bodyBase64 }: ShownEntry): Buffer {
  return bodyText === null ? Buffer.from(bodyBase64 ?? '', 'base64') : Buffer.from(bodyText);
}

function encodingOf({ meta }: ShownEntry): string | null {
  const headers = isRecord(meta) ? meta['headers'] : null;
  const encoding = isRecord(headers) ? headers['content-encoding'] : null;
  return typeof encoding === 'string' ? encoding : null;
}

interface EntryProps {
  readonly frame: PageFrame;
  readonly entry: ShownEntry;
  /** The result of reading it now; null: entries of this kind are not read, or it was erased. */
  readonly reading: Reading | null;
  /** Null: it belongs to no source, or to an offboarded one. */
  readonly source: Source | null;
  /** E-mail addresses of the admins. */
  readonly admins: readonly string[];
  /** Size of the newest checkpoint; null if none covers the entry yet. */
  readonly provenUnder: number | null;
}

function EntryPage(props: EntryProps) {
  const { frame, entry, reading, provenUnder } = props;
  const title = `Entry ${entry.seq}: ${kindTexts[entry.kind] ?? entry.kind}`;
  const meta = isRecord(entry.meta) ? entry.meta : {};
  return (
    <Page title={title} frame={frame} within="deliveries">
      <h1>{title}</h1>
      <p class="lead">
        <bdi>{entry.event ?? ''}</bdi>
        {entry.event === null ? '' : ', '}received <Moment iso={entry.receivedAt} timeZone={frame.timeZone} />
      </p>
      {entry.erased ? (
        <Notice tone="warn">
          <p>The content was erased. The entry keeps its position in the ledger, which is still proven.</p>
        </Notice>
      ) : null}
      <Panel id="about" title="How it arrived and was read">
        <Facts
          rows={[
            ['Source', `${frame.sourceName(entry.source)}, number ${formatCount(entry.sourceSeq)} there`],
            entry.outcome === null ? null : ['Outcome', <Badge {...outcomeTexts[entry.outcome]} />],
            entry.note === null ? null : ['Note', <bdi>{visibleText(entry.note)}</bdi>],
            typeof meta['verdict'] === 'string' ? ['Signature', verdictText(meta['verdict'])] : null,
            typeof meta['secretId'] === 'string'
              ? ['Signing secret', <span class="mono">{meta['secretId']}</span>]
              : null,
            entry.kind === 'webhook'
              ? [
                  'Repeats',
                  entry.repeats.count === 0
                    ? 'none'
                    : `${counted(entry.repeats.count, 'time', 'times')}, last ${momentOf(entry.repeats.times.at(-1) ?? '', frame.timeZone)}`,
                ]
              : null,
            entry.bytes === null ? null : ['Size', sizeText(entry.bytes)],
          ]}
        />
      </Panel>
      {reading === null ? null : <ReadingPanels {...props} reading={reading} />}
      {entry.erased ? null : (
        <>
          <Panel id="body" title="Content">
            <Content entry={entry} />
          </Panel>
          <Panel id="headers" title="Recorded with it">
            <Facts rows={flat(meta).map(([name, value]) => [name, <bdi class="outside">{visibleText(value)}</bdi>])} />
          </Panel>
        </>
      )}
      <Panel id="proof" title="Proof">
        {provenUnder === null ? (
          <NotSealed canWork={frame.canWork} />
        ) : (
          <ProofDownloads entry={entry} under={provenUnder} />
        )}
        <Facts
          rows={[
            ['Commitment', <span class="mono">{entry.commitment}</span>],
            ['Leaf hash', <span class="mono">{entry.leafHash}</span>],
          ]}
        />
      </Panel>
    </Page>
  );
}

function NotSealed({ canWork }: { canWork: boolean }) {
  return (
    <p>
      Not sealed yet, so it cannot be proven yet. The next checkpoint seals it; one is made every five minutes.
      {canWork ? (
        <>
          {' '}
          <a href="/evidence#checkpoints">Make a checkpoint now</a>
        </>
      ) : null}
    </p>
  );
}

function ProofDownloads({ entry: { seq, kind, erased }, under }: { entry: ShownEntry; under: number }) {
  const bare = erased || kind === 'call';
  return (
    <>
      <p>
        The proof shows to others that{' '}
        {bare ? 'the position and time of this entry have' : 'this entry, with its time and content, has'} not changed
        since the checkpoint over {counted(under, 'entry', 'entries')} was signed. To check it, open the enclosed{' '}
        <code>verify.html</code> in a browser and drop the ZIP on it; no network is needed.
      </p>
      <p class="hint">
        {bare
          ? 'Neither contains the content of the entry.'
          : 'The ZIP contains the content of the entry. The single file does not: it proves position and time.'}{' '}
        The recipient compares the verifier key with the one under <a href="/evidence#checkpoints">Evidence</a>: send
        them that one by a different channel.
      </p>
      <p class="buttons">
        <a class="button" href={`/entries/${seq}/proof`} download>
          Download the proof (ZIP)
        </a>
        <a class="button quiet" href={`/entries/${seq}/tlog-proof`} download>
          Only {seq}.tlog-proof
        </a>
      </p>
    </>
  );
}

/** Events of one entry that are shown. */
const EVENTS_SHOWN = 20;

/** What was read, for each event of the body. */
function ReadingPanels(props: EntryProps & { readonly reading: Reading }) {
  const { reading } = props;
  const { more = [] } = reading;
  const hidden = more.length + 1 - EVENTS_SHOWN;
  return (
    <>
      {[reading, ...more].slice(0, EVENTS_SHOWN).map((one, place) => (
        <ReadingPanel
          key={place}
          {...props}
          reading={one}
          title={
            more.length === 0
              ? 'Fields read from it'
              : `Event ${place + 1} of ${more.length + 1}: ${visibleText(one.event ?? 'not named')}`
          }
          place={place}
        />
      ))}
      {hidden > 0 ? <p class="hint">{counted(hidden, 'more event is', 'more events are')} not shown.</p> : null}
    </>
  );
}

interface ReadingPanelProps extends EntryProps {
  readonly reading: Reading;
  readonly title: string;
  /** From 0. */
  readonly place: number;
}

function ReadingPanel({ frame, entry, reading, source, admins, title, place }: ReadingPanelProps) {
  const id = place === 0 ? 'facts' : `facts-${place + 1}`;
  const { timeZone } = frame;
  const again = source === null ? null : <RereadForm frame={frame} source={source} admins={admins} />;
  if (reading.outcome !== 'read')
    return (
      <Panel id={id} title={title}>
        <p>Nothing: {visibleText(reading.reason)} The content is stored exactly as received.</p>
        {source === null || entry.event === TEST_EVENT ? null : (
          <>
            <p>
              If only its names are unusual, look at{' '}
              <a href={`/sources/${source.slug}/fields`}>the fields that the source sends</a> and accept the proposal.
              Then read earlier deliveries again.
            </p>
            {again}
          </>
        )}
      </Panel>
    );
  const { fact, unread } = reading;
  return (
    <Panel id={id} title={title}>
      <Facts
        rows={flat(fact).map(([name, value]) => [
          factText(name),
          <bdi class="outside">{visibleText(momentOf(value, timeZone))}</bdi>,
        ])}
      />
      {unread.length === 0 ? null : <p class="hint outside">Unused fields: {visibleText(unread.join(', '))}</p>}
      {entry.outcome === null || entry.outcome === 'read' || reading.more !== undefined || place > 0 ? null : (
        <>
          <p>
            It could not be read when it arrived. With the current settings of the source it can, as shown here; it
            counts once earlier deliveries have been read again.
          </p>
          {again}
        </>
      )}
    </Panel>
  );
}

/** The most characters and bytes of a content that are shown. */
const TEXT_SHOWN = 50_000;
const BYTES_SHOWN = 512;

function Content({ entry }: { entry: ShownEntry }) {
  const { kind, bodyText, bodyBase64 } = entry;
  // A service may repeat the API key in its response.
  if (kind === 'call')
    return (
      <p>
        The bytes of calls may contain credentials. Ask an admin with access to the server: `consent-ledger delivery
        show` prints them there.
      </p>
    );
  if (bodyText !== null) {
    const text = indentJson(bodyText, TEXT_SHOWN);
    return (
      <>
        <pre class="content">{visibleText(text.slice(0, TEXT_SHOWN))}</pre>
        {text.length > TEXT_SHOWN ? (
          <p class="hint">Only the beginning of its {formatCount(bodyText.length)} characters is shown.</p>
        ) : null}
      </>
    );
  }
  const bytes = Buffer.from(bodyBase64 ?? '', 'base64');
  const unpacked = decompressed(bytes, encodingOf(entry));
  if ('plain' in unpacked && unpacked.plain !== bytes && isUtf8(unpacked.plain))
    return (
      <>
        <p>Compressed; decompressed for this page:</p>
        <pre class="content">
          {visibleText(indentJson(Buffer.from(unpacked.plain).toString('utf8'), TEXT_SHOWN).slice(0, TEXT_SHOWN))}
        </pre>
      </>
    );
  return (
    <>
      <p>Not text. The first {Math.min(bytes.length, BYTES_SHOWN)} bytes in hex:</p>
      <pre class="content">{bytes.subarray(0, BYTES_SHOWN).toString('hex')}</pre>
    </>
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** A time in the controller's time zone; other text unchanged. */
function momentOf(text: string, timeZone: string): string {
  return momentPattern.test(text) ? momentText(text, timeZone) : text;
}

/** Names of facts that are not clear as they are. */
const factTexts: Readonly<Record<string, string>> = {
  via: 'Received through',
  'occurred.at': 'Happened',
  'occurred.basis': 'Time taken from',
  'occurred.counts': 'Time is used',
};

/** The name of a fact as a phrase: `policyVersion` → `Policy version`, `purposes.analytics` → `Purpose: analytics`. */
function factText(name: string): string {
  const known = factTexts[name];
  if (known !== undefined) return known;
  const [, purpose] = /^purposes\.(.+)$/.exec(name) ?? [];
  if (purpose !== undefined) return `Purpose: ${purpose}`;
  return phrase(name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('.', ': '));
}

/** The content of an object, one line per value: `headers.user-agent`. Empty values are left out. */
function flat(value: object, before = ''): readonly (readonly [name: string, value: string])[] {
  return Object.entries(value).flatMap(([name, one]: [string, unknown]) => {
    if (one === null || one === '') return [];
    if (isRecord(one)) return flat(one, `${before}${name}.`);
    const value = typeof one === 'boolean' ? (one ? 'yes' : 'no') : typeof one === 'string' ? one : JSON.stringify(one);
    return [[visibleText(`${before}${name}`), value] as const];
  });
}
