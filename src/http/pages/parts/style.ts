import { sha256Hex } from '../../../crypto/hash.ts';

/** The stylesheet of the officers' pages: one file without external resources. Colours have a contrast of at least 4.5 : 1. */
export const stylesheet = `
:root {
  --ink: #1b2430; --soft: #556070; --line: #d9dfe7; --paper: #ffffff; --ground: #f4f6f9; --accent: #14527d; --accent-deep: #0d3b5c;
  --bad: #9c1c1c; --bad-ground: #fdecea; --warn: #7a4b00; --warn-ground: #fdf3dc; --good: #1c5e36; --good-ground: #e6f4ea; --calm-ground: #e9eef4;
  --warn-edge: #b97a00; --edge: #7d8896; --rule: #b8c2cf; --on-accent: #ffffff; --top: #0d3b5c; --on-top: #ffffff; --good-bar: #3f8f5c; --bad-bar: #c0392b; color-scheme: light dark;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e9f0; --soft: #a6b1bf; --line: #333d49; --paper: #1b222b; --ground: #12171d; --accent: #86bfea; --accent-deep: #b4d9f5;
    --bad: #ffb3ab; --bad-ground: #43201e; --warn: #f2c574; --warn-ground: #3b2f16; --good: #9ad7ad; --good-ground: #1b3826; --calm-ground: #2a333f;
    --warn-edge: #d39a2d; --edge: #8895a5; --rule: #4a5664; --on-accent: #0b1a26; --top: #0c2436;
  }
}
* { box-sizing: border-box; }
html { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; color: var(--ink); background: var(--ground); }
body { margin: 0; }
a { color: var(--accent); text-underline-offset: 0.15em; }
a:hover { color: var(--accent-deep); }
:focus-visible, input[type^="date"]:focus-within { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; left: -100rem; top: 0; background: var(--paper); padding: 0.5rem 1rem; z-index: 2; }
.skip:focus { left: 0; }
.top { background: var(--top); color: var(--on-top); }
.top-inner { max-width: 76rem; margin: 0 auto; padding: 0.6rem 1.25rem; display: flex; flex-wrap: wrap; gap: 0.4rem 1.5rem; align-items: center; }
.top a { color: var(--on-top); }
.top :focus-visible { outline-color: var(--on-top); }
.brand { font-weight: 650; letter-spacing: 0.01em; text-decoration: none; margin-right: auto; }
.top nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin: 0; padding: 0; }
.top nav a[aria-current] { text-decoration-thickness: 2px; font-weight: 600; }
.beside { background: var(--paper); border-bottom: 1px solid var(--line); }
.beside ul { list-style: none; max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; display: flex; flex-wrap: wrap; gap: 0 1.5rem; font-size: 0.9375rem; }
.beside a { display: block; padding: 0.45rem 0; text-decoration: none; white-space: nowrap; }
.beside a:hover { text-decoration: underline; }
.beside a[aria-current] { color: var(--ink); font-weight: 600; box-shadow: inset 0 -3px var(--accent); }
.top .menu { display: none; }
#menu { display: block; position: static; inset: auto; width: auto; height: auto; margin: 0; padding: 0; border: 0; overflow: visible; background: none; color: inherit; }
.who { display: flex; margin-left: auto; align-items: center; gap: 0.75rem; font-size: 0.925rem; }
.who form { margin: 0; }
.switch { display: flex; gap: 0.25rem; align-items: center; }
.switch select { max-width: 11rem; padding: 0.15rem 0.3rem; font-size: inherit; color: var(--ink); background: var(--paper); }
.top button { background: transparent; border: 1px solid #b9cddd; color: var(--on-top); padding: 0.2rem 0.7rem; }
.top button:hover { background: #ffffff; color: #0d3b5c; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
main:focus { outline: none; }
footer { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem 2rem; color: var(--soft); font-size: 0.875rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 0.25rem; letter-spacing: -0.01em; }
h1, h2, h3 { overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 0 0 0.75rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 0.35rem; }
p { margin: 0 0 0.75rem; max-width: 46rem; }
.lead { font-size: 1.1rem; color: var(--ink); margin-bottom: 1.25rem; }
.soft, .hint { color: var(--soft); }
.hint { font-size: 0.875rem; margin: 0.15rem 0 0; }
button + .hint, form + .hint { margin-top: 0.75rem; }
h1 + .panel, h1 + form { margin-top: 1rem; }
.small { font-size: 0.875rem; }
.mono { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 0.875em; overflow-wrap: anywhere; }
.panel { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 1.1rem 1.25rem 1.25rem; margin: 0 0 1.25rem; container-type: inline-size; }
.columns { display: grid; grid-template-columns: minmax(0, 3fr) minmax(17rem, 2fr); gap: 0 1.25rem; align-items: start; }
.notice { border-left: 5px solid var(--accent); background: var(--calm-ground); padding: 0.7rem 1rem; margin: 0 0 1.25rem; border-radius: 0 6px 6px 0; }
.notice > :last-child { margin-bottom: 0; }
.notice ul { margin: 0.25rem 0 0; padding-left: 1.2rem; }
.notice.warn { border-color: var(--warn-edge); background: var(--warn-ground); }
.notice.bad { border-color: var(--bad); background: var(--bad-ground); }
.notice.good { border-color: var(--good); background: var(--good-ground); }
.warnings { list-style: none; padding: 0; margin: 0 0 1.25rem; }
.warnings li { border-left: 5px solid var(--warn-edge); background: var(--warn-ground); padding: 0.6rem 1rem; margin-bottom: 0.5rem; border-radius: 0 6px 6px 0; }
.warnings strong { display: block; font-weight: 600; }
table { border-collapse: collapse; width: 100%; font-size: 0.9375rem; }
caption { text-align: left; color: var(--soft); font-size: 0.875rem; padding-bottom: 0.5rem; }
th, td { text-align: left; vertical-align: top; padding: 0.55rem 0.75rem 0.55rem 0; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
thead th { font-size: 0.8125rem; color: var(--soft); font-weight: 600; border-bottom-color: var(--rule); padding-top: 0; }
tbody th { font-weight: 500; }
tbody tr:last-child > * { border-bottom: 0; padding-bottom: 0.1rem; }
th:last-child, td:last-child { padding-right: 0; }
table.stacks + :is(p, details, form), table + p { margin-top: 0.75rem; }
table .mono { white-space: nowrap; }
.outside, bdi, summary code { overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
dd .lines, td .lines, p.lines, blockquote.lines { white-space: pre-line; }
.bars { margin: 0; }
.bars svg { display: block; width: 100%; height: 7rem; border-bottom: 1px solid var(--rule); }
.bars rect.calm, .key.calm { fill: var(--accent); background: var(--accent); }
.bars rect.good, .key.good { fill: var(--good-bar); background: var(--good-bar); }
.bars rect.warn, .key.warn { fill: var(--warn-edge); background: var(--warn-edge); }
.bars rect.bad, .key.bad { fill: var(--bad-bar); background: var(--bad-bar); }
.bars .key { display: inline-block; width: 0.7rem; height: 0.7rem; border-radius: 2px; }
.bars figcaption { font-size: 0.9375rem; margin-bottom: 0.75rem; }
.bars .ends { display: flex; justify-content: space-between; margin: 0.2rem 0 0; max-width: none; }
pre.content { margin: 0; font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 0.875rem; white-space: pre-wrap; overflow-wrap: anywhere; }
table.difference { table-layout: fixed; font-size: 0.9375rem; }
.difference td { width: 50%; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 0; overflow-wrap: anywhere; }
.difference .gap td { padding: 0.6rem 0; border-bottom: 1px solid var(--line); color: var(--soft); font-size: 0.8125rem; }
.difference del { display: block; text-decoration: none; background: var(--bad-ground); color: var(--bad); padding: 0 0.35rem; }
.difference ins { display: block; text-decoration: none; background: var(--good-ground); color: var(--good); padding: 0 0.35rem; }
.difference del::before { content: "− "; }
.difference ins::before { content: "+ "; }
.trust { max-width: none; }
.pages { display: flex; gap: 1.5rem; margin: 0.75rem 0 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
@media (min-width: 70rem) { td time { white-space: nowrap; } }
.badge { display: inline-block; padding: 0.05rem 0.55rem; border-radius: 999px; font-size: 0.8125rem; font-weight: 600; white-space: nowrap; background: var(--calm-ground); color: var(--ink); }
.badge.bad { background: var(--bad-ground); color: var(--bad); }
.badge.warn { background: var(--warn-ground); color: var(--warn); }
.badge.good { background: var(--good-ground); color: var(--good); }
dl.facts { display: grid; grid-template-columns: minmax(8rem, max-content) minmax(0, 1fr); gap: 0.35rem 1.25rem; margin: 0; }
dl.facts dt { color: var(--soft); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
ul.plain, ol.plain { margin: 0 0 0.75rem; padding-left: 1.2rem; }
ul.plain li, ol.plain li { margin-bottom: 0.25rem; }
blockquote { margin: 0; padding: 0.5rem 0.9rem; border-left: 3px solid var(--line); white-space: pre-wrap; overflow-wrap: anywhere; }
form { margin: 0; }
.field { margin-bottom: 0.85rem; }
.moment { display: grid; grid-template-columns: 3fr 2fr; gap: 0.5rem; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; }
.pair > .wide { grid-column: 1 / -1; }
.pair.thirds { grid-template-columns: repeat(3, minmax(0, 1fr)); }
label, legend { display: block; font-weight: 600; font-size: 0.925rem; margin-bottom: 0.2rem; }
label .optional { font-weight: 400; color: var(--soft); }
input, select, textarea { font: inherit; color: inherit; width: 100%; padding: 0.4rem 0.55rem; border: 1px solid var(--edge); border-radius: 5px; background: var(--paper); min-height: 2.5rem; }
input.drop { padding: 1.5rem 1rem; border-style: dashed; }
textarea { min-height: 5rem; resize: vertical; }
button, .button { font: inherit; font-weight: 600; cursor: pointer; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); border-radius: 6px; padding: 0.45rem 1.1rem; text-decoration: none; display: inline-block; }
button:hover, .button:hover { background: var(--accent-deep); color: var(--on-accent); }
button.quiet, .button.quiet { background: var(--paper); color: var(--accent); }
button.quiet:hover, .button.quiet:hover { background: var(--calm-ground); color: var(--accent-deep); }
button.slim, .button.slim { padding: 0.15rem 0.7rem; font-size: 0.875rem; white-space: nowrap; }
button.slim:has(.outside) { white-space: normal; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.steps { display: flex; flex-wrap: wrap; gap: 0.4rem 1.6rem; list-style: none; padding: 0; margin: 0 0 1rem; counter-reset: step; }
.steps li { color: var(--soft); margin: 0; counter-increment: step; }
.steps li::before { content: counter(step); display: inline-block; width: 1.55rem; height: 1.55rem; line-height: 1.45rem; margin-right: 0.45rem; border: 1px solid var(--edge); border-radius: 50%; text-align: center; font-size: 0.8125rem; font-weight: 600; }
.steps li.done::before { content: "✓"; color: var(--good); background: var(--good-ground); border-color: var(--good); }
.steps li.current { color: var(--ink); font-weight: 650; }
.steps li.current::before { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
.views ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin: 0 0 1rem; padding: 0; }
.views a[aria-current] { font-weight: 600; color: var(--ink); text-decoration: none; }
.more { margin-top: 1rem; }
details { border-top: 1px solid var(--line); }
details:last-of-type { border-bottom: 1px solid var(--line); }
summary { cursor: pointer; padding: 0.55rem 0.25rem; font-weight: 500; }
summary:hover { background: var(--calm-ground); }
details[open] > summary { font-weight: 650; }
details > form, details > div { padding: 0.5rem 0.25rem 1.1rem; }
progress { width: 100%; max-width: 14rem; height: 0.6rem; accent-color: var(--accent); }
.filters { display: flex; flex-wrap: wrap; gap: 0.4rem 0.7rem; align-items: end; margin-bottom: 1rem; }
.filters .field { flex: 0 1 8.9rem; min-width: 6.5rem; margin: 0; }
.filters .field:has(input[type=date]) { flex-basis: 10rem; }
.filters .optional { display: none; }
.filters .field:has(input[type=text]) { flex-grow: 1; max-width: 20rem; }
.filters label { font-size: 0.8125rem; margin-bottom: 0.1rem; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.filters input, .filters select { min-height: 2.1rem; padding: 0.2rem 0.45rem; font-size: 0.925rem; }
.filters button { padding: 0.25rem 0.9rem; min-height: 2.1rem; }
.filters .hint { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.chips { list-style: none; display: flex; flex-wrap: wrap; gap: 0.35rem 0.5rem; margin: -0.4rem 0 1rem; padding: 0; }
.chips a { display: inline-block; padding: 0.1rem 0.7rem; border: 1px solid var(--edge); border-radius: 999px; font-size: 0.875rem; text-decoration: none; background: var(--paper); }
.filter { display: flex; flex-wrap: wrap; gap: 0.35rem 0.75rem; align-items: center; margin-bottom: 1.25rem; }
.filter label { margin: 0; }
[hidden] { display: none !important; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.5rem 0.75rem; align-items: center; margin-top: 1rem; }
.buttons .field { margin-bottom: 0; }
.buttons + details { margin-top: 1rem; }
.buttons select { width: auto; min-width: 12rem; }
.filter select { width: auto; min-width: 12rem; }
.head { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.5rem 1.5rem; align-items: baseline; }
.jobs { list-style: none; margin: 0; padding: 0; }
.jobs li { padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
.jobs li:last-child { border-bottom: 0; }
.box { display: flex; gap: 0.5rem; align-items: baseline; font-weight: 400; }
.box input { width: auto; min-height: 0; }
fieldset:has(+ button) { margin-bottom: 1rem; }
.boxes { margin-top: 0.5rem; padding: 5px; max-height: 14rem; overflow-y: auto; }
img.code { display: block; background: #ffffff; max-width: 100%; height: auto; }
.narrow { max-width: 34rem; margin: 3rem auto; }
.columns.halves { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
.buttons .as { display: inline-flex; gap: 0.5rem; align-items: center; }
.buttons .as label { margin: 0; font-weight: 400; }
.buttons .as select { min-width: 6rem; }
textarea[rows="12"] { min-height: 17rem; }
.sheet { border: 1px solid var(--line); padding: 1.5rem 1.6rem; font-size: 0.9375rem; overflow-wrap: anywhere; }
.sheet h2 { margin: 1.1rem 0 0.75rem; font-size: 1.1rem; }
.sheet h3 { margin: 1.1rem 0 0.3rem; font-size: 0.9375rem; }
.sheet .strong { font-weight: 600; }
.sheet p { white-space: pre-line; }
.sheet .lines { white-space: normal; }
.sheet .lines.muted { color: var(--soft); font-size: 0.875rem; }
.sheet .lines.right { text-align: right; max-width: none; }
.sheet ul, .sheet ol { margin: 0 0 0.75rem; padding-left: 1.3rem; }
.sheet dl { margin: 0 0 0.75rem; }
.sheet dl div { display: grid; grid-template-columns: minmax(6rem, 11rem) minmax(0, 1fr); gap: 0 1rem; padding: 0.1rem 0; }
.sheet dt { color: var(--soft); }
.sheet dd { margin: 0; white-space: pre-line; }
.sheet aside { border-left: 5px solid var(--warn-edge); background: var(--warn-ground); padding: 0.6rem 0.9rem; margin: 0 0 0.75rem; white-space: pre-line; }
.sheet aside p { margin: 0.2rem 0 0; }
@media (max-width: 60rem) { .columns, .columns.halves { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 44rem) {
  .top .menu { display: inline-block; margin-left: auto; }
  #menu:not(:popover-open) { display: none; }
  #menu:popover-open { position: fixed; inset: 3rem 0.6rem auto auto; padding: 0.9rem 1.4rem; border: 1px solid #b9cddd; border-radius: 8px; background: var(--top); color: var(--on-top); }
  #menu ul { flex-direction: column; gap: 0.7rem; }
  .beside ul { flex-wrap: nowrap; overflow-x: auto; gap: 0 1.1rem; }
  .who { margin-left: 0; width: 100%; }
  .who > a { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  .who button { white-space: nowrap; }
  main { padding: 1.1rem 0.9rem 3rem; }
  .panel { padding: 0.9rem 0.9rem 1rem; }
  .pair, .pair.thirds { grid-template-columns: minmax(0, 1fr); }
  .filters { flex-wrap: nowrap; overflow-x: auto; padding-bottom: 0.3rem; }
  .filters .field, .filters .field:has(input[type=text]) { flex: 0 0 9rem; }
  .badge { white-space: normal; }
  dl.facts { grid-template-columns: minmax(0, 1fr); gap: 0; }
  dl.facts dd { margin-bottom: 0.6rem; }
  .sheet dl div { grid-template-columns: minmax(0, 1fr); padding-bottom: 0.5rem; }
}
@container (max-width: 34rem) {
  .stacks, .stacks tbody, .stacks tr, .stacks th, .stacks td, .stacks caption { display: block; }
  .stacks thead { position: absolute; left: -100rem; }
  .stacks tr { padding: 0.7rem 0; border-bottom: 1px solid var(--line); }
  .stacks tr:last-child { border-bottom: 0; }
  .stacks th, .stacks td { border: 0; padding: 0.1rem 0; }
  .stacks td[data-label] { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: 0 0.75rem; }
  .stacks td[data-label] > * { grid-column: 2; }
  .stacks td[data-label] > .badge { justify-self: start; align-self: start; }
  .stacks td[data-label]::before { content: attr(data-label); color: var(--soft); font-size: 0.875rem; }
  .stacks .pages { display: flex; gap: 1.5rem; margin: 0.75rem 0 0; }
.number { text-align: left; }
}
@container (max-width: 34rem) {
  .difference, .difference caption, .difference tbody, .difference tr, .difference td { display: block; width: auto; }
  .difference thead { position: absolute; left: -100rem; }
  .difference td { padding: 0.15rem 0; }
  .difference .same td + td { display: none; }
}
@media print { .top, .beside, .skip, form, details { display: none; } body, html { background: #ffffff; } .panel { border: 0; padding: 0; } }
`.trimStart();

/** Its address changes with its content, so it can be cached for a long time. */
export const stylesheetPath = `/assets/style-${sha256Hex(Buffer.from(stylesheet)).slice(0, 12)}.css`;
