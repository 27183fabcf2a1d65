import { InvalidArgumentError } from 'commander';

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses a flag like `90s`, `10m`, `24h` or `7d` into milliseconds. */
export function durationFrom(text: string): number {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (number === undefined || unit === undefined || Number(number) === 0)
    throw new InvalidArgumentError('Use a number and a unit: 90s, 10m, 24h, 7d.');
  return Number(number) * units[unit as keyof typeof units];
}
