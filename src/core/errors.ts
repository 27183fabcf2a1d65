/**
 * Every refusal that leaves the program, with its HTTP status and what the reader can do about it. Expected refusals
 * inside the program are unions; these are for its edges (HTTP, CLI).
 */
export const errorCodes = {
  signature_missing: { status: 401, text: 'The request carries no signature header.' },
  signature_mismatch: { status: 401, text: 'The signature does not match the body.' },
  sign_in_required: { status: 401, text: 'Sign in first, then try again.' },
  link_invalid: {
    status: 401,
    text: 'This link is unknown, has already been used or has expired. Ask the person who gave it to you for a new one.',
  },
  forbidden: { status: 403, text: 'This form has expired. Go back, reload the page and try again.' },
  not_allowed: { status: 403, text: 'Your role does not allow this. Ask an owner or admin if you need it.' },
  unknown_source: { status: 404, text: 'No such source.' },
  not_found: { status: 404, text: 'Nothing was found at this address.' },
  method_not_allowed: { status: 405, text: 'This address does not support this method.' },
  body_too_large: { status: 413, text: 'The body is over the limit (BODY_LIMIT).' },
  misdirected: {
    status: 421,
    text: 'The admin pages are not served under this host name. Open them by IP address, or add the host to ADMIN_HOSTS.',
  },
  invalid_request: { status: 400, text: 'The request is not valid.' },
  unsupported_media_type: { status: 415, text: 'Send JSON, with Content-Type: application/json.' },
  refused: { status: 422, text: 'The request was understood and refused.' },
  request_timeout: { status: 408, text: 'The request did not arrive in time.' },
  headers_too_large: { status: 431, text: 'The headers are over the limit.' },
  conflict: { status: 409, text: 'Someone else changed this in the meantime. Reload and review it.' },
  too_many_requests: { status: 429, text: 'Too many requests. Wait a moment and try again.' },
  store_unavailable: {
    status: 503,
    text: 'The store cannot write right now. Nothing was acknowledged; send it again.',
  },
  overloaded: { status: 503, text: 'The queue is full. Nothing was acknowledged; send it again.' },
  shutting_down: { status: 503, text: 'The server is shutting down. Nothing was acknowledged; send it again.' },
  internal: { status: 500, text: 'Something went wrong here. The server log has the details under this request id.' },
} as const satisfies Record<string, { status: number; text: string }>;

export type ErrorCode = keyof typeof errorCodes;

/** An error that carries one of the {@link errorCodes} to an edge. */
export class CodedError extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message?: string, options?: ErrorOptions) {
    super(message ?? errorCodes[code].text, options);
    this.name = 'CodedError';
    this.code = code;
  }
}

/**
 * The store could not write or read (disk full, locked, read-only, connection lost): answered with 503, and nothing is
 * acknowledged.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** Something outside (object storage, a mail server) failed: the command line ends with its message and exit code 1. */
export class OutsideError extends Error {
  override readonly name: string = 'OutsideError';
}

/** Evidence differs from what was written: the command line ends with exit code 3. */
export class VerificationFault extends Error {
  override readonly name = 'VerificationFault';
}

/** Wrong usage or configuration: the command line ends with exit code 2. Each problem is one sentence with its remedy. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

const fileProblems: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
};
/** Other reasons why a named file cannot be read. */
const readProblems: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of its path is a file',
};
const fileActions: Readonly<Record<string, string>> = {
  access: 'write to',
  mkdir: 'create the folder',
  open: 'open',
  scandir: 'read the folder',
};

/** Why a file could not be read, in words for the middle of a sentence. */
export function whyUnreadable(error: unknown): string {
  const code = codeOf(error);
  const words = fileProblems[code] ?? readProblems[code];
  return words === undefined ? code : `${words} (${code})`;
}

/** A sentence for a file named by a setting that could not be read, with its remedy. */
export function unreadableFile(setting: string, path: string, error: unknown): string {
  const isDenied = ['EACCES', 'EPERM'].includes(codeOf(error));
  const remedy = isDenied ? `Give ${whoRuns()} access to it.` : 'Correct the path.';
  return `${setting}: cannot read ${path}: ${whyUnreadable(error)}. ${remedy}`;
}

/** The user who needs access to a file, for messages. */
function whoRuns(): string {
  const user = process.getuid?.();
  return user === undefined ? 'the user that runs this program' : `user ${user}`;
}

/** The system's code of an error (ENOENT, EACCES …), for messages. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

/** A refusal by the file system (permissions, read-only, full) in words with its remedy; null for any other error. */
export function describeFileError(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code = '', path, syscall = '' } = error as NodeJS.ErrnoException;
  // When creating a folder with its parents, Node.js reports ENOENT if one of them is on a read-only file system.
  const isNoPlace = code === 'ENOENT' && syscall === 'mkdir';
  const problem = isNoPlace ? 'the folder above it is missing or read-only' : fileProblems[code];
  if (problem === undefined || path === undefined) return null;
  const remedy =
    { ENOSPC: 'Free some space, then try again.', EDQUOT: 'Free some space, then try again.' }[code] ??
    `${code === 'EROFS' || isNoPlace ? 'Make it writable' : `Give ${whoRuns()} access to it`}, or choose another place.`;
  return `Cannot ${fileActions[syscall] ?? 'use'} ${path}: ${problem} (${code}). ${remedy}`;
}

/** A message about a source that does not exist, with where to find existing ones. */
export function unknownSource(slug: string): string {
  return `Unknown source ${slug}: see \`consent-ledger source list\`.`;
}

export function unknownCase(caseId: string): string {
  return `Unknown case ${caseId}: see \`consent-ledger dsar list\`.`;
}
