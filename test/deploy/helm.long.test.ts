import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { newInstanceKeyText, newSigningKeyPem } from '../../src/config/key-files.ts';
import { variableNames, variables } from '../../src/config/variables.ts';
import { temporaryFolder } from '../temporary.ts';

const root = join(import.meta.dirname, '../..');
const chart = join(root, 'deploy/helm/consent-ledger');

function helm(...args: readonly string[]) {
  const { error, status, stdout, stderr } = spawnSync(process.env.HELM_PATH ?? 'helm', args, {
    cwd: chart,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (error !== undefined)
    throw new Error(`helm could not be started (${error.message}): put it on PATH, or name it in HELM_PATH.`);
  return { status, stdout, said: `${stdout}${stderr}` };
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Record<string, string>;
  // Checked against the types of Kubernetes below.
  // biome-ignore lint/suspicious/noExplicitAny: any manifest.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly spec: any;
}

/** Values of an installation that uses every option of the chart. */
const everything = {
  image: { repository: 'registry.example/consent-ledger', tag: '0.1.0' },
  imagePullSecrets: [{ name: 'registry' }],
  secret: {
    name: 'ledger',
    keys: ['DATABASE_URL', 'REDIS_URL', 'INSTANCE_KEY', 'WEBHOOK_SECRETS', 'AWS_SECRET_ACCESS_KEY'],
  },
  files: { 'witnesses.txt': 'log: "x"\n' },
  settings: {
    TIME_ZONE: 'Europe/Berlin',
    WITNESSES: '/etc/consent-ledger/witnesses.txt',
    IN_FLIGHT_LIMIT: 64 * 1024 ** 2,
    BACKUP_SCHEDULE: 'off',
  },
  controllerProfile: 'name: Acme GmbH\ncountry: DE\n# "quoted": {{ not a template }}\n',
  persistence: { storageClass: 'nfs' },
  receivers: {
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'x', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
  },
  podAnnotations: { 'example.org/a': 'b' },
  ingress: {
    enabled: true,
    className: 'nginx',
    host: 'ledger.example.org',
    tlsSecret: 'ledger-tls',
    annotations: { 'nginx.ingress.kubernetes.io/proxy-body-size': '1m' },
  },
  adminIngress: { enabled: true, host: 'office.ledger.example.org' },
  networkPolicy: {
    publicFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
    adminFrom: [{ podSelector: {} }],
    egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 5432 }] }],
  },
};
const least = { secret: { name: 'ledger' } };

async function render(values: object): Promise<readonly Manifest[]> {
  const path = join(await temporaryFolder(), 'values.json');
  await writeFile(path, JSON.stringify(values));
  const { status, stdout, said } = helm('template', 'acme', '.', '--namespace', 'ledger', '--values', path);
  expect(status, said).toBe(0);
  return parseAllDocuments(stdout).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });
}

/**
 * The manifests' errors by Kubernetes' rules: values by its JSON schemas, and unknown fields by its types, since a
 * compiler refuses extra properties in a literal.
 */
async function refusedByKubernetes(manifests: readonly Manifest[]): Promise<string> {
  const folder = await temporaryFolder();
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const lines = manifests.flatMap((manifest, n) => {
    const { apiVersion, kind } = manifest;
    const path = `kubernetes-models/${apiVersion}/${kind}`;
    return [
      `import { ${kind} as K${n}, type I${kind} as I${n} } from '${path}';`,
      `const m${n}: I${n} = ${JSON.stringify(manifest)};`,
      `try { new K${n}(m${n}).validate(); } catch (error) { console.log('${kind} ${manifest.metadata.name}: ' + error); }`,
    ];
  });
  await writeFile(join(folder, 'manifests.ts'), lines.join('\n'));
  const node = (...args: string[]) => {
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    return `${stdout}${stderr}`;
  };
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--types',
    'node',
  ];
  return (
    node(join(root, 'node_modules/typescript/bin/tsc'), ...options, 'manifests.ts') +
    node('--import', 'tsx', 'manifests.ts')
  );
}

const kinds = (manifests: readonly Manifest[]) =>
  manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
