import { type DestinationRule, destinationProblem, INTERNET_ONLY } from '../core/destination.ts';
import { type SecretEncoding, type Source, sourceSlugSchema } from '../core/source.ts';
import { readSetting, writeSetting } from '../store/settings.ts';
import {
  acceptedMapping,
  type Changed,
  changedSource,
  type FieldMapping,
  isPast,
  type NewSource,
  newSourceSchema,
  newStoredSource,
  newWebhookSecretSchema,
  ONLY_SECRET,
  offboardedSource,
  problemsIn,
  retiredSecrets,
  rotatedSecret,
  rowForConfigured,
  type SourceChanges,
  type StoredSource,
  sourceChangesSchema,
  toSource,
  unboundKeyProblems,
  withEnvironment,
  withoutEnvironment,
} from './changes.ts';
import { sourcesSharingKey } from './faults.ts';
import { damagedOutcome, type RegisterOptions, type SourceOutcome, SourceRegister } from './register.ts';

export type { SourceOutcome } from './register.ts';

/** Setting: the slug of the source of the environment, as first seen. */
const ENVIRONMENT_SOURCE = 'environment_source';

export interface SourcesOptions extends RegisterOptions {
  /** Where the addresses of sources may lead. Default: only to the internet. */
  readonly destinations?: DestinationRule;
  /** Called if the sources could not be reloaded; the last known ones stay in use. */
  readonly onRefreshError?: (error: unknown) => void;
}

/** An offboarded source: its entries stay, its credentials are destroyed. */
export interface OffboardedSource {
  readonly source: Source;
  /** ISO 8601 UTC. */
  readonly offboardedAt: string;
}

/** Options for adding a signing secret. */
export interface RotationOptions {
  /** Encoding of the secret, default `text`. */
  readonly encoding?: SecretEncoding | undefined;
  /** ISO 8601 UTC: older secrets are accepted until then. Absent: until they are retired one by one. */
  readonly retireOthersAt?: string | undefined;
}

/** ISO 8601 UTC. */
export interface SecretTimes {
  /** Null: it is set by the environment. */
  readonly addedAt: string | null;
  /** Null: it does not end by itself. */
  readonly retireAt: string | null;
}

export interface OffboardingFacts {
  readonly reason: string | null;
  readonly openCases: number;
}

/** How often a running process checks for changes by others. */
export const REFRESH_MILLISECONDS = 1000;

/** The sources of this installation: the configured one and added ones. */
export type Sources = Awaited<ReturnType<typeof createSources>>;

