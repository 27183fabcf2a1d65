import { type Clock, isoNow } from '../core/clock.ts';
import type { Source } from '../core/source.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Store } from '../store/store.ts';
import { isKnownBanner } from './banners.ts';
import { setDismissed } from './position.ts';

/** `unknown`: nothing ever named this banner. */
type Dismissal = { readonly outcome: 'recorded'; readonly seq: number } | { readonly outcome: 'unknown' };

/**
 * Puts a banner aside, so that it is not pulled and no longer shown as failing, or takes it up again (`isRestored`). Its rows stay. Whoever names it
 * (the source's settings, `sync --banner`) pulls it all the same.
 */
export async function dismissBanner(
  deps: { readonly store: Pick<Store, 'read'>; readonly ledger: Ledger; readonly clock: Clock },
  request: {
    readonly source: Source;
    readonly bannerId: string;
    readonly actor: string;
    readonly isRestored?: boolean;
  },
): Promise<Dismissal> {
  const { source, bannerId, actor, isRestored = false } = request;
  if (bannerId === '' || !(await isKnownBanner(deps.store.read, source, bannerId))) return { outcome: 'unknown' };
  const at = isoNow(deps.clock);
  const action = isRestored ? ('sync.banner-restored' as const) : ('sync.banner-dismissed' as const);
  const key = [action, source.slug, bannerId, at];
  const { seq } = await appendAction(deps.ledger, source.slug, { action, actor, bannerId }, key, at, (tx) =>
    setDismissed(tx.query, source.slug, bannerId, isRestored ? null : at, at),
  );
  return { outcome: 'recorded', seq };
}
