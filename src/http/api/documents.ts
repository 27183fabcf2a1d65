import { z } from 'zod';
import { reports } from '../../../reports/index.ts';
import { CodedError } from '../../core/errors.ts';
import { addDays } from '../../core/zoned-days.ts';
import { type DocumentRow, findDocument, listDocuments } from '../../documents/check.ts';
import { reportJob } from '../../documents/document-jobs.ts';
import {
  addDocumentSchedule,
  covers,
  listDocumentSchedules,
  removeDocumentSchedule,
} from '../../documents/schedules.ts';
import { sourcesOf } from '../auth/access.ts';
import { sendDocument } from '../pages/documents/send-document.ts';
import { jobSchema, shownJob } from './job-routes.ts';
import { pageFrom, pageOf, pageQuery, RefusedRequest, readCursor, routesWith, sourceQuery } from './route.ts';

const defineRoute = routesWith<
  'config' | 'store' | 'ledger' | 'keys' | 'instance' | 'sources' | 'jobs' | 'projector' | 'documents' | 'clock'
>();

const documentSchema = z
  .object({
    documentId: z.string(),
    source: z.string(),
    name: z.string().meta({ description: 'dsar-pack, letter, attachment, or the name of a report.' }),
    format: z.string(),
    fileName: z.string(),
    sha256: z.string(),
    bytes: z.int(),
    asOf: z.int().meta({ description: 'The last entry that it was made from.' }),
    caseId: z.string().nullable(),
    actor: z.string(),
    seq: z.int().meta({ description: 'The entry that registers it.' }),
    createdAt: z.string(),
    erasedAt: z.string().nullable(),
  })
  .meta({ id: 'Document', description: 'A registered file: a pack, a letter, a file sent with letters, or a report.' });

function documentOf(row: DocumentRow): z.input<typeof documentSchema> {
  return {
    documentId: row.document_id,
    source: row.source,
    name: row.name,
    format: row.format,
    fileName: row.file_name,
    sha256: row.sha256,
    bytes: row.bytes,
    asOf: row.as_of,
    caseId: row.case_id,
    actor: row.actor,
    seq: row.seq,
    createdAt: row.created_at,
    erasedAt: row.erased_at,
  };
}

const documentParams = z.strictObject({ documentId: z.string().max(300) });
const reportNames = reports.map(({ name }) => name) as [string, ...string[]];
/** A day in a year that a report can cover. */
const day = z.iso
  .date()
  .refine((date) => /^(?:19|20|21)/.test(date), 'the year must be 1900 to 2199')
  .meta({ description: 'YYYY-MM-DD in the time zone of the controller.' });

const scheduleSchema = z
  .object({
    scheduleId: z.string(),
    source: z.string(),
    name: z.string(),
    format: z.string(),
    covers: z.enum(covers),
    cron: z.string(),
    recipients: z.array(z.string()).meta({ description: 'Ids of the people to whom it is mailed.' }),
    actor: z.string(),
    nextAt: z.string(),
    lastAt: z.string().nullable(),
  })
  .meta({ id: 'Schedule', description: 'A scheduled report.' });

