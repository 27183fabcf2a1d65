import { expect, it } from 'vitest';
import { describeFileError } from '../../src/core/errors.ts';

const refused = (code: string, syscall: string, path?: string): Error =>
  Object.assign(new Error(`${code}: refused`), { code, syscall, ...(path === undefined ? {} : { path }) });

it('describeFileError says what the file system refused, why, and to which user', () => {
  expect(describeFileError(refused('EACCES', 'mkdir', '/data/keys'))).toMatch(
    /^Cannot create the folder \/data\/keys: permission denied \(EACCES\)\. Give user \d+ access/,
  );
  expect(describeFileError(refused('EROFS', 'open', '/app/.env'))).toContain('read-only');
  expect(describeFileError(refused('ENOENT', 'mkdir', '/usr/data'))).toBe(
    'Cannot create the folder /usr/data: the folder above it is missing or read-only (ENOENT). Make it writable, or choose another place.',
  );
  expect(describeFileError(refused('ENOSPC', 'open', '/data/x'))).toContain('Free some space');
});

it('describeFileError ignores other errors', () => {
  for (const error of [refused('ECONNREFUSED', 'connect'), refused('EACCES', 'listen'), new Error('EACCES'), null])
    expect(describeFileError(error)).toBeNull();
});
