import type { JSX } from 'preact';
import { render } from 'preact-render-to-string';
import type { Block, Frame } from './blocks.ts';
import { layOutStackedBars, type StackedBars } from './chart.ts';
import { htmlStyle } from './html-style.ts';
import { visibleText } from './text.ts';

const CHUNK = 16_384;

/**
 * Blocks as one self-contained HTML page: no scripts, nothing loaded from elsewhere, printable. Tables of any length in constant memory.
 * The same blocks and frame give the same bytes.
 */
export async function* renderHtml(
  frame: Frame,
  blocks: Iterable<Block> | AsyncIterable<Block>,
): AsyncGenerator<Uint8Array> {
  let text = head(frame);
  let part = 0;
  for await (const block of blocks) {
    part += 1;
    for await (const piece of pieces(block, part)) {
      text += piece;
      if (text.length < CHUNK) continue;
      yield Buffer.from(text, 'utf8');
      text = '';
    }
  }
  yield Buffer.from(`${text}</main>\n${render(<footer>{show(frame.footer)}</footer>)}\n</body>\n</html>\n`, 'utf8');
}

/** Blocks without tables as HTML to stand inside another page: the text is escaped, the style is that page's own. */
export function renderHtmlPart(blocks: Iterable<Block>): string {
  let text = '';
  let part = 0;
  for (const block of blocks) {
    if (block.block === 'table') throw new Error('a table needs a page of its own');
    part += 1;
    const whole = element(block, part);
    if (whole !== null) text += render(whole);
  }
  return text;
}

function head(frame: Frame): string {
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  const metadata = (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta http-equiv="Content-Security-Policy" content={policy} />
      <meta name="generator" content={frame.producer} />
      <meta name="date" content={frame.createdAt} />
      <title>{show(frame.title)}</title>
      {/* Fixed text of this program: nothing in it comes from data. */}
      <style dangerouslySetInnerHTML={{ __html: htmlStyle }} />
    </head>
  );
  const top = (
    <header>
      <strong>{show(frame.owner)}</strong>
      <span>{show(frame.title)}</span>
    </header>
  );
  const mark = frame.watermark === null ? '' : render(<div class="watermark">{show(frame.watermark)}</div>);
  return `<!doctype html>\n<html lang="${frame.language.replace(/[^A-Za-z0-9-]/g, '')}">\n${render(metadata)}\n<body class="${frame.kind}">\n${mark}${render(top)}\n<main>\n`;
}

async function* pieces(block: Block, part: number): AsyncGenerator<string> {
  if (block.block !== 'table') {
    const whole = element(block, part);
    if (whole !== null) yield `${render(whole)}\n`;
    return;
  }
  const { columns } = block;
  let rows = 0;
  for await (const row of block.rows) {
    if (rows === 0) {
      const titles = columns.map((column) => (
        <th scope="col" class={column.align === 'right' ? 'number' : undefined}>
          {show(column.title)}
        </th>
      ));
      yield `<div class="table"><table>${render(<caption>{show(block.caption)}</caption>)}${render(
        <thead>
          <tr>{titles}</tr>
        </thead>,
      )}<tbody>\n`;
    }
    rows += 1;
    yield `${render(tableRow(columns, row))}\n`;
  }
  if (rows === 0) {
    yield `${render(
      <div class="table">
        <p class="caption">{show(block.caption)}</p>
        <p class="fine">{show(block.empty)}</p>
      </div>,
    )}\n`;
    return;
  }
  const total = block.total === undefined ? '' : `<tfoot>${render(tableRow(columns, block.total))}</tfoot>`;
  yield `</tbody>${total}</table></div>\n`;
}

function tableRow(columns: Extract<Block, { block: 'table' }>['columns'], row: readonly string[]): JSX.Element {
  return (
    <tr>
      {columns.map((column, i) => (
        <td
          class={
            [column.align === 'right' ? 'number' : '', column.face === 'mono' ? 'mono' : '']
              .filter(Boolean)
              .join(' ') || undefined
          }
        >
          {show(row[i] ?? '')}
        </td>
      ))}
    </tr>
  );
}

function element(block: Exclude<Block, { block: 'table' }>, part: number): JSX.Element | null {
  switch (block.block) {
    case 'title':
      return (
        <div class="title">
          <h1>{show(block.text)}</h1>
          {block.subtitle === undefined ? null : <p>{show(block.subtitle)}</p>}
        </div>
      );
    case 'heading':
      return block.level === 1 ? <h2>{show(block.text)}</h2> : <h3>{show(block.text)}</h3>;
    case 'paragraph':
      return <p class={block.look}>{show(block.text)}</p>;
    case 'list': {
      const items = block.items.map((item) => <li>{show(item)}</li>);
      return block.ordered === true ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case 'facts':
      return (
        <dl>
          {block.pairs.map(([label, value]) => (
            <div>
              <dt>{show(label)}</dt>
              <dd>{show(value)}</dd>
            </div>
          ))}
        </dl>
      );
    case 'figures':
      return (
        <div class="figures">
          {block.figures.map(({ value, label, note }) => (
            <p>
              <strong>{show(value)}</strong>
              <span>{show(label)}</span>
              {note === undefined ? null : <small>{show(note)}</small>}
            </p>
          ))}
        </div>
      );
    case 'chart':
      return chartFigure(block.chart, part);
    case 'notice':
      return (
        <aside class={block.tone}>
          <strong>{show(block.title)}</strong>
          {block.text === '' ? null : <p>{show(block.text)}</p>}
          {block.items === undefined || block.items.length === 0 ? null : (
            <ul>
              {block.items.map((item) => (
                <li>{show(item)}</li>
              ))}
            </ul>
          )}
        </aside>
      );
    case 'lines':
      return (
        <p class={`lines ${block.look ?? ''} ${block.align ?? ''}`.trimEnd()}>
          {block.lines.flatMap((line) => [show(line), <br />])}
        </p>
      );
    case 'verbatim':
      return <pre>{show(block.text)}</pre>;
    case 'gap':
    case 'page-break':
      return null;
  }
}

/** A stacked bar chart as a figure with an inline SVG. */
export function chartFigure(chart: StackedBars, part: number): JSX.Element {
  const [width, height] = [720, 280];
  const label = `chart-${part}`;
  return (
    <figure>
      <figcaption>{show(chart.title)}</figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-labelledby={label}>
        <desc id={label}>{show(chart.description)}</desc>
        {layOutStackedBars(chart, width, height).map((mark) =>
          mark.mark === 'path' ? (
            <path d={mark.d} fill={mark.fill ?? 'none'} stroke={mark.stroke ?? 'none'} stroke-width={mark.width} />
          ) : (
            <text
              x={mark.x}
              y={mark.y}
              font-size={mark.size}
              text-anchor={mark.anchor}
              font-weight={mark.bold ? 'bold' : undefined}
              fill={mark.fill}
            >
              {show(mark.text)}
            </text>
          ),
        )}
      </svg>
    </figure>
  );
}

function show(text: string): string {
  return visibleText(text);
}
