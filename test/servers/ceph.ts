import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  findAccount,
  findFreePort,
  findPrograms,
  makeServerFolder,
  type OwnProcess,
  removeServerFolder,
  startOwnProcess,
} from './own-process.ts';

const run = promisify(execFile);

/** An object store for the tests: Ceph with its S3 gateway, which checks signatures and locks objects. */
export interface CephServer {
  readonly url: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  close(): Promise<void>;
}

/** Starts an empty one, in memory. Throws with the remedy if it is not installed. */
export async function startCeph(): Promise<CephServer> {
  const programs = findPrograms([
    'ceph-mon',
    'ceph-osd',
    'radosgw',
    'radosgw-admin',
    'ceph',
    'ceph-authtool',
    'monmaptool',
  ]);
  if (programs === null)
    throw new Error(
      'This test needs Ceph: install it (apt-get install --no-install-recommends ceph-mon ceph-osd radosgw), or put it on PATH.',
    );
  const account = findAccount(['ceph', 'nobody']);
  const folder = await makeServerFolder('ceph', account);
  const started: OwnProcess[] = [];
  const close = async () => {
    for (const process of started.reverse()) await process.end('SIGKILL');
    await removeServerFolder(folder);
  };
  try {
    const [monitor, gateway] = [await findFreePort(), await findFreePort()];
    const [conf, keyring] = [join(folder, 'ceph.conf'), join(folder, 'keyring')];
    const id = randomUUID();
    const place = async (name: string, text: string | null) => {
      await (text === null ? mkdir(join(folder, name)) : writeFile(join(folder, name), text));
      if (account !== null) await chown(join(folder, name), account.uid, account.gid);
    };
    for (const name of ['mon', 'osd', 'run']) await place(name, null);
    await place('ceph.conf', settingsOf(folder, id, monitor, gateway));
    const ask = async (program: string, ...args: string[]) => {
      const options = {
        cwd: folder,
        timeout: 60_000,
        env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
        ...(account ?? {}),
      };
      return (await run(join(programs, program), args, options)).stdout;
    };
    const start = async (program: string, ready: RegExp, ...args: string[]) => {
      started.push(
        await startOwnProcess({
          program: join(programs, program),
          args: ['-c', conf, '-d', ...args],
          folder,
          account,
          ready,
        }),
      );
    };
    await ask('ceph-authtool', '--create-keyring', keyring, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *');
    for (const name of ['client.admin', 'osd.0'])
      await ask(
        'ceph-authtool',
        keyring,
        '--gen-key',
        '-n',
        name,
        '--cap',
        'mon',
        'allow *',
        '--cap',
        'osd',
        'allow *',
      );
    const map = join(folder, 'monmap');
    await ask('monmaptool', '--create', '--add', 'a', `127.0.0.1:${monitor}`, '--fsid', id, map);
    await ask('ceph-mon', '-c', conf, '--mkfs', '-i', 'a', '--monmap', map, '--keyring', keyring);
    await start('ceph-mon', /is new leader|in quorum/, '-i', 'a');
    await ask('ceph', '-c', conf, 'auth', 'import', '-i', keyring);
    const disk = randomUUID();
    await ask('ceph', '-c', conf, 'osd', 'new', disk, '0');
    await ask('ceph-osd', '-c', conf, '-i', '0', '--mkfs', '--osd-uuid', disk);
    await start('ceph-osd', /state: booting -> active/, '-i', '0');
    const keys = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
    const user = [
      '--uid=tests',
      '--display-name=tests',
      `--access-key=${keys.accessKeyId}`,
      `--secret-key=${keys.secretAccessKey}`,
    ];
    await ask('radosgw-admin', '-c', conf, 'user', 'create', ...user);
    await start('radosgw', /starting handler: beast/, '-n', 'client.admin');
    return { url: `http://127.0.0.1:${gateway}`, ...keys, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function settingsOf(folder: string, id: string, monitor: number, gateway: number): string {
  return `[global]
fsid = ${id}
mon host = 127.0.0.1:${monitor}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
keyring = ${folder}/keyring
run dir = ${folder}/run
admin socket = ${folder}/run/$name.asok
pid file = ${folder}/run/$name.pid
mon data = ${folder}/mon
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 1073741824
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data avail crit = 0
mon data avail warn = 0
rgw frontends = beast endpoint=127.0.0.1:${gateway}
`;
}
