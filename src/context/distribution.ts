import type { Distribution, DistributionOptions } from '../jobs/bullmq.ts';
import type { Announce } from '../jobs/jobs.ts';

/** Wake-ups over Redis, with the libraries loaded and the connection opened at the first need: most commands have none. */
export interface LazyDistribution {
  readonly announce: Announce;
  open(): Promise<Distribution>;
  close(): Promise<void>;
}

/** Null without a REDIS_URL. */
export function createDistribution(
  options: Omit<DistributionOptions, 'url'> & { readonly url: string | null },
): LazyDistribution | null {
  const { url } = options;
  if (url === null) return null;
  let opening: Promise<Distribution> | null = null;
  const open = () => {
    opening ??= import('../jobs/bullmq.ts').then(({ openDistribution }) => openDistribution({ ...options, url }));
    return opening;
  };
  return {
    open,
    announce: async (wakeUps) => (await open()).announce(wakeUps),
    async close() {
      if (opening !== null) await (await opening).close();
    },
  };
}
