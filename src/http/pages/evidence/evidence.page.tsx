import { z } from 'zod';
import { counted, formatCount } from '../../../../reports/format.ts';
import { type BackupMade, findLastBackup } from '../../../backup/last-backup.ts';
import { verificationOf, verifyJob } from '../../../context/verify-job.ts';
import { erasureReasons } from '../../../core/erasure.ts';
import { CodedError } from '../../../core/errors.ts';
import { can } from '../../../core/roles.ts';
import { type Hold, listHolds } from '../../../erasure/holds.ts';
import type { Job } from '../../../jobs/job.ts';
import type { WitnessStanding } from '../../../ledger/cosigned-checkpoints.ts';
import { loadErasurePage, type RecordedErasure } from '../../../ledger/erase.ts';
import type { LastVerification } from '../../../ledger/verify/last-verification.ts';
import { listAdminAddresses } from '../../../people/people.ts';
import { findCheckpointNote, type ListedCheckpoint, listCheckpoints } from '../../../store/queries/checkpoints.ts';
import { attachment } from '../parts/attachment.ts';
import { number, pagesWith, smallNumber, text } from '../parts/define-page.ts';
import { JobProgress } from '../parts/job-progress.tsx';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { allowLive, liveScriptPath } from '../parts/live-script.ts';
import {
  AskAdmin,
  Badge,
  type Column,
  EntryNumber,
  Facts,
  FilterForm,
  Input,
  Moment,
  Notice,
  Pages,
  Panel,
  Problems,
  Table,
} from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { sizeText, type Worded } from '../parts/words.ts';

const { page, form, file } = pagesWith<
  | 'config'
  | 'epoch'
  | 'jobs'
  | 'lastVerification'
  | 'projector'
  | 'readModels'
  | 'seal'
  | 'store'
  | 'verifierKey'
  | 'witnessState'
>();

/** Checkpoints, and erasures, per page. */
const SHOWN = 25;

/** The place of a checkpoint in the list, `3-1200`: its epoch and size. Null if absent or none. */
const place = z
  .string()
  .regex(/^\d{1,9}-\d{1,15}$/)
  .transform((text) => {
    const [epoch, size] = text.split('-').map(Number);
    return { epoch: epoch ?? 0, size: size ?? 0 };
  })
  .nullable()
  .catch(null);

/** Results of a checkpoint that was just requested. */
const doneTexts: Readonly<Record<string, Worded>> = {
  sealed: { text: 'The checkpoint has been made. It is the first in the list.', tone: 'good' },
  unchanged: { text: 'Nothing has been added since the last checkpoint: it covers everything.', tone: 'good' },
  empty: { text: 'The ledger is empty: there is nothing to seal.', tone: 'warn' },
  refused: {
    text: 'No checkpoint was made: an entry differs from what was appended. Verify the ledger to see which.',
    tone: 'bad',
  },
};

