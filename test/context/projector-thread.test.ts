import { EventEmitter } from 'node:events';
import { expect, test, vi } from 'vitest';
import { createProjectorThread, type FromThread, type ToThread } from '../../src/context/projector-thread.ts';
import { CodedError, StoreUnavailable } from '../../src/core/errors.ts';
import { createLog } from '../../src/log/log.ts';

/** A fake thread that keeps its calls and answers as the test specifies. */
class FakeThread extends EventEmitter {
  readonly asked: ToThread[] = [];
  postMessage(asked: ToThread): void {
    this.asked.push(asked);
  }
  say(said: FromThread): void {
    this.emit('message', said);
  }
  /** The id of the last call of this method. */
  idOf(method: string): number {
    const call = this.asked.findLast((one) => one.type === 'call' && one.method === method);
    if (call?.type !== 'call') throw new Error(`nobody called ${method}`);
    return call.id;
  }
}

function createWorld(onMisplaced: (reason: string) => Promise<unknown> = async () => undefined) {
  const threads: FakeThread[] = [];
  const projector = createProjectorThread({
    database: { engine: 'sqlite', path: '/nowhere' },
    log: createLog('silent'),
    onMisplaced,
    openThread: () => {
      const thread = new FakeThread();
      threads.push(thread);
      return thread as never;
    },
  });
  return { projector, threads };
}

test('the projector starts no thread before there is something to do', async () => {
  const { projector, threads } = createWorld();
  expect(threads).toEqual([]);
  await projector.close();
  expect(threads).toEqual([]);
});

test('the projector rejects calls with the error that the thread had, of the same class', async () => {
  const { projector, threads } = createWorld();
  const [first, second] = [projector.catchUp(), projector.projected(7)];
  const [thread] = threads;
  const error = { type: 'StoreUnavailable', message: 'the disk is full', stack: undefined, code: null };
  thread?.say({ type: 'answer', id: thread.idOf('catchUp'), error });
  thread?.say({
    type: 'answer',
    id: thread.idOf('projected'),
    error: { ...error, type: 'CodedError', code: 'conflict' },
  });
  await expect(first).rejects.toThrow(new StoreUnavailable('the disk is full'));
  await expect(second).rejects.toBeInstanceOf(CodedError);
});

test('the projector restarts a thread that ended unexpectedly, and rejects its pending calls', async () => {
  vi.useFakeTimers();
  try {
    const { projector, threads } = createWorld();
    projector.start();
    const waiting = projector.projected(3);
    threads[0]?.emit('exit', 1);
    await expect(waiting).rejects.toThrow(StoreUnavailable);
    await vi.advanceTimersByTimeAsync(5000);
    expect(
      threads.map(({ asked }) => asked.filter((one) => one.type === 'call' && one.method === 'start').length),
    ).toEqual([1, 1]);
    const closing = projector.close();
    threads[1]?.say({ type: 'answer', id: threads[1].idOf('close') });
    threads[1]?.emit('exit', 0);
    await closing;
    await vi.advanceTimersByTimeAsync(5000);
    expect(threads.length).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

test('the projector is as far behind as the thread last said', async () => {
  const { projector, threads } = createWorld();
  projector.start();
  expect(projector.behindMs()).toBe(0);
  threads[0]?.say({ type: 'position', seq: 10, behindMs: 45_000 });
  expect([projector.position(), projector.behindMs()]).toEqual([10, 45_000]);
});

test('a comparison reports its progress, and ends in both threads when that throws', async () => {
  const { projector, threads } = createWorld();
  const told: number[] = [];
  const comparing = projector.compare(true, (done, total) => {
    if (done === 30) throw new Error('the job was cancelled');
    told.push(done, total);
  });
  const [thread] = threads;
  const id = thread?.idOf('compare') ?? 0;
  expect(thread?.asked.at(-1)).toMatchObject({ method: 'compare', takesOver: true });
  for (const done of [10, 20, 30]) thread?.say({ type: 'progress', id, done, total: 40 });
  await expect(comparing).rejects.toThrow('the job was cancelled');
  expect(told).toEqual([10, 40, 20, 40]);
  expect(thread?.asked.at(-1)).toEqual({ type: 'cancel', id });
  // One that has not noticed yet.
  thread?.say({ type: 'progress', id, done: 40, total: 40 });
  const report = { seq: 40, position: null, counts: {}, differences: [], indexes: [] };
  const again = projector.compare(false);
  thread?.say({ type: 'answer', id: thread.idOf('compare'), value: report });
  expect(await again).toEqual(report);
});

test('the projector tells the thread of appends beyond its position, many in one message', async () => {
  vi.useFakeTimers();
  try {
    const { projector, threads } = createWorld();
    let append: (seq: number) => void = () => undefined;
    projector.start((listener) => {
      append = listener;
      return () => undefined;
    });
    threads[0]?.say({ type: 'position', seq: 10, behindMs: 0 });
    for (const seq of [9, 10]) append(seq);
    await vi.advanceTimersByTimeAsync(100);
    const told = () => threads[0]?.asked.flatMap((one) => (one.type === 'appended' ? [one.seq] : []));
    expect(told()).toEqual([]);
    for (const seq of [11, 12, 13]) append(seq);
    await vi.advanceTimersByTimeAsync(100);
    expect(told()).toEqual([13]);
    expect(projector.position()).toBe(10);
  } finally {
    vi.useRealTimers();
  }
});

test('the projector corrects a position in this thread and reports the result', async () => {
  const onMisplaced = vi.fn(async () => Promise.reject(new CodedError('conflict')));
  const { projector, threads } = createWorld(onMisplaced);
  projector.start();
  threads[0]?.say({ type: 'misplaced', reason: 'it was set back' });
  await vi.waitFor(() =>
    expect(threads[0]?.asked.at(-1)).toMatchObject({ type: 'put-right', error: { code: 'conflict' } }),
  );
  expect(onMisplaced).toHaveBeenCalledWith('it was set back');
});
