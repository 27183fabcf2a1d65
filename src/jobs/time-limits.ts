/** Whether the work ends within this many milliseconds; if not, it continues. Rejects like the work. */
export async function withinTime(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Where parts that did not close are reported. */
interface CloseLog {
  warn(details: object, message: string): void;
}

/**
 * Closes one part of the program within a time limit. If it takes longer or fails, that is logged and the rest is
 * closed anyway: a part that waits for an unreachable server must not keep the process from ending.
 */
export async function closeWithin(
  milliseconds: number,
  part: string,
  close: () => Promise<unknown>,
  log: CloseLog,
): Promise<boolean> {
  try {
    const closing = close();
    // It may still fail after it has been given up.
    closing.catch(() => undefined);
    if (await withinTime(closing, milliseconds)) return true;
    log.warn({ part, milliseconds }, 'a component did not close in time and was abandoned');
  } catch (error) {
    log.warn({ part, err: error }, 'a component could not be closed');
  }
  return false;
}
