import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { createMcpServer } from '../http/api/mcp.ts';
import { findSource, withContext } from './run-context.ts';

/** The actor recorded in the ledger. */
const MCP_ACTOR = 'assistant (MCP, command line)';

/** `mcp`: a read-only Model Context Protocol server on standard input and output. */
export function registerMcp(program: CommandUnknownOpts): void {
  program
    .command('mcp')
    .description('answer an assistant over standard input and output (Model Context Protocol): read-only, docs/api.md')
    .option('--source <slug...>', 'only these sources (default: every one)')
    .option('--json', 'no effect: standard output carries the protocol, one JSON message per line')
    .action((options) =>
      withContext(async (context) => {
        const sources = options.source?.map((slug) => findSource(context, slug).slug) ?? null;
        const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
        const server = await createMcpServer(context, { actor: MCP_ACTOR, sources });
        const transport = new StdioServerTransport();
        await new Promise<void>((resolve, reject) => {
          transport.onclose = resolve;
          // The transport does not notice when its client has gone.
          process.stdin.once('end', resolve);
          server.connect(transport).catch(reject);
        });
        await server.close();
      }),
    );
}
