/** What a sample policy is made of. */
interface SampleInput {
  readonly title: string;
  readonly brandName: string;
  readonly jurisdiction: string;
  readonly language: string;
  readonly version: number;
  readonly domain: string;
  readonly clauses: readonly string[];
}

/**
 * The text of a generated policy. It is no legal text and says so in its first and last line: the sandbox shows how the
 * service behaves, not what it writes.
 */
export function sampleMarkdown(input: SampleInput): string {
  const lines = [
    '> **SAMPLE — not a legal text.** Made by a sandbox for trying software. Do not publish it.',
    '',
    `# ${input.title}`,
    '',
    `${input.brandName} · ${input.domain} · ${input.jurisdiction} · ${input.language} · version ${input.version}`,
    '',
    '## 1. Who we are',
    '',
    `SAMPLE: this paragraph would name ${input.brandName}, its site ${input.domain} and how to reach it.`,
    '',
    '## 2. What happens with data',
    '',
    'SAMPLE: this paragraph would describe necessary, preference, analytics and marketing cookies.',
    '',
    ...(input.version > 1
      ? ['## 3. What changed', '', `SAMPLE: text that first appeared in version ${input.version}.`, '']
      : []),
    ...input.clauses.flatMap((clause, index) => [`## Custom clause ${index + 1}`, '', `SAMPLE: ${clause}`, '']),
    '*SAMPLE — not a legal text.*',
  ];
  return `${lines.join('\n')}\n`;
}

/** The same text as HTML; everything that a caller supplied is escaped. */
export function sampleHtml(input: SampleInput): string {
  const body = sampleMarkdown(input)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const heading = /^(#{1,2}) (.*)$/.exec(line);
      if (heading !== null) return `<h${heading[1]?.length}>${escapeHtml(heading[2] ?? '')}</h${heading[1]?.length}>`;
      return `<p>${escapeHtml(line.replace(/^> /, '').replaceAll('*', ''))}</p>`;
    });
  return `<article lang="${escapeHtml(input.language)}">\n${body.join('\n')}\n</article>\n`;
}

/** Escapes text for HTML content and quoted attributes. */
export function escapeHtml(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (character) => names[character] ?? character);
}
