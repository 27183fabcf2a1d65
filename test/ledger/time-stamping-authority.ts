import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../temporary.ts';

const run = promisify(execFile);

/** Runs openssl in a folder; rejects on any exit code but 0. */
export const openssl = (folder: string, ...args: string[]) => run('openssl', args, { cwd: folder });

/** A certificate authority, and a time-stamping authority (`openssl ts`) below it, in a folder. */
export async function createAuthority() {
  const folder = await temporaryFolder();
  await writeFile(
    join(folder, 'tsa.cnf'),
    [
      '[tsa]\ndefault_tsa = here\n[here]\nserial = serial\ncrypto_device = builtin\nsigner_digest = sha256',
      'default_policy = 1.2.3.4.1\ndigests = sha256\nordering = no\ntsa_name = no\ness_cert_id_chain = no\ness_cert_id_alg = sha256',
    ].join('\n'),
  );
  const key = (name: string) => [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    `${name}.key`,
  ];
  await openssl(
    folder,
    'req',
    '-x509',
    ...key('ca'),
    '-subj',
    '/CN=Test root',
    '-addext',
    'keyUsage=critical,keyCertSign',
    '-out',
    'ca.pem',
  );
  /** A certificate and its key, with this extended key usage. */
  const certify = async (name: string, usage: string) => {
    await writeFile(join(folder, `${name}.ext`), `keyUsage=critical,digitalSignature\nextendedKeyUsage=${usage}\n`);
    await openssl(folder, 'req', ...key(name), '-subj', `/CN=Test ${name}`, '-out', `${name}.csr`);
    await openssl(
      folder,
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-extfile',
      `${name}.ext`,
      '-out',
      `${name}.pem`,
    );
  };
  let enclosed: readonly string[] = [];
  await certify('tsa', 'critical,timeStamping');
  await writeFile(join(folder, 'serial'), '01\n');
  return {
    folder,
    caFile: join(folder, 'ca.pem'),
    /**
     * Another root that has certified the key of `ca.pem`: `old.pem`, and the certificate `cross.pem`, which every later
     * answer encloses. `ended.pem`: the same root and key, but expired.
     */
    async crossCertify() {
      const inFolder = (...args: string[]) => openssl(folder, ...args);
      const usage = ['-addext', 'keyUsage=critical,keyCertSign'];
      await inFolder('req', '-x509', ...key('old'), '-subj', '/CN=Old root', ...usage, '-out', 'old.pem');
      await writeFile(join(folder, 'cross.ext'), 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n');
      await inFolder('req', '-new', '-key', 'ca.key', '-subj', '/CN=Test root', '-out', 'cross.csr');
      const signing = ['x509', '-req', '-in', 'cross.csr', '-extfile', 'cross.ext'];
      await inFolder(...signing, '-CA', 'old.pem', '-CAkey', 'old.key', '-CAcreateserial', '-out', 'cross.pem');
      await writeFile(
        join(folder, 'ca.cnf'),
        [
          '[ca]\ndefault_ca = here\n[here]\ndatabase = index.txt\nnew_certs_dir = .\nserial = caserial\ndefault_md = sha256',
          'policy = any\nx509_extensions = ext\n[any]\ncommonName = supplied\n[ext]\nbasicConstraints = critical,CA:TRUE\nkeyUsage = critical,keyCertSign',
        ].join('\n'),
      );
      await writeFile(join(folder, 'index.txt'), '');
      await writeFile(join(folder, 'caserial'), '01\n');
      const past = ['-startdate', '20200101000000Z', '-enddate', '20210101000000Z'];
      const own = [
        'ca',
        '-batch',
        '-notext',
        '-selfsign',
        '-config',
        'ca.cnf',
        '-keyfile',
        'ca.key',
        '-in',
        'cross.csr',
      ];
      await inFolder(...own, ...past, '-out', 'ended.pem');
      enclosed = ['-chain', 'cross.pem'];
    },
    /** Answers a query as DER. */
    async answer(query: Buffer): Promise<Buffer> {
      await writeFile(join(folder, 'q.tsq'), query);
      await openssl(
        folder,
        'ts',
        '-reply',
        '-config',
        'tsa.cnf',
        '-section',
        'here',
        '-queryfile',
        'q.tsq',
        '-inkey',
        'tsa.key',
        '-signer',
        'tsa.pem',
        ...enclosed,
        '-out',
        'r.tsr',
      );
      return readFile(join(folder, 'r.tsr'));
    },
    certify,
    /**
     * A response signed again with another certificate of the same root, since `openssl ts` itself refuses certificates
     * that are not for time-stamping.
     */
    async signedBy(name: string, answer: Buffer): Promise<Buffer> {
      await writeFile(join(folder, 'in.tsr'), answer);
      await openssl(folder, 'ts', '-reply', '-in', 'in.tsr', '-token_out', '-out', 'token.p7');
      await openssl(folder, 'cms', '-verify', '-noverify', '-inform', 'DER', '-in', 'token.p7', '-out', 'info');
      await openssl(
        folder,
        'cms',
        '-sign',
        '-binary',
        '-nodetach',
        '-cades',
        '-econtent_type',
        'id-smime-ct-TSTInfo',
        '-md',
        'sha256',
        '-signer',
        `${name}.pem`,
        '-inkey',
        `${name}.key`,
        '-outform',
        'DER',
        '-in',
        'info',
        '-out',
        'other.p7',
      );
      await openssl(folder, 'ts', '-reply', '-in', 'other.p7', '-token_in', '-out', 'other.tsr');
      return readFile(join(folder, 'other.tsr'));
    },
  };
}

/** The same over HTTP (RFC 3161 §3.4). `spoil` changes the response. */
export async function serveAuthority(spoil: (answer: Buffer) => Buffer = (answer) => answer) {
  const authority = await createAuthority();
  const server = createServer((request, response) => {
    void buffer(request)
      .then((query) => {
        if (request.headers['content-type'] !== 'application/timestamp-query') throw new Error('not a query');
        return authority.answer(query);
      })
      .then(
        (answer) => response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(spoil(answer)),
        () => response.writeHead(400).end(),
      );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { ...authority, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}
