import type { Block, Frame } from './blocks.ts';
import { visibleText } from './text.ts';

/** Characters per line, as mail programs wrap them. */
const WIDTH = 76;

/**
 * Renders blocks as plain text, UTF-8, to be pasted into a message: no markup, lines of at most 76 characters where
 * words allow. Throws for what text cannot show (tables, charts), which letters do not contain. The same blocks and
 * frame give the same bytes.
 */
export function renderPlain(frame: Frame, blocks: Iterable<Block>): Uint8Array {
  const parts = [...(frame.watermark === null ? [] : [`*** ${frame.watermark} ***`])];
  for (const block of blocks) {
    const text = textOf(block);
    if (text !== '') parts.push(text);
  }
  return Buffer.from(`${[...parts, `-- \n${wrap(frame.footer)}`].join('\n\n')}\n`, 'utf8');
}

function textOf(block: Block): string {
  switch (block.block) {
    case 'title':
      return wrap(block.text);
    case 'heading':
      return block.level === 2
        ? `${wrap(block.text)}\n${'-'.repeat(Math.min(WIDTH, [...block.text].length))}`
        : wrap(block.text);
    case 'paragraph':
      return wrap(block.text);
    case 'list':
      return block.items
        .map((item, i) => {
          const mark = block.ordered === true ? `${i + 1}. ` : '- ';
          return wrap(item, mark, ' '.repeat(mark.length));
        })
        .join('\n');
    case 'facts':
      return block.pairs.map(([label, value]) => `${wrap(`${label}:`)}\n${wrap(value, '  ', '  ')}`).join('\n');
    case 'lines':
      return block.lines
        .map((line) => visibleText(line))
        .join('\n')
        .replace(/(?<!\n)\n+$/, '');
    case 'notice':
      return [`*** ${visibleText(block.title)} ***`, wrap(block.text)].filter((text) => text !== '').join('\n');
    case 'gap':
      return '';
    default:
      throw new Error(`plain text has no ${block.block}`);
  }
}

/** Breaks lines between words; a word longer than a line, such as an address, stays whole. */
function wrap(text: string, first = '', next = ''): string {
  const lines: string[] = [];
  for (const paragraph of visibleText(text).split('\n')) {
    let line = lines.length === 0 ? first : next;
    let empty = true;
    for (const word of paragraph.split(' ')) {
      if (!empty && [...line].length + 1 + [...word].length > WIDTH) {
        lines.push(line);
        line = next;
        empty = true;
      }
      line += empty ? word : ` ${word}`;
      empty = false;
    }
    lines.push(line);
  }
  return lines.join('\n');
}
