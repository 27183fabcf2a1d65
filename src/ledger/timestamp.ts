import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import type { Certificate, SignedData, SignerInfo } from 'pkijs';
import { equalBytes, sha256 } from '../crypto/hash.ts';

/** Content types of a timestamp request and its response (RFC 3161 §3.4). */
export const TIMESTAMP_QUERY = 'application/timestamp-query';

const SHA_256 = '2.16.840.1.101.3.4.2.1';
const SIGNED_DATA = '1.2.840.113549.1.7.2';
const TST_INFO = '1.2.840.113549.1.9.16.1.4';
const CONTENT_TYPE = '1.2.840.113549.1.9.3';
const SIGNING_CERTIFICATE = '1.2.840.113549.1.9.16.2.12';
const SIGNING_CERTIFICATE_V2 = '1.2.840.113549.1.9.16.2.47';
const EXTENDED_KEY_USAGE = '2.5.29.37';
const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';

/** Accepted hash algorithms of a token's signature. SHA-1 is left out, because collisions are affordable. */
const digests: ReadonlyMap<string, string> = new Map([
  [SHA_256, 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);

/** Imported on first use: parsing these libraries takes longer than most commands run. */
const load = async () => ({ asn1: await import('asn1js'), pki: await import('pkijs') });

/** A request for a token over the SHA-256 of `data`, with a nonce and asking for the certificates (RFC 3161 §2.4.1). */
export async function requestTimestamp(data: Uint8Array): Promise<{ readonly query: Buffer; readonly nonce: Buffer }> {
  const { asn1, pki } = await load();
  // Clears the highest bit: an INTEGER is signed and would otherwise be encoded with another length.
  const nonce = randomBytes(16);
  nonce[0] = ((nonce[0] ?? 0) & 0x3f) | 0x40;
  const request = new pki.TimeStampReq({
    version: 1,
    messageImprint: new pki.MessageImprint({
      hashAlgorithm: new pki.AlgorithmIdentifier({ algorithmId: SHA_256, algorithmParams: new asn1.Null() }),
      hashedMessage: new asn1.OctetString({ valueHex: bufferOf(sha256(data)) }),
    }),
    nonce: new asn1.Integer({ valueHex: bufferOf(nonce) }),
    certReq: true,
  });
  return { query: Buffer.from(request.toSchema().toBER()), nonce };
}

/** The response of a timestamping authority, or why it is not accepted. */
export type TimestampReading =
  | { readonly outcome: 'valid' /** ISO 8601 UTC. */; readonly at: string }
  | { readonly outcome: 'invalid'; readonly reason: string };

/**
 * Checks the response of a timestamping authority (RFC 3161 §2.4.2): status, imprint, nonce if one is given, one
 * signature by a certificate that is for timestamping only and named in the token, and its chain to one of `roots` at
 * the token's time. Never throws: the bytes come from outside.
 */
export async function readTimestamp(
  response: Uint8Array,
  data: Uint8Array,
  roots: readonly Uint8Array[],
  nonce: Uint8Array | null = null,
): Promise<TimestampReading> {
  try {
    const token = await parseToken(response);
    if (typeof token === 'string') return invalid(token);
    return (
      (await tokenProblem(token, data, roots, nonce)) ?? { outcome: 'valid', at: token.info.genTime.toISOString() }
    );
  } catch (error) {
    return invalid(error instanceof Error ? error.message : String(error));
  }
}

/** The SHA-256 that a token covers; null if it is not a token. */
export async function imprintOf(response: Uint8Array): Promise<Buffer | null> {
  try {
    const token = await parseToken(response);
    return typeof token === 'string' ? null : imprint(token);
  } catch {
    return null;
  }
}

type Token = Exclude<Awaited<ReturnType<typeof parseToken>>, string>;

async function parseToken(response: Uint8Array) {
  const { asn1, pki } = await load();
  const parsed = asn1.fromBER(bufferOf(response));
  if (parsed.offset !== response.length) return 'it is not a single DER value';
  const { status, timeStampToken } = new pki.TimeStampResp({ schema: parsed.result });
  if (Number(status.status) !== 0 && Number(status.status) !== 1) {
    const words = (status.statusStrings ?? []).map((text) => text.valueBlock.value).join(' ');
    return `the authority refused (status ${Number(status.status)})${words === '' ? '' : `: ${words}`}`;
  }
  if (timeStampToken?.contentType !== SIGNED_DATA) return 'it contains no token';
  const signed = new pki.SignedData({ schema: timeStampToken.content });
  const { eContentType, eContent } = signed.encapContentInfo;
  if (eContentType !== TST_INFO || eContent === undefined) return 'its content is not a time-stamp';
  const info = pki.TSTInfo.fromBER(eContent.getValue());
  return { signed, info };
}

function imprint({ info }: Token): Buffer | null {
  const { hashAlgorithm, hashedMessage } = info.messageImprint;
  return hashAlgorithm.algorithmId === SHA_256 ? Buffer.from(hashedMessage.valueBlock.valueHexView) : null;
}

async function tokenProblem(
  token: Token,
  data: Uint8Array,
  roots: readonly Uint8Array[],
  nonce: Uint8Array | null,
): Promise<TimestampReading | null> {
  const { signed, info } = token;
  if (info.version !== 1) return invalid(`its version is ${info.version}`);
  const about = imprint(token);
  if (about === null || !equalBytes(about, sha256(data))) return invalid('it covers something else');
  if (nonce !== null && !sameNumber(info.nonce?.valueBlock.valueHexView, nonce))
    return invalid('it answers another request: its nonce differs from the one sent');
  const [signer, ...others] = signed.signerInfos;
  if (signer === undefined || others.length > 0) return invalid('it must have exactly one signature');
  const digest = digests.get(signer.digestAlgorithm.algorithmId);
  if (digest === undefined) return invalid('its signature uses a hash that is no longer safe');
  const checked = await signed
    .verify({
      signer: 0,
      data: bufferOf(data),
      checkDate: info.genTime,
      extendedMode: true,
    })
    .catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  if (typeof checked === 'string') return invalid(checked);
  const certificate = checked.signerCertificate;
  if (checked.signatureVerified !== true || certificate === null || certificate === undefined)
    return invalid('its signature is wrong');
  const unchained = await chainProblem(signed, certificate, roots, info.genTime);
  if (unchained !== null) return invalid(unchained);
  return attributesProblem(signed, signer, certificate);
}

/** Certificates between a signer and a root at most, and signatures that are checked to find them. */
const MOST_IN_CHAIN = 8;
const MOST_CHECKED = 200;

/**
 * Why no chain of certificates leads from the signer to one of `roots` at this time; null if one does. The library
 * gives up at the first certificate without an issuer, and judges only the shortest chain; an authority may enclose
 * another one's certificate of its key (a cross certificate) that leads nowhere. So each chain is found here and judged
 * by the library alone.
 */
async function chainProblem(
  signed: SignedData,
  signer: Certificate,
  roots: readonly Uint8Array[],
  at: Date,
): Promise<string | null> {
  const { pki } = await load();
  const trusted = roots.map((der) => pki.Certificate.fromBER(bufferOf(der)));
  const enclosed = (signed.certificates ?? []).filter((one) => one instanceof pki.Certificate);
  const crls = (signed.crls ?? []).filter((one) => one instanceof pki.CertificateRevocationList);
  let problem = 'no chain of certificates leads to a trusted one';
  let checked = 0;
  const judge = async (chain: readonly Certificate[], root: Certificate): Promise<boolean> => {
    // The library takes the last certificate as the signer's.
    const engine = new pki.CertificateChainValidationEngine({
      ...{ trustedCerts: [root], certs: chain.toReversed(), crls, ocsps: signed.ocsps ?? [], checkDate: at },
    });
    // Authorities do not enclose revocation lists; a token from before its certificate was revoked remains valid.
    const found = await engine.verify({ passedWhenNotRevValues: true });
    if (!found.result) problem = `its certificate is not valid: ${found.resultMessage}`;
    return found.result;
  };
  const leadsToRoot = async (chain: readonly Certificate[]): Promise<boolean> => {
    const last = chain.at(-1);
    if (last === undefined || chain.length > MOST_IN_CHAIN) return false;
    for (const [place, issuer] of [...trusted, ...enclosed].entries()) {
      if (!last.issuer.isEqual(issuer.subject) || chain.some((one) => isSame(one, issuer))) continue;
      checked += 1;
      if (checked > MOST_CHECKED) return false;
      if (!(await last.verify(issuer).catch(() => false))) continue;
      if (place < trusted.length ? await judge(chain, issuer) : await leadsToRoot([...chain, issuer])) return true;
    }
    return false;
  };
  return (await leadsToRoot([signer])) ? null : problem;
}

const isSame = (one: Certificate, other: Certificate) =>
  equalBytes(Buffer.from(one.toSchema(true).toBER()), Buffer.from(other.toSchema(true).toBER()));

/** Checks what else the signature covers: that it is a token, and which certificate signed it (RFC 5035 §3). */
function attributesProblem(signed: SignedData, signer: SignerInfo, certificate: Certificate): TimestampReading | null {
  const attributes = signer.signedAttrs?.attributes ?? [];
  const valueOf = (type: string): unknown => attributes.find((attribute) => attribute.type === type)?.values[0];
  const contentType = valueOf(CONTENT_TYPE) as { valueBlock?: { toString(): string } } | undefined;
  if (contentType?.valueBlock?.toString() !== signed.encapContentInfo.eContentType)
    return invalid('its signature covers another kind of content');
  const der = Buffer.from(certificate.toSchema(true).toBER());
  const named =
    namedHash(valueOf(SIGNING_CERTIFICATE_V2), 'sha256') ?? namedHash(valueOf(SIGNING_CERTIFICATE), 'sha1') ?? null;
  if (named === null || !equalBytes(named.hash, createHash(named.algorithm).update(der).digest()))
    return invalid('it does not name the certificate that it was signed with');
  const usage = certificate.extensions?.find(({ extnID }) => extnID === EXTENDED_KEY_USAGE);
  const purposes = new X509Certificate(der).keyUsage;
  return usage?.critical === true && purposes.length === 1 && purposes[0] === TIME_STAMPING
    ? null
    : invalid('its certificate is not restricted to time-stamping');
}

interface Block {
  readonly idBlock: { readonly tagNumber: number };
  readonly valueBlock: { readonly value?: readonly Block[]; readonly valueHexView?: Uint8Array; toString(): string };
}

/** The hash of the certificate in the first ESSCertID (`SEQUENCE { SEQUENCE OF { [hashAlgorithm,] certHash, … } }`). */
function namedHash(value: unknown, byDefault: string): { readonly hash: Buffer; readonly algorithm: string } | null {
  const [first, second] =
    (value as Block | undefined)?.valueBlock.value?.[0]?.valueBlock.value?.[0]?.valueBlock.value ?? [];
  const isOctets = (block: Block | undefined) => block?.idBlock.tagNumber === 4;
  const octets = isOctets(first) ? first : isOctets(second) ? second : undefined;
  const algorithm = isOctets(first)
    ? byDefault
    : digests.get(first?.valueBlock.value?.[0]?.valueBlock.toString() ?? '');
  const hash = octets?.valueBlock.valueHexView;
  return hash === undefined || algorithm === undefined ? null : { hash: Buffer.from(hash), algorithm };
}

/** The certificates of a PEM file as DER. Throws if one of them is invalid. */
export function certificatesIn(pem: string): readonly Buffer[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block).raw);
}

function sameNumber(told: Uint8Array | undefined, sent: Uint8Array): boolean {
  return told !== undefined && equalBytes(Buffer.from(told), Buffer.from(sent));
}

function invalid(reason: string): TimestampReading {
  return { outcome: 'invalid', reason };
}

/** A buffer that contains exactly these bytes. */
function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