/** Reads the sources and keeps them in memory, up to date within a second of a change by any process. Close it. */
export async function createSources({ destinations = INTERNET_ONLY, onRefreshError, ...options }: SourcesOptions) {
  const register = new SourceRegister(options);
  await register.refresh();
  const environment = await environmentSource(options);
  const timer = setInterval(() => {
    register.refresh().catch((error: unknown) => onRefreshError?.(error));
  }, REFRESH_MILLISECONDS);
  timer.unref();
  let sharing: { readonly followed: ReadonlyMap<string, Source>; readonly slugs: ReadonlySet<string> } | null = null;

  return {
    /** Active sources by slug. */
    list: (): readonly Source[] => [...register.followed.values()],
    /** Slugs of the active sources whose API key another one also has. */
    sharingKey: (): ReadonlySet<string> => {
      const { followed } = register;
      if (sharing?.followed !== followed) sharing = { followed, slugs: sourcesSharingKey(followed.values()) };
      return sharing.slugs;
    },
    /** An active source from memory, at most REFRESH_MILLISECONDS behind a change by another process. */
    find: (slug: string): Source | null => register.followed.get(slug) ?? null,
    /** An active source as of now. Rejects with StoreUnavailable if that cannot be read. */
    findNow: async (slug: string): Promise<Source | null> => {
      // A text that no source can have as its slug costs no query.
      if (sourceSlugSchema.safeParse(slug).success) await register.refreshAfresh();
      return register.followed.get(slug) ?? null;
    },
    /** Offboarded sources by slug. */
    offboarded: () => offboardedSources(register),
    /** An active or offboarded source, for work with its evidence. */
    findAny: (slug: string): Source | null => register.findAny(slug),
    /**
     * The first source of the installation: the one from the environment, even if it was removed from there; otherwise
     * the one added first, even if it was offboarded. It never changes to a source added later.
     */
    first: (): string | null => environment ?? firstAdded(register.rows),
    /** Slugs of rows that cannot be read because someone altered them; they are not listed. */
    damaged: () => register.damaged,
    /** A source's expiring signing secrets: id → until when, ISO 8601 UTC. */
    retirements: (slug: string) => retirementsOf(register, slug),
    /** When each signing secret of a source was added (null: it is set by the environment), and when it ends, ISO 8601 UTC; newest first. */
    secretTimes: (slug: string) => secretTimesOf(register, slug),
    /** Signing secrets that the environment still contains although they have ended. They are not accepted. */
    leftovers: () => leftoversOf(register),
    /** Adds a source; an offboarded one becomes active again under its slug, and its numbering continues. */
    add: (source: NewSource, actor: string) => addSource(register, destinations, source, actor),
    /** Problems of changes of a source, which may be new, one sentence each, before anything is done or sent. */
    problemsOf: (slug: string, changes: SourceChanges) => problemsOfChanges(register.row(slug), changes, destinations),
    change: (slug: string, changes: SourceChanges, actor: string) =>
      changeSource(register, destinations, { slug, input: changes, actor }),
    /** Adds a signing secret to the old ones, which stay valid until they are retired. */
    rotateSecret: (slug: string, secret: string, actor: string, rotation: RotationOptions = {}) =>
      rotateSecret(register, { slug, secret, actor }, rotation),
    /** `keepsOne`: the only secret that a source accepts is not retired. */
    retireSecret: (slug: string, secretId: string, actor: string, options: { readonly keepsOne?: boolean } = {}) =>
      retireSecret(register, { slug, secretId, actor }, options),
    /** Destroys expired secrets, which were no longer accepted. Returns their number. */
    destroyRetired: (actor: string) => destroyRetired(register, actor),
    /** Offboards a source: destroys its credentials. The caller checks for open requests first (src/context/offboard.ts). */
    offboard: (slug: string, facts: OffboardingFacts, actor: string) => offboard(register, slug, facts, actor),
    /** Reads a source's payloads with a mapping from now on. */
    acceptMapping: (slug: string, mapping: FieldMapping, actor: string) =>
      acceptMapping(register, slug, mapping, actor),
    /**
     * Records that earlier entries of a source are also read with its current options, once the read models are
     * rebuilt. Also for an offboarded source.
     */
    reread: (slug: string, actor: string) => rereadSource(register, slug, actor),
    /** Reads the sources again if they changed. */
    refresh: () => register.refreshAfresh(),
    close: () => clearInterval(timer),
  };
}

/** The slug of the environment's source, also remembered after it is removed there; null: there never was one. */
async function environmentSource({
  store,
  configured,
}: Pick<RegisterOptions, 'store' | 'configured'>): Promise<string | null> {
  const known = await readSetting(store, ENVIRONMENT_SOURCE);
  if (known !== null || configured === null) return known;
  // A process that cannot write now still runs; a later one will record it.
  await writeSetting(store, ENVIRONMENT_SOURCE, configured.slug).catch(() => undefined);
  return configured.slug;
}

function firstAdded(rows: readonly StoredSource[]): string | null {
  const [first] = rows.toSorted((a, b) =>
    a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.slug < b.slug ? -1 : 1,
  );
  return first?.slug ?? null;
}

function offboardedSources(register: SourceRegister): readonly OffboardedSource[] {
  const now = register.clock();
  return register.rows
    .flatMap((row) =>
      row.offboardedAt === null || register.isConfigured(row.slug)
        ? []
        : [{ source: toSource(row, now), offboardedAt: row.offboardedAt }],
    )
    .sort((a, b) => (a.source.slug < b.source.slug ? -1 : 1));
}

function retirementsOf(register: SourceRegister, slug: string): ReadonlyMap<string, string> {
  const now = register.clock();
  return new Map(
    [...secretTimesOf(register, slug)].flatMap(([id, { retireAt }]) =>
      retireAt === null || isPast(retireAt, now) ? [] : [[id, retireAt]],
    ),
  );
}

function secretTimesOf(register: SourceRegister, slug: string): ReadonlyMap<string, SecretTimes> {
  const { webhookSecrets = [], endings = {} } = register.row(slug)?.credentials ?? {};
  const times = new Map<string, SecretTimes>();
  for (const { id, addedAt, retireAt = null } of webhookSecrets) times.set(id, { addedAt, retireAt });
  for (const { id } of register.environmentSecrets(slug))
    if (!times.has(id)) times.set(id, { addedAt: null, retireAt: endings[id] ?? null });
  return times;
}

