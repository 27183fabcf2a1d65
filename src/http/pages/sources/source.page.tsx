import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { diagnoseRefused } from '../../../attention/deliveries.ts';
import type { Context } from '../../../context.ts';
import { checkKeyDiscreetly, type KeyCheck } from '../../../context/check-key.ts';
import { rereadJob } from '../../../context/reread-job.ts';
import { CodedError } from '../../../core/errors.ts';
import { secretEncodings, type Source } from '../../../core/source.ts';
import type { SourceChanges } from '../../../sources/changes.ts';
import { sourceProblems } from '../../../sources/refusals.ts';
import type { SourceOutcome } from '../../../sources/sources.ts';
import { doubtfulPaths } from '../../../sources/discovery.ts';
import { newSigningSecret } from '../../../crypto/keys.ts';
import { cancelSyncJobs, syncJob } from '../../../sync/jobs.ts';
import { listAdminAddresses } from '../../../people/people.ts';
import { sourcesOf } from '../../auth/access.ts';
import { officerOf, ownPasswordProblem } from '../../auth/sessions.ts';
import { type Exchange, formOf, html, pageFrame, untilDoneSoon, untilProjected } from '../parts/page-frame.ts';
import { renderPage } from '../parts/layout.tsx';
import { allowLive } from '../parts/live-script.ts';
import { examineFields, isConfigured, loadSourceState } from './load-source.ts';
import { FieldsPage } from './source-fields.tsx';
import { ALLOWED_HOSTS, inWords, retireHours } from './source-forms.tsx';
import { isUnderWay, SourcePage } from './source-view.tsx';
import { ClosedSourcePage, findOffboarding } from './source-closed.tsx';
import { SetUpPage } from './source-set-up.tsx';

interface SourceParams {
  readonly Params: { readonly slug: string };
}

type Form = Readonly<Record<string, string>>;

/** The messages after an action, by the key in the address. */
const doneTexts: Readonly<Record<string, string>> = {
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
};

/** Refused deliveries whose diagnoses are shown during set-up. */
const REASONS_SHOWN = 3;
/** Values that a page shows only once. */
interface Shown {
  readonly problems?: readonly string[];
  readonly done?: string | null;
  /** A newly made signing secret. */
  readonly secret?: string;
  readonly check?: KeyCheck;
  readonly form?: Form;
  /** What only the server’s operator can do about it, for a message to the admins. */
  readonly ask?: string;
}

/** The pages of one source, its set-up, and the actions of officers and admins. */
export async function sourceRoutes(app: FastifyInstance, context: Context): Promise<void> {
  const get = (path: string, send: (exchange: Exchange, shown: Shown) => Promise<FastifyReply>) =>
    app.get<SourceParams>(path, (request, reply) => {
      const closed = closedSourceOf({ context, request, reply });
      if (closed === null) return send({ context, request, reply }, doneOf(request));
      return path === '/sources/:slug'
        ? sendClosed({ context, request, reply }, closed)
        : reply.redirect(`/sources/${closed.slug}`, 303);
    });
  const post = (path: string, handle: (exchange: Exchange) => Promise<FastifyReply>) =>
    app.post<SourceParams>(path, (request, reply) => handle({ context, request, reply }));
  get('/sources/:slug', sendSource);
  get('/sources/:slug/set-up', sendSetUp);
  get('/sources/:slug/fields', sendFields);
  post('/sources/:slug/name', rename);
  post('/sources/:slug/secrets', addSecret);
  post('/sources/:slug/secrets/retire', retireSecret);
  post('/sources/:slug/access', changeAccess);
  post('/sources/:slug/check', checkAccess);
  post('/sources/:slug/sync', requestSync);
  post('/sources/:slug/sync/stop', stopSync);
  post('/sources/:slug/fields', acceptFields);
  post('/sources/:slug/necessary', addNecessary);
  post('/sources/:slug/reread', requestReread);
}

async function rename(exchange: Exchange): Promise<FastifyReply> {
  const { context, request } = exchange;
  const { slug } = sourceOf(exchange);
  const { name = '' } = formOf(request.body);
  const changed = await context.sources.change(slug, { name }, officerOf(request).officer);
  return answer(exchange, changed, 'name');
}

