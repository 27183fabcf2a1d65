/**
 * Runs `work` for each item, at most `most` concurrently; the results are in the order of the items. If one rejects, no
 * further item is begun, and its reason is thrown once the running ones have ended.
 */
export async function sideBySide<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const rest = items.entries();
  const failures: unknown[] = [];
  const workOff = async (): Promise<void> => {
    for (const [place, item] of rest) {
      if (failures.length > 0) return;
      try {
        results[place] = await work(item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, workOff));
  if (failures.length > 0) throw failures[0];
  return results;
}