/** What the ledger's evidence rests on: checkpoints and their witnesses, comparisons, backups, holds and erasures. */
const evidence = page({
  path: '/evidence',
  rule: { who: 'read', source: 'installation' },
  query: z.object({ before: place, erasedBefore: number, done: text, entry: number }),
  instead: ({ fields: { entry } }) => (entry === null ? null : `/entries/${entry}#proof`),
  async load({ context, permitted: { slugs }, fields, typed, reply }) {
    const { read } = context.store;
    const { before, erasedBefore, done } = fields;
    await context.projector.catchUp();
    const [checkpoints, witnessState, compared, backup, holds, verified, [job = null], erasures] = await Promise.all([
      listCheckpoints(read, { before, limit: SHOWN + 1 }),
      context.witnessState(),
      context.readModels.last(),
      findLastBackup(read),
      listHolds(read),
      context.lastVerification(),
      context.jobs.list({ kind: 'verify', limit: 1 }),
      // An erasure does not record the sources of its entries.
      slugs === null ? loadErasurePage(read, { before: erasedBefore, limit: SHOWN + 1 }) : null,
    ]);
    if (job?.finishedAt === null) allowLive(reply);
    const last = checkpoints.slice(0, SHOWN).at(-1);
    return {
      admins: await listAdminAddresses(context),
      verifierKey: context.verifierKey,
      checkpoints: checkpoints.slice(0, SHOWN),
      first: before === null ? null : '/evidence',
      next:
        checkpoints.length > SHOWN && last !== undefined
          ? `/evidence?before=${last.epoch}-${last.size}#checkpoints`
          : null,
      witnesses:
        context.config.witnesses === null
          ? null
          : Object.values(witnessState.witnesses).filter((standing) => standing.epoch === context.epoch),
      ...{ verified, job, compared, backup, erasures, erasedBefore },
      seesAll: slugs === null,
      done: Object.hasOwn(doneTexts, done) ? (doneTexts[done] ?? null) : null,
      problems: typed['entry'] ? ['Enter the number of an entry.'] : [],
      holds: holds.filter(
        ({ sourceSlug, caseId }) =>
          slugs === null || (sourceSlug === null ? caseId === null : slugs.includes(sourceSlug)),
      ),
    };
  },
  show: (data, { frame }) => <EvidencePage frame={frame} {...data} />,
  status: ({ problems }) => (problems.length > 0 ? 422 : 200),
});

const verify = form({
  path: '/evidence/verify',
  rule: { who: 'work', source: 'installation' },
  async act(visit) {
    const { id } = await visit.context.jobs.enqueue(verifyJob(visit.by.officer));
    await visit.doneSoon(id);
    return visit.goTo('/evidence#verification');
  },
});

const seal = form({
  path: '/evidence/checkpoints',
  rule: { who: 'work', source: 'installation' },
  async act({ context, goTo }) {
    const { outcome } = await context.seal();
    return goTo(`/evidence?done=${outcome}#checkpoints`);
  },
});

const checkpoint = file({
  path: '/evidence/checkpoint',
  rule: { who: 'read', source: 'installation' },
  query: z.object({ epoch: smallNumber, size: number }),
  async send({ context, fields: { epoch, size }, reply }) {
    const note = epoch === null || size === null ? null : await findCheckpointNote(context.store.read, { epoch, size });
    if (note === null) throw new CodedError('not_found');
    return reply
      .header('content-disposition', attachment(`checkpoint ${epoch}-${size}.txt`))
      .type('text/plain; charset=utf-8')
      .send(note);
  },
});

export const routes = [evidence, verify, seal, checkpoint];

interface EvidenceProps {
  readonly frame: PageFrame;
  /** E-mail addresses of the admins. */
  readonly admins: readonly string[];
  readonly verifierKey: string;
  readonly checkpoints: readonly ListedCheckpoint[];
  readonly first: string | null;
  readonly next: string | null;
  /** Null: none is configured. */
  readonly witnesses: readonly WitnessStanding[] | null;
  /** The last verification of the whole ledger; null if there was none. */
  readonly verified: LastVerification | null;
  /** The last requested verification; null: none recently. */
  readonly job: Job | null;
  /** Whether the person sees every source. */
  readonly seesAll: boolean;
  readonly done: Worded | null;
  /** Why no entry was found. */
  readonly problems: readonly string[];
  readonly compared: { readonly at: string; readonly found: string | null } | null;
  readonly backup: BackupMade | null;
  readonly holds: readonly Hold[];
  /** Newest first, with one extra; null: the person does not see every source. */
  readonly erasures: readonly RecordedErasure[] | null;
  /** The erasure before which the list begins; null: the newest. */
  readonly erasedBefore: number | null;
}

