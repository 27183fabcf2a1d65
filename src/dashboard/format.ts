const formats = new Map<string, Intl.DateTimeFormat>();

/** `21 Nov 2026, 11:32` in a time zone. */
export function momentText(iso: string, timeZone: string): string {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
    formats.set(timeZone, format);
  }
  return format.format(new Date(iso));
}

const dateFormat = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'UTC',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
});

/** `21 Nov 2026` for 2026-11-21. */
export function dateText(date: string): string {
  return dateFormat.format(new Date(`${date}T00:00:00Z`));
}

/** `812 bytes`, `34 kB`, `1.2 MB` (of 1000). */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
