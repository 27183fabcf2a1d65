import type { CaseRow } from '../cases/fold.ts';
import { type CaseTask, parseFolded, taskOf } from '../cases/folded.ts';
import { moveLatest } from '../cases/move-case.ts';
import type { taskOutcomes } from '../cases/moves.ts';
import type { CaseView, CaseWriting } from '../cases/view.ts';
import { isPrivateTransport } from '../core/address.ts';
import { isoNow } from '../core/clock.ts';
import { equalBytes, hmacSha256 } from '../crypto/hash.ts';
import type { InstanceKeys } from '../crypto/keys.ts';
import { tasksEndedByRestore } from './ended-by-restore.ts';

/*
 * The owner of another system sees and finishes one task through a link, without an account. Its secret is an HMAC
 * under a key of the installation over case, task, number of the link and epoch. Nothing of it is stored, so neither
 * the database nor a backup gives access, and a restored backup brings no revoked link back.
 */

export interface TaskLinkDeps {
  readonly cases: CaseWriting;
  readonly keys: { readonly instance: Pick<InstanceKeys, 'link'> };
  /** The ledger's epoch, which changes with each restored backup. */
  readonly epoch: number;
}

type WithProjector = TaskLinkDeps & { readonly projector: { catchUp(): Promise<unknown> } };

/** Length of the secret: 132 bits. */
const SECRET_LENGTH = 22;
/** Maximum length of an owner's note. */
export const TASK_NOTE_LENGTH = 2000;

/** A task with its place. */
export interface FoundTask {
  readonly row: CaseRow;
  /** Its number within the case. */
  readonly number: string;
  readonly task: CaseTask;
}

function secretOf({ keys, epoch }: Pick<TaskLinkDeps, 'keys' | 'epoch'>, caseId: string, number: string, link: number) {
  const covered = JSON.stringify(['task link', caseId, number, link, epoch]);
  return hmacSha256(keys.instance.link, Buffer.from(covered)).toString('base64url').slice(0, SECRET_LENGTH);
}

/** Whether a task has a valid link. */
export function isShared({ linkUntil }: Pick<CaseTask, 'linkUntil'>, now: string): boolean {
  return linkUntil !== null && linkUntil > now;
}

/** Why links to tasks cannot be given out for this address; null: they can. */
export function problemOfTaskAddress(publicUrl: string): string | null {
  return isPrivateTransport(publicUrl)
    ? null
    : `Links to tasks cannot be given out: this server’s public address ${publicUrl} is not https, so what they show would be sent unencrypted. An admin has to change it to an https address.`;
}

/** Shown if links work, but only on the server itself. */
export const ONLY_LOCAL_LINKS =
  'The link works only on the server itself until an admin has set the server’s public address.';

/** The address at which the owner opens a task. `publicUrl`: of the public listener as seen from outside. */
export function taskLink(
  deps: Pick<TaskLinkDeps, 'keys' | 'epoch'>,
  publicUrl: string,
  { caseId, number, links }: { readonly caseId: string; readonly number: string; readonly links: number },
): string {
  return `${publicUrl}/t/${encodeURIComponent(caseId)}/${number}.${secretOf(deps, caseId, number, links)}`;
}

/** A task of a case; null: no such task or case. */
export async function findTask({ store }: Pick<CaseWriting, 'store'>, caseId: string, number: string) {
  const row = await store.read.selectFrom('cases').selectAll().where('case_id', '=', caseId).executeTakeFirst();
  const task = row === undefined ? null : taskOf(parseFolded(row.folded), number);
  return row === undefined || task === null ? null : { row, number, task };
}

/**
 * The task that a link opens; null: it opens none, or no longer does. Callers cannot tell the reasons apart, and
 * neither can an attacker.
 */
