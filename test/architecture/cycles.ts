/** Groups of files that import one another in a ring (Tarjan's strongly connected components), each sorted by name. */
export function findCycles(edges: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const cycles: string[][] = [];

  const connect = (node: string): void => {
    const place = index.size;
    index.set(node, place);
    low.set(node, place);
    stack.push(node);
    onStack.add(node);
    for (const next of edges.get(node) ?? []) {
      if (!edges.has(next)) continue;
      if (!index.has(next)) connect(next);
      if (onStack.has(next)) low.set(node, Math.min(low.get(node) ?? place, low.get(next) ?? place));
    }
    if (low.get(node) !== place) return;
    const group: string[] = [];
    let member: string | undefined;
    do {
      member = stack.pop();
      if (member === undefined) break;
      onStack.delete(member);
      group.push(member);
    } while (member !== node);
    if (group.length > 1 || (edges.get(node) ?? []).includes(node)) cycles.push(group.sort());
  };
  for (const node of edges.keys()) if (!index.has(node)) connect(node);
  return cycles;
}
