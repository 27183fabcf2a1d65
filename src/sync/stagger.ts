/** Milliseconds between two sources of one key, unless there are so many that they would take longer than WINDOW. */
const STEP = 5_000;
const WINDOW = 300_000;

/**
 * When each source starts, in milliseconds from now, in the order given. Sources that share a key share its rate limit, so they start one
 * after the other; a source with a key of its own starts at once.
 */
export function staggerByKey(
  sources: readonly { readonly baseUrl: string | null; readonly apiKey: string | null }[],
): number[] {
  const nameOf = ({ baseUrl, apiKey }: (typeof sources)[number]) => `${baseUrl}\n${apiKey}`;
  const sizes = new Map<string, number>();
  for (const source of sources) sizes.set(nameOf(source), (sizes.get(nameOf(source)) ?? 0) + 1);
  const places = new Map<string, number>();
  return sources.map((source) => {
    const name = nameOf(source);
    const place = places.get(name) ?? 0;
    places.set(name, place + 1);
    return Math.round(place * Math.min(STEP, WINDOW / (sizes.get(name) ?? 1)));
  });
}
