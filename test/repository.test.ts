import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const outside = new Set(['node_modules', 'dist', 'data', 'demo-output', 'coverage', 'cache', '.git', '.env']);
const files = walk(root);

describe('the repository', () => {
  it('names no path on a developer’s machine', () => {
    // Assembled here, so this file does not contain such a path itself.
    const homes = ['work', 'root', 'home', 'Users'].join('|');
    const machinePath = new RegExp(`(?<![\\w.:/*-])/(${homes})/[\\w.-]+`);
    expect('see /' + 'root/project for more').toMatch(machinePath);
    expect(linesMatching(machinePath)).toEqual([]);
  });

  it('names no registry or mirror to install from', () => {
    const registry = new RegExp(
      ['//registry' + '\\.', 'registry' + '\\.(npmjs|yarnpkg)', '/-/[\\w.-]+\\.tgz', '^\\s*registry\\s*='].join('|'),
    );
    expect('https://registry' + '.npmjs.org/').toMatch(registry);
    expect(linesMatching(registry)).toEqual([]);
  });

  it.each(['scripts/ensure.sh', 'scripts/demo', 'scripts/test', 'scripts/docs'])(
    'uses only features that bash 3.2 and the BSD programs of macOS have: %s',
    (file) => {
      const lacking =
        /\b(mapfile|readarray|coproc|sha256sum|md5sum|realpath|nproc|setsid|free|tac|numfmt|timeout)\s|readlink -f|declare -[An]|local -[An]|\$\{\w+(,,|\^\^|@[A-Z])|\|&|&>>|\/proc\/|\bsed -(i|r)|\bgrep -\w*P|\bdate -(d|-)|\bstat -c|\bcp --|-printf|-quit|\bsort -V|\bxargs -r|wait -n/;
      expect('mapfile -t lines').toMatch(lacking);
      expect('sha256sum package-lock.json').toMatch(lacking);
      const code = read(file).replace(/^\s*#.*$/gm, '');
      expect(code.split('\n').filter((line) => lacking.test(line))).toEqual([]);
    },
  );

  it.each(['package-lock.json', 'site/package-lock.json'])(
    'locks every dependency by hash and none by address: %s',
    (file) => {
      const { packages } = JSON.parse(read(file)) as {
        packages: Record<string, { version?: string; integrity?: string; resolved?: string; link?: boolean }>;
      };
      const locked = Object.entries(packages).filter(([path]) => path !== '');
      expect(locked.length).toBeGreaterThan(100);
      expect(locked.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
      expect(locked.filter(([, { version, integrity }]) => !version || !integrity).map(([path]) => path)).toEqual([]);
    },
  );

  it('locks every optional dependency too, so other platforms can install it', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const wanted = Object.values(packages).flatMap(({ optionalDependencies }) =>
      Object.keys(optionalDependencies ?? {}),
    );
    expect(wanted.length).toBeGreaterThan(0);
    const present = new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 13)));
    expect(wanted.filter((name) => !present.has(name))).toEqual([]);
  });

  it('has a target for every relative link of its documents', () => {
    const broken: string[] = [];
    let links = 0;
    for (const file of files.filter((path) => path.endsWith('.md'))) {
      const text = read(file).replace(/```[\s\S]*?```/g, '');
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        links += 1;
        const [path = '', anchor] = target.split('#');
        const full = path === '' ? join(root, file) : join(root, dirname(file), path);
        if (!existsSync(full)) broken.push(`${file}: ${target}`);
        else if (anchor && full.endsWith('.md') && !anchorsOf(full).has(anchor)) broken.push(`${file}: ${target}`);
      }
    }
    expect(links).toBeGreaterThan(5);
    expect(broken).toEqual([]);
  });

  it('has every file and section that its sources cite', () => {
    const broken: string[] = [];
    let citations = 0;
    for (const file of files.filter((path) => /\.tsx?$/.test(path))) {
      for (const [cited, path = '', section] of read(file).matchAll(/\b(docs\/[\w-]+\.md)(?: §(\d+(?:\.\d+)?))?/g)) {
        citations += 1;
        const missing = !existsSync(join(root, path));
        if (missing || (section !== undefined && !sectionsOf(path).has(section))) broken.push(`${file}: ${cited}`);
      }
    }
    expect(citations).toBeGreaterThan(3);
    expect(broken).toEqual([]);
  });

  it('runs its scripts with a shell that a bare Debian has', () => {
    const scripts = ['scripts/test', 'scripts/demo', 'scripts/bench', '.ci/run'];
    for (const script of scripts) {
      expect(read(script)).toMatch(/^#!\/usr\/bin\/env bash\n/);
      expect(statSync(join(root, script)).mode & 0o111, script).not.toBe(0);
    }
    const { scripts: named } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const name of ['test', 'demo', 'bench']) expect(named[name]).toBe(`bash scripts/${name}`);
  });
});

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function walk(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (outside.has(entry.name) || entry.name.endsWith('.log') || entry.isSymbolicLink()) return [];
    return entry.isDirectory() ? walk(path) : [relative(root, path)];
  });
}

/** `path:line` of every matching line of a text file. */
function linesMatching(pattern: RegExp): readonly string[] {
  return files.flatMap((path) => {
    const text = read(path);
    if (text.includes('\0')) return [];
    return text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : []));
  });
}

/** Anchors of a Markdown file's headings, as code hosts generate them. */
function anchorsOf(file: string): ReadonlySet<string> {
  const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** The numbers at the beginning of a Markdown file's headings. */
function sectionsOf(path: string): ReadonlySet<string> {
  return new Set([...read(path).matchAll(/^#+ (\d+(?:\.\d+)?)\.? /gm)].map(([, number = '']) => number));
}
