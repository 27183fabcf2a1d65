import { controllerFileOf } from '../../config/config.ts';
import type { Context } from '../../context/context.ts';
import { UsageError } from '../../core/errors.ts';
import type { Source } from '../../core/source.ts';
import { type ControllerProfile, missingProfileParts } from '../../law/profile.ts';
import { requestFormState } from '../../request-form/offered.ts';
import { findSourceFaults, leftoverFault, sourcesSharingKey } from '../../sources/faults.ts';
import { dayText } from '../command-io.ts';
import { type DoctorCheck, fault, type Line, note, ok } from './finding.ts';

/** Whether every source is set up for receiving, pulling and answering. */
export const sourceChecks: readonly DoctorCheck<Pick<Context, 'config' | 'sources' | 'loadProfile'>>[] = [
  ({ sources }) => checkSettings(sources.list()),
  (context) =>
    context.sources
      .leftovers()
      .map((one) => leftoverFault(one, dayText(one.endedAt)))
      .map(({ sentence, remedy }) => note('sources', sentence, remedy)),
  ({ sources }) =>
    sources
      .damaged()
      .map((slug) =>
        fault(
          'sources',
          `The row of source ${slug} was altered in the database; the source is disabled.`,
          'Restore it from a backup.',
        ),
      ),
  checkProfiles,
];

/** Checks of sources that do not need the database. */
export function checkSettings(sources: readonly Source[]): Line[] {
  if (sources.length === 0)
    return [
      fault(
        'sources',
        'No sources configured: nothing is received.',
        'Set WEBHOOK_SECRETS and the SERVICE_… variables, or run `consent-ledger source add`.',
      ),
    ];
  const sharingKey = sourcesSharingKey(sources);
  return sources.flatMap((source) => {
    const found = findSourceFaults(source, sharingKey).map(
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

async function checkProfiles(context: Pick<Context, 'config' | 'sources' | 'loadProfile'>): Promise<readonly Line[]> {
  const byFile = new Map<string, Source[]>();
  for (const source of context.sources.list()) {
    const { path } = controllerFileOf(context.config, source);
    byFile.set(path, [...(byFile.get(path) ?? []), source]);
  }
  const lines: Line[] = [];
  for (const [path, group] of byFile) {
    try {
      const profile = await context.loadProfile(group[0] ?? null);
      if (profile === null) lines.push(noProfile(group));
      else
        lines.push(
          checkParts(profile, path, group),
          ...checkSystems(profile, path),
          ...checkRequestForms(context, profile, path, group),
        );
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      lines.push(...error.problems.map((problem) => fault(PROFILE, problem, 'See docs/controller.example.yaml.')));
    }
  }
  return lines;
}

const PROFILE = 'controller profile';

function namesOf(sources: readonly Source[]): string {
  return sources.length > 3 ? `${sources.length} sources` : sources.map(({ slug }) => slug).join(', ');
}

function noProfile(sources: readonly Source[]): Line {
  return fault(
    PROFILE,
    `No controller profile is set for ${namesOf(sources)}: letters and reports cannot name the controller.`,
    'Fill it in on the officer’s pages (Settings: Controller profile), or set CONTROLLER_FILE to a filled-in copy of docs/controller.example.yaml.',
  );
}

function checkParts(profile: ControllerProfile, path: string, group: readonly Source[]): Line {
  const missing = missingProfileParts(profile);
  if (missing.length === 0) return ok(PROFILE, `${profile.name}: complete (${namesOf(group)}).`);
  return fault(
    PROFILE,
    `${path} lacks: ${missing.join('; ')}.`,
    'Add it: answers under GDPR Art. 15 require it. See docs/controller.example.yaml.',
  );
}

function checkSystems(profile: ControllerProfile, path: string): readonly Line[] {
  if (profile.otherSystems.length > 0) return [];
  return [
    note(
      PROFILE,
      `${path} lists no other systems: requests would be answered from this ledger only.`,
      'List the other systems that hold personal data under otherSystems.',
    ),
  ];
}

function checkRequestForms(
  { sources }: Pick<Context, 'sources'>,
  profile: ControllerProfile,
  path: string,
  group: readonly Source[],
): readonly Line[] {
  const off = group.filter((source) => requestFormState(profile, source, sources) === 'unconfirmed');
  if (off.length === 0) return [];
  return [
    note(
      PROFILE,
      `The request form of ${namesOf(off)} is off: ${path} is shared with other sources, and may be another client’s.`,
      `If ${profile.name} is also the controller of these sources, add to it requestFormFor: [${off.map(({ slug }) => slug).join(', ')}]. Otherwise give each source its own profile (in the browser: Settings, Controller profile; or \`consent-ledger source change <slug> --controller-file <path>\`).`,
    ),
  ];
}
