import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

/** The middle value (the upper one of two). */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** Median milliseconds that this folder's disk takes to sync a 64 KiB write. */
export function medianSync(folder: string): number {
  const path = `${folder}/sync-probe`;
  const file = openSync(path, 'w');
  const block = Buffer.alloc(65_536, 1);
  const times: number[] = [];
  for (let i = 0; i < 200; i += 1) {
    writeSync(file, block, 0, block.length, i * block.length);
    const started = performance.now();
    fdatasyncSync(file);
    times.push(performance.now() - started);
  }
  closeSync(file);
  rmSync(path);
  return median(times);
}

/** Reports on standard error what is being measured: some take minutes. */
export function report(doing: string): void {
  console.error(`${new Date().toISOString().slice(11, 19)} ${doing}`);
}

/** One line of the benchmark's output. */
export interface Figure {
  readonly name: string;
  readonly value: string;
  readonly baseline: string;
  readonly ratio: number | null;
  readonly wanted: string;
  readonly reached: boolean | null;
}

/** Runs work with a temporary folder, which is removed afterwards. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-bench-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
