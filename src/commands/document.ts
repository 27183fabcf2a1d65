import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import {
  checkFile,
  type DocumentRow,
  extendedText,
  isUpload,
  listDocuments,
  type ProducedDocument,
} from '../documents/check.ts';
import { documentFileName } from '../projections/documents.ts';
import {
  type CommandIo,
  cannotRead,
  dayText,
  minuteText,
  printable,
  printResult,
  tableText,
  timeOf,
  timeOrDay,
  timeText,
  wholeNumberFrom,
  withJson,
} from './command-io.ts';
import { withCaughtUp, withContext } from './run-context.ts';

/** `document list|check`: lists what was produced, and checks whether a file is genuine. */
export function registerDocument(program: CommandUnknownOpts, io: CommandIo): void {
  const command = program.command('document').description('documents produced by this installation');

  registerList(command, io);

  registerCheck(command, io);
}

function registerList(command: CommandUnknownOpts, io: CommandIo): void {
  withJson(command.command('list'))
    .description('list documents, newest first')
    .option('--source <slug>', 'only this source')
    .option('--since <time>', `only documents made since ${timeOrDay}`)
    .option('--limit <number>', 'maximum number of rows', wholeNumberFrom(1), 100)
    .action((options) =>
      withContext(async (context) => {
        const { source, since, limit } = options;
        await context.projector.catchUp();
        const rows = await listDocuments(context.store.read, {
          ...(source === undefined ? {} : { source }),
          ...(since === undefined ? {} : { since: timeOf(since, '--since', context.config.timeZone) }),
          limit,
        });
        const documents = rows.map(shown);
        printResult(io, options, documents, () =>
          tableText(
            ['made', 'source', 'name', 'format', 'bytes', 'as of', 'downloads', 'by', 'erased', 'id'],
            documents.map((row) => [
              minuteText(row.createdAt),
              row.source,
              row.name,
              row.format,
              row.bytes,
              row.asOf,
              row.downloads,
              row.actor,
              row.erasedAt === null ? null : dayText(row.erasedAt),
              row.documentId,
            ]),
            'No documents yet. To see the available reports, run `consent-ledger report list`.',
          ),
        );
      }),
    );
}

function registerCheck(command: CommandUnknownOpts, io: CommandIo): void {
  withJson(command.command('check'))
    .argument('<file>', 'file to check')
    .description('check whether this file was produced here and is unchanged, byte for byte (exit code 3 if not)')
    .action((file, options) =>
      withCaughtUp(async (context) => {
        const checked = await checkFile(context, file).catch((error: NodeJS.ErrnoException) => {
          throw error.syscall === undefined ? error : cannotRead(file, error);
        });
        const { sha256, problems, erased } = checked;
        const documents = checked.documents.map(proven);
        const isUploaded = checked.documents.length > 0 && checked.documents.every(isUpload);
        const packs = checked.packs.map(packFacts);
        const extended = checked.extended.map((pack) => ({ ...packFacts(pack), additions: pack.additions }));
        const [withMore] = checked.extended;
        const genuine = documents.length + packs.length + erased.length > 0;
        if (!genuine) io.exitCode = 3;
        printResult(io, options, { file, sha256, genuine, documents, erased, packs, extended, problems }, () =>
          [
            genuine && isUploaded
              ? `${pc.green('✓ registered')}: ${printable(file)} was uploaded for a request; it was not made here`
              : genuine
                ? `${pc.green('✓ genuine')}${erased.map(({ erasedAt, seq }) => `, erased on ${dayText(erasedAt)} (entry ${seq})`)[0] ?? ''}: ${printable(file)}`
                : withMore !== undefined
                  ? `${pc.yellow('! not only the pack')}: ${printable(extendedText(withMore))}: ${printable(file)}`
                  : problems.length > 0
                    ? `${pc.red('✗ not proven')}: the ledger does not confirm that this file was produced here`
                    : `${pc.red('✗ unknown')}: no document with these bytes was produced here`,
            ...documents.flatMap((row) => [
              `  ${row.name} of ${row.source}, as of entry ${row.asOf}, registered as entry ${row.seq} on ${timeText(row.createdAt)} by ${printable(row.actor)}`,
              row.sealedUnder === null
                ? '  That entry is not sealed yet: it is protected by the instance key but not by a signature. To seal it, run `consent-ledger ledger checkpoint`.'
                : `  That entry is covered by the signed checkpoint over ${row.sealedUnder} entries.`,
            ]),
            ...(documents.length === 0 ? erased : []).map(
              ({ name, format, documentId }) =>
                `  ${name} (${format}) ${documentId}; the entry that registered it was erased, too`,
            ),
            ...[...packs, ...extended].flatMap(({ file: part, ...pack }) => [
              part === null
                ? `  not the same ZIP, but each of its files matches the pack ${pack.reference} for case ${pack.caseId ?? '?'}, as of entry ${pack.asOf}`
                : `  ${part} of the pack ${pack.reference} for case ${pack.caseId ?? '?'}, as of entry ${pack.asOf}`,
              `  Its list of files was sealed as entry ${pack.seq} on ${timeText(pack.createdAt)}.`,
            ]),
            ...problems.map((problem) => `  ${pc.yellow('!')} ${printable(problem)}`),
            `SHA-256 ${sha256}`,
            ...(genuine
              ? []
              : withMore !== undefined
                ? ['What was added was not made here: remove it, or ask for the file exactly as it was downloaded.']
                : problems.length > 0
                  ? ['Run `consent-ledger ledger verify` to list every fault.']
                  : ['A single changed byte changes the hash: ask for the file exactly as it was downloaded.']),
          ].join('\n'),
        );
      }),
    );
}

function shown(row: DocumentRow) {
  const { source, name, format, sha256, bytes, actor, seq, downloads } = row;
  return {
    documentId: row.document_id,
    source,
    name,
    format,
    fileName: row.file_name,
    sha256,
    bytes,
    asOf: row.as_of,
    caseId: row.case_id,
    parameters: JSON.parse(row.parameters) as unknown,
    actor,
    seq,
    createdAt: row.created_at,
    downloads,
    erasedAt: row.erased_at,
    erasedSeq: row.erased_seq,
  };
}

function packFacts({ recorded, ...pack }: Awaited<ReturnType<typeof checkFile>>['packs'][number]) {
  const { action: _, files: __, sha256: manifestSha256, ...facts } = recorded;
  return { ...pack, ...facts, manifestSha256 };
}

/** A document as recorded in its entry. */
function proven({ seq, source, createdAt, sealedUnder, recorded }: ProducedDocument) {
  const { action: _, ...facts } = recorded;
  return { ...facts, source, fileName: documentFileName(recorded), seq, createdAt, sealedUnder };
}
