import type { JSX } from 'preact';
import { render } from 'preact-render-to-string';
import type { Block, Frame } from './blocks.ts';
import { layOutStackedBars, type StackedBars } from './chart.ts';
import { visibleText } from './text.ts';

const CHUNK = 16_384;

/**
 * Renders blocks as one self-contained HTML page: no scripts, no external resources, printable. Tables of any length in
 * constant memory. The same blocks and frame give the same bytes.
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

/** Renders blocks without tables as HTML for use in another page. The text is escaped; the style is that page's. */
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
      {/* Fixed text of this program; contains no data. */}
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
function chartFigure(chart: StackedBars, part: number): JSX.Element {
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

/** The style sheet of HTML documents, included in each. All text has a contrast of at least 4.5 to 1. */
const htmlStyle = `
:root{color-scheme:light;--ink:#1c2733;--muted:#55606e;--hair:#d9dee5;--ground:#f2f5f8}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1.5rem 1.25rem 3rem;background:#fff;color:var(--ink);font:15px/1.5 system-ui,"Segoe UI","DejaVu Sans",sans-serif}
header{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.25rem 2rem;padding-bottom:.6rem;border-bottom:1px solid var(--hair);font-size:.85rem}
header span,footer{color:var(--muted)}
footer{margin-top:3rem;padding-top:.6rem;border-top:1px solid var(--hair);font-size:.8rem;overflow-wrap:anywhere}
h1{font-size:2rem;line-height:1.2;margin:2rem 0 .3rem}
.title p{margin:0 0 1.5rem;color:var(--muted);font-size:1.05rem}
h2{font-size:1.3rem;margin:2.4rem 0 .6rem}
h3{font-size:1rem;margin:1.6rem 0 .3rem}
p{margin:0 0 .7rem;max-width:46rem}
.lead{font-size:1.08rem}.strong{font-weight:600}.fine{font-size:.83rem;color:var(--muted)}
ul,ol{margin:0 0 .9rem;padding-left:1.4rem;max-width:46rem}li{margin:.15rem 0}
dl{margin:0 0 1.2rem}dl div{display:grid;grid-template-columns:minmax(8rem,13rem) 1fr;gap:0 1rem;padding:.15rem 0}
dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere;white-space:pre-line}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.8rem;margin:0 0 1.4rem}
.figures p{margin:0;padding:.8rem .9rem;background:var(--ground);border-radius:4px}
.figures strong{display:block;font-size:1.6rem;line-height:1.2}.figures span{display:block;font-size:.87rem}.figures small{color:var(--muted)}
.table{overflow-x:auto;margin:0 0 1.4rem}
table{border-collapse:collapse;width:100%;font-size:.87rem}
caption,.caption,figcaption{text-align:left;font-weight:600;padding:0 0 .4rem;margin:0;font-size:.92rem}
th{background:#e9eef3;text-align:left;vertical-align:bottom;padding:.4rem .5rem;font-weight:600}
td{vertical-align:top;padding:.35rem .5rem;border-bottom:1px solid var(--hair);overflow-wrap:break-word}
tfoot td{font-weight:600}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.mono,pre{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:.8rem;overflow-wrap:anywhere}
pre{background:var(--ground);padding:.8rem;overflow-x:auto;white-space:pre-wrap}
figure{margin:0 0 1.4rem}svg{width:100%;height:auto;font-family:inherit}
aside{border-left:4px solid #1f5a92;background:#eff5fa;padding:.8rem 1rem;margin:0 0 1.4rem}
aside.warning{border-color:#b45309;background:#fdf6ec}
aside p,aside ul{margin:.2rem 0 0}
.lines.muted{color:var(--muted);font-size:.87rem}.lines.right{text-align:right;max-width:none}
.watermark{position:fixed;inset:0;display:grid;place-items:center;font-size:22vmin;font-weight:700;color:#8a1c1c;opacity:.07;transform:rotate(-35deg);pointer-events:none;z-index:1}
@media(max-width:40rem){dl div{grid-template-columns:minmax(0,1fr);padding-bottom:.5rem}}
@page{size:A4;margin:18mm 18mm 20mm}
@media print{body{max-width:none;padding:0;font-size:9.5pt}thead{display:table-header-group}tr,aside,figure,.figures p{break-inside:avoid}h2,h3,caption{break-after:avoid}}
`.trim();