const pods = (manifests: readonly Manifest[]) =>
  manifests.filter(({ kind }) => kind === 'Deployment').map(({ spec }) => spec.template.spec);

test('the chart renders with minimal and full values, and Kubernetes accepts each manifest', async () => {
  const plain = await render(least);
  expect(kinds(plain)).toEqual([
    'Deployment acme-consent-ledger-receivers',
    'Deployment acme-consent-ledger-workers',
    'NetworkPolicy acme-consent-ledger-receivers',
    'NetworkPolicy acme-consent-ledger-workers',
    'PersistentVolumeClaim acme-consent-ledger',
    'PodDisruptionBudget acme-consent-ledger-receivers',
    'PodDisruptionBudget acme-consent-ledger-workers',
    'Service acme-consent-ledger',
    'Service acme-consent-ledger-admin',
  ]);
  const full = await render(everything);
  expect(kinds(full).filter((name) => !kinds(plain).includes(name))).toEqual([
    'ConfigMap acme-consent-ledger',
    'Ingress acme-consent-ledger',
    'Ingress acme-consent-ledger-admin',
  ]);
  const written = full.find(({ kind }) => kind === 'ConfigMap');
  expect(written?.data).toEqual({ 'controller.yaml': everything.controllerProfile, ...everything.files });
  const bare = await render({
    ...least,
    persistence: { existingClaim: 'there' },
    networkPolicy: { enabled: false },
    podDisruptionBudget: { enabled: false },
  });
  expect(new Set(bare.map(({ kind }) => kind))).toEqual(new Set(['Deployment', 'Service']));
  const [, documented = ''] =
    /```yaml\n(image: [^`]*)```/.exec(readFileSync(join(root, 'docs/deployment.md'), 'utf8')) ?? [];
  const asDocumented = await render(parse(documented) as object);
  expect(kinds(asDocumented)).toContain('Ingress acme-consent-ledger');
  for (const manifests of [plain, full, bare, asDocumented]) expect(await refusedByKubernetes(manifests)).toBe('');

  // A field that Kubernetes does not know, and a value that it does not accept.
  const [first] = plain.filter(({ kind }) => kind === 'Deployment') as [Manifest];
  const misspelt = { ...first, spec: { ...first.spec, replica: 2 } };
  expect(await refusedByKubernetes([misspelt])).toContain(`'"replica"' does not exist`);
  const wrong = structuredClone(first);
  wrong.spec.template.spec.containers[0].imagePullPolicy = 'Sometimes';
  expect(await refusedByKubernetes([wrong])).toMatch(/imagePullPolicy|Sometimes/);
});

test('helm lint finds no problems, and nonsensical values are refused', async () => {
  expect(helm('lint', '--strict', '--set', 'secret.name=ledger', '.').said).toContain('0 chart(s) failed');
  const refusal = (...set: readonly string[]) =>
    helm('template', 'x', '.', ...set.flatMap((one) => ['--set', one])).said;
  expect(refusal()).toContain("at '/secret/name': minLength");
  expect(refusal('secret.name=s', 'ingress.enabled=true')).toContain("at '/ingress/host': minLength");
  expect(refusal('secret.name=s', 'settings.PORT=80')).toContain("invalid propertyName 'PORT'");
  expect(refusal('secret.name=s', 'settings.INSTANCE_KEY=x')).toContain("invalid propertyName 'INSTANCE_KEY'");
  expect(refusal('secret.name=s', 'secrets.name=s')).toContain("'secrets' not allowed");
  const schema = parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as {
    properties: { settings: { propertyNames: { not: { enum: string[] } } } };
  };
  const secrets = variableNames.filter((name) => variables[name].secret);
  expect(schema.properties.settings.propertyNames.not.enum, 'secrets that values.schema.json has to name').toEqual(
    expect.arrayContaining(secrets),
  );
});

test('the pods start the program with valid settings, and probe it where it answers', async () => {
  for (const [values, url] of [
    [least, null],
    [everything, 'https://ledger.example.org'],
  ] as const) {
    const [receiver, worker] = pods(await render(values));
    for (const pod of [receiver, worker]) {
      const [container] = pod.containers;
      // The files of the Secret, in a folder of the test.
      const secrets = join(await temporaryFolder(), 'secrets');
      await mkdir(secrets);
      const texts: Record<string, string> = {
        DATABASE_URL: 'postgres://consent_ledger:x@postgres/consent_ledger',
        REDIS_URL: 'redis://redis:6379',
        INSTANCE_KEY: newInstanceKeyText(),
        WEBHOOK_SECRETS: 'a-signing-secret-of-the-tests',
        AWS_SECRET_ACCESS_KEY: 'x',
        'signing.pem': newSigningKeyPem(),
      };
      const mounted = pod.volumes.find(({ name }: { name: string }) => name === 'secrets').secret;
      expect(mounted.secretName).toBe('ledger');
      for (const { key, path } of mounted.items as { key: string; path: string }[])
        await writeFile(join(secrets, path), texts[key] ?? '');
      const env = Object.fromEntries(
        (container.env as { name: string; value: string }[]).map(({ name, value }) => [
          name,
          value.replace('/run/secrets/consent-ledger', secrets),
        ]),
      );
      const config = loadConfig(env, secrets);
      expect(config.warnings.filter((warning) => /misspell|known/i.test(warning))).toEqual([]);
      expect([config.host, config.port, config.adminPort, config.dataDir]).toEqual(['0.0.0.0', 8080, 8081, '/data']);
      expect(config.publicUrl).toBe(url);
      expect(config.adminHosts).toEqual(url === null ? [] : ['office.ledger.example.org']);
      expect(config.trustProxy).toEqual(url === null ? false : ['uniquelocal']);
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      // All places that it writes to.
      const writable = container.volumeMounts.filter(({ readOnly }: { readOnly?: boolean }) => readOnly !== true);
      expect(writable.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual(['/data', '/tmp']);
    }
    expect(receiver.containers[0].args).toEqual(['serve', '--no-worker', '--drain', '15']);
    // The seconds in which it keeps serving, plus the 25 seconds in which it ends.
    expect(receiver.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(15 + 25);
    expect(worker.containers[0].args).toEqual(['worker']);
    const { livenessProbe, readinessProbe, startupProbe, ports } = receiver.containers[0];
    expect([startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet)).toEqual([
      { path: '/healthz', port: 'public' },
      { path: '/healthz', port: 'public' },
      { path: '/readyz', port: 'public' },
    ]);
    expect(ports).toEqual([
      { name: 'public', containerPort: 8080 },
      { name: 'admin', containerPort: 8081 },
    ]);
  }
});

test('selectors match only the pods of this release, and no page is open to everyone', async () => {
  for (const values of [least, everything]) {
    const manifests = await render(values);
    const templates = manifests
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => spec.template.metadata.labels);
    const selected = (labels: Record<string, string>) =>
      templates.filter((pod) => Object.entries(labels).every(([name, value]) => pod[name] === value)).length;
    for (const { kind, spec } of manifests) {
      if (kind === 'Service') expect(selected(spec.selector)).toBe(1);
      if (kind === 'PodDisruptionBudget') expect(selected(spec.selector.matchLabels)).toBe(1);
      if (kind === 'NetworkPolicy') expect(selected(spec.podSelector.matchLabels)).toBe(1);
    }
    const [receivers, workers] = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec);
    expect(workers.ingress).toEqual([]);
    const admin = receivers.ingress.filter(({ ports }: { ports: { port: string }[] }) => ports[0]?.port === 'admin');
    expect(admin.map(({ from }: { from: unknown }) => from)).toEqual(values === least ? [] : [[{ podSelector: {} }]]);
    for (const { spec, metadata } of manifests.filter(({ kind }) => kind === 'Ingress')) {
      const [{ http, host }] = spec.rules;
      const isAdmin = metadata.name.endsWith('-admin');
      expect(host).toBe(isAdmin ? 'office.ledger.example.org' : 'ledger.example.org');
      expect(http.paths.map(({ path }: { path: string }) => path)).toEqual(
        isAdmin ? ['/'] : ['/webhooks', '/h', '/r', '/t', '/.well-known/consent-ledger'],
      );
    }
  }
});