function EvidencePage(props: EvidenceProps) {
  const { frame } = props;
  return (
    <Page
      title="Evidence"
      frame={frame}
      current="evidence"
      {...(props.job?.finishedAt === null ? { script: liveScriptPath } : {})}
    >
      <h1>Evidence</h1>
      <p class="lead">Evidence that the ledger has not been changed, and a list of what was erased on purpose.</p>
      {props.done === null ? null : (
        <Notice tone={props.done.tone}>
          <p>{props.done.text}</p>
        </Notice>
      )}
      <Problems title="No entry was found:" problems={props.problems} />
      <Standing {...props} />
      <Verification {...props} />
      <WitnessesPanel {...props} />
      <CheckpointsPanel {...props} />
      <Panel id="proofs" title="Proof of an entry">
        <p>Every sealed entry has a proof for people outside, on its page.</p>
        <FilterForm action="/evidence">
          <Input id="entry" label="Number of the entry" inputMode="numeric" maxLength={15} autocomplete="off" />
        </FilterForm>
      </Panel>
      <HoldsPanel {...props} />
      <Erasures {...props} />
    </Page>
  );
}

function WitnessesPanel({ frame, admins, witnesses }: EvidenceProps) {
  const time = (iso: string) => <Moment iso={iso} timeZone={frame.timeZone} />;
  return (
    <Panel id="witnesses" title="Who else has seen it">
      {witnesses === null ? (
        <>
          <p>
            Nobody: no witness is configured. Someone who holds both the database and its keys could rewrite the ledger
            unnoticed.
          </p>
          {can(frame.role, 'administer') ? (
            <p>
              Configure witnesses on the server (<code>WITNESSES</code>).
            </p>
          ) : (
            <AskAdmin
              admins={admins}
              subject="Please configure witnesses"
              text="The consent ledger has no witnesses: someone with access to both the database and its keys could rewrite it unnoticed. Please configure witnesses on the server: WITNESSES (docs/proofs.md, Witnesses)."
            />
          )}
        </>
      ) : witnesses.length === 0 ? (
        <p>Nobody yet: the witnesses are contacted at their next scheduled run.</p>
      ) : (
        <Table
          caption="Each has seen the ledger up to the entry listed: nothing up to there can be changed without the witness noticing."
          columns={[
            { title: 'Witness', cell: ({ name }) => <bdi>{name}</bdi> },
            { title: 'Up to entry', isNumber: true, cell: ({ size }) => formatCount(size) },
            { title: 'When', cell: ({ at }) => (at === null ? 'not yet' : time(at)) },
            {
              title: 'State',
              cell: ({ forked, error }) => (
                <div>
                  <Badge
                    text={forked ? 'has seen a different history' : error === null ? 'agrees' : 'last attempt failed'}
                    tone={forked ? 'bad' : error === null ? 'good' : 'warn'}
                  />
                  {error === null ? null : <p class="hint outside">{error}</p>}
                </div>
              ),
            },
          ]}
          rows={witnesses}
        />
      )}
    </Panel>
  );
}

function CheckpointsPanel({ frame, verifierKey, checkpoints, first, next }: EvidenceProps) {
  return (
    <Panel id="checkpoints" title="Checkpoints">
      {checkpoints.length === 0 ? (
        <p>None yet. The first one is made a moment after the first delivery.</p>
      ) : (
        <Table
          caption="Newest first. Each is a signed statement over every entry up to its number."
          columns={checkpointColumns(frame)}
          rows={checkpoints}
        />
      )}
      <Pages first={first} next={next} />
      {frame.canWork ? (
        <PostForm frame={frame} class="buttons" action="/evidence/checkpoints">
          <button class="quiet" type="submit">
            Make a checkpoint now
          </button>
        </PostForm>
      ) : null}
      <h3>Verifier key</h3>
      <p class="mono">{verifierKey}</p>
      <p class="hint">
        It verifies every checkpoint, proof and receipt of the current epoch. Give it to the people who will check them,
        by a different channel than the documents.
      </p>
    </Panel>
  );
}

function HoldsPanel({ frame, holds }: EvidenceProps) {
  return (
    <Panel id="holds" title="Legal holds in force">
      {holds.length === 0 ? (
        <p>None. Data under a hold is not erased until the hold is lifted.</p>
      ) : (
        <Table caption="Oldest first." columns={holdColumns(frame)} rows={holds} />
      )}
    </Panel>
  );
}

