import { basename } from 'node:path';
import { z } from 'zod';
import {
  giveOwnProfile,
  ownerOfProfile,
  PROFILE_LENGTH,
  readProfileFile,
  saveProfile,
  stateOfProfile,
} from '../../config/profile-file.ts';
import { CodedError } from '../../core/errors.ts';
import { sourceProblems } from '../../sources/refusals.ts';
import { sourcesOf } from '../auth/access.ts';
import { RefusedRequest, routesWith } from './route.ts';

const defineRoute = routesWith<'config' | 'store' | 'ledger' | 'sources' | 'projector' | 'clock'>();

const slugParams = z.strictObject({ slug: z.string().max(100) });

const stateSchema = z
  .object({
    source: z.string(),
    shared: z
      .boolean()
      .meta({ description: 'The source has no profile of its own: this is the one of every such source.' }),
    text: z.string().meta({ description: 'YAML, as docs/configuration.md describes it; empty: there is none yet.' }),
    sha256: z
      .string()
      .nullable()
      .meta({ description: 'Sent with the next text as `basedOn`; null: it cannot be read.' }),
    problems: z.array(z.string()).meta({ description: 'Why it is not valid; empty: it is.' }),
    missing: z.array(z.string()).meta({ description: 'What letters and packs need that it does not state.' }),
  })
  .meta({ id: 'Profile', description: 'The controller profile that applies to a source.' });

/** The controller profile of a source. */
export const profileApi = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/sources/{slug}/profile',
    name: 'getProfile',
    tag: 'Sources and syncs',
    summary: 'The controller profile that applies to a source, and what it lacks',
    params: slugParams,
    answer: stateSchema,
    async handle(context, { params: { slug }, request }) {
      const source = sourcesOf(context, request).find(slug);
      if (source === null) throw new CodedError('not_found');
      const file = await readProfileFile(context.config, source);
      return { source: slug, shared: ownerOfProfile(source) === null, ...(await stateOfProfile(file)) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/sources/{slug}/profile',
    name: 'saveProfile',
    tag: 'Sources and syncs',
    summary: 'Replace the controller profile that applies to a source',
    description:
      'Needs a token of scope `administer` for all sources. A shared profile changes for every source that has none of its own. Recorded with the hash of both texts.',
    params: slugParams,
    body: z.strictObject({
      basedOn: z.string().length(64).meta({ description: 'The sha256 of the text that this one replaces.' }),
      text: z.string().max(PROFILE_LENGTH),
    }),
    answer: z.object({
      outcome: z.enum(['saved', 'unchanged']),
      seq: z.int().nullable().meta({ description: 'The entry that records it; null: nothing was changed.' }),
    }),
    async handle(context, { params: { slug }, body: { basedOn, text }, by, request }) {
      const source = sourcesOf(context, request).find(slug);
      if (source === null) throw new CodedError('not_found');
      const saved = await saveProfile(context, { source, basedOn, next: { text }, actor: by.officer });
      switch (saved.outcome) {
        case 'unwritable':
          throw new RefusedRequest('conflict', ['The program cannot write the file of this profile.']);
        case 'overtaken':
          throw new RefusedRequest('conflict', ['The profile was changed in the meantime: read it again.']);
        case 'invalid':
          // Nobody who calls needs to know where files are.
          throw new RefusedRequest(
            'refused',
            saved.problems.map((problem) => problem.replace(saved.path, basename(saved.path))),
          );
        case 'unchanged':
          return { outcome: 'unchanged' as const, seq: null };
        case 'saved':
          if (saved.seq !== null) await context.projector.projected(saved.seq);
          return { outcome: 'saved' as const, seq: saved.seq };
        default:
          return saved satisfies never;
      }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/sources/{slug}/profile/own',
    name: 'giveOwnProfile',
    tag: 'Sources and syncs',
    summary: 'Give a source a profile of its own: a copy of the shared one, without the web form',
    params: slugParams,
    answer: z.object({ seq: z.int().meta({ description: 'The entry that records it.' }) }),
    async handle(context, { params: { slug }, by, request }) {
      const source = sourcesOf(context, request).find(slug);
      if (source === null) throw new CodedError('not_found');
      const given = await giveOwnProfile(context, source, by.officer);
      switch (given.outcome) {
        case 'owned':
          throw new RefusedRequest('conflict', ['The source already has its own profile.']);
        case 'invalid':
          throw new RefusedRequest('conflict', ['The shared profile has problems: correct them first.']);
        case 'unwritable':
          request.log.error({ err: given.error }, 'a controller profile could not be written');
          throw new RefusedRequest('conflict', ['The program cannot write its data folder.']);
        case 'refused':
          throw new RefusedRequest('refused', sourceProblems(given.refusal));
        case 'given':
          await context.projector.projected(given.seq);
          return { seq: given.seq };
        default:
          return given satisfies never;
      }
    },
  }),
];
