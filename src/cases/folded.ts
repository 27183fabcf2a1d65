import { z } from 'zod';
import { inUrgency, type RequestKind, requestKinds } from '../core/vocabulary.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { mapJurisdiction } from '../law/jurisdictions.ts';
import { secondPersonMoves } from '../law/profile.ts';
import {
  answerPartSchema,
  type MoveDetails,
  matchWays,
  messageKinds,
  partOutcomes,
  requesterRoles,
  systemResults,
  taskOutcomes,
} from './moves.ts';

/** The result of folding a case's moves, apart from its own columns: the column `folded` of the table `cases`. */
const moment = z.string();
const approval = z.string().nullable();
const taskSchema = z.strictObject({
  what: z.string(),
  instructions: z.string().nullable(),
  owner: z.string().nullable(),
  ownerEmail: z.string().nullable(),
  /** YYYY-MM-DD. */
  due: z.string(),
  by: z.string(),
  at: moment,
  /** How many links there have been; the number of the last one is part of its secret. */
  links: z.number().int(),
  /** When the last link expires; null: there is none, or it was revoked. */
  linkUntil: moment.nullable(),
  sentAt: moment.nullable(),
  /** Null: open. */
  outcome: z.enum(taskOutcomes).nullable(),
  note: z.string().nullable(),
  finishedBy: z.string().nullable(),
  finishedAt: moment.nullable(),
});
const partSchema = z.strictObject({
  kind: z.enum(requestKinds),
  /** Null: nothing is recorded yet. */
  outcome: z.enum(partOutcomes).nullable(),
  ground: z.string().nullable(),
  note: z.string().nullable(),
  by: z.string().nullable(),
  at: moment.nullable(),
});
/** One of several rights asked for in one request, and what was done about it. */
export type RequestPart = z.infer<typeof partSchema>;
/** A task for the owner of another system. */
export type CaseTask = z.infer<typeof taskSchema>;
const foldedSchema = z.strictObject({
  kindAsGiven: z.string().nullable(),
  /** The requester's place as given, if it matches no place of the list: an officer has to choose. */
  placeAsGiven: z.string().nullable().default(null),
  /** The rights asked for, the main kind first, if there are several; absent: the kind of the case alone. */
  parts: z.array(partSchema).exactOptional(),
  acknowledgedAt: moment.nullable(),
  identity: z.strictObject({
    /**
     * `no-doubt`: somebody decided that no check is needed. `recheck`: it was confirmed, but then the requester's name or
     * address was changed.
     */
    status: z.enum(['not-asked', 'no-doubt', 'asked', 'confirmed', 'failed', 'recheck']),
    /** The reason for the doubt (GDPR Art. 12(6)). */
    doubt: z.string().nullable(),
    asked: z.string().nullable(),
    askedAt: moment.nullable(),
    informationAt: moment.nullable(),
    how: z.string().nullable(),
    checkedBy: z.string().nullable(),
    checkedAt: moment.nullable(),
    requester: z.enum(requesterRoles).nullable(),
    authority: z.string().nullable(),
    represented: z.string().nullable().default(null),
    failure: z.string().nullable(),
  }),
  fee: z.strictObject({ amount: z.string(), askedAt: moment, paidAt: moment.nullable() }).nullable(),
  clarifications: z.array(
    z.strictObject({
      askedAt: moment,
      question: z.string(),
      answeredAt: moment.nullable(),
      answer: z.string().nullable(),
    }),
  ),
  extension: z
    .strictObject({ noticeAt: moment, reasons: z.string(), until: z.string().nullable(), approvedBy: approval })
    .nullable(),
  systems: z.record(
    z.string(),
    z.strictObject({ result: z.enum(systemResults), note: z.string().nullable(), by: z.string(), at: moment }),
  ),
  match: z
    .strictObject({
      subject: z.string(),
      way: z.enum(matchWays),
      note: z.string().nullable(),
      by: z.string(),
      at: moment,
    })
    .nullable(),
  answer: z
    .strictObject({
      at: moment,
      channel: z.string(),
      disclosure: z.string(),
      /** What was done about each part of the request; empty: not recorded. */
      parts: z.array(answerPartSchema).default([]),
      documentSha256: z.string().nullable(),
      approvedBy: approval,
      by: z.string(),
    })
    .nullable(),
  refusal: z
    .strictObject({
      at: moment,
      reasons: z.string(),
      basis: z.string(),
      remedies: z.string(),
      approvedBy: approval,
      by: z.string(),
    })
    .nullable(),
  withdrawal: z.strictObject({ at: moment, how: z.string() }).nullable(),
  duplicateOf: z.string().nullable(),
  /** Cases closed as duplicates of this one, with their receipt; absent: none. */
  duplicates: z.array(z.strictObject({ caseId: z.string(), receivedAt: moment, basis: z.string() })).exactOptional(),
  /** This case's own receipt while there are duplicates; the earliest of all counts. */
  ownReceipt: z.strictObject({ at: moment, basis: z.string() }).exactOptional(),
  /** Who handles it, in words. */
  assignee: z.string().nullable().default(null),
  /** What a second person approved, if nothing has changed since. */
  approval: z
    .strictObject({
      of: z.enum(secondPersonMoves),
      by: z.string(),
      at: moment,
      /** What the answer may say was done; absent: what is recorded on the request. */
      parts: z.array(answerPartSchema).exactOptional(),
      /** SHA-256 of what was approved (approval.ts); absent: approved in an earlier version. */
      seen: z.string().exactOptional(),
    })
    .nullable()
    .default(null),
  /** Messages of the requester that nobody has answered yet, oldest first; absent: the requester has not written. */
  openMessages: z
    .array(z.strictObject({ at: moment, about: z.enum(messageKinds), channel: z.string() }))
    .exactOptional(),
  /** The requester's postal address in lines, without the name; absent: not known. */
  address: z.string().exactOptional(),
  /** How it was confirmed that the requester reads mail to the address; absent: not confirmed. */
  emailConfirmed: z.strictObject({ at: moment, how: z.string() }).exactOptional(),
  /** In order of addition: the first is task 1. Absent: none. */
  tasks: z.array(taskSchema).exactOptional(),
});
export type CaseFolded = z.infer<typeof foldedSchema>;