/** The latest result of each check of the ledger. */
function Standing({ frame, checkpoints, first, compared, backup }: EvidenceProps) {
  const time = (iso: string) => <Moment iso={iso} timeZone={frame.timeZone} />;
  const newest = first === null ? checkpoints[0] : undefined;
  return (
    <Panel id="standing" title="How it stands">
      {compared?.found == null ? null : (
        <Notice tone="bad">
          Rows of the read models differ from the ledger: {compared.found}. No document can be made until this is fixed:
          tell an admin, and send them the address of this page.
        </Notice>
      )}
      <Facts
        rows={[
          newest === undefined
            ? null
            : [
                'Sealed',
                <>
                  up to entry {formatCount(newest.size)}, {time(newest.createdAt)}
                </>,
              ],
          [
            'Read models',
            compared === null ? (
              'not compared with the ledger yet'
            ) : (
              <>
                compared with the ledger {time(compared.at)}:{' '}
                {compared.found === null ? <Badge text="equal" tone="good" /> : <Badge text="differ" tone="bad" />}
              </>
            ),
          ],
          [
            'Last backup',
            backup === null ? (
              'none was made here'
            ) : (
              <>
                {time(backup.at)}, up to entry {formatCount(backup.upTo)}: <bdi>{backup.file}</bdi>,{' '}
                {sizeText(backup.bytes)}, read back
              </>
            ),
          ],
        ]}
      />
    </Panel>
  );
}

/** Whether every entry, checkpoint and file is what was recorded, and a button to verify again. */
function Verification({ frame, verified, job, seesAll }: EvidenceProps) {
  const isRunning = job?.finishedAt === null;
  const result = job === null || job.state !== 'done' ? null : verificationOf(job.result);
  const details = result !== null && result.at === verified?.at ? result : null;
  return (
    <Panel id="verification" title="Verification">
      {verified === null ? (
        <p>The whole ledger has not been verified yet.</p>
      ) : verified.faults === 0 ? (
        <Notice tone="good">
          <p>
            <strong>Sound.</strong> Verified <Moment iso={verified.at} timeZone={frame.timeZone} />
            {details === null
              ? '.'
              : `: ${counted(details.entries, 'entry', 'entries')} of ${counted(details.sources, 'source', 'sources')} under ${counted(details.checkpoints, 'checkpoint', 'checkpoints')}, nothing altered.`}
          </p>
        </Notice>
      ) : (
        <Notice tone="bad">
          <p>
            <strong>{counted(verified.faults, 'fault', 'faults')}</strong> found{' '}
            <Moment iso={verified.at} timeZone={frame.timeZone} />. Do not change the database or the journal: they are
            now evidence. Tell an admin, who compares them with a backup.
          </p>
          {details === null || !seesAll ? null : (
            <ul>
              {details.faults.map(({ seq, sentence }) => (
                <li key={`${seq} ${sentence}`} class="outside">
                  {seq === null ? 'Ledger' : `Entry ${formatCount(seq)}`}: {sentence}
                </li>
              ))}
              {details.faultCount > details.faults.length ? (
                <li>and {formatCount(details.faultCount - details.faults.length)} more</li>
              ) : null}
            </ul>
          )}
        </Notice>
      )}
      {details === null || details.unchecked.length === 0 ? null : (
        <ul class="plain small">
          {details.unchecked.map((sentence) => (
            <li key={sentence}>Not checked: {sentence}</li>
          ))}
        </ul>
      )}
      {job?.state === 'failed' ? (
        <Notice tone="bad">
          <p>The last verification did not finish: {job.error}</p>
        </Notice>
      ) : null}
      {isRunning ? (
        <JobProgress job={job} what="Verification of every entry" again="/evidence#verification" />
      ) : frame.canWork ? (
        <PostForm frame={frame} class="buttons" action="/evidence/verify">
          <button type="submit">Verify now</button>
        </PostForm>
      ) : null}
      <p class="hint">
        Reads every entry again and checks it against its hash, its key, the signed checkpoints and the journal, as well
        as the files of evidence and documents.
      </p>
    </Panel>
  );
}