/** Accepts a signing secret that was entered, or makes one. */
async function addSecret(exchange: Exchange): Promise<FastifyReply> {
  const { context, request } = exchange;
  const { slug } = sourceOf(exchange);
  const form = formOf(request.body);
  const made = form['way'] === 'make' ? newSigningSecret() : null;
  const encoding = secretEncodings.find((one) => one === (form['encoding'] ?? 'text'));
  const hours = retireHours.find(([value]) => value === (form['retire'] ?? ''))?.[0];
  if (encoding === undefined || hours === undefined)
    return refuse(exchange, ['Choose the encoding of the secret, and when the old ones expire.']);
  const retireOthersAt =
    hours === '' ? undefined : new Date(context.clock().getTime() + Number(hours) * 3_600_000).toISOString();
  const secret = made ?? (form['secret'] ?? '').trim();
  const rotation = { encoding: made === null ? encoding : ('text' as const), retireOthersAt };
  const rotated = await context.sources.rotateSecret(slug, secret, officerOf(request).officer, rotation);
  if (rotated.outcome !== 'done' || made === null) return answer(exchange, rotated, 'secret');
  await untilProjected(context, rotated.seq);
  // Shown in the response itself: a secret must not be in a URL, and is shown nowhere else.
  return sendBack(exchange, { secret: made });
}

async function retireSecret(exchange: Exchange): Promise<FastifyReply> {
  const { context, request } = exchange;
  const { slug } = sourceOf(exchange);
  const { secret = '' } = formOf(request.body);
  const retired = await context.sources.retireSecret(slug, secret, officerOf(request).officer, { keepsOne: true });
  return answer(exchange, retired, 'retired');
}

async function changeAccess(exchange: Exchange): Promise<FastifyReply> {
  const { context, request } = exchange;
  const source = sourceOf(exchange);
  const form = formOf(request.body);
  const changes = accessOf(form);
  const problems = context.sources.problemsOf(source.slug, changes);
  if (problems.length > 0) {
    const ask = problems.find((problem) => ALLOWED_HOSTS.test(problem));
    const shown = { problems: problems.map(inWords), form, ...(ask === undefined ? {} : { ask }) };
    return sendBack(exchange, shown, 422);
  }
  const isMoved = [changes.baseUrl, changes.siteUrl].some(
    (url, at) => url != null && url !== [source.baseUrl, source.siteUrl][at],
  );
  const wrong =
    isMoved && !isConfigured(context, source.slug) ? await ownPasswordProblem(context, request, form['present']) : null;
  if (wrong !== null) return sendBack(exchange, { problems: [wrong], form }, 422);
  if (!isConfigured(context, source.slug) && form['unchecked'] !== 'yes') {
    const { baseUrl = source.baseUrl, apiKey = source.apiKey, siteUrl = source.siteUrl } = changes;
    const check =
      baseUrl === null || apiKey === null
        ? null
        : await checkKeyDiscreetly({ ...source, baseUrl, apiKey, siteUrl }, context);
    if (check?.outcome === 'refused') {
      const kept = 'Nothing was saved. Correct it, or tick “Save without testing the key”.';
      return sendBack(exchange, { problems: [check.sentence, kept], form, ...askAbout(check) }, 422);
    }
  }
  return answer(exchange, await context.sources.change(source.slug, changes, officerOf(request).officer), 'access');
}

async function checkAccess(exchange: Exchange): Promise<FastifyReply> {
  const { context } = exchange;
  const check = await checkKeyDiscreetly(sourceOf(exchange), context);
  return sendBack(exchange, { check, ...askAbout(check) });
}

async function requestSync(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const { slug } = sourceOf(exchange);
  const { id } = await context.jobs.enqueue(syncJob(slug, officerOf(request).officer));
  await untilDoneSoon(context, id);
  return reply.redirect(`/sources/${slug}?done=sync#log`, 303);
}

