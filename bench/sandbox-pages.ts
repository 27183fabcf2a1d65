interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly next_cursor: string | null;
}

/**
 * Follows the consent log to its end or until it has `most` rows; returns the number of rows. Fails on any status but
 * 200, and if a page repeats.
 */
export async function pageThrough(
  baseUrl: string,
  apiKey: string,
  afterPage: (count: number) => Promise<void>,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  let cursor: string | null = null;
  let last = '';
  let count = 0;
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await fetch(`${baseUrl}/consent/logs?limit=200${query}`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    if (answer.status !== 200) throw new Error(`the sandbox answered ${answer.status}`);
    const page = (await answer.json()) as Page;
    const first = page.data[0]?.id ?? '';
    if (first === last && first !== '') throw new Error('a page came twice');
    last = first;
    count += page.data.length;
    cursor = page.next_cursor;
    await afterPage(count);
  } while (cursor !== null && count < most);
  return count;
}