function checkpointColumns(frame: PageFrame): readonly Column<ListedCheckpoint>[] {
  return [
    {
      title: 'Up to entry',
      cell: ({ epoch, size }) => (
        <a href={`/evidence/checkpoint?epoch=${epoch}&size=${size}`} download>
          {formatCount(size)}
        </a>
      ),
    },
    { title: 'Epoch', cell: ({ epoch }) => formatCount(epoch) },
    { title: 'Signed', cell: ({ createdAt }) => <Moment iso={createdAt} timeZone={frame.timeZone} /> },
    {
      title: 'Root',
      cell: ({ rootHex }) => (
        <span class="mono" title={rootHex}>
          {rootHex.slice(0, 16)}…
        </span>
      ),
    },
  ];
}

function holdColumns(frame: PageFrame): readonly Column<Hold>[] {
  const time = (iso: string) => <Moment iso={iso} timeZone={frame.timeZone} />;
  return [
    {
      title: 'Reason',
      cell: ({ reason, holdId }) => (
        <div class="outside">
          <bdi>{reason}</bdi>
          <br />
          <span class="soft small">{holdId}</span>
        </div>
      ),
    },
    {
      title: 'What it keeps',
      cell: ({ sourceSlug, caseId, about, from, to }) => (
        <div class="outside">
          {sourceSlug === null ? 'every source' : frame.sourceName(sourceSlug)}
          {caseId === null ? null : (
            <>
              , request <a href={`/cases/${encodeURIComponent(caseId)}`}>{caseId}</a>
            </>
          )}
          {about === null ? '' : ', one person'}
          {from === null ? null : <>, from {time(from)}</>}
          {to === null ? null : <>, to {time(to)}</>}
        </div>
      ),
    },
    { title: 'Placed', cell: ({ placedAt }) => time(placedAt) },
    { title: 'By', cell: ({ officer }) => <bdi>{officer}</bdi> },
  ];
}

function Erasures({ frame, erasures, erasedBefore }: EvidenceProps) {
  const shown = (erasures ?? []).slice(0, SHOWN);
  return (
    <Panel id="erasures" title="Erasures">
      {erasures === null ? (
        <p>Shown only to people who may see every source.</p>
      ) : shown.length === 0 ? (
        <p>
          Nothing was erased.{' '}
          {frame.canWork ? <a href="/settings/erasures">Erase a person, a request or a period</a> : null}
        </p>
      ) : (
        <Table
          caption="Newest first. Erased entries keep their position and their hashes, so that every proof stays valid."
          columns={[
            {
              title: 'Entry',
              cell: ({ seq }: RecordedErasure) => <EntryNumber seq={seq} />,
            },
            {
              title: 'When',
              cell: ({ receivedAt }) => <Moment iso={receivedAt} timeZone={frame.timeZone} />,
            },
            {
              title: 'What',
              cell: ({ seqs, documents }) =>
                [
                  counted(seqs.length, 'entry', 'entries'),
                  ...(documents.length === 0 ? [] : [counted(documents.length, 'document', 'documents')]),
                ].join(', '),
            },
            { title: 'Why', cell: ({ reason }) => erasureReasons[reason] },
            {
              title: 'By',
              cell: ({ officer, confirmedBy }) => (
                <bdi>{confirmedBy === null ? officer : `${officer}, confirmed by ${confirmedBy}`}</bdi>
              ),
            },
          ]}
          rows={shown}
        />
      )}
      <Pages
        first={erasedBefore === null ? null : '/evidence#erasures'}
        next={(erasures?.length ?? 0) > SHOWN ? `/evidence?erasedBefore=${shown.at(-1)?.seq ?? 0}#erasures` : null}
      />
      <p>
        <a href="/documents?name=erasure-certificate">Certificates of erasure</a> are in the library.
      </p>
    </Panel>
  );
}
