import { describe, expect, it } from 'vitest';
import { followCursors, type PageRequest, type WalkPage } from '../../src/sync/follow-cursors.ts';

const readPage = (page: WalkPage) => Promise.resolve(page);

/** Walks over pages given as `cursor → [identity, next cursor]`; resolves with the outcome in words. */
async function walk(
  pages: Record<string, [string | null, string | null]>,
  options: { cursor?: string } = {},
): Promise<string[]> {
  const out: string[] = [];
  const fetchPage = ({ cursor }: PageRequest): Promise<WalkPage> => {
    const page = pages[cursor ?? 'start'];
    if (page === undefined) return Promise.reject(new Error(`no page at ${cursor}`));
    return Promise.resolve({ identity: page[0], nextCursor: page[1] });
  };
  for await (const step of followCursors({ fetchPage, readPage, cursor: options.cursor ?? null, signal: undefined })) {
    out.push(
      step.type === 'page'
        ? (step.page.identity ?? '-')
        : `${step.fault.reason} ${'earlierPage' in step.fault ? step.fault.earlierPage : ''}`,
    );
  }
  return out;
}

describe('following cursors', () => {
  it('yields every page up to the one without a next cursor', async () => {
    expect(await walk({ start: ['a', '1'], 1: [null, '2'], 2: ['b', null] })).toEqual(['a', '-', 'b']);
  });

  it('ends at a cursor that leads back, at the latest when the loop closes', async () => {
    expect(await walk({ start: ['a', '1'], 1: ['b', '2'], 2: ['c', '1'] })).toEqual([
      'a',
      'b',
      'c',
      'looping-cursor 1',
    ]);
    expect(await walk({ 1: ['b', '2'], 2: ['c', '1'] }, { cursor: '1' })).toEqual(['b', 'c', 'looping-cursor 0']);
  });

  it('tries a cursor that leads to its own page three more times', async () => {
    expect(await walk({ start: ['a', '1'], 1: ['b', '1'] })).toEqual(['a', 'b', 'b', 'b', 'b', 'looping-cursor 1']);
    let asked = 0;
    const fetchPage = ({ cursor }: PageRequest): Promise<WalkPage> => {
      if (cursor === null) return Promise.resolve({ identity: 'a', nextCursor: '1' });
      asked += 1;
      return Promise.resolve(asked === 1 ? { identity: null, nextCursor: '1' } : { identity: 'b', nextCursor: null });
    };
    const types: string[] = [];
    for await (const step of followCursors({ fetchPage, readPage, cursor: null, signal: undefined }))
      types.push(step.type);
    expect(types).toEqual(['page', 'page', 'page']);
  });

  it('continues if a page that was requested three more times finally leads on', async () => {
    let asked = 0;
    const fetchPage = ({ cursor }: PageRequest): Promise<WalkPage> => {
      if (cursor === '1') asked += 1;
      const next = { '': '1', 1: asked <= 3 ? '1' : '2' }[cursor ?? ''] ?? null;
      return Promise.resolve({ identity: cursor ?? 'start', nextCursor: next });
    };
    const out: string[] = [];
    for await (const step of followCursors({ fetchPage, readPage, cursor: null, signal: undefined })) {
      out.push(step.type === 'page' ? (step.page.identity ?? '') : step.fault.reason);
    }
    expect(out).toEqual(['start', '1', '1', '1', '1', '2']);
  });

  it('ends when new cursors lead to the same rows again and again', async () => {
    expect(await walk({ start: ['a', '1'], 1: ['b', '2'], 2: ['a', '3'], 3: ['a', '4'], 4: ['a', '5'] })).toEqual([
      'a',
      'b',
      'a',
      'a',
      'a',
      'a',
      'a',
      'repeating-page 1',
    ]);
  });

  it.each([
    ['that leads on beyond them', '3'],
    ['that is the last', null],
  ])('requests a page once more if it has the rows of an earlier one, %s', async (_, beyond) => {
    let asked = 0;
    const fetchPage = async ({ cursor }: PageRequest): Promise<WalkPage> => {
      if (cursor === '2') asked += 1;
      const page = { '': ['a', '1'], 1: ['b', '2'], 2: [asked === 1 ? 'b' : 'c', beyond], 3: ['d', null] }[
        cursor ?? ''
      ];
      if (page === undefined) throw new Error(`no page at ${cursor}`);
      return { identity: page[0] ?? null, nextCursor: page[1] ?? null };
    };
    const out: string[] = [];
    for await (const step of followCursors({ fetchPage, readPage, cursor: null, signal: undefined })) {
      out.push(step.type === 'page' ? `${step.page.identity} ${step.page.nextCursor}` : step.fault.reason);
    }
    expect(out).toEqual(['a 1', 'b 2', 'b 2', `c ${beyond}`, ...(beyond === null ? [] : ['d null'])]);
  });

  it('does not treat the last page as a fault', async () => {
    // A page with the rows of an earlier one is requested twice.
    expect(await walk({ start: ['a', '1'], 1: ['a', '2'], 2: ['a', null] })).toEqual(['a', 'a', 'a', 'a', 'a']);
  });

  it('yields the pages before a failure', async () => {
    const seen: string[] = [];
    const fetchPage = ({ cursor }: PageRequest): Promise<WalkPage> =>
      cursor === null ? Promise.resolve({ identity: 'a', nextCursor: '1' }) : Promise.reject(new Error('away'));
    await expect(
      (async () => {
        for await (const step of followCursors({ fetchPage, readPage, cursor: null, signal: undefined }))
          seen.push(step.type);
      })(),
    ).rejects.toThrow('away');
    expect(seen).toEqual(['page']);
  });

  it('stops the fetch under way when the loop exits early', async () => {
    let signal: AbortSignal | undefined;
    const fetchPage = (request: PageRequest): Promise<WalkPage> => {
      signal = request.signal;
      return Promise.resolve({ identity: 'a', nextCursor: String(request.number) });
    };
    for await (const step of followCursors({ fetchPage, readPage, cursor: null, signal: undefined }))
      if (step.type === 'page') break;
    expect(signal?.aborted).toBe(true);
  });

  it('requests one page ahead of the caller, and no more', async () => {
    const asked: number[] = [];
    const read: number[] = [];
    const fetchPage = ({ number }: PageRequest): Promise<WalkPage> => {
      asked.push(number);
      return Promise.resolve({ identity: String(number), nextCursor: number === 6 ? null : String(number) });
    };
    const readPage = (page: WalkPage, { number }: PageRequest) => {
      read.push(number);
      return Promise.resolve(page);
    };
    const held: [number, number][] = [];
    for await (const step of followCursors({ fetchPage, readPage, cursor: null, signal: undefined })) {
      expect(step.type).toBe('page');
      for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
      held.push([asked.length, read.length]);
    }
    expect(held).toEqual([
      [2, 2],
      [3, 3],
      [4, 4],
      [5, 5],
      [6, 6],
      [6, 6],
    ]);
  });
});
