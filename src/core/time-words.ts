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
  return shortSeptember(format.format(new Date(iso)));
}

let dateFormat: Intl.DateTimeFormat | null = null;

/** `21 Nov 2026` for 2026-11-21. */
export function dateText(date: string): string {
  dateFormat ??= new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' });
  return shortSeptember(dateFormat.format(new Date(`${date}T00:00:00Z`)));
}

/** Shortens `Sept`, the British English form, to three letters like every other month. */
function shortSeptember(text: string): string {
  return text.replace(' Sept ', ' Sep ');
}
