/** Optimal string alignment distance (insert, delete, replace, swap of neighbours); anything above `limit` may be `limit + 1`. */
export function editDistance(a: string, b: string, limit: number): number {
  if (a === b) return 0;
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  const at = (row: readonly number[], column: number) => row[column] ?? Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let leastBefore = 0;
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current: number[] = [];
    if (row <= limit) current[0] = row;
    let least = at(current, 0);
    // Further from the diagonal, the distance is above the limit.
    for (let column = Math.max(1, row - limit); column <= Math.min(b.length, row + limit); column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      }
      current[column] = cost;
      least = Math.min(least, cost);
    }
    // A row is computed from the two before it, so its distance cannot be smaller than theirs.
    if (least > limit && leastBefore > limit) return limit + 1;
    leastBefore = least;
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}
