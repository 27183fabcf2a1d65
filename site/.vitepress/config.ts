import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { defineConfig, type MarkdownRenderer } from 'vitepress';

type Token = ReturnType<MarkdownRenderer['parse']>[number];

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
/**
 * Base address for links to files outside docs/, e.g. https://git.example/consent-ledger/blob/main. Unset: their names
 * are shown without a link.
 */
const filesUrl = process.env['FILES_URL']?.replace(/\/$/, '');

/** docs/README.md lists the pages by reader: its headings and links are the sidebar. */
function sidebarOf(contents: string) {
  return contents
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.split('\n')[0] ?? '',
      items: [...section.matchAll(/^- \[([^\]]+)\]\(([\w-]+)\.md\)/gm)].map(([, text = '', page = '']) => ({
        text,
        link: `/${page}`,
      })),
    }));
}

/** Links to files that are not pages point to FILES_URL, or are removed. */
function withoutDeadLinks(tokens: Token[]): Token[] {
  let isDead = false;
  return tokens.filter((token) => {
    if (token.type === 'link_open') {
      const href = token.attrGet('href') ?? '';
      const isFile = href.startsWith('../') || /^[\w.-]+\.(yaml|json)$/.test(href);
      if (isFile && filesUrl !== undefined) token.attrSet('href', `${filesUrl}/${posix.join('docs', href)}`);
      isDead = isFile && filesUrl === undefined;
      return !isDead;
    }
    if (token.type !== 'link_close' || !isDead) return true;
    isDead = false;
    return false;
  });
}

export default defineConfig({
  title: 'consent-ledger',
  description: 'Self-hosted evidence for consent, policies and data subject requests.',
  lang: 'en',
  srcDir: 'docs',
  rewrites: { 'README.md': 'index.md' },
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  // `docs` is a link to ../docs (scripts/docs makes it): imports are resolved from here, where Vue is installed.
  vite: { resolve: { preserveSymlinks: true } },
  markdown: {
    config(markdown) {
      markdown.core.ruler.push('links-to-files', ({ tokens }) => {
        for (const token of tokens) token.children = withoutDeadLinks(token.children ?? []);
      });
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebarOf(readFileSync(join(root, 'docs/README.md'), 'utf8')),
    outline: [2, 3],
    footer: { message: `Version ${version}. Nothing here is legal advice.` },
  },
});
