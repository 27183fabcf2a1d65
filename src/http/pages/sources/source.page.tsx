import { z } from 'zod';
import { diagnoseRefused } from '../../../attention/deliveries.ts';
import { confirmController } from '../../../config/profile-file.ts';
import { checkKeyDiscreetly, type KeyCheck } from '../../../context/check-key.ts';
import { rereadJob } from '../../../context/reread-job.ts';
import { CodedError } from '../../../core/errors.ts';
import { type Source, secretEncodings } from '../../../core/source.ts';
import { newSigningSecret } from '../../../crypto/keys.ts';
import { listAdminAddresses } from '../../../people/people.ts';
import type { SourceChanges } from '../../../sources/changes.ts';
import { doubtfulPaths } from '../../../sources/discovery.ts';
import { findOffboarding } from '../../../sources/offboarding.ts';
import { sourceProblems } from '../../../sources/refusals.ts';
import type { SourceOutcome } from '../../../sources/sources.ts';
import { cancelSyncJobs, syncJob } from '../../../sync/sync-jobs.ts';
import { ownPasswordProblem } from '../../auth/sessions.ts';
import { pagesWith, type Said, text, ticked, type Visit } from '../parts/define-page.ts';
import { allowLive } from '../parts/live-script.ts';
import { examineFields, isConfigured, loadSourceState } from './load-source.ts';
import { ClosedSourcePage } from './source-closed.tsx';
import { FieldsPage } from './source-fields.tsx';
import { ALLOWED_HOSTS, inWords, retireHours } from './source-forms.tsx';
import { SetUpPage } from './source-set-up.tsx';
import { isUnderWay, SourcePage } from './source-view.tsx';

type Parts =
  | 'clock'
  | 'config'
  | 'discoverFields'
  | 'jobs'
  | 'keys'
  | 'ledger'
  | 'loadProfile'
  | 'log'
  | 'projector'
  | 'rejected'
  | 'sources'
  | 'store';
const { page, form } = pagesWith<Parts>();

/** Refused deliveries whose diagnoses are shown during set-up. */
const REASONS_SHOWN = 3;

/** The messages after an action, by the key in the address. */
const done = {
  name: 'The name has been changed.',
  secret: 'The signing secret is accepted from now on.',
  retired: 'The signing secret is no longer accepted.',
  access: 'The access settings have been saved.',
  sync: 'The sync has been requested.',
  stopped: 'The sync was asked to stop. Stored rows are kept, and the next sync continues from there.',
  idle: 'No sync was running.',
  accepted: 'Deliveries and rows are read with the new names from now on.',
  necessary: 'These purposes count as needing no consent from now on.',
  unchanged: 'Nothing needed changing.',
  controller: 'It was recorded that this organisation is the controller of this source.',
};

/** Values that a page shows only once. */
interface Shown {
  /** A newly made signing secret. */
  readonly secret: string;
  readonly check: KeyCheck;
  /** What only the server’s operator can do about it, for a message to the admins. */
  readonly ask: string;
}

/** One source, with its state and settings; or when it was offboarded. */
const one = page({
  path: '/sources/:slug',
  rule: { who: 'read', source: 'address' },
  done,
  async load(visit, _said: Said<Shown>) {
    const { context, permitted, reply } = visit;
    const closed = closedSourceOf(visit);
    if (closed !== null)
      return {
        closed,
        offboarding: await findOffboarding(context.store.read, closed.slug),
        seesAll: permitted.slugs === null,
      };
    const state = await loadSourceState(context, sourceOf(visit));
    if (isUnderWay(state)) allowLive(reply);
    return { state };
  },
  show: (data, { frame, said }) =>
    data.state === undefined ? (
      <ClosedSourcePage frame={frame} source={data.closed} offboarding={data.offboarding} seesAll={data.seesAll} />
    ) : (
      <SourcePage frame={frame} state={data.state} {...said} />
    ),
});

/** Whose controller profile a source has that shares one. */
const confirm = form({
  path: '/sources/:slug/controller',
  rule: { who: 'administer', source: 'address' },
  body: z.object({ controller: text }),
  async act(visit) {
    const { context, fields, by } = visit;
    const source = sourceOf(visit);
    const refuse = (problem: string) => one.again(visit, { fields: {}, said: { problems: [problem] }, status: 409 });
    const saved = await confirmController(context, { source, controller: fields.controller, actor: by.officer });
    switch (saved.outcome) {
      case 'unwritable':
        return refuse('The program cannot write the file of the controller profile.');
      case 'overtaken':
        return refuse('The controller profile was changed in the meantime: look at it again.');
      case 'invalid':
        return refuse('The controller profile has problems: correct them first, under Settings.');
      case 'saved':
      case 'unchanged':
        if (saved.outcome === 'saved' && saved.seq !== null) await visit.projected(saved.seq);
        return visit.goTo(`/sources/${source.slug}?done=controller`);
      default:
        return saved satisfies never;
    }
  },
});

