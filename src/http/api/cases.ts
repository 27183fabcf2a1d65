import { z } from 'zod';
import { letterLanguages } from '../../../reports/letters/languages.ts';
import { letterSteps } from '../../../reports/letters/texts.ts';
import { documentsToApprove, seenOf } from '../../cases/approval.ts';
import { findCase, pageCases, showCase } from '../../cases/list-cases.ts';
import { threadOf } from '../../cases/messages.ts';
import { moveCase, openCase, openCaseSchema } from '../../cases/move-case.ts';
import {
  caseStates,
  line,
  messageKinds,
  moves,
  partOutcomes,
  TASK_DAYS,
  TASK_DAYS_MAX,
  withTimesIn,
} from '../../cases/moves.ts';
import { summariseCase } from '../../cases/summarise.ts';
import { identityChecks } from '../../cases/view.ts';
import { publicUrlOf } from '../../core/address.ts';
import { isoNow } from '../../core/clock.ts';
import { CodedError } from '../../core/errors.ts';
import { requestKinds } from '../../core/vocabulary.ts';
import { ATTACHMENTS } from '../../documents/attachments.ts';
import { packJob } from '../../documents/document-jobs.ts';
import { rememberLanguage } from '../../documents/letter-language.ts';
import { moveOfLetter } from '../../documents/letter-moves.ts';
import { checkLetterMail, letterMailJob, withEarlierRecord } from '../../documents/mail-letter.ts';
import { draftLetter, LETTER_TEXT_LENGTH, letterFormats, produceLetter } from '../../documents/produce-letter.ts';
import { packProblem } from '../../documents/produce-pack.ts';
import { type LetterToRecord, letterWays, type RecordLetterDeps, recordLetter } from '../../documents/record-letter.ts';
import {
  createHandOver,
  HAND_OVER_DAYS,
  HAND_OVER_DAYS_MAX,
  listHandOvers,
  revokeHandOver,
  summariseHandOver,
} from '../../hand-over/hand-over.ts';
import { loadReplyReach } from '../../hand-over/mail-reply.ts';
import { problemOfTaskMail, taskMailJob } from '../../hand-over/mail-task.ts';
import { findTask, shareTask, summariseTasks } from '../../hand-over/task-link.ts';
import { documentsOfCases } from '../../store/queries/documents-of-case.ts';
import { sourcesOf } from '../auth/access.ts';
import { untilProjected } from '../pages/parts/page-frame.ts';
import { jobSchema, shownJob } from './job-routes.ts';
import { pageFrom, pageOf, pageQuery, RefusedRequest, readCursor, routesWith, sourceQuery } from './route.ts';
import { timeIn, timeText, timeWords } from './times.ts';

const defineRoute = routesWith<
  | 'config'
  | 'store'
  | 'ledger'
  | 'keys'
  | 'epoch'
  | 'sources'
  | 'jobs'
  | 'projector'
  | 'cases'
  | 'documents'
  | 'log'
  | 'clock'
>();

const day = z.string().nullable();