function leftoversOf(
  register: SourceRegister,
): readonly { readonly slug: string; readonly id: string; readonly endedAt: string }[] {
  const now = register.clock();
  return register.rows.flatMap(({ slug, credentials: { endings = {} } }) =>
    register.environmentSecrets(slug).flatMap(({ id }) => {
      const endedAt = endings[id];
      return endedAt !== undefined && isPast(endedAt, now) ? [{ slug, id, endedAt }] : [];
    }),
  );
}

async function addSource(
  register: SourceRegister,
  destinations: DestinationRule,
  input: NewSource,
  actor: string,
): Promise<SourceOutcome> {
  const parsed = newSourceSchema.safeParse(input);
  if (!parsed.success) return { outcome: 'invalid', problems: problemsIn(parsed.error) };
  const unfit = addressProblems(parsed.data, destinations);
  if (unfit.length > 0) return { outcome: 'invalid', problems: unfit };
  const { slug } = parsed.data;
  await register.refreshAfresh();
  if (register.isFollowed(slug) || register.damaged.includes(slug)) return { outcome: 'exists' };
  const before = register.row(slug);
  const left = before?.offboardedAt ?? null;
  const now = before === undefined ? register.clock().toISOString() : nextVersion(register, before);
  const { next, changed } = newStoredSource(parsed.data, now);
  return register.write(
    { action: 'source.added', actor, sourceSlug: slug, changed: [...changed] },
    ['source.added', slug, ...(left === null ? [] : [left])],
    { ...next, createdAt: before?.createdAt ?? now },
  );
}

function problemsOfChanges(
  before: StoredSource | undefined,
  changes: SourceChanges,
  destinations: DestinationRule,
): readonly string[] {
  const parsed = sourceChangesSchema.safeParse(changes);
  if (!parsed.success) return problemsIn(parsed.error);
  const unbound = before === undefined ? [] : unboundKeyProblems(before, parsed.data);
  return [...addressProblems(parsed.data, destinations), ...unbound];
}

async function changeSource(
  register: SourceRegister,
  destinations: DestinationRule,
  { slug, input, actor }: { readonly slug: string; readonly input: SourceChanges; readonly actor: string },
): Promise<SourceOutcome> {
  const invalid = problemsOfChanges(undefined, input, destinations);
  if (invalid.length > 0) return { outcome: 'invalid', problems: invalid };
  const changes = sourceChangesSchema.parse(input);
  const isOptions = Object.keys(changes).every((field) => field === 'options');
  const found = await register.rowToChange(slug, isOptions ? 'options' : 'all');
  if (found.outcome !== 'found') return found;
  // Judged by the row that is written over: a change of the same version by someone else is a conflict.
  const problems = unboundKeyProblems(found.row, changes);
  if (problems.length > 0) return { outcome: 'invalid', problems };
  const change = changedSource(found.row, changes);
  return change.changed.length === 0 ? { outcome: 'unchanged' } : writeChange(register, found.row, change, actor);
}

async function rotateSecret(
  register: SourceRegister,
  { slug, secret, actor }: { readonly slug: string; readonly secret: string; readonly actor: string },
  rotation: RotationOptions,
): Promise<SourceOutcome> {
  const parsed = newWebhookSecretSchema.safeParse(secret);
  if (!parsed.success)
    return { outcome: 'invalid', problems: problemsIn(parsed.error).map((problem) => `The secret ${problem}.`) };
  const found = await register.rowToChange(slug, 'secrets');
  if (found.outcome !== 'found') return found;
  const { row } = found;
  const now = register.clock();
  const secrets = register.environmentSecrets(slug);
  const rotated = rotatedSecret(withEnvironment(row, secrets, now), parsed.data, now, rotation);
  return rotated.outcome === 'rotated' ? writeSecrets(register, row, { now, change: rotated, actor }) : rotated;
}

async function retireSecret(
  register: SourceRegister,
  { slug, secretId, actor }: { readonly slug: string; readonly secretId: string; readonly actor: string },
  { keepsOne = false }: { readonly keepsOne?: boolean },
): Promise<SourceOutcome> {
  const found = await register.rowToChange(slug, 'secrets');
  if (found.outcome !== 'found') return found;
  const { row } = found;
  const now = register.clock();
  const all = withEnvironment(row, register.environmentSecrets(slug), now);
  const retired = retiredSecrets(all, ({ id }) => id === secretId);
  if (retired === null) return { outcome: 'unknown' };
  // Judged by the row that is written over: a change of the same version by someone else is a conflict.
  const left = all.credentials.webhookSecrets.filter(({ id, retireAt }) => id !== secretId && !isPast(retireAt, now));
  if (keepsOne && left.length === 0) return { outcome: 'invalid', problems: [ONLY_SECRET] };
  return writeSecrets(register, row, { now, change: retired, actor });
}