const setUp = page({
  path: '/sources/:slug/set-up',
  rule: { who: 'administer', source: 'address' },
  done,
  instead: (visit) =>
    closedSourceOf(visit) !== null || isConfigured(visit.context, visit.params.slug)
      ? `/sources/${visit.params.slug}`
      : null,
  async load(visit, _said: Said<Shown>) {
    const { context, permitted: sources } = visit;
    const source = sourceOf(visit);
    const state = await loadSourceState(context, source);
    const { rejected } = context;
    const refused = await rejected.list({ source: source.slug, limit: REASONS_SHOWN });
    return { state, reasons: await diagnoseRefused({ rejected, sources }, refused) };
  },
  show: (data, { frame, said }) => <SetUpPage frame={frame} {...data} {...said} />,
});

const fieldsRead = page({
  path: '/sources/:slug/fields',
  rule: { who: 'read', source: 'address' },
  done,
  instead: (visit) => (closedSourceOf(visit) === null ? null : `/sources/${visit.params.slug}`),
  async load(visit) {
    const { context } = visit;
    const source = sourceOf(visit);
    const { found, proposal } = await examineFields(context, source);
    return { source, found, proposal, admins: await listAdminAddresses(context) };
  },
  show: (data, { frame, said }) => <FieldsPage frame={frame} {...data} {...said} />,
});

const rename = form({
  path: '/sources/:slug/name',
  rule: { who: 'administer', source: 'address' },
  body: z.object({ name: text, back: text }),
  async act(visit) {
    const { slug } = sourceOf(visit);
    const changed = await visit.context.sources.change(slug, { name: visit.fields.name }, visit.by.officer);
    return answer(visit, changed, 'name');
  },
});

/** Accepts a signing secret that was entered, or makes one. */
const addSecret = form({
  path: '/sources/:slug/secrets',
  rule: { who: 'administer', source: 'address' },
  body: z.object({ way: text, secret: text, encoding: z.string().catch('text'), retire: text, back: text }),
  async act(visit) {
    const { context, fields, by } = visit;
    const { slug } = sourceOf(visit);
    const made = fields.way === 'make' ? newSigningSecret() : null;
    const encoding = secretEncodings.find((name) => name === fields.encoding);
    const hours = retireHours.find(([value]) => value === fields.retire)?.[0];
    if (encoding === undefined || hours === undefined)
      return back(visit, { problems: ['Choose the encoding of the secret, and when the old ones expire.'] });
    const retireOthersAt =
      hours === '' ? undefined : new Date(context.clock().getTime() + Number(hours) * 3_600_000).toISOString();
    const rotation = { encoding: made === null ? encoding : ('text' as const), retireOthersAt };
    const secret = made ?? fields.secret.trim();
    const rotated = await context.sources.rotateSecret(slug, secret, by.officer, rotation);
    if (rotated.outcome !== 'done' || made === null) return answer(visit, rotated, 'secret');
    await visit.projected(rotated.seq);
    // Shown in the response itself: a secret must not be in a URL, and is shown nowhere else.
    return back(visit, { secret: made }, 200);
  },
});

const retireSecret = form({
  path: '/sources/:slug/secrets/retire',
  rule: { who: 'administer', source: 'address' },
  body: z.object({ secret: text, back: text }),
  async act(visit) {
    const { context, fields, by } = visit;
    const { slug } = sourceOf(visit);
    const retired = await context.sources.retireSecret(slug, fields.secret, by.officer, { keepsOne: true });
    return answer(visit, retired, 'retired');
  },
});

const changeAccess = form({
  path: '/sources/:slug/access',
  rule: { who: 'administer', source: 'address' },
  body: z.object({
    ...{ baseUrl: text, siteUrl: text, apiKey: text, siteKey: text },
    ...{ present: text, unchecked: ticked, back: text },
  }),
  async act(visit) {
    const { context, fields, typed, by, request } = visit;
    const source = sourceOf(visit);
    const refuse = (shown: Partial<Said<Shown>>) => back(visit, { ...shown, form: typed });
    const changes = accessOf(fields);
    const problems = context.sources.problemsOf(source.slug, changes);
    if (problems.length > 0) {
      const ask = problems.find((problem) => ALLOWED_HOSTS.test(problem));
      return refuse({ problems: problems.map(inWords), ...(ask === undefined ? {} : { ask }) });
    }
    const isOfServer = isConfigured(context, source.slug);
    const isMoved = [changes.baseUrl, changes.siteUrl].some(
      (url, at) => url != null && url !== [source.baseUrl, source.siteUrl][at],
    );
    const wrong = isMoved && !isOfServer ? await ownPasswordProblem(context, request, fields.present) : null;
    if (wrong !== null) return refuse({ problems: [wrong] });
    if (!isOfServer && !fields.unchecked) {
      const check = await checkOf(context, source, changes);
      if (check?.outcome === 'refused') {
        const kept = 'Nothing was saved. Correct it, or tick “Save without testing the key”.';
        return refuse({ problems: [check.sentence, kept], ...askAbout(check) });
      }
    }
    return answer(visit, await context.sources.change(source.slug, changes, by.officer), 'access');
  },
});

