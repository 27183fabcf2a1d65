import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { discover, type Discovery } from '../../../receivers/discover/discover.ts';
import { diagnoseRefused, loadRefusedCounts } from '../../attention/deliveries.ts';
import { loadLastTimes } from '../../attention/figures.ts';
import type { Context } from '../../context.ts';
import { checkKey, type KeyCheck } from '../../context/check-key.ts';
import type { Action } from '../../core/action.ts';
import { publicUrlOf } from '../../core/address.ts';
import { CodedError } from '../../core/errors.ts';
import { secretEncodings, type Source } from '../../core/source.ts';
import type { FieldMapping, SourceChanges } from '../../sources/changes.ts';
import { gatherSamples, isEmptyProposal, proposalOf } from '../../sources/discovery.ts';
import type { SourceOutcome } from '../../sources/sources.ts';
import { createBannerQueries } from '../../store/queries/history-banners.ts';
import { cancelSyncJobs, loadSyncJobs, syncJob } from '../../sync/jobs.ts';
import { loadSyncStatus } from '../../sync/status.ts';
import { leftoverFault } from '../../sources/faults.ts';
import { listAdminAddresses } from '../../people/people.ts';
import { dateIn } from '../../core/zoned-days.ts';
import { sourcesOf } from '../auth/access.ts';
import { officerOf } from '../auth/sessions.ts';
import { formOf, html, pageFrame, untilDoneSoon, untilProjected } from './frame.ts';
import { renderPage } from './layout.tsx';
import { allowLive } from './live-script.ts';
import { FieldsPage } from './source-fields.tsx';
import { retireHours } from './source-forms.tsx';
import { SourcePage, type SourceState } from './source-page.tsx';
import { SetUpPage } from './source-set-up.tsx';

interface SourceParams {
  readonly Params: { readonly slug: string };
}

type Form = Readonly<Record<string, string>>;

/** Confirmations that an address may refer to. */
const doneTexts: Readonly<Record<string, string>> = {
  name: 'The name is changed.',
  secret: 'The signing secret is accepted from now on.',
  retired: 'The signing secret is no longer accepted.',
  access: 'Access to the service is saved.',
  sync: 'The sync has been requested.',
  stopped: 'The sync was asked to stop. Stored rows are kept, and the next sync continues from there.',
  idle: 'No sync was running.',
  accepted: 'Deliveries and rows are read by the new names from now on.',
  unchanged: 'Nothing needed changing.',
};

/** Sync runs listed on the page. */
const RUNS_SHOWN = 20;
/** Refused deliveries whose diagnoses are shown during set-up. */
const REASONS_SHOWN = 3;
/** Payloads of each kind that the fields page examines, and their total bytes: other requests wait meanwhile. */
const LOOKED_AT = 50;
const LARGEST = 16 * 1024;
/** Random bytes of a generated secret. */
const SECRET_BYTES = 32;

/** Values that a page shows once and nowhere else. */
interface Shown {
  readonly problems?: readonly string[];
  readonly done?: string | null;
  /** A newly generated signing secret. */
  readonly secret?: string;
  readonly check?: KeyCheck;
  readonly form?: Form;
}

