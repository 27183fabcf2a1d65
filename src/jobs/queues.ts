/** A group of kinds of jobs that share workers: a long document must not keep sealing waiting, nor a slow service a document. */
export const queueNames = ['sync', 'documents', 'service-calls', 'maintenance'] as const;
export type QueueName = (typeof queueNames)[number];

/**
 * Jobs of a queue that one process runs at once. Pulling and calling wait for the network; documents compute, and two of
 * them leave a core to the deliveries.
 */
const queueConcurrency: Readonly<Record<QueueName, number>> = {
  sync: 4,
  documents: 2,
  'service-calls': 2,
  maintenance: 1,
};

const queueOfKind: Readonly<Record<string, QueueName>> = {
  sync: 'sync',
  'sync-all': 'maintenance',
  recount: 'sync',
  'recount-all': 'maintenance',
  snapshot: 'sync',
  'snapshot-all': 'maintenance',
  'openapi-watch': 'sync',
  'openapi-watch-all': 'maintenance',
  document: 'documents',
  // It computes for as long as a rebuild, and sealing must not wait for it.
  'check-read-models': 'documents',
  seal: 'maintenance',
  maintenance: 'maintenance',
  'settle-calls': 'maintenance',
};

/** The queue of a kind of jobs. A kind that stands in no queue calls the service: that is what the others are not. */
export function queueOf(kind: string): QueueName {
  return queueOfKind[kind] ?? 'service-calls';
}

/** Some kinds of one queue, and how many of their jobs run at once in this process. */
export interface Lane {
  readonly queue: string;
  readonly kinds: readonly string[];
  readonly concurrency: number;
}

/** The kinds, put into their queues. `concurrency` replaces the usual number of each queue. */
export function lanesOf(kinds: readonly string[], concurrency?: number): Lane[] {
  return queueNames
    .map((queue) => ({
      queue,
      kinds: kinds.filter((kind) => queueOf(kind) === queue),
      concurrency: concurrency ?? queueConcurrency[queue],
    }))
    .filter((lane) => lane.kinds.length > 0);
}

/** The kinds that a list of kinds and queues names, of those that are known. `unknown`: what is neither. */
export function selectKinds(
  names: readonly string[],
  known: readonly string[],
): { readonly kinds: readonly string[]; readonly unknown: readonly string[] } {
  const isNamed = (kind: string) => names.includes(kind) || names.includes(queueOf(kind));
  const unknown = names.filter((name) => !known.includes(name) && !known.some((kind) => queueOf(kind) === name));
  return { kinds: known.filter(isNamed), unknown };
}