const checkAccess = form({
  path: '/sources/:slug/check',
  rule: { who: 'work', source: 'address' },
  body: z.object({ back: text }),
  async act(visit) {
    const check = await checkKeyDiscreetly(sourceOf(visit), visit.context);
    return back(visit, { check, ...askAbout(check) }, 200);
  },
});

const requestSync = form({
  path: '/sources/:slug/sync',
  rule: { who: 'work', source: 'address' },
  async act(visit) {
    const { slug } = sourceOf(visit);
    const { id } = await visit.context.jobs.enqueue(syncJob(slug, visit.by.officer));
    await visit.doneSoon(id);
    return visit.goTo(`/sources/${slug}?done=sync#log`);
  },
});

const stopSync = form({
  path: '/sources/:slug/sync/stop',
  rule: { who: 'work', source: 'address' },
  async act(visit) {
    const { slug } = sourceOf(visit);
    const stopped = await cancelSyncJobs(visit.context.jobs, slug);
    return visit.goTo(`/sources/${slug}?done=${stopped.length === 0 ? 'idle' : 'stopped'}#log`);
  },
});

const acceptFields = form({
  path: '/sources/:slug/fields',
  rule: { who: 'work', source: 'address' },
  body: z.object({ proposal: text, include: text }),
  async act(visit) {
    const { context, params, fields, by } = visit;
    const source = sourceOf(visit);
    const refuse = (problems: readonly string[], status: number) =>
      fieldsRead.again(visit, { fields: {}, params, said: { problems, form: {} }, status });
    const examined = await examineFields(context, source);
    // Only the proposal that was shown can be accepted.
    if ((examined.proposal?.proposalId ?? '') !== fields.proposal)
      return refuse(['New data changed the proposal in the meantime: review it again.'], 409);
    const named = fields.include.split(/[\s,]+/).filter((path) => path !== '');
    const doubtful = doubtfulPaths(examined.found.events);
    const unknown = named.filter((path) => !doubtful.includes(path));
    if (unknown.length > 0) {
      const problem = `“${unknown.join(', ')}” is not among the fields below: type a field exactly as it is shown.`;
      return refuse([problem], 422);
    }
    const { proposal } = named.length === 0 ? examined : await examineFields(context, source, named);
    if (proposal === null) return refuse(['Type the name of a field to include it.'], 422);
    const accepted = await context.sources.acceptMapping(source.slug, proposal, by.officer);
    return answerFields(visit, accepted, 'accepted');
  },
});

/** Adds purposes that need no consent to the source's settings; only those that the page listed. */
const addNecessary = form({
  path: '/sources/:slug/necessary',
  rule: { who: 'work', source: 'address' },
  async act(visit) {
    const { context, params, typed, by } = visit;
    const source = sourceOf(visit);
    const { found } = await examineFields(context, source);
    const chosen = found.events
      .flatMap(({ alwaysGranted }) => alwaysGranted.map(({ purpose }) => purpose))
      .filter((purpose) => typed[`purpose:${purpose}`] === 'yes');
    if (chosen.length === 0) {
      const problems = ['Tick the purposes that need no consent.'];
      return fieldsRead.again(visit, { fields: {}, params, said: { problems, form: {} } });
    }
    const necessaryPurposes = [...new Set([...(source.options.necessaryPurposes ?? []), ...chosen])];
    const options = { ...source.options, necessaryPurposes };
    const changed = await context.sources.change(source.slug, { options }, by.officer);
    return answerFields(visit, changed, 'necessary');
  },
});

const requestReread = form({
  path: '/sources/:slug/reread',
  rule: { who: 'administer', source: 'address' },
  async act(visit) {
    const { slug } = sourceOf(visit);
    const { id } = await visit.context.jobs.enqueue(rereadJob(slug, visit.by.officer));
    await visit.doneSoon(id);
    return visit.goTo(`/sources/${slug}#reading`);
  },
});

