/** The one style of HTML documents; it stands inside each of them. Contrast of every text is at least 4.5 to 1. */
export const htmlStyle = `
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
@page{size:A4;margin:18mm 18mm 20mm}
@media print{body{max-width:none;padding:0;font-size:9.5pt}thead{display:table-header-group}tr,aside,figure,.figures p{break-inside:avoid}h2,h3,caption{break-after:avoid}}
`.trim();
