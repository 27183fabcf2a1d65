const CHUNK = 16_384;

/** An object as indented JSON. Members that are async iterables become arrays, written as they come, in constant memory. */
export async function* renderJson(members: Readonly<Record<string, unknown>>): AsyncGenerator<Uint8Array> {
  let text = '{';
  let first = true;
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    text += `${first ? '' : ','}\n  ${JSON.stringify(name)}: `;
    first = false;
    if (!isAsyncIterable(value)) {
      text += indent(JSON.stringify(value, null, 2), '  ');
      continue;
    }
    let empty = true;
    text += '[';
    for await (const item of value) {
      text += `${empty ? '' : ','}\n    ${JSON.stringify(item)}`;
      empty = false;
      if (text.length >= CHUNK) {
        yield Buffer.from(text, 'utf8');
        text = '';
      }
    }
    text += empty ? ']' : '\n  ]';
  }
  yield Buffer.from(`${text}${first ? '' : '\n'}}\n`, 'utf8');
}

function indent(json: string, by: string): string {
  return json.replaceAll('\n', `\n${by}`);
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