async function stopSync(exchange: Exchange): Promise<FastifyReply> {
  const { context, reply } = exchange;
  const { slug } = sourceOf(exchange);
  const stopped = await cancelSyncJobs(context.jobs, slug);
  return reply.redirect(`/sources/${slug}?done=${stopped.length === 0 ? 'idle' : 'stopped'}#log`, 303);
}

async function acceptFields(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const source = sourceOf(exchange);
  const { proposal: shown = '', include = '' } = formOf(request.body);
  const examined = await examineFields(context, source);
  // Only the proposal that was shown can be accepted.
  if ((examined.proposal?.proposalId ?? '') !== shown)
    return sendFields(exchange, { problems: ['New data changed the proposal in the meantime: review it again.'] }, 409);
  const typed = include.split(/[\s,]+/).filter((path) => path !== '');
  const doubtful = doubtfulPaths(examined.found.events);
  const unknown = typed.filter((path) => !doubtful.includes(path));
  if (unknown.length > 0) {
    const problem = `“${unknown.join(', ')}” is not among the fields below: type a field exactly as it is shown.`;
    return sendFields(exchange, { problems: [problem] }, 422);
  }
  const { proposal } = typed.length === 0 ? examined : await examineFields(context, source, typed);
  if (proposal === null) return sendFields(exchange, { problems: ['Type the name of a field to include it.'] }, 422);
  const accepted = await context.sources.acceptMapping(source.slug, proposal, officerOf(request).officer);
  if (accepted.outcome === 'done') {
    await untilProjected(context, accepted.seq);
    return reply.redirect(`/sources/${source.slug}/fields?done=accepted`, 303);
  }
  if (accepted.outcome === 'unchanged') return reply.redirect(`/sources/${source.slug}/fields?done=unchanged`, 303);
  return sendFields(exchange, { problems: sourceProblems(accepted) }, 409);
}

/** Adds purposes that need no consent to the source's settings; only those that the page listed. */
async function addNecessary(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const source = sourceOf(exchange);
  const form = formOf(request.body);
  const { found } = await examineFields(context, source);
  const ticked = found.events
    .flatMap(({ alwaysGranted }) => alwaysGranted.map(({ purpose }) => purpose))
    .filter((purpose) => form[`purpose:${purpose}`] === 'yes');
  if (ticked.length === 0) return sendFields(exchange, { problems: ['Tick the purposes that need no consent.'] }, 422);
  const necessaryPurposes = [...new Set([...(source.options.necessaryPurposes ?? []), ...ticked])];
  const options = { ...source.options, necessaryPurposes };
  const changed = await context.sources.change(source.slug, { options }, officerOf(request).officer);
  if (changed.outcome === 'done') {
    await untilProjected(context, changed.seq);
    return reply.redirect(`/sources/${source.slug}/fields?done=necessary`, 303);
  }
  if (changed.outcome === 'unchanged') return reply.redirect(`/sources/${source.slug}/fields?done=unchanged`, 303);
  return sendFields(exchange, { problems: sourceProblems(changed) }, 409);
}

async function requestReread(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const { slug } = sourceOf(exchange);
  const { id } = await context.jobs.enqueue(rereadJob(slug, officerOf(request).officer));
  await untilDoneSoon(context, id);
  return reply.redirect(`/sources/${slug}#reading`, 303);
}

/** The source in the address, if it is followed and the person may see it. */
function sourceOf({ context, request }: Exchange): Source {
  const { slug } = request.params as SourceParams['Params'];
  const source = sourcesOf(context, request).find(slug);
  if (source === null) throw new CodedError('not_found');
  return source;
}

/** Returns to the page that the form was sent from, with the outcome. */
async function answer(exchange: Exchange, outcome: SourceOutcome, done: string): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const { slug } = sourceOf(exchange);
  const form = formOf(request.body);
  const back = form['back'] === 'set-up' ? '/set-up' : '';
  switch (outcome.outcome) {
    case 'done':
      await untilProjected(context, outcome.seq);
      return reply.redirect(`/sources/${slug}${back}?done=${done}`, 303);
    case 'unchanged':
      return reply.redirect(`/sources/${slug}${back}?done=unchanged`, 303);
    case 'exists':
    case 'invalid':
    case 'configured':
    case 'unknown':
    case 'conflict':
      return sendBack(
        exchange,
        { problems: sourceProblems(outcome).map(inWords), form },
        outcome.outcome === 'invalid' ? 422 : 409,
      );
    default:
      return outcome satisfies never;
  }
}