/** The folded state of a newly opened case. */
export function emptyFolded(kindAsGiven: string | null, placeAsGiven: string | null = null): CaseFolded {
  return {
    kindAsGiven,
    placeAsGiven,
    acknowledgedAt: null,
    identity: {
      status: 'not-asked',
      doubt: null,
      asked: null,
      askedAt: null,
      informationAt: null,
      how: null,
      checkedBy: null,
      checkedAt: null,
      requester: null,
      authority: null,
      represented: null,
      failure: null,
    },
    fee: null,
    clarifications: [],
    extension: null,
    systems: {},
    match: null,
    answer: null,
    refusal: null,
    withdrawal: null,
    duplicateOf: null,
    assignee: null,
    approval: null,
  };
}

/**
 * The parts of a request for these rights, the main kind first; undefined for one right. `before`: outcomes recorded
 * earlier are kept.
 */
export function partsOf(kinds: readonly RequestKind[], before: readonly RequestPart[] = []): RequestPart[] | undefined {
  if (kinds.length < 2) return undefined;
  return kinds.map(
    (kind) =>
      before.find((part) => part.kind === kind) ?? {
        kind,
        outcome: null,
        ground: null,
        note: null,
        by: null,
        at: null,
      },
  );
}

/** The rights asked for after a correction, the main kind first. A corrected kind replaces the main one. */
export function amendedKinds(
  kind: string,
  { parts = [] }: Pick<CaseFolded, 'parts'>,
  details: MoveDetails<'amend'>,
): readonly RequestKind[] {
  const main = requestKinds.find((one) => one === kind) ?? 'unknown';
  const others = details.furtherKinds ?? parts.map((part) => part.kind).filter((one) => one !== main);
  return inUrgency([details.kind ?? main, ...others]);
}

/** Reads the column. Throws if it is not what this program wrote. */
export function parseFolded(column: string): CaseFolded {
  const folded = JSON.parse(column) as Readonly<Record<string, unknown>>;
  if (folded['message'] === undefined) return foldedSchema.parse(folded);
  // Until the ledger is folded again: earlier versions kept only the last message, and dropped it with the next move.
  const { message, ...others } = folded;
  return foldedSchema.parse({ openMessages: [message], ...others });
}

/** The column's text: canonical JSON, so that a rebuild gives the same bytes. */
export function foldedColumn(folded: CaseFolded): string {
  return canonicalJson(folded).toString('utf8');
}

/** Words for a place that match none in the list (src/law/jurisdictions.ts); null: they match, or there are none. */
export function unknownPlace(words: string | null): string | null {
  return words === null || mapJurisdiction(words) !== null ? null : words;
}

/** The task with this number; null if there is none. */
export function taskOf({ tasks = [] }: Pick<CaseFolded, 'tasks'>, number: string): CaseTask | null {
  return tasks[Number(number) - 1] ?? null;
}

/**
 * The receipt that counts for a case: the earliest of its own and its duplicates' receipts. `own`: its receipt without
 * duplicates.
 */
export function governingReceipt(
  { duplicates = [], ownReceipt }: CaseFolded,
  own: { readonly at: string; readonly basis: string },
): { readonly at: string; readonly basis: string } {
  return duplicates
    .map(({ receivedAt: at, basis }) => ({ at, basis }))
    .reduce((earliest, one) => (one.at < earliest.at ? one : earliest), ownReceipt ?? own);
}
