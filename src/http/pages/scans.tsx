import type { FastifyInstance } from 'fastify';
import { loadIntegrations, loadInventories } from '../../../reports/scan-audit/gather.ts';
import type { Context } from '../../context.ts';
import { addDays, startOfDay } from '../../core/zoned-days.ts';
import { renderPage } from '../../dashboard/layout.tsx';
import { SCANS_SHOWN, ScansPage, SITES_TOGETHER } from '../../dashboard/scans-page.tsx';
import { createScanQueries } from '../../store/queries/history-scans.ts';
import { formOf, html } from '../html.ts';
import { frameOf } from './frame.ts';

/** What scans found, and integrations. Inside the guarded scope. */
export async function scanRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/scans', async (request, reply) => {
    const { source: asked = '', site: wanted = '', at = '' } = formOf(request.query);
    const sources = context.sources.list();
    const source = context.sources.findAny(asked)?.slug ?? sources[0]?.slug ?? '';
    const to = endOf(at);
    const scope = { source, asOf: Number.MAX_SAFE_INTEGER, ...(to && { to }) };
    const history = createScanQueries(context.store.read);
    const sites = (await history.lastInventories(scope)).map((row) => row.site);
    const site = sites.includes(wanted) && wanted !== '' ? wanted : null;
    const shown = site ?? (sites.length > SITES_TOGETHER ? sites[0] : undefined);
    const props = {
      frame: frameOf(context, request, reply),
      ...{ sources, source, sites, site: shown ?? null, at: to === undefined ? '' : at },
      inventories: await loadInventories(history, { ...scope, ...(shown !== undefined && { site: shown }) }),
      scans: await history.scanRows({ ...scope, ...(shown !== undefined && { site: shown }), limit: SCANS_SHOWN }),
      integrations: (await loadIntegrations(history, scope)).states,
      problems: at !== '' && to === undefined ? ['Enter the day as YYYY-MM-DD.'] : [],
    };
    return html(reply, renderPage(<ScansPage {...props} />), props.problems.length > 0 ? 422 : 200);
  });

  /** The first moment after a day; undefined for what is none. */
  function endOf(day: string): string | undefined {
    try {
      return startOfDay(addDays(day, 1), context.config.timeZone);
    } catch {
      return undefined;
    }
  }
}