function refuse(exchange: Exchange, problems: readonly string[]) {
  return sendBack(exchange, { problems }, 422);
}

/** What only the server’s operator can do after a check of the key: look at the network, or run a command. */
function askAbout(check: KeyCheck): Pick<Shown, 'ask'> {
  const isUnreached = check.outcome === 'refused' && check.isUnreached === true;
  return isUnreached || check.sentence.includes('`consent-ledger ') ? { ask: check.sentence } : {};
}

/** The page from which a form was sent. */
function sendBack(exchange: Exchange, shown: Shown, status = 200): Promise<FastifyReply> {
  const isSetUp = formOf(exchange.request.body)['back'] === 'set-up';
  return isSetUp ? sendSetUp(exchange, shown, status) : sendSource(exchange, shown, status);
}

/** The source of the address if it was offboarded. */
function closedSourceOf({ context, request }: Exchange): Source | null {
  const { slug } = request.params as SourceParams['Params'];
  const sources = sourcesOf(context, request);
  return sources.find(slug) === null ? sources.findAny(slug) : null;
}

async function sendClosed({ context, request, reply }: Exchange, source: Source): Promise<FastifyReply> {
  const offboarding = await findOffboarding(context.store.read, source.slug);
  const props = { offboarding, seesAll: sourcesOf(context, request).slugs === null };
  const page = <ClosedSourcePage frame={pageFrame(context, request, reply)} source={source} {...props} />;
  return html(reply, renderPage(page));
}

async function sendSource(exchange: Exchange, shown: Shown, status = 200): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const state = await loadSourceState(context, sourceOf(exchange));
  if (isUnderWay(state)) allowLive(reply);
  const page = <SourcePage frame={pageFrame(context, request, reply)} state={state} {...shown} />;
  return html(reply, renderPage(page), status);
}

async function sendSetUp(exchange: Exchange, shown: Shown, status = 200): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const source = sourceOf(exchange);
  if (isConfigured(context, source.slug)) return reply.redirect(`/sources/${source.slug}`, 303);
  const state = await loadSourceState(context, source);
  const refused = await context.rejected.list({ source: source.slug, limit: REASONS_SHOWN });
  const reasons = await diagnoseRefused({ rejected: context.rejected, sources: sourcesOf(context, request) }, refused);
  const frame = pageFrame(context, request, reply);
  return html(reply, renderPage(<SetUpPage frame={frame} state={state} reasons={reasons} {...shown} />), status);
}

async function sendFields(exchange: Exchange, shown: Shown, status = 200): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const source = sourceOf(exchange);
  const { found, proposal } = await examineFields(context, source);
  const props = {
    ...{ frame: pageFrame(context, request, reply), source, found, proposal },
    admins: await listAdminAddresses(context),
  };
  return html(reply, renderPage(<FieldsPage {...props} {...shown} />), status);
}

function doneOf(request: FastifyRequest): Shown {
  const { done = '' } = formOf(request.query);
  return { done: doneTexts[done] ?? null };
}

/** Addresses and keys from a form. An empty address removes it; an empty key leaves it unchanged. */
function accessOf(form: Form): SourceChanges {
  const [baseUrl, siteUrl] = [(form['baseUrl'] ?? '').trim(), (form['siteUrl'] ?? '').trim()];
  const [apiKey, siteKey] = [(form['apiKey'] ?? '').trim(), (form['siteKey'] ?? '').trim()];
  return {
    baseUrl: baseUrl === '' ? null : baseUrl,
    siteUrl: siteUrl === '' ? null : siteUrl,
    ...(apiKey === '' ? {} : { apiKey }),
    ...(siteKey === '' ? {} : { siteKey }),
  };
}
