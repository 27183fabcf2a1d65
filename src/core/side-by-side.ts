/**
 * Does `work` for each item, at most `most` of them at once; the results come in the order of the items. When one rejects, no further one is begun, and
 * its reason is told once those under way have ended.
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
