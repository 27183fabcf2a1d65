import { sha256Hex } from '../../../crypto/hash.ts';

/** Keeps the session of someone who writes a long text: a session ends after an hour without a request. */
export const typingScript = `
let last = Date.now();
document.addEventListener('input', () => {
  if (Date.now() - last < 60000) return;
  last = Date.now();
  fetch('/account', { cache: 'no-store' }).catch(() => undefined);
});
`.trimStart();

/** Its address changes with its content, so it can be cached for a long time. */
export const typingScriptPath = `/assets/typing-${sha256Hex(Buffer.from(typingScript)).slice(0, 12)}.js`;
