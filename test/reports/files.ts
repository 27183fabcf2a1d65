import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs a program on a file of these bytes. Fails if the program is missing, so nothing is skipped silently. */
function overFile(bytes: Buffer, ending: string, program: string, args: (file: string) => string[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'reports-file-'));
  try {
    const file = join(folder, `file.${ending}`);
    writeFileSync(file, bytes);
    return execFileSync(program, args(file), { maxBuffer: 64 * 1024 * 1024 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The text of a PDF in reading order, with form feeds between pages (pdftotext of poppler-utils). */
export function pdfText(pdf: Buffer): string {
  return overFile(pdf, 'pdf', 'pdftotext', (file) => ['-layout', '-enc', 'UTF-8', file, '-']).toString('utf8');
}

/** The output of pdfinfo for a PDF; with `structure` its tags. */
export function pdfInfo(pdf: Buffer, ...more: string[]): string {
  return overFile(pdf, 'pdf', 'pdfinfo', (file) => [...more, file]).toString('utf8');
}

export function pdfFonts(pdf: Buffer): string {
  return overFile(pdf, 'pdf', 'pdffonts', (file) => [file]).toString('utf8');
}

/** A file attached to a PDF. */
export function pdfAttachment(pdf: Buffer, name: string): Buffer {
  return overFile(pdf, 'pdf', 'qpdf', (file) => [`--show-attachment=${name}`, file]);
}

/** Names of the files of a ZIP archive, in its order. */
export function zipNames(zip: Buffer): string[] {
  return overFile(zip, 'zip', 'unzip', (file) => ['-Z1', file])
    .toString('utf8')
    .trim()
    .split('\n');
}

/** One file of a ZIP archive. */
export function zipFile(zip: Buffer, name: string): Buffer {
  return overFile(zip, 'zip', 'unzip', (file) => ['-p', file, name]);
}

/** The number of pages of a PDF, and how far down the last one is filled, from 0 to 1, without headers and footers. */
export function lastPage(pdf: Buffer): { readonly pages: number; readonly filled: number } {
  const boxes = overFile(pdf, 'pdf', 'pdftotext', (file) => ['-bbox', file, '-']).toString('utf8');
  const pages = boxes.split('<page ').slice(1);
  const [top, bottom] = [78, 776];
  const ends = [...(pages.at(-1) ?? '').matchAll(/yMin="([\d.]+)" xMax="[\d.]+" yMax="([\d.]+)"/g)]
    .map(([, from, to]) => [Number(from), Number(to)] as const)
    .filter(([from, to]) => from >= top - 2 && to <= bottom + 4);
  const end = Math.max(top, ...ends.map(([, to]) => to));
  return { pages: pages.length, filled: (end - top) / (bottom - top) };
}