/** The page of one source, its set-up, and the actions of officers and admins on it. */
export async function sourceRoutes(app: FastifyInstance, context: Context): Promise<void> {
  const { read } = context.store;

  app.get<SourceParams>('/sources/:slug', (request, reply) => sendSource(request, reply, doneOf(request)));
  app.get<SourceParams>('/sources/:slug/set-up', (request, reply) => sendSetUp(request, reply, doneOf(request)));
  app.get<SourceParams>('/sources/:slug/fields', (request, reply) => sendFields(request, reply, doneOf(request)));

  app.post<SourceParams>('/sources/:slug/name', async (request, reply) => {
    const { slug } = sourceOf(request);
    const { name = '' } = formOf(request.body);
    const changed = await context.sources.change(slug, { name }, officerOf(request).officer);
    return answer(request, reply, changed, 'name');
  });

  app.post<SourceParams>('/sources/:slug/secrets', async (request, reply) => {
    const { slug } = sourceOf(request);
    const form = formOf(request.body);
    const made = form['way'] === 'make' ? randomBytes(SECRET_BYTES).toString('hex') : null;
    const encoding = secretEncodings.find((one) => one === (form['encoding'] ?? 'text'));
    const hours = retireHours.find(([value]) => value === (form['retire'] ?? ''))?.[0];
    if (encoding === undefined || hours === undefined)
      return refuse(request, reply, ['Choose the encoding of the secret, and when the old ones expire.']);
    const retireOthersAt =
      hours === '' ? undefined : new Date(context.clock().getTime() + Number(hours) * 3_600_000).toISOString();
    const secret = made ?? (form['secret'] ?? '').trim();
    const rotation = { encoding: made === null ? encoding : ('text' as const), retireOthersAt };
    const rotated = await context.sources.rotateSecret(slug, secret, officerOf(request).officer, rotation);
    if (rotated.outcome !== 'done' || made === null) return answer(request, reply, rotated, 'secret');
    await untilProjected(context, rotated.seq);
    // Shown in the response itself: a secret must not be in a URL, and is shown nowhere else.
    return sendBack(request, reply, { secret: made });
  });

  app.post<SourceParams>('/sources/:slug/secrets/retire', async (request, reply) => {
    const { slug } = sourceOf(request);
    const { secret = '' } = formOf(request.body);
    const lasting = context.sources.find(slug)?.webhookSecrets.filter(({ id }) => id !== secret) ?? [];
    if (lasting.length === 0)
      return refuse(request, reply, [
        'This is the only signing secret: add another one first, or every delivery would be refused.',
      ]);
    const retired = await context.sources.retireSecret(slug, secret, officerOf(request).officer);
    return answer(request, reply, retired, 'retired');
  });

  app.post<SourceParams>('/sources/:slug/access', async (request, reply) => {
    const source = sourceOf(request);
    const form = formOf(request.body);
    const changes = accessOf(form);
    const problems = context.sources.problemsOf(changes);
    if (problems.length > 0) return refuse(request, reply, problems, form);
    if (!isConfigured(source.slug) && form['unchecked'] !== 'yes') {
      const { baseUrl = source.baseUrl, apiKey = source.apiKey, siteUrl = source.siteUrl } = changes;
      const check =
        baseUrl === null || apiKey === null
          ? null
          : await checkKey({ ...source, baseUrl, apiKey, siteUrl }, context.clock);
      if (check?.outcome === 'refused') {
        const kept = 'Nothing was saved. Correct it, or tick “Save without testing the key”.';
        return refuse(request, reply, [check.sentence, kept], form);
      }
    }
    return answer(
      request,
      reply,
      await context.sources.change(source.slug, changes, officerOf(request).officer),
      'access',
    );
  });

  app.post<SourceParams>('/sources/:slug/check', async (request, reply) => {
    const check = await checkKey(sourceOf(request), context.clock);
    return sendBack(request, reply, { check });
  });

  app.post<SourceParams>('/sources/:slug/sync', async (request, reply) => {
    const { slug } = sourceOf(request);
    const { id } = await context.jobs.enqueue(syncJob(slug, officerOf(request).officer));
    await untilDoneSoon(context, id);
    return reply.redirect(`/sources/${slug}?done=sync#log`, 303);
  });

  app.post<SourceParams>('/sources/:slug/sync/stop', async (request, reply) => {
    const { slug } = sourceOf(request);
    const stopped = await cancelSyncJobs(context.jobs, slug);
    return reply.redirect(`/sources/${slug}?done=${stopped.length === 0 ? 'idle' : 'stopped'}#log`, 303);
  });

  app.post<SourceParams>('/sources/:slug/fields', async (request, reply) => {
    const source = sourceOf(request);
    const { proposal: shown = '' } = formOf(request.body);
    const { proposal } = await examine(source);
    // Only the proposal that was shown can be accepted.
    if (proposal === null || proposal.proposalId !== shown)
      return sendFields(
        request,
        reply,
        { problems: ['New data changed the proposal in the meantime: review it again.'] },
        409,
      );
    const accepted = await context.sources.acceptMapping(source.slug, proposal, officerOf(request).officer);
    if (accepted.outcome === 'done') {
      await untilProjected(context, accepted.seq);
      return reply.redirect(`/sources/${source.slug}/fields?done=accepted`, 303);
    }
    if (accepted.outcome === 'unchanged') return reply.redirect(`/sources/${source.slug}/fields?done=unchanged`, 303);
    return sendFields(request, reply, { problems: problemsOf(accepted) }, 409);
  });

  /** The source in the address, if it is active and the person may see it. */
  function sourceOf(request: FastifyRequest): Source {
    const { slug } = request.params as SourceParams['Params'];
    const source = sourcesOf(context, request).find(slug);
    if (source === null) throw new CodedError('not_found');
    return source;
  }

  function isConfigured(slug: string): boolean {
    return context.config.defaultSource?.slug === slug;
  }

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    outcome: SourceOutcome,
    done: string,
  ): Promise<FastifyReply> {
    const { slug } = sourceOf(request);
    const back = formOf(request.body)['back'] === 'set-up' ? '/set-up' : '';
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
        return sendBack(request, reply, { problems: problemsOf(outcome) }, outcome.outcome === 'invalid' ? 422 : 409);
      default:
        return outcome satisfies never;
    }
  }

  function refuse(request: FastifyRequest, reply: FastifyReply, problems: readonly string[], form: Form = {}) {
    return sendBack(request, reply, { problems, form }, 422);
  }

  /** Shows the page from which a form was sent. */
  function sendBack(request: FastifyRequest, reply: FastifyReply, shown: Shown, status = 200): Promise<FastifyReply> {
    const isSetUp = formOf(request.body)['back'] === 'set-up';
    return isSetUp ? sendSetUp(request, reply, shown, status) : sendSource(request, reply, shown, status);
  }

  async function sendSource(request: FastifyRequest, reply: FastifyReply, shown: Shown, status = 200) {
    const state = await loadState(sourceOf(request));
    if (state.jobs.length > 0) allowLive(reply);
    const page = <SourcePage frame={pageFrame(context, request, reply)} state={state} {...shown} />;
    return html(reply, renderPage(page), status);
  }

  async function sendSetUp(request: FastifyRequest, reply: FastifyReply, shown: Shown, status = 200) {
    const source = sourceOf(request);
    if (isConfigured(source.slug)) return reply.redirect(`/sources/${source.slug}`, 303);
    const state = await loadState(source);
    const refused = await context.rejected.list({ source: source.slug, limit: REASONS_SHOWN });
    const reasons = await diagnoseRefused(
      { rejected: context.rejected, sources: sourcesOf(context, request) },
      refused,
    );
    const frame = pageFrame(context, request, reply);
    return html(reply, renderPage(<SetUpPage frame={frame} state={state} reasons={reasons} {...shown} />), status);
  }

  async function sendFields(request: FastifyRequest, reply: FastifyReply, shown: Shown, status = 200) {
    const source = sourceOf(request);
    const { found, proposal } = await examine(source);
    const frame = pageFrame(context, request, reply);
    return html(reply, renderPage(<FieldsPage {...{ frame, source, found, proposal }} {...shown} />), status);
  }

  /** Examines what a source sent recently; the service itself is not called. */
  async function examine(
    source: Source,
  ): Promise<{ readonly found: Discovery; readonly proposal: FieldMapping | null }> {
    const { store, rejected, clock } = context;
    await rejected.flush();
    const deps = { store, rejected, clock, serviceFor: null, lookedAt: LOOKED_AT, largest: LARGEST };
    const { samples, encodings } = await gatherSamples(deps, source);
    const found = discover(samples, source.options);
    const { fieldNames, eventNames } = found;
    const proposal = proposalOf(source.slug, {
      fieldNames,
      eventNames,
      // The encoding of the configured source's secret is set next to it in the environment, not here.
      secretEncodings: encodings,
      samples: found.samples,
    });
    return { found, proposal: isEmptyProposal(proposal) ? null : proposal };
  }

  async function loadState(source: Source): Promise<SourceState> {
    const { slug } = source;
    await context.projector.catchUp();
    await context.rejected.flush();
    const [times, refused, banners, jobs, runs, names, profile, admins] = await Promise.all([
      loadLastTimes(read, { sources: [slug], pulled: [slug] }),
      loadRefusedCounts(context, slug),
      loadSyncStatus(read, context.clock, [source]),
      loadSyncJobs(context.jobs, slug),
      loadRuns(slug),
      createBannerQueries(read).bannerNames({ source: slug, asOf: Number.MAX_SAFE_INTEGER }),
      // Problems with its file are shown on a separate page.
      context.loadProfile(source).catch(() => null),
      listAdminAddresses(context),
    ]);
    const publicUrl = publicUrlOf(context.config, context.config.port);
    const secretTimes = context.sources.secretTimes(slug);
    return {
      source,
      isConfigured: isConfigured(slug),
      leftovers: context.sources
        .leftovers()
        .filter((one) => one.slug === slug)
        .map((one) => leftoverFault(one, dateIn(one.endedAt, context.config.timeZone)))
        .map(({ sentence, remedy }) => `${sentence} ${remedy}`),
      admins,
      webhookUrl: `${publicUrl}/webhooks/${slug}`,
      secrets: source.webhookSecrets.map(({ id, encoding = 'text' }) => ({
        id,
        encoding,
        addedAt: secretTimes.get(id)?.addedAt ?? null,
        retireAt: secretTimes.get(id)?.retireAt ?? null,
      })),
      now: context.clock(),
      lastDelivery: times.delivered.get(slug) ?? null,
      refused: refused.reduce((sum, { count }) => sum + count, 0),
      banners,
      jobs,
      runs,
      bannerNames: names,
      takesRequests: profile?.requestForm === true,
      requestFormUrl: `${publicUrl}/r/${slug}`,
    };
  }

  async function loadRuns(slug: string): Promise<SourceState['runs']> {
    const rows = await read
      .selectFrom('action_history')
      .select(['seq', 'received_at', 'details'])
      .where('source', '=', slug)
      .where('action', 'in', ['sync.finished', 'sync.failed'])
      .orderBy('seq', 'desc')
      .limit(RUNS_SHOWN)
      .execute();
    return rows.map(({ seq, received_at: at, details }) => ({
      ...(JSON.parse(details) as Extract<Action, { action: 'sync.finished' | 'sync.failed' }>),
      seq,
      at,
    }));
  }
}

function doneOf(request: FastifyRequest): Shown {
  const { done = '' } = formOf(request.query);
  return { done: doneTexts[done] ?? null };
}

/** Addresses and keys in a form. An empty address is removed; an empty key stays unchanged. */
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

function problemsOf(outcome: Exclude<SourceOutcome, { readonly outcome: 'done' }>): readonly string[] {
  switch (outcome.outcome) {
    case 'invalid':
      return outcome.problems;
    case 'unchanged':
      return ['Nothing needed changing.'];
    case 'exists':
      return ['This secret is already accepted.'];
    case 'configured':
      return [
        'This source is set by environment variables: change its address and keys there, and restart the server.',
      ];
    case 'unknown':
      return ['The secret no longer exists.'];
    case 'conflict':
      return ['Someone else has just changed this source: review it and try again.'];
    default:
      return outcome satisfies never;
  }
}
