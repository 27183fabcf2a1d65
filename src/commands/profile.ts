import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import {
  giveOwnProfile,
  ownerOfProfile,
  readProfileFile,
  saveProfile,
  stateOfProfile,
} from '../config/profile-file.ts';
import { UsageError } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import { sourceProblems } from '../sources/refusals.ts';
import type { Sources } from '../sources/sources.ts';
import { type CommandIo, printable, printResult, readText, withJson } from './command-io.ts';
import { noSuchSource, withContext } from './run-context.ts';

/** `profile show|set|own`: the controller profile, which letters, packs and reports quote. */
export function registerProfile(program: CommandUnknownOpts, io: CommandIo): void {
  const command = program
    .command('profile')
    .description('the controller profile: the facts about the organisation that letters, packs and reports state');

  withJson(command.command('show'))
    .description('print the profile that applies, and what it lacks')
    .option('--source <slug>', 'the one that applies to this source; default: the shared one')
    .action((options) =>
      withContext(async (context) => {
        const source = sourceIn(context.sources, options.source);
        const file = await readProfileFile(context.config, source);
        const state = await stateOfProfile(file);
        const owner = ownerOfProfile(source);
        printResult(io, options, { path: file.path, owner, ...state }, () =>
          [
            `# ${printable(file.path)}: ${owner === null ? 'shared by every source that has none of its own' : `of the source ${owner}`}`,
            ...state.problems.map((problem) => `# not valid: ${printable(problem)}`),
            ...(state.missing.length > 0 ? [`# missing: ${state.missing.join(', ')}`] : []),
            file.isMade
              ? state.text.trimEnd()
              : '# There is none yet: `profile set FILE` writes it (docs/configuration.md).',
          ].join('\n'),
        );
      }),
    );

  withJson(command.command('set'))
    .description('replace the profile that applies with a YAML file, and record the change')
    .argument('<file>', 'the new profile; - reads standard input')
    .option('--source <slug>', 'the one that applies to this source; default: the shared one')
    .requiredOption('--officer <name>', 'who changed it; recorded in the ledger')
    .action((path, options) =>
      withContext(async (context) => {
        const source = sourceIn(context.sources, options.source);
        const text = await readText(path);
        const file = await readProfileFile(context.config, source);
        if (file.sha256 === null) throw new UsageError([`${file.path} cannot be read.`]);
        const saved = await saveProfile(context, {
          ...{ source, basedOn: file.sha256, next: { text } },
          actor: options.officer,
        });
        switch (saved.outcome) {
          case 'unwritable':
            throw new UsageError([`${file.path} cannot be written: check its owner and permissions.`]);
          case 'overtaken':
            throw new UsageError([`${file.path} was changed in the meantime: look at it with \`profile show\`.`]);
          case 'invalid':
            // The problems name the file that would be written; wrong is what was given.
            throw new UsageError(saved.problems.map((problem) => problem.replace(saved.path, path)));
          case 'unchanged':
          case 'saved': {
            const seq = saved.outcome === 'saved' ? saved.seq : null;
            printResult(io, options, { outcome: saved.outcome, path: file.path, seq }, () =>
              saved.outcome === 'unchanged'
                ? 'Nothing was changed: it says so already.'
                : `Saved ${printable(file.path)}, recorded as entry ${seq}. It applies to documents made from now on.`,
            );
            return;
          }
          default:
            return saved satisfies never;
        }
      }),
    );

  withJson(command.command('own'))
    .description('give a source a profile of its own: a copy of the shared one, without the web form')
    .argument('<source>', 'its slug')
    .requiredOption('--officer <name>', 'who gave it; recorded in the ledger')
    .action((slug, options) =>
      withContext(async (context) => {
        const source = sourceIn(context.sources, slug);
        if (source === null) throw noSuchSource(slug);
        const given = await giveOwnProfile(context, source, options.officer);
        switch (given.outcome) {
          case 'owned':
            throw new UsageError([`${source.slug} already has its own profile.`]);
          case 'invalid':
            throw new UsageError(['The shared profile has problems: correct them first (`profile show`).']);
          case 'unwritable':
            throw given.error;
          case 'refused':
            throw new UsageError(sourceProblems(given.refusal));
          case 'given':
            printResult(
              io,
              options,
              { source: source.slug, seq: given.seq },
              () =>
                `${source.slug} has its own profile now, a copy of the shared one without the web form, recorded as entry ${given.seq}. Correct its name and contacts before the next letter or report: \`profile set FILE --source ${source.slug}\`.`,
            );
            return;
          default:
            return given satisfies never;
        }
      }),
    );
}

/** Null: none is named, so the shared profile is meant. Throws UsageError if there is no such source. */
function sourceIn(sources: Pick<Sources, 'find'>, slug: string | undefined): Source | null {
  if (slug === undefined) return null;
  const source = sources.find(slug);
  if (source === null) throw noSuchSource(slug);
  return source;
}