const caseSchema = z
  .object({
    caseId: z.string(),
    source: z.string(),
    kind: z.enum(requestKinds).meta({ description: 'Of several rights the one that takes effect soonest.' }),
    parts: z
      .array(
        z.object({
          kind: z.enum(requestKinds),
          outcome: z.enum(partOutcomes).nullable().meta({ description: 'null: nothing is recorded yet.' }),
          ground: z.string().nullable(),
          note: z.string().nullable(),
          by: z.string().nullable(),
          at: z.string().nullable(),
          legalLimit: day,
        }),
      )
      .meta({
        description:
          'The rights of a request with several, kind first; empty: kind alone. The request cannot be answered until settle-part has recorded what was done about each.',
      }),
    state: z.enum(caseStates),
    version: z.int().meta({ description: 'Sent with the next move as basedOn.' }),
    open: z.boolean(),
    jurisdiction: z.string().nullable(),
    requesterName: z.string().nullable(),
    requesterEmail: z.string().nullable(),
    requesterAddress: z.string().nullable().meta({ description: 'Postal address in lines, without the name.' }),
    language: z.string().nullable().meta({
      description: 'BCP 47: the language in which the requester is written to; null: not known.',
    }),
    channel: z.string(),
    assignee: z.string().nullable(),
    receiptAt: z.string(),
    receiptBasis: z.string(),
    regime: z.string().nullable(),
    law: z.string().nullable(),
    aimFor: day,
    legalLimit: day,
    ownRule: z.boolean().meta({
      description:
        'Whether the legal limit follows a rule that this installation wrote, which the statute does not say.',
    }),
    notRecorded: z.array(z.string()).meta({
      description:
        'Codes of the laws that may apply and are not recorded here, such as CL: each may set a date, or an earlier one.',
    }),
    caveat: z.string().nullable().meta({
      description:
        'Why there is no date, or which law may set an earlier one, in words; null: every law was looked at.',
    }),
    ownTarget: day.meta({
      description: 'The controller’s own target where a law is not recorded here. It is not a legal limit.',
    }),
    atOnce: z.boolean(),
    acknowledgeBy: day,
    warnOn: day,
    daysLeft: z.int().nullable(),
    overdue: z.boolean(),
    openMessages: z.int().meta({
      description:
        'Messages of the requester that are open: the move reply answers them all, no-reply says that none needs a reply.',
    }),
    explanation: z.string(),
    says: z.array(z.string()),
    identity: z.enum(['met', 'needed', 'failed']),
    identityCheck: z.enum(identityChecks).meta({
      description:
        'What is recorded about the requester’s identity. not-looked-at: no decision yet whether there is reasonable doubt; no-doubt: an officer decided that there is none.',
    }),
    moves: z.array(z.string()).meta({ description: 'Moves that its state and its law allow.' }),
  })
  .meta({
    id: 'Case',
    description: 'A data subject request. Days are YYYY-MM-DD in the controller’s time zone, times ISO 8601 in UTC.',
  });

const taskSchema = z
  .object({
    task: z.string().meta({ description: 'Its number on the case, for the moves about tasks.' }),
    what: z.string(),
    instructions: z.string().nullable(),
    owner: z.string().nullable(),
    ownerEmail: z.string().nullable(),
    due: z.string().meta({ description: 'YYYY-MM-DD.' }),
    state: z.enum(['open', 'done', 'not-done']),
    note: z.string().nullable(),
    addedAt: z.string(),
    addedBy: z.string(),
    linkUntil: z.string().nullable().meta({ description: 'When its link expires; null: it has none.' }),
    sentAt: z.string().nullable(),
    finishedAt: z.string().nullable(),
    finishedBy: z.string().nullable(),
  })
  .meta({ id: 'Task', description: 'What the owner of another system has to do for a request.' });

const shownCaseSchema = caseSchema
  .extend({
    message: z.string().nullable(),
    match: z.object({ says: z.string(), subjects: z.array(z.string()), decisions: z.int() }),
    readiness: z.object({
      ready: z.boolean(),
      lacks: z.array(z.object({ code: z.string(), text: z.string(), blocking: z.boolean() })),
    }),
    disclosure: z.enum(['full', 'categories-only', 'no-match']),
    duplicateOf: z.string().nullable().meta({ description: 'The case that it was closed as a duplicate of.' }),
    duplicates: z.array(z.object({ caseId: z.string(), receivedAt: z.string() })).meta({
      description: 'Cases closed as duplicates of this one. The period runs from the earliest receipt of all.',
    }),
    sameAs: z
      .array(
        z.object({
          caseId: z.string(),
          receivedAt: z.string(),
          channel: z.string(),
          because: z.enum(['email', 'subject', 'name']),
        }),
      )
      .meta({ description: 'Open cases that may be the same request: close one as a duplicate of the other.' }),
    documents: z
      .array(z.object({ documentId: z.string(), name: z.string(), sha256: z.string() }))
      .meta({ description: 'Its letters, files and response packs, which an approval covers.' }),
    seen: z.string().meta({
      description:
        'SHA-256 of what an approval covers: requester, rights, parts and documents as in this answer. Sent with the move approve, in its details.',
    }),
    tasks: z.array(taskSchema),
    thread: z
      .array(
        z.object({
          seq: z.int().meta({ description: 'Number of the ledger entry.' }),
          at: z.string(),
          from: z.enum(['requester', 'officer']),
          move: z.enum(['requester-message', 'reply', 'no-reply']),
          about: z.enum(messageKinds).nullable(),
          text: z.string().nullable().meta({ description: 'Of no-reply: the reason, if one was given.' }),
          actor: z.string(),
          open: z.boolean().meta({ description: 'Nobody has answered it yet.' }),
        }),
      )
      .meta({ description: 'What requester and officers wrote to each other, oldest first.' }),
    replyReach: z
      .object({
        readableUntil: z.string().nullable().meta({ description: 'null: no link of the requester can be opened.' }),
        mailTo: z.string().nullable().meta({ description: 'null: nobody tells the requester that there is a reply.' }),
        says: z.string(),
      })
      .meta({ description: 'How a reply would reach the requester now. A mail never contains its text.' }),
    history: z.array(
      z.object({
        seq: z.int().meta({ description: 'Number of the ledger entry.' }),
        recordedAt: z.string(),
        version: z.int(),
        move: z.string(),
        toState: z.string(),
        actor: z.string(),
        details: z.record(z.string(), z.unknown()),
      }),
    ),
  })
  .meta({ id: 'ShownCase' });

