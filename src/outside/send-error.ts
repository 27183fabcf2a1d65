import { OutsideError } from '../core/errors.ts';
import { JobRefused } from '../jobs/job.ts';

/** A mail or webhook that was not accepted. Its message names the host, never an address, a password or what the server said. */
export class SendError extends OutsideError {
  override readonly name = 'SendError';
  /** Retrying will not help: the server refused the sender, the recipient or the message, or wants no more webhooks. */
  readonly isFinal: boolean;
  /** The connection broke, or time ran out, after the mail was handed over: it may have been accepted. */
  readonly isUnknown: boolean;
  constructor(message: string, isFinal: boolean, options: ErrorOptions & { readonly isUnknown?: boolean } = {}) {
    super(message, options);
    this.isFinal = isFinal;
    this.isUnknown = options.isUnknown ?? false;
  }
}

/** Sends within a job; a refusal that retries cannot change ends the job. */
export async function sendInJob<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof SendError && error.isFinal) throw new JobRefused(error.message, { cause: error });
    throw error;
  }
}
