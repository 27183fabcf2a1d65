import { scaleBand, scaleLinear } from 'd3-scale';
import { stack } from 'd3-shape';
import { roughWidth } from './text.ts';

/** Stacked bars: one per category, each with the same series from bottom to top. */
export interface StackedBars {
  readonly title: string;
  /** The chart in words, for people who cannot see it. */
  readonly description: string;
  readonly xTitle: string;
  readonly yTitle: string;
  /** Labels along the x axis; as many as each series has values. Some are omitted if they would collide. */
  readonly categories: readonly string[];
  readonly series: readonly { readonly name: string; readonly colour: string; readonly values: readonly number[] }[];
}

/** Something to draw. Coordinates in points from the top left corner; paths are SVG path data. */
type Mark =
  | {
      readonly mark: 'path';
      readonly d: string;
      readonly fill: string | null;
      readonly stroke: string | null;
      readonly width: number;
    }
  | {
      readonly mark: 'text';
      readonly x: number;
      /** y of the baseline. */
      readonly y: number;
      readonly text: string;
      readonly size: number;
      readonly anchor: 'start' | 'middle' | 'end';
      readonly bold: boolean;
      readonly fill: string;
    };

export const INK = '#1c2733';
export const MUTED = '#55606e';
export const HAIR = '#d9dee5';

const SIZE = 7.5;

/** Lays out a chart as marks for both SVG and PDF. Width and height in points. */
export function layOutStackedBars(chart: StackedBars, width: number, height: number): readonly Mark[] {
  const marks: Mark[] = [];
  const legendBottom = layOutLegend(chart, width, marks);
  const plot = { left: 40, right: width - 4, top: legendBottom + 20, bottom: height - 32 };
  const totals = chart.categories.map((_, i) => chart.series.reduce((sum, one) => sum + (one.values[i] ?? 0), 0));
  const y = scaleLinear()
    .domain([0, Math.max(1, ...totals)])
    .nice(5)
    .range([plot.bottom, plot.top]);
  const x = scaleBand<number>()
    .domain(chart.categories.map((_, i) => i))
    .range([plot.left, plot.right])
    .paddingInner(0.22)
    .paddingOuter(0.11);

  marks.push(text(plot.left - 36, legendBottom + 10, chart.yTitle, 'start', MUTED));
  for (const tick of y.ticks(5).filter(Number.isInteger)) {
    if (tick !== 0) marks.push(line(`M${r(plot.left)} ${r(y(tick))}H${r(plot.right)}`, HAIR, 0.5));
    marks.push(text(plot.left - 5, y(tick) + SIZE * 0.35, tick.toLocaleString('en'), 'end', MUTED));
  }
  // In d3's stack, a datum is the index of a category and a key the index of a series.
  const stacked = stack<unknown, number, number>()
    .keys(chart.series.map((_, s) => s))
    .value((category, s) => chart.series[s]?.values[category] ?? 0)(chart.categories.map((_, i) => i));
  stacked.forEach((layer, s) => {
    const colour = chart.series[s]?.colour ?? INK;
    layer.forEach((segment, i) => {
      const [from, to] = segment;
      if (to <= from) return;
      const left = x(i) ?? 0;
      const d = `M${r(left)} ${r(y(from))}H${r(left + x.bandwidth())}V${r(y(to))}H${r(left)}Z`;
      marks.push({ mark: 'path', d, fill: colour, stroke: '#ffffff', width: x.bandwidth() > 4 ? 0.6 : 0.2 });
    });
  });
  marks.push(line(`M${r(plot.left)} ${r(plot.bottom)}H${r(plot.right)}`, MUTED, 0.8));
  const widest = Math.max(0, ...chart.categories.map((label) => roughWidth(label, SIZE)));
  const every = Math.max(1, Math.ceil((widest + 6) / Math.max(0.01, x.step())));
  chart.categories.forEach((label, i) => {
    if (i % every !== 0) return;
    const middle = (x(i) ?? 0) + x.bandwidth() / 2;
    marks.push(line(`M${r(middle)} ${r(plot.bottom)}v3`, MUTED, 0.6));
    marks.push(text(middle, plot.bottom + 12, label, 'middle', MUTED));
  });
  marks.push(text((plot.left + plot.right) / 2, height - 6, chart.xTitle, 'middle', MUTED));
  return marks;
}

/** Colour swatches and names in stacking order; returns where the legend ends. */
function layOutLegend(chart: StackedBars, width: number, marks: Mark[]): number {
  let x = 0;
  let y = 10;
  for (const { name, colour } of chart.series) {
    const taken = 12 + roughWidth(name, 8) + 14;
    if (x > 0 && x + taken > width) {
      x = 0;
      y += 13;
    }
    marks.push({ mark: 'path', d: `M${r(x)} ${r(y - 7)}h8v8h-8Z`, fill: colour, stroke: null, width: 0 });
    marks.push({ ...text(x + 12, y, name, 'start', INK), size: 8 });
    x += taken;
  }
  return y + 6;
}

function text(
  x: number,
  y: number,
  value: string,
  anchor: 'start' | 'middle' | 'end',
  fill: string,
): Mark & { mark: 'text' } {
  return { mark: 'text', x: r(x), y: r(y), text: value, size: SIZE, anchor, bold: false, fill };
}

function line(d: string, stroke: string, width: number): Mark {
  return { mark: 'path', d, fill: null, stroke, width };
}

/** Two decimals are finer than any printer. */
function r(n: number): number {
  return Math.round(n * 100) / 100;
}