const handOverSchema = z
  .object({
    handOverId: z.string(),
    caseId: z.string(),
    documentId: z.string(),
    sha256: z.string(),
    attachments: z.array(z.string()).meta({ description: 'Ids of the files handed over with the pack.' }),
    state: z.enum(['open', 'locked', 'expired', 'revoked', 'withheld']).meta({
      description: 'locked: by wrong codes; withheld: the request is being worked on, or the pack was erased.',
    }),
    createdAt: z.string(),
    createdBy: z.string(),
    expiresAt: z.string(),
    revokedAt: z.string().nullable(),
    openedAt: z.string().nullable().meta({ description: 'When it was first opened with the code.' }),
    wrongCodes: z.int(),
    downloads: z.int(),
    messages: z.int(),
  })
  .meta({ id: 'HandOver' });

const caseParams = z.strictObject({ caseId: z.string().max(300) });
const taskParams = caseParams.extend({ task: z.string().regex(/^[1-9]\d{0,2}$/) });
const letterLanguage = z
  .string()
  .max(35)
  .optional()
  .meta({
    description: `BCP 47, one of ${Object.keys(letterLanguages).join(', ')}. Default: the language of the request; required if that is not known, and then remembered as the requester’s.`,
  });
const moveNames = Object.keys(moves) as [keyof typeof moves, ...(keyof typeof moves)[]];

