import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { variableNames } from '../src/config/variables.ts';
import { environmentOf, readDockerfile, type Stage, valuesOf } from './packaging/read-dockerfile.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  engines: { node: string };
  bin: { 'consent-ledger': string };
  scripts: Record<string, string>;
};
const [build, run, ...others] = readDockerfile(read('Dockerfile')) as [Stage, Stage, ...Stage[]];
const environment = environmentOf(run);

describe('the Dockerfile', () => {
  it('has one stage for building and one for running', () => {
    expect(others).toEqual([]);
    expect(build.alias).toBe('build');
  });

  it('runs the Node version that package.json requires and the build used, on the same Debian', () => {
    const [, major, debian] = /^node:(\d+)-(\w+)$/.exec(build.image) ?? [];
    const [, least] = /^>=(\d+)\./.exec(manifest.engines.node) ?? [];
    expect(Number(major)).toBeGreaterThanOrEqual(Number(least));
    expect(run.image).toBe(`debian:${debian}-slim`);
    expect(valuesOf(run, 'COPY')).toContain('--from=build /usr/local/bin/node /usr/local/bin/node');
  });

  it.each([
    ['build', build],
    ['run', run],
  ])('copies only files that exist and that .dockerignore lets through (%s)', (_, stage) => {
    const admitted = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const sources = valuesOf(stage, 'COPY')
      .filter((value) => !value.startsWith('--from='))
      .flatMap((value) => value.split(/\s+/).slice(0, -1));
    expect(sources.length).toBeGreaterThan(0);
    for (const source of sources.map((path) => path.replace(/^\.\//, ''))) {
      expect(existsSync(join(root, source)), source).toBe(true);
      expect(admitted).toContain(source);
    }
  });

  it('copies every folder that is compiled', () => {
    const { include } = JSON.parse(read('tsconfig.build.json')) as { include: string[] };
    expect(include.length).toBeGreaterThan(0);
    for (const folder of include) expect(valuesOf(build, 'COPY')).toContain(`${folder} ./${folder}`);
  });

  it('builds with existing scripts and leaves the compilers out of the image', () => {
    const called = valuesOf(build, 'RUN').flatMap((value) =>
      [...value.matchAll(/npm run (\S+)/g)].map(([, name]) => name),
    );
    expect(called).toEqual(['build']);
    for (const name of called) expect(Object.keys(manifest.scripts)).toContain(name);
    expect(valuesOf(run, 'RUN').join('\n')).not.toMatch(/apt|npm|g\+\+|make/);
    expect(valuesOf(build, 'RUN').join('\n')).toContain('scripts/trace.ts /run/app');
    expect(valuesOf(run, 'COPY')).toContain('--from=build /run/app ./');
  });

  it('starts the program named in package.json, by the name that messages give it', () => {
    const command = '/usr/local/bin/consent-ledger';
    expect(JSON.parse(valuesOf(run, 'ENTRYPOINT')[0] ?? '')).toEqual([command]);
    expect(valuesOf(run, 'RUN').join('\n')).toContain(`ln -s /app/${manifest.bin['consent-ledger']} ${command} `);
    expect(JSON.parse(valuesOf(run, 'CMD')[0] ?? '')).toEqual(['serve']);
  });

  it('does not run as root', () => {
    const [user, ...more] = valuesOf(run, 'USER');
    expect(more).toEqual([]);
    expect(user).toBe('1000:1000');
    const names = run.instructions.map(({ name }) => name);
    expect(names.lastIndexOf('RUN')).toBeLessThan(names.indexOf('USER'));
  });

  it('keeps its data in a volume that its user owns', () => {
    expect(JSON.parse(valuesOf(run, 'VOLUME')[0] ?? '')).toEqual([environment['DATA_DIR']]);
    expect(valuesOf(run, 'RUN').join('\n')).toContain(`chown 1000:1000 ${environment['DATA_DIR']}`);
  });

  it('works in its data directory, the only place where `init` and `demo` can write', () => {
    expect(valuesOf(run, 'WORKDIR').at(-1)).toBe(environment['DATA_DIR']);
  });

  it('checks its health on the port on which it listens', () => {
    const [health = ''] = valuesOf(run, 'HEALTHCHECK');
    expect(health).toContain("'/healthz'");
    expect(health).toContain('process.env.PORT');
    expect(valuesOf(run, 'EXPOSE').join(' ').split(' ')).toEqual([environment['PORT'], environment['ADMIN_PORT']]);
  });

  it('sets only variables that the program knows, and does not expose the admin listener', () => {
    const known = new Set<string>([...variableNames, 'NODE_ENV']);
    expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
    expect(environment['HOST']).toBe('0.0.0.0');
    expect(environment['ADMIN_HOST']).toBeUndefined();
  });
});

interface Service extends Record<string, unknown> {
  readonly environment: Record<string, string>;
  readonly image: string;
  readonly command?: readonly string[];
  readonly profiles: readonly string[];
  readonly ports?: readonly string[];
}

describe('compose.yaml', () => {
  const { services, volumes, secrets } = parse(read('compose.yaml'), { merge: true }) as {
    services: Record<string, Service>;
    volumes: object;
    secrets: Record<string, { file: string }>;
  };
  const ours = Object.entries(services).filter(([, { image }]) => image === 'consent-ledger');
  const inProfile = (profile: string) => ours.filter(([, { profiles }]) => profiles.includes(profile));
  const known = new Set<string>(variableNames);

  it('has one process on SQLite in the plain profile, and receivers and workers on servers in the scaled one', () => {
    expect(inProfile('plain').map(([name]) => name)).toEqual(['consent-ledger']);
    expect(services['consent-ledger']?.environment).not.toHaveProperty('DATABASE_URL');
    expect(inProfile('scaled').map(([, { command }]) => command?.join(' '))).toEqual([
      'serve --no-worker --drain 15',
      'serve --no-worker --drain 15',
      'worker',
      'worker',
    ]);
    for (const [, { environment: given, depends_on: needs }] of inProfile('scaled')) {
      expect(new URL(given['DATABASE_URL']?.replace(/\$\{[^}]*\}/, 'secret') ?? '').hostname).toBe('postgres');
      expect(new URL(given['REDIS_URL'] ?? '').hostname).toBe('redis');
      expect(Object.keys(needs as object)).toEqual(['postgres', 'redis']);
    }
    expect(services['redis']?.command?.join(' ')).toBe('redis-server --appendonly yes --maxmemory-policy noeviction');
    const rest = Object.entries(services).filter(([, { image }]) => image !== 'consent-ledger');
    expect(rest.map(([name, { profiles, ports }]) => [name, profiles, ports])).toEqual([
      ['postgres', ['scaled'], undefined],
      ['redis', ['scaled'], undefined],
    ]);
  });

  it.each(ours)('gives %s no rights that it does not need', (_, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      tmpfs: ['/tmp'],
      env_file: ['.env'],
    });
    expect(service['user']).toBeUndefined();
    expect(service['privileged']).toBeUndefined();
  });

  it('publishes the webhook port, and the admin listener only to its own machine', () => {
    const listening = ours.filter(([, { command }]) => command?.[0] !== 'worker');
    const published = listening.map(
      ([
        ,
        {
          ports,
          environment: { PORT, ADMIN_PORT, HOST, ADMIN_HOST },
        },
      ]) => {
        expect([HOST, ADMIN_HOST]).toEqual(['0.0.0.0', '0.0.0.0']);
        expect(ports?.map((port) => port.replace(/:\d+:(\d+)$/, ':N:$1').replace(/^\d+:/, 'N:'))).toEqual([
          `N:${PORT}`,
          `127.0.0.1:N:${ADMIN_PORT}`,
        ]);
        return ports ?? [];
      },
    );
    // The ports of one profile, all used on one machine.
    expect(new Set(published.slice(1).flat()).size).toBe(4);
    for (const [, { ports, healthcheck }] of ours.filter(([, { command }]) => command?.[0] === 'worker')) {
      expect(ports).toBeUndefined();
      expect(healthcheck).toEqual({ disable: true });
    }
  });

  it.each(ours)('keeps the data of %s on the image’s volume, and gives it the key from init', (_, service) => {
    expect(service['volumes']).toEqual([`data:${environment['DATA_DIR']}`]);
    expect(service.environment['DATA_DIR']).toBe(environment['DATA_DIR']);
    expect(service['secrets']).toEqual(['signing_key']);
    expect(service.environment['SIGNING_KEY_FILE']).toBe('/run/secrets/signing_key');
    expect(secrets['signing_key']?.file).toBe('./data/keys/signing.pem');
  });

  it('names every volume', () => {
    expect(Object.keys(volumes)).toEqual(['data', 'postgres', 'redis']);
  });

  it.each(ours)('sets only variables that the program knows, in %s', (_, service) => {
    expect(Object.keys(service.environment).filter((name) => !known.has(name))).toEqual([]);
  });
});
