import type { EmbedForm } from '../dialect.ts';
import { escapeHtml } from '../sample-text.ts';

/** What is told of a policy beside its text. */
export interface EmbedEntry {
  readonly id: string;
  readonly policy_type: string;
  readonly title: string;
  readonly language: string;
  readonly updated_at: string;
  readonly url: string;
}

/** A policy with its text. */
interface EmbedText {
  readonly entry: EmbedEntry;
  readonly version: number;
  readonly html: string;
  readonly markdown: string;
}

/** An answer of the embed endpoint, whose shape is not documented (docs/service.md §4.7). */
export interface EmbedAnswer {
  readonly type: string;
  readonly body: string;
}

/** One policy in a form. */
export function embedText(form: EmbedForm, { entry, version, html, markdown }: EmbedText): EmbedAnswer {
  switch (form) {
    case 'fields':
      return json({ ...entry, version, html, markdown });
    case 'content':
      return json({ ...entry, version, content: markdown });
    case 'html':
      return json({ html });
    case 'data':
      return json({ data: { ...entry, version, html } });
    case 'web page':
      return page(html);
    case 'markdown':
      return { type: 'text/markdown; charset=utf-8', body: markdown };
  }
}

/** The list of all policies in a form. */
export function embedHub(form: EmbedForm, policies: readonly EmbedEntry[]): EmbedAnswer {
  switch (form) {
    case 'fields':
    case 'content':
      return json({ policies });
    case 'html':
      return json(policies);
    case 'data':
      return json({ data: policies });
    case 'web page': {
      const items = policies.map(
        ({ title, url }) => `<li><a href="${escapeHtml(url)}">${escapeHtml(title)}</a></li>\n`,
      );
      return page(`<ul>\n${items.join('')}</ul>\n`);
    }
    case 'markdown':
      return {
        type: 'text/markdown; charset=utf-8',
        body: policies.map(({ title, url }) => `- [${title}](${url})\n`).join(''),
      };
  }
}

function json(value: unknown): EmbedAnswer {
  return { type: 'application/json; charset=utf-8', body: JSON.stringify(value) };
}

function page(body: string): EmbedAnswer {
  return { type: 'text/html; charset=utf-8', body };
}
