import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../context/context.ts';
import { addressGroup } from '../core/address.ts';
import { CodedError } from '../core/errors.ts';
import { publishedCheckpoint, sealedSize } from '../ledger/published-checkpoint.ts';
import { openTiles, parseTilePath, type Tile } from '../ledger/tiles.ts';

/** What publishing the tree needs. */
export type TilesContext = Pick<Context, 'config' | 'store' | 'epoch' | 'cosigned' | 'clock' | 'log'>;

/** Requests per address and minute: a watcher that begins with a million entries takes 7 minutes. */
const REQUESTS_PER_MINUTE = 600;
/** Tiles above level 0 that wait to be computed; further requests are refused. */
const WAITING = 32;
/** Milliseconds for which the checkpoint is reused, here and by caches. */
const CHECKPOINT_MS = 1000;

/**
 * `<epoch>/checkpoint` and `<epoch>/tile/<level>/<index>[.p/<width>]`: the tree's hashes and newest checkpoint for
 * anyone (c2sp.org/tlog-tiles), so that others can see that the ledger is only ever extended. Each epoch is a log of its
 * own, whose tiles never change. Entries are not served.
 */
export async function tileRoutes(app: FastifyInstance, context: TilesContext): Promise<void> {
  const { store, epoch, clock, config, log } = context;
  const tiles = openTiles(store.read);
  let waiting = 0;
  let turn: Promise<unknown> = Promise.resolve();
  let last: { readonly at: number; readonly note: Promise<string | null> } | null = null;

  async function load(): Promise<string | null> {
    const since = new Date(clock().getTime() - config.witnessMaxAgeHours * 3_600_000);
    const cosigned = await context.cosigned().catch((error: unknown) => {
      log.warn({ err: error }, 'WITNESSES cannot be read: the newest checkpoint is published without cosignatures');
      return { folder: '', policy: null, now: clock() };
    });
    return publishedCheckpoint(store.read, epoch, cosigned, since);
  }

  /** One after another: a tile of a high level may need many reads. */
  async function inTurn(tile: Tile, size: number): Promise<Buffer | null> {
    if (waiting >= WAITING) throw new CodedError('too_many_requests');
    waiting += 1;
    const mine = turn.then(() => tiles.read(tile, size));
    turn = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      waiting -= 1;
    }
  }

  function checkEpoch(asked: string): void {
    if (asked !== String(epoch))
      throw new CodedError('not_found', `The ledger is in epoch ${epoch}: use ${epoch} in the address.`);
  }

  await app.register(rateLimit, {
    max: REQUESTS_PER_MINUTE,
    timeWindow: '1 minute',
    keyGenerator: (request) => addressGroup(request.ip),
  });

  // What is not there may be there a moment later.
  app.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode >= 400) reply.header('cache-control', 'no-store');
  });

  app.get<{ Params: { epoch: string } }>('/:epoch/checkpoint', async (request, reply) => {
    checkEpoch(request.params.epoch);
    const now = performance.now();
    if (last === null || now - last.at > CHECKPOINT_MS) {
      const note = load();
      last = { at: now, note };
      note.catch(() => (last = null));
    }
    const note = await last.note;
    if (note === null)
      throw new CodedError('not_found', 'There is no checkpoint yet: the ledger is sealed every five minutes.');
    return reply
      .type('text/plain; charset=utf-8')
      .header('cache-control', `public, max-age=${CHECKPOINT_MS / 1000}`)
      .send(note);
  });

  app.get<{ Params: { epoch: string; '*': string } }>('/:epoch/tile/*', async (request, reply) => {
    checkEpoch(request.params.epoch);
    const tile = parseTilePath(request.params['*']);
    if (tile === null) throw new CodedError('not_found', 'There is no such tile (c2sp.org/tlog-tiles).');
    const size = await sealedSize(store.read, epoch);
    const bytes = tile.level === 0 ? await tiles.read(tile, size) : await inTurn(tile, size);
    if (bytes === null)
      throw new CodedError('not_found', 'No checkpoint covers this tile, or an entry under it is missing.');
    return reply
      .type('application/octet-stream')
      .header('cache-control', 'public, max-age=31536000, immutable')
      .send(bytes);
  });
}