async function destroyRetired(register: SourceRegister, actor: string): Promise<number> {
  await register.refreshAfresh();
  let count = 0;
  for (const row of register.rows) {
    const retired = retiredSecrets(row, ({ retireAt }) => isPast(retireAt, register.clock()));
    if (retired === null) continue;
    const { outcome } = await writeChange(register, row, retired, actor);
    if (outcome === 'done') count += retired.changed.length;
  }
  return count;
}

async function offboard(
  register: SourceRegister,
  slug: string,
  { reason, openCases }: OffboardingFacts,
  actor: string,
): Promise<SourceOutcome> {
  const found = await register.rowToChange(slug, 'all');
  if (found.outcome !== 'found') return found;
  const { row } = found;
  const { next, destroyed } = offboardedSource(row, nextVersion(register, row));
  return register.write(
    { action: 'source.offboarded', actor, sourceSlug: slug, reason, openCases, destroyed: [...destroyed] },
    changeKey(row),
    next,
  );
}

async function acceptMapping(
  register: SourceRegister,
  slug: string,
  mapping: FieldMapping,
  actor: string,
): Promise<SourceOutcome> {
  const found = await register.rowToChange(slug, 'options');
  if (found.outcome !== 'found') return found;
  const { row } = found;
  const options = acceptedMapping(row.options, mapping);
  const checked = sourceChangesSchema.safeParse({ options });
  if (!checked.success) return { outcome: 'invalid', problems: problemsIn(checked.error) };
  if (JSON.stringify(options) === JSON.stringify(row.options)) return { outcome: 'unchanged' };
  const { proposalId, fieldNames, eventNames, secretEncodings, samples, including } = mapping;
  const names = Object.fromEntries(Object.entries(fieldNames).map(([field, given]) => [field, [...given]]));
  return register.write(
    {
      action: 'source.mapping-accepted',
      actor,
      sourceSlug: slug,
      proposalId,
      fieldNames: names,
      eventNames: { ...eventNames },
      secretEncodings: { ...secretEncodings },
      samples,
      ...(including.length === 0 ? {} : { including: [...including] }),
    },
    changeKey(row),
    { ...row, options, updatedAt: nextVersion(register, row) },
  );
}

async function rereadSource(register: SourceRegister, slug: string, actor: string): Promise<SourceOutcome> {
  await register.refreshAfresh();
  const known = register.findAny(slug);
  if (known === null) return { outcome: 'unknown' };
  if (register.damaged.includes(slug)) return damagedOutcome(slug);
  const row = register.row(slug) ?? rowForConfigured(slug, known.name);
  return register.write({ action: 'source.reread', actor, sourceSlug: slug }, changeKey(row), {
    ...row,
    updatedAt: nextVersion(register, row),
  });
}

function writeChange(
  register: SourceRegister,
  before: StoredSource,
  { after, changed }: Changed,
  actor: string,
): Promise<SourceOutcome> {
  return register.write(
    { action: 'source.changed', actor, sourceSlug: before.slug, changed: [...changed] },
    changeKey(before),
    { ...before, ...after, updatedAt: nextVersion(register, before) },
  );
}

/** For the source from the environment, the row gets only values that are not set there. */
function writeSecrets(
  register: SourceRegister,
  row: StoredSource,
  { now, change, actor }: { readonly now: Date; readonly change: Changed; readonly actor: string },
): Promise<SourceOutcome> {
  const { slug } = row;
  const forRow = register.isConfigured(slug)
    ? withoutEnvironment(row, register.environmentSecrets(slug), now, change)
    : change;
  return writeChange(register, row, forRow, actor);
}

/** Only one of two changes of the same version is recorded. */
function changeKey({ slug, updatedAt }: StoredSource): readonly string[] {
  return ['source.changed', slug, updatedAt];
}

/** Now, but always later than the previous version: two changes in one millisecond are two versions. */
function nextVersion({ clock }: SourceRegister, { updatedAt }: StoredSource): string {
  return new Date(Math.max(clock().getTime(), Date.parse(updatedAt) + 1)).toISOString();
}

function addressProblems(
  given: { readonly baseUrl?: string | null; readonly siteUrl?: string | null },
  destinations: DestinationRule,
): string[] {
  return (['baseUrl', 'siteUrl'] as const).flatMap((field) => {
    const url = given[field];
    const problem = typeof url === 'string' ? destinationProblem(url, destinations) : null;
    return problem === null ? [] : [`${field}: ${problem}`];
  });
}
