import type { Command } from 'commander';
import pc from 'picocolors';
import { UsageError } from '../core/errors.ts';
import { checkFile, type DocumentRow, listDocuments } from '../documents/check.ts';
import { type CommandIo, printable, printResult, tableText, withJson } from './command-io.ts';
import { withContext } from './run-context.ts';

/** `document list|check`: what was produced; is this file genuine. */
export function registerDocument(program: Command, io: CommandIo): void {
  const command = program.command('document').description('documents that were produced');

  withJson(command.command('list'))
    .description('newest first')
    .option('--source <slug>', 'only those of this source')
    .action((options: { source?: string; json?: boolean }) =>
      withContext(async (context) => {
        await context.projector.catchUp();
        const rows = await listDocuments(
          context.store.read,
          options.source === undefined ? {} : { source: options.source },
        );
        const documents = rows.map(shown);
        printResult(io, options, documents, () =>
          tableText(
            ['made', 'source', 'name', 'format', 'bytes', 'as of', 'downloads', 'by', 'id'],
            documents.map((row) => [
              row.createdAt.slice(0, 16),
              row.source,
              row.name,
              row.format,
              row.bytes,
              row.asOf,
              row.downloads,
              row.actor,
              row.documentId,
            ]),
            'No document was produced yet: `consent-ledger report list` says what there is.',
          ),
        );
      }),
    );

  withJson(command.command('check'))
    .argument('<file>', 'a file that is said to come from here')
    .description('is this file, byte for byte, one that was produced here; exit code 3 when not')
    .action((file: string, options: { json?: boolean }) =>
      withContext(async (context) => {
        await context.projector.catchUp();
        const checked = await checkFile(context.store.read, file).catch((error: NodeJS.ErrnoException) => {
          throw new UsageError([`${file} cannot be read (${error.code ?? error.message}).`]);
        });
        const { sha256 } = checked;
        const documents = checked.documents.map(shown);
        if (documents.length === 0) io.exitCode = 3;
        printResult(io, options, { file, sha256, genuine: documents.length > 0, documents }, () => {
          if (documents.length === 0) {
            return `${pc.red('✗ not known')}: no document with these bytes was produced here\nSHA-256 ${sha256}\nA single changed byte gives another hash: ask for the file as it was downloaded.`;
          }
          return [
            `${pc.green('✓ genuine')}: ${printable(file)}`,
            ...documents.map(
              (row) =>
                `  ${row.name} of ${row.source}, as of entry ${row.asOf}, registered as entry ${row.seq} on ${row.createdAt} by ${printable(row.actor)}`,
            ),
            `SHA-256 ${sha256}`,
          ].join('\n');
        });
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
  };
}