export const caseApi = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/cases',
    name: 'listCases',
    tag: 'Cases',
    summary: 'List requests, newest first',
    query: pageQuery.extend(sourceQuery.shape).extend({
      state: z.enum(caseStates).optional(),
      kind: z.enum(requestKinds).optional(),
      assignee: z.string().max(300).optional().meta({
        description: '`me`, `nobody`, an account id (`p-1a2b3c4d`), or an assignee’s exact name.',
      }),
      openMessages: z
        .enum(['true', 'false'])
        .optional()
        .meta({ description: 'true: only requests with a message that nobody has answered yet; false: the others.' }),
      open: z
        .enum(['true', 'false'])
        .optional()
        .meta({ description: 'true: only requests whose requester is still waiting; false: only settled ones.' }),
    }),
    answer: pageOf(caseSchema),
    async handle(context, { query, request, by }) {
      const { source, limit, open, openMessages, state, kind, assignee } = query;
      const permitted = sourcesOf(context, request);
      await context.projector.catchUp();
      const views = await pageCases(context.cases, {
        sources: source === undefined ? permitted.slugs : [source],
        now: isoNow(context.clock),
        before: readCursor(query.cursor),
        limit: limit + 1,
        ...(state === undefined ? {} : { state }),
        ...(kind === undefined ? {} : { kind }),
        ...(assignee === undefined
          ? {}
          : { assignee: assignee === 'nobody' ? null : assignee === 'me' ? (by.personId ?? assignee) : assignee }),
        ...(open === undefined ? {} : { open: open === 'true' }),
        ...(openMessages === undefined ? {} : { openMessages: openMessages === 'true' }),
      });
      return pageFrom(views, limit, ({ row }) => row.opened_seq, summarised);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/cases/{caseId}',
    name: 'getCase',
    tag: 'Cases',
    summary: 'One request with its history, its deadline and what is missing',
    params: caseParams,
    answer: shownCaseSchema,
    async handle(context, { params }) {
      await context.projector.catchUp();
      const shown = await showCase(context.cases, params.caseId, isoNow(context.clock));
      if (shown === null) throw new CodedError('not_found');
      const { match, readiness, disclosure, history, view } = shown;
      const documents = (await documentsOfCases(context.store.read, [params.caseId])).get(params.caseId) ?? [];
      return {
        ...summarised(view),
        message: view.row.message,
        match: { says: match.says, subjects: [...match.subjects], decisions: match.decisions },
        readiness: { ready: readiness.ready, lacks: [...readiness.lacks] },
        disclosure,
        duplicateOf: view.folded.duplicateOf,
        duplicates: (view.folded.duplicates ?? []).map(({ caseId, receivedAt }) => ({ caseId, receivedAt })),
        sameAs: [...shown.sameAs],
        documents: documentsToApprove(documents).map(({ documentId, name, sha256 }) => ({ documentId, name, sha256 })),
        seen: seenOf(view.row, documents),
        tasks: await summariseTasks(context, view),
        thread: threadOf(history).map(({ seq, at, move, about, text, actor, isOpen }) => ({
          ...{ seq, at, move, about, text, actor, open: isOpen },
          from: move === 'requester-message' ? ('requester' as const) : ('officer' as const),
        })),
        replyReach: await loadReplyReach(context, { caseId: params.caseId, email: view.row.requester_email }),
        history: history.map((move) => ({
          seq: move.seq,
          recordedAt: move.received_at,
          version: move.version,
          move: move.move,
          toState: move.to_state,
          actor: move.actor,
          details: JSON.parse(move.details) as Record<string, unknown>,
        })),
      };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/cases',
    name: 'openCase',
    tag: 'Cases',
    summary: 'Record a request received by letter, e-mail, phone or in person',
    description: 'The same reference opens the same case once.',
    body: openCaseSchema.omit({ actor: true, receiptBasis: true }).extend({
      receivedAt: timeText.meta({
        title: 'Received',
        description: `When it arrived through any channel of the controller: ${timeWords}.`,
      }),
    }),
    status: 201,
    answer: z.object({
      outcome: z.enum(['opened', 'duplicate']),
      caseId: z.string(),
      seq: z.int().meta({ description: 'Number of the ledger entry.' }),
    }),
    async handle(context, { body, by }) {
      if (context.sources.find(body.source) === null) throw new CodedError('not_found', 'Unknown source.');
      const receivedAt = timeIn(context, 'receivedAt', body.receivedAt);
      const opened = await openCase(context.cases, { ...body, receivedAt, actor: by.officer });
      if (opened.outcome === 'refused') throw new RefusedRequest('refused', opened.problems);
      await untilProjected(context, opened.seq);
      return opened;
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/cases/{caseId}/moves',
    name: 'moveCase',
    tag: 'Cases',
    summary: 'Make a move: confirm receipt, ask for identification, answer, refuse …',
    description:
      'The fields of each move are listed under Moves below. A move that the law or the state forbids is refused with the reason; one based on an older version is a conflict.',
    params: caseParams,
    body: z.strictObject({
      move: z.enum(moveNames),
      basedOn: z.int().nonnegative().meta({ description: 'The version of the case that the move is based on.' }),
      details: z.record(z.string(), z.unknown()).default({}),
    }),
    answer: z.object({ caseId: z.string(), version: z.int(), seq: z.int() }),
    async handle(context, { params, body, by }) {
      const details = withTimesIn(body.move, body.details, context.config.timeZone);
      const moved = await moveCase(context.cases, { ...params, ...body, details, actor: by.officer });
      switch (moved.outcome) {
        case 'moved':
          await untilProjected(context, moved.seq);
          return moved;
        case 'refused':
          throw new RefusedRequest('refused', moved.problems);
        case 'conflict':
          throw new RefusedRequest('conflict', [
            moved.unseen ?? `The case is now at version ${moved.version}: review it and send the move based on that.`,
          ]);
        case 'not-found':
          throw new CodedError('not_found');
        default:
          return moved satisfies never;
      }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/cases/{caseId}/pack',
    name: 'makePack',
    tag: 'Cases',
    summary: 'Create the response pack of a request',
    description: 'Returns the job that makes it; the job’s result names the document.',
    params: caseParams,
    body: z.strictObject({ language: letterLanguage }),
    status: 202,
    answer: jobSchema,
    async handle(context, { params: { caseId }, body: { language = null }, by }) {
      await context.projector.catchUp();
      const row = await findCase(context.store.read, caseId);
      if (row === null) throw new CodedError('not_found');
      const problem = await packProblem(context.documents, row, language);
      if (problem !== null) throw new RefusedRequest('refused', [problem]);
      if (language !== null) await rememberLanguage(context, { caseId, language, actor: by.officer });
      const { id } = await context.jobs.enqueue(packJob(caseId, by.officer, language));
      return shownJob(context, id);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/cases/{caseId}/letters',
    name: 'makeLetter',
    tag: 'Cases',
    summary: 'Create a letter for a request',
    description:
      'It is registered and cannot be changed; `mailLetter` sends it. Statements required by law are in the letter whatever the text. ' +
      'With `record`, the move that the letter belongs to is checked first, and recorded with the letter: nothing is made if it would be refused.',
    params: caseParams,
    body: z.strictObject({
      step: z.enum(letterSteps),
      language: letterLanguage,
      text: z
        .string()
        .max(LETTER_TEXT_LENGTH)
        .optional()
        .meta({ description: 'Your own text. Default: the installation’s wording.' }),
      recipient: z.string().max(300).optional().meta({ description: 'Only for a notice: the recipient of the data.' }),
      controller: z.string().max(4000).optional().meta({
        description:
          'Confirms that this organisation is the controller of the source, for this letter. Needed if the controller profile is shared by several sources and nobody has said whose it is.',
      }),
      format: z.enum(letterFormats).default('pdf'),
      record: z
        .strictObject({
          way: z.enum(letterWays).meta({
            description: '`letter`: you post it. `e-mail`: it is sent from here, and recorded once it has gone out.',
          }),
          basedOn: z.int().nonnegative().meta({ description: 'The version of the case that the move is based on.' }),
          details: z.record(z.string(), z.unknown()).default({}).meta({
            description: 'Details of the move besides what `text` says (asked, question or reasons).',
          }),
        })
        .optional()
        .meta({
          description:
            'Records the move of the letter: acknowledgement acknowledge, identity ask-identity, clarification ask-clarification, extension extend, refusal refuse.',
        }),
    }),
    status: 201,
    answer: z.object({
      documentId: z.string(),
      sha256: z.string(),
      bytes: z.int(),
      seq: z.int(),
      recorded: z
        .object({
          outcome: z.enum(['recorded', 'sending', 'made']).meta({
            description: '`made`: only the letter is made; `next` says what is needed before it can be recorded.',
          }),
          seq: z.int().optional().meta({ description: 'The entry of the move.' }),
          jobId: z.string().optional().meta({ description: 'The job that sends the letter and records the move.' }),
          next: z.string().optional(),
        })
        .optional(),
    }),
    async handle(context, { params: { caseId }, body, by }) {
      const { step, format, language = null, recipient = null, controller = null, record } = body;
      const deps = { ...context.documents, cases: context.cases };
      const wish = { caseId, step, language, recipient, ...(record === undefined ? {} : { details: record.details }) };
      let { text = null } = body;
      if (text === null) {
        const draft = await draftLetter(deps, { ...wish, text: null });
        if (draft.outcome === 'invalid') throw new RefusedRequest('refused', [draft.problem]);
        if (draft.outcome !== 'drafted') throw new CodedError('not_found');
        text = draft.starts[0] ?? null;
      }
      if (record !== undefined) {
        const details = withTimesIn(moveOfLetter(step)?.move ?? '', record.details, context.config.timeZone);
        const wanted = { ...wish, ...record, details, text: text ?? '', format, actor: by.officer, controller };
        return recordedLetter(context, wanted);
      }
      const made = await produceLetter(deps, { ...wish, text, format, actor: by.officer, controller });
      switch (made.outcome) {
        case 'produced': {
          await untilProjected(context, made.seq);
          if (language !== null && step !== 'notice')
            await rememberLanguage(context, { caseId, language, actor: by.officer });
          const { documentId, sha256, bytes, seq } = made;
          return { documentId, sha256, bytes, seq };
        }
        case 'unknown-case':
        case 'unknown-source':
          throw new CodedError('not_found');
        case 'refused':
        case 'invalid':
          throw new RefusedRequest('refused', [made.problem]);
        default:
          return made satisfies never;
      }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/cases/{caseId}/letters/{documentId}/mail',
    name: 'mailLetter',
    tag: 'Cases',
    summary: 'Mail a letter to the requester, once',
    description: 'Returns the job that sends it. The letter is not sent if recording the answer would be refused.',
    params: z.strictObject({ caseId: z.string().max(300), documentId: z.string().max(300) }),
    body: z.strictObject({
      attachments: z.array(z.string().max(300)).max(ATTACHMENTS).default([]).meta({
        description: 'Files of the request that are sent with it (documentId; `listDocuments`, name attachment).',
      }),
    }),
    status: 202,
    answer: jobSchema,
    async handle(context, { params: { caseId, documentId }, body: { attachments }, by }) {
      const asked = { caseId, documentId, actor: by.officer, attachments };
      const wanted = await withEarlierRecord(context.jobs, asked);
      const found = await checkLetterMail(context, wanted);
      if (found.outcome === 'unknown') throw new CodedError('not_found');
      if (found.outcome === 'refused') throw new RefusedRequest('refused', found.problems);
      const { id } = await context.jobs.enqueue(letterMailJob(wanted));
      return shownJob(context, id);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/cases/{caseId}/tasks/{task}/link',
    name: 'shareTask',
    tag: 'Cases',
    summary: 'Create a link that lets the owner of another system finish a task without an account',
    description:
      'It replaces an earlier link to the task. Adding and finishing tasks and revoking links are moves: add-task, finish-task, unshare-task.',
    params: taskParams,
    body: z.strictObject({ days: z.int().min(1).max(TASK_DAYS_MAX).default(TASK_DAYS) }),
    status: 201,
    answer: z.object({ link: z.string(), expiresAt: z.string(), seq: z.int() }),
    async handle(context, { params, body, by }) {
      const publicUrl = publicUrlOf(context.config, context.config.port);
      const shared = await shareTask(context, { ...params, ...body, actor: by.officer, publicUrl });
      if (shared.outcome === 'not-found') throw new CodedError('not_found');
      if (shared.outcome === 'refused') throw new RefusedRequest('refused', shared.problems);
      const { link, expiresAt, seq } = shared;
      return { link, expiresAt, seq };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/cases/{caseId}/tasks/{task}/mail',
    name: 'mailTask',
    tag: 'Cases',
    summary: 'Mail a task to its owner, with a link to it',
    description: 'Returns the job that sends it.',
    params: taskParams,
    status: 202,
    answer: jobSchema,
    async handle(context, { params, by }) {
      await context.projector.catchUp();
      const found = await findTask(context.cases, params.caseId, params.task);
      if (found === null) throw new CodedError('not_found');
      const problem = problemOfTaskMail(context, found);
      if (problem !== null) throw new RefusedRequest('refused', [problem]);
      const { id } = await context.jobs.enqueue(taskMailJob(found, by.officer));
      return shownJob(context, id);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/cases/{caseId}/hand-overs',
    name: 'listHandOvers',
    tag: 'Cases',
    summary: 'The links through which the pack of a request was handed over, newest first',
    params: caseParams,
    answer: z.object({ data: z.array(handOverSchema) }),
    async handle(context, { params }) {
      await context.projector.catchUp();
      const found = await listHandOvers(context, { caseId: params.caseId });
      return { data: found.map(summariseHandOver) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/cases/{caseId}/hand-overs',
    name: 'createHandOver',
    tag: 'Cases',
    summary: 'Hand over the pack of a request through a link and a code',
    description:
      'The link and the code are only in this response. Send them to the requester through two different channels, then record the answer as a move.',
    params: caseParams,
    body: z.strictObject({
      days: z.int().min(1).max(HAND_OVER_DAYS_MAX).default(HAND_OVER_DAYS),
      documentId: z
        .string()
        .max(300)
        .optional()
        .meta({ description: 'The pack; default: the newest one of the request.' }),
      attachments: z
        .array(z.string().max(300))
        .max(ATTACHMENTS)
        .default([])
        .meta({ description: 'Ids of files of the request that the requester gets with the pack.' }),
      approvedBy: line.optional().meta({
        description: 'Who approved it for the controller, if this installation is a processor.',
      }),
    }),
    status: 201,
    answer: handOverSchema.extend({ link: z.string(), code: z.string(), seq: z.int() }),
    async handle(context, { params, body, by }) {
      const { config } = context;
      const publicUrl = publicUrlOf(config, config.port);
      await context.projector.catchUp();
      const created = await createHandOver(context, { ...params, ...body, actor: by.officer, publicUrl });
      if (created.outcome === 'unknown-case') throw new CodedError('not_found');
      if (created.outcome === 'refused') throw new RefusedRequest('refused', created.problems);
      if (created.outcome === 'repeated') throw new Error('only forms have a reference');
      const { handOver: row, link, code, seq } = created;
      await untilProjected(context, seq);
      return { ...summariseHandOver({ row, state: 'open' }), link, code, seq };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/cases/{caseId}/hand-overs/{handOverId}/revoke',
    name: 'revokeHandOver',
    tag: 'Cases',
    summary: 'End a link at once',
    params: caseParams.extend({ handOverId: z.string().max(50) }),
    answer: handOverSchema,
    async handle(context, { params, by }) {
      const { caseId, handOverId } = params;
      const find = async () =>
        (await listHandOvers(context, { caseId })).find(({ row }) => row.hand_over_id === handOverId);
      if ((await find()) === undefined) throw new CodedError('not_found');
      await revokeHandOver(context, handOverId, by.officer);
      const found = await find();
      if (found === undefined) throw new CodedError('not_found');
      return summariseHandOver(found);
    },
  }),
];

function summarised(view: Parameters<typeof summariseCase>[0]) {
  const { says, moves: allowed, state, parts, notRecorded, ...summary } = summariseCase(view);
  return {
    ...summary,
    parts: [...parts],
    state: state as (typeof caseStates)[number],
    notRecorded: [...notRecorded],
    says: [...says],
    moves: [...allowed],
  };
}

/** Makes and records a letter for the API. Throws RefusedRequest, and CodedError for an unknown case. */
async function recordedLetter(
  context: RecordLetterDeps & Parameters<typeof rememberLanguage>[0] & Parameters<typeof untilProjected>[0],
  wanted: LetterToRecord,
) {
  const result = await recordLetter(context, wanted);
  switch (result.outcome) {
    case 'refused':
      throw new RefusedRequest('refused', result.problems);
    case 'conflict':
      throw new RefusedRequest('conflict', [result.problem]);
    case 'unknown-case':
    case 'unknown-source':
      throw new CodedError('not_found');
    case 'recorded':
    case 'sending':
    case 'made': {
      const { letter, ...recorded } = result;
      await untilProjected(context, 'seq' in recorded ? recorded.seq : letter.seq);
      const { caseId, actor } = wanted;
      await rememberLanguage(context, { caseId, language: String(letter.parameters['language']), actor });
      const { documentId, sha256, bytes, seq } = letter;
      return { documentId, sha256, bytes, seq, recorded };
    }
    default:
      return result satisfies never;
  }
}
