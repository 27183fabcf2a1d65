import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../../config/config.ts';
import { sha256Hex } from '../../../crypto/hash.ts';
import type { PasskeyOrigin } from '../../../people/passkeys.ts';
import { adminAddressOf } from '../../admin-address.ts';

/**
 * Asks the browser for a passkey and sends its response with the form. Without the script, or in a browser without
 * passkeys, the form stays hidden, and everything else works.
 */
export const passkeyScript = `
for (const form of document.querySelectorAll('form[data-passkey]')) {
  if (typeof PublicKeyCredential === 'undefined' || !PublicKeyCredential.parseCreationOptionsFromJSON) continue;
  form.hidden = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const options = JSON.parse(form.dataset.options);
    try {
      const credential =
        form.dataset.passkey === 'create'
          ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
          : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
      form.elements.response.value = JSON.stringify(credential.toJSON());
      form.submit();
    } catch {
      form.querySelector('[role=status]').textContent = 'The browser did not give a passkey. Try again, or use another way.';
    }
  });
}
`.trimStart();

/** Its address changes with its content, so it can be cached for a long time. */
export const passkeyScriptPath = `/assets/passkeys-${sha256Hex(Buffer.from(passkeyScript)).slice(0, 12)}.js`;

/** Lets a page run the scripts of this site; others run none. */
export function allowScript(reply: FastifyReply): void {
  const policy = String(reply.getHeader('content-security-policy') ?? '');
  void reply.header('content-security-policy', `${policy};script-src 'self'`);
}

/** Where passkeys are valid ({@link adminAddressOf}); null for an IP address, which WebAuthn does not allow. */
export function passkeyOriginOf(config: Pick<Config, 'adminUrl'>, request: FastifyRequest): PasskeyOrigin | null {
  const { origin, hostname } = new URL(adminAddressOf(config, request));
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? { origin, host: hostname } : null;
}

/** The passkey response in a submitted form; null if it is not JSON. */
export function passkeyAnswer(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