export const documentApi = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/documents',
    name: 'listDocuments',
    tag: 'Documents',
    summary: 'List registered documents, newest first',
    query: pageQuery.extend(sourceQuery.shape).extend({
      name: z
        .string()
        .max(100)
        .optional()
        .meta({ description: 'dsar-pack, letter, attachment, or the name of a report.' }),
      caseId: z.string().max(300).optional(),
    }),
    answer: pageOf(documentSchema),
    async handle(context, { query, request }) {
      const { source, limit, name, caseId } = query;
      await context.projector.catchUp();
      const rows = await listDocuments(context.store.read, {
        sources: source === undefined ? sourcesOf(context, request).slugs : [source],
        before: readCursor(query.cursor),
        limit: limit + 1,
        ...(name === undefined ? {} : { name }),
        ...(caseId === undefined ? {} : { caseId }),
      });
      return pageFrom(rows, limit, ({ seq }) => seq, documentOf);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/documents/{documentId}',
    name: 'getDocument',
    tag: 'Documents',
    summary: 'One document: what it is, its hash and its entry',
    params: documentParams,
    answer: documentSchema,
    async handle(context, { params }) {
      await context.projector.catchUp();
      const row = await findDocument(context.store.read, params.documentId);
      if (row === null) throw new CodedError('not_found');
      return documentOf(row);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/documents/{documentId}/download',
    name: 'downloadDocument',
    tag: 'Documents',
    summary: 'The file, if it is byte for byte what was registered',
    description: 'Each download is an entry of the ledger.',
    params: documentParams,
    answer: null,
    handle: (context, { params, reply, by }) => sendDocument(context, reply, params.documentId, by.officer),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/reports',
    name: 'makeReport',
    tag: 'Documents',
    summary: 'Create an audit report for a period',
    description: 'Returns the job that makes it; the job’s result names the document.',
    body: z.strictObject({
      name: z.enum(reportNames),
      source: z.string().max(100),
      from: day,
      to: day.meta({ description: 'The last day, included.' }),
      format: z.enum(['pdf', 'csv', 'json', 'html']),
      subject: z
        .string()
        .trim()
        .min(1)
        .max(300)
        .optional()
        .meta({ description: 'Appends the history of this subject, if the report supports it.' }),
    }),
    status: 202,
    answer: jobSchema,
    async handle(context, { body, by }) {
      const report = reports.find(({ name }) => name === body.name);
      if (context.sources.findAny(body.source) === null) throw new CodedError('not_found', 'Unknown source.');
      const problems = [
        ...(report?.formats.includes(body.format) === false
          ? [`${report.title} is not available as ${body.format.toUpperCase()}.`]
          : []),
        ...(body.subject !== undefined && report?.takesSubject === false
          ? [`${report.title} has no appendix for a subject: leave that field out.`]
          : []),
        ...(body.from > body.to ? ['The last day is before the first day.'] : []),
      ];
      if (problems.length > 0) throw new RefusedRequest('refused', problems);
      const { subject, ...rest } = body;
      const { id } = await context.jobs.enqueue(
        reportJob({
          ...rest,
          ...(subject === undefined ? {} : { subject }),
          to: addDays(body.to, 1),
          actor: by.officer,
        }),
      );
      return shownJob(context, id);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/schedules',
    name: 'listSchedules',
    tag: 'Documents',
    summary: 'Scheduled reports',
    query: sourceQuery,
    answer: z.object({ items: z.array(scheduleSchema) }),
    async handle(context, { query, request }) {
      const only = query.source === undefined ? sourcesOf(context, request).slugs : [query.source];
      return { items: [...(await listDocumentSchedules(context.store.read, only))] };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/schedules',
    name: 'addSchedule',
    tag: 'Documents',
    summary: 'Schedule a report: it is filed each time, and mailed to people with an account',
    body: z.strictObject({
      name: z.enum(reportNames),
      source: z.string().max(100),
      format: z.enum(['pdf', 'csv', 'json', 'html']),
      covers: z.enum(covers).meta({ description: 'The last whole one before the run.' }),
      cron: z
        .string()
        .max(100)
        .meta({ description: 'minute hour day month weekday, in the time zone of the controller.' }),
      recipients: z
        .array(z.string().max(100))
        .max(50)
        .default([])
        .meta({ description: 'Ids of people with an account.' }),
    }),
    status: 201,
    answer: z.object({ scheduleId: z.string(), seq: z.int() }),
    async handle(context, { body, by }) {
      const added = await addDocumentSchedule(context, { ...body, actor: by.officer });
      if (added.outcome === 'refused') throw new RefusedRequest('refused', added.problems);
      return { scheduleId: added.scheduleId, seq: added.seq };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/schedules/{scheduleId}/remove',
    name: 'removeSchedule',
    tag: 'Documents',
    summary: 'Remove a scheduled report of a source; its documents stay',
    params: z.strictObject({ scheduleId: z.string().max(100) }),
    body: z.strictObject({ source: z.string().max(100) }),
    answer: z.object({ scheduleId: z.string() }),
    async handle(context, { params: { scheduleId }, body, by }) {
      const wanted = { scheduleId, source: body.source, actor: by.officer };
      if (!(await removeDocumentSchedule(context, wanted))) throw new CodedError('not_found');
      return { scheduleId };
    },
  }),
];