export const routes = [
  ...[one, confirm, setUp, fieldsRead, rename, addSecret, retireSecret, changeAccess, checkAccess],
  ...[requestSync, stopSync, acceptFields, addNecessary, requestReread],
];

type OfSource<F = unknown> = Visit<Parts, F, { readonly slug: string }>;
/** A form that the source's page and its set-up have. */
type OfEither = OfSource<{ readonly back: string }>;

/** The source in the address, if it is followed and the person may see it. */
function sourceOf({ permitted, params }: Pick<OfSource, 'permitted' | 'params'>): Source {
  const source = permitted.find(params.slug);
  if (source === null) throw new CodedError('not_found');
  return source;
}

/** The source of the address if it was offboarded. */
function closedSourceOf({ permitted, params: { slug } }: Pick<OfSource, 'permitted' | 'params'>): Source | null {
  return permitted.find(slug) === null ? permitted.findAny(slug) : null;
}

/** Returns to the page that the form was sent from, with the outcome. */
async function answer(visit: OfEither, outcome: SourceOutcome, doneKey: keyof typeof done): ReturnType<typeof back> {
  const { slug } = sourceOf(visit);
  const here = `/sources/${slug}${visit.fields.back === 'set-up' ? '/set-up' : ''}`;
  switch (outcome.outcome) {
    case 'done':
      await visit.projected(outcome.seq);
      return visit.goTo(`${here}?done=${doneKey}`);
    case 'unchanged':
      return visit.goTo(`${here}?done=unchanged`);
    case 'exists':
    case 'invalid':
    case 'configured':
    case 'unknown':
    case 'conflict': {
      const problems = sourceProblems(outcome).map(inWords);
      return back(visit, { problems, form: visit.typed }, outcome.outcome === 'invalid' ? 422 : 409);
    }
    default:
      return outcome satisfies never;
  }
}

/** Returns to the page of the fields, with the outcome. */
async function answerFields(
  visit: OfSource,
  outcome: SourceOutcome,
  doneKey: keyof typeof done,
): ReturnType<typeof back> {
  const { params } = visit;
  const here = `/sources/${params.slug}/fields`;
  if (outcome.outcome === 'done') {
    await visit.projected(outcome.seq);
    return visit.goTo(`${here}?done=${doneKey}`);
  }
  if (outcome.outcome === 'unchanged') return visit.goTo(`${here}?done=unchanged`);
  const problems = sourceProblems(outcome);
  return fieldsRead.again(visit, { fields: {}, params, said: { problems, form: {} }, status: 409 });
}

/** The page from which a form was sent. Nothing of what was typed unless `said` has it. */
async function back(visit: OfEither, said: Partial<Said<Shown>>, status = 422): ReturnType<typeof one.again> {
  const { context, params } = visit;
  const as = { fields: {}, params, said: { form: {}, ...said }, status };
  if (visit.fields.back !== 'set-up') return one.again(visit, as);
  // The address and keys of this source are set on the server.
  if (isConfigured(context, params.slug)) return visit.goTo(`/sources/${params.slug}`);
  return setUp.again(visit, as);
}

/** Tests a key with the changed settings; null: there would be no address or no key. */
async function checkOf(
  context: Parameters<typeof checkKeyDiscreetly>[1],
  source: Source,
  changes: SourceChanges,
): Promise<KeyCheck | null> {
  const { baseUrl = source.baseUrl, apiKey = source.apiKey, siteUrl = source.siteUrl } = changes;
  if (baseUrl === null || apiKey === null) return null;
  return checkKeyDiscreetly({ ...source, baseUrl, apiKey, siteUrl }, context);
}

/** What only the server’s operator can do after a check of the key: look at the network, or run a command. */
function askAbout(check: KeyCheck): Partial<Pick<Shown, 'ask'>> {
  const isUnreached = check.outcome === 'refused' && check.isUnreached === true;
  return isUnreached || check.sentence.includes('`consent-ledger ') ? { ask: check.sentence } : {};
}

/** Addresses and keys from a form. An empty address removes it; an empty key leaves it unchanged. */
function accessOf(form: Readonly<Record<'baseUrl' | 'siteUrl' | 'apiKey' | 'siteKey', string>>): SourceChanges {
  const [baseUrl, siteUrl] = [form.baseUrl.trim(), form.siteUrl.trim()];
  const [apiKey, siteKey] = [form.apiKey.trim(), form.siteKey.trim()];
  return {
    baseUrl: baseUrl === '' ? null : baseUrl,
    siteUrl: siteUrl === '' ? null : siteUrl,
    ...(apiKey === '' ? {} : { apiKey }),
    ...(siteKey === '' ? {} : { siteKey }),
  };
}
