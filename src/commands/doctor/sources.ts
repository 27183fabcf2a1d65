import type { Context } from '../../context/contract.ts';
import { UsageError } from '../../core/errors.ts';
import { missingProfileParts } from '../../core/profile.ts';
import type { Source } from '../../core/source.ts';
import { findSourceFaults } from '../source-faults.ts';
import { fault, type Line, note, ok } from './line.ts';

/** Whether every source is set up to be received, pulled and answered for. */
export async function checkSources(context: Context): Promise<Line[]> {
  const sources = context.sources.list();
  return [
    ...checkSettings(sources),
    ...context.sources
      .damaged()
      .map((slug) =>
        fault(
          'sources',
          `The row of ${slug} was altered in the database: it is not followed.`,
          'Put it back from a backup.',
        ),
      ),
    ...(await checkProfiles(context, sources)),
  ];
}

/** What can be said of sources without the database. */
export function checkSettings(sources: readonly Source[]): Line[] {
  if (sources.length === 0)
    return [
      fault(
        'sources',
        'There is no source: nothing is received.',
        'Set WEBHOOK_SECRETS and SERVICE_…, or run `consent-ledger source add`.',
      ),
    ];
  return sources.flatMap((source) => {
    const found = findSourceFaults(source).map(
      ({ level, sentence, remedy }): Line => ({ about: 'sources', level, sentence, remedy }),
    );
    const count = source.webhookSecrets.length;
    if (found.some(({ level }) => level === 'fault')) return found;
    return [
      ok(
        'sources',
        `${source.slug}: ${count} signing secret${count === 1 ? '' : 's'}${source.apiKey === null ? '' : ', API key set'}.`,
      ),
      ...found,
    ];
  });
}

async function checkProfiles(context: Context, sources: readonly Source[]): Promise<Line[]> {
  const lines: Line[] = [];
  const byFile = new Map<string | null, Source[]>();
  for (const source of sources) {
    const path = source.options.controllerFile ?? context.config.controllerFile;
    byFile.set(path, [...(byFile.get(path) ?? []), source]);
  }
  for (const [path, group] of byFile) {
    const whose = group.length > 3 ? `${group.length} sources` : group.map(({ slug }) => slug).join(', ');
    if (path === null) {
      lines.push(
        fault(
          'controller profile',
          `No controller profile is set for ${whose}: letters and reports cannot say in whose name they are.`,
          'Fill in docs/controller.example.yaml and name it in CONTROLLER_FILE, or per source with `source change --controller-file`.',
        ),
      );
      continue;
    }
    try {
      const profile = await context.loadProfile(group[0] ?? null);
      const missing = profile === null ? [] : missingProfileParts(profile);
      if (missing.length > 0)
        lines.push(
          fault(
            'controller profile',
            `${path} does not say: ${missing.join('; ')}.`,
            'Add it: answers under GDPR Art. 15 need it. docs/controller.example.yaml explains each part.',
          ),
        );
      else lines.push(ok('controller profile', `${profile?.name ?? whose}: complete (${whose}).`));
      if (profile !== null && profile.otherSystems.length === 0)
        lines.push(
          note(
            'controller profile',
            `${path} names no other systems: a request would be answered from this ledger alone.`,
            'List under otherSystems where else personal data lies.',
          ),
        );
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      lines.push(
        ...error.problems.map((problem) =>
          fault('controller profile', problem, 'docs/controller.example.yaml explains each part.'),
        ),
      );
    }
  }
  return lines;
}