export async function openTask(deps: TaskLinkDeps, caseId: string, key: string): Promise<FoundTask | null> {
  const [, number = '', secret = ''] = /^([1-9]\d{0,2})\.([A-Za-z0-9_-]{22})$/.exec(key) ?? [];
  if (number === '') return null;
  const found = await findTask(deps.cases, caseId, number);
  if (found === null || !isShared(found.task, isoNow(deps.cases.clock))) return null;
  if ((await tasksEndedByRestore(deps.cases.store.read, deps.epoch, caseId)).has(number)) return null;
  const right = secretOf(deps, caseId, number, found.task.links);
  return equalBytes(Buffer.from(right), Buffer.from(secret)) ? found : null;
}

type Shared =
  | {
      readonly outcome: 'shared';
      readonly link: string;
      /** ISO 8601 UTC. */
      readonly expiresAt: string;
      readonly seq: number;
    }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] }
  | { readonly outcome: 'not-found' };

/** Creates a new link to a task; earlier ones stop working. Recorded as the move `share-task`. */
export async function shareTask(
  deps: WithProjector,
  input: {
    readonly caseId: string;
    readonly task: string;
    readonly days?: number | undefined;
    readonly actor: string;
    readonly publicUrl: string;
  },
): Promise<Shared> {
  const { caseId, task: number, days, actor, publicUrl } = input;
  const problem = problemOfTaskAddress(publicUrl);
  if (problem !== null) return { outcome: 'refused', problems: [problem] };
  const details = { task: number, ...(days === undefined ? {} : { days: String(days) }) };
  const moved = await moveLatest(deps.cases, { caseId, move: 'share-task', details, actor }, () =>
    deps.projector.catchUp(),
  );
  if (moved.outcome !== 'moved') return moved;
  await deps.projector.catchUp();
  const found = await findTask(deps.cases, caseId, number);
  if (found?.task.linkUntil == null) return { outcome: 'not-found' };
  const link = taskLink(deps, publicUrl, { caseId, number, links: found.task.links });
  return { outcome: 'shared', link, expiresAt: found.task.linkUntil, seq: moved.seq };
}

/**
 * Records the outcome stated by the owner as the move `finish-task`. Refused if a required note is missing, or if it
 * was recorded before.
 */
export async function finishTask(
  deps: WithProjector,
  { row, number }: FoundTask,
  outcome: (typeof taskOutcomes)[number],
  written: string,
): Promise<{ readonly outcome: 'finished'; readonly seq: number } | { readonly outcome: 'refused' }> {
  // Browsers count a line break as one character but send two.
  const note = written.replaceAll('\r\n', '\n').trim();
  if (note.length > TASK_NOTE_LENGTH) return { outcome: 'refused' };
  const details = { task: number, outcome, ...(note === '' ? {} : { note }) };
  // Without a name, because entries outlive an erasure of the case.
  const actor = `task owner (task ${number} of ${row.case_id})`;
  const moved = await moveLatest(deps.cases, { caseId: row.case_id, move: 'finish-task', details, actor }, () =>
    deps.projector.catchUp(),
  );
  return moved.outcome === 'moved' ? { outcome: 'finished', seq: moved.seq } : { outcome: 'refused' };
}

/** The tasks of a case without their links, for other programs. */
export async function summariseTasks(
  { cases, epoch }: Pick<TaskLinkDeps, 'cases' | 'epoch'>,
  { row, folded }: Pick<CaseView, 'row' | 'folded'>,
) {
  const { tasks = [] } = folded;
  const ended = await tasksEndedByRestore(cases.store.read, epoch, row.case_id);
  return tasks.map((task, place) =>
    summariseTask(ended.has(String(place + 1)) ? { ...task, linkUntil: null } : task, place),
  );
}

function summariseTask(task: CaseTask, place: number) {
  return {
    task: String(place + 1),
    what: task.what,
    instructions: task.instructions,
    owner: task.owner,
    ownerEmail: task.ownerEmail,
    due: task.due,
    state: task.outcome ?? ('open' as const),
    note: task.note,
    addedAt: task.at,
    addedBy: task.by,
    linkUntil: task.linkUntil,
    sentAt: task.sentAt,
    finishedAt: task.finishedAt,
    finishedBy: task.finishedBy,
  };
}
