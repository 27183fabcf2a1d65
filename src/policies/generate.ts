import { z } from 'zod';
import type { CallWay } from '../core/call.ts';
import type { Source } from '../core/source.ts';
import { isOneLine, ONE_LINE } from '../core/validation.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { generateViaMcp } from '../service/mcp.ts';
import { GENERATE_TIMEOUT_MS, type GeneratedPolicy, readGenerated } from '../service/policies.ts';
import { ServiceError } from '../service/service-error.ts';
import { type CallFailure, type CallOutcome, callOnce, callPatiently, type Patience, type Send } from './call-once.ts';
import { isCallable, type PolicyDeps, whyNotCallable } from './callable-source.ts';
import { settleCalls } from './settle-calls.ts';
import { countGenerations, findUnsettledTwin, type UnsettledCall, type WantedPolicy } from './unsettled-call.ts';

const slug = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9]+([-_][a-z0-9]+)*$/, 'is a slug such as privacy-policy')
  .refine((type) => type !== 'hub', 'hub is a list of policies, which cannot be generated');
const code = z
  .string()
  .trim()
  .toUpperCase()
  .regex(/^[A-Z]{2}(-[A-Z0-9]{1,3})?$/, 'is a code such as GB, US-CA or EU');
const language = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z]{2}$/, 'has two letters, such as en')
  .optional();
/** Goes into a policy as it is written, so it is refused rather than changed. */
const line = (most: number) => z.string().trim().min(1).max(most).refine(isOneLine, ONE_LINE).optional();

/**
 * Form A of generate, and an item of a batch (docs/service.md §4.1, §4.2). There are more types than documented, so any
 * slug is accepted.
 */
export const formASchema = z.strictObject({
  policy_type: slug.transform((type) => type.replaceAll('_', '-')),
  jurisdiction: code,
  language,
  business_name: line(200),
  domain: line(500),
  industry: line(100),
  business_type: line(100),
});
export type FormA = z.infer<typeof formASchema>;

/** Form B of generate, with underscores in the type (docs/service.md §4.1). */
export const formBSchema = z.strictObject({
  type: slug.transform((type) => type.replaceAll('-', '_')),
  jurisdiction: z.array(code).min(1, 'names at least one jurisdiction'),
  language,
  tone: line(100),
  custom_clauses: z.array(z.string().trim().min(1).max(2000)).max(100).optional(),
});
export type FormB = z.infer<typeof formBSchema>;

interface GenerateRequest extends Patience {
  readonly source: Source;
  readonly actor: string;
  /** Must be checked by {@link formASchema} or {@link formBSchema}. */
  readonly form: FormA | FormB;
  /** Default `rest`. */
  readonly via?: CallWay;
  /** Send it even if the outcome of an identical request is still unknown. */
  readonly again?: boolean | undefined;
  readonly timeoutMs?: number;
}

/** `unsettled`: an identical request has an unknown outcome; it is not sent again unless requested. */
export type GenerateOutcome =
  | { readonly outcome: 'done'; readonly requestId: string; readonly policy: GeneratedPolicy; readonly seq: number }
  | { readonly outcome: 'refused' | 'unknown'; readonly requestId: string; readonly error: CallFailure }
  | { readonly outcome: 'unsettled'; readonly call: UnsettledCall }
  | { readonly outcome: 'no-slot'; readonly freeAt: Date; readonly limit: string }
  | { readonly outcome: 'stopped' | 'taken' }
  | { readonly outcome: 'not-configured'; readonly reason: string };

/**
 * Generates one policy (docs/service.md §4.1). Waits up to `maxWaitMs` for a free slot of the key's rate limit. A
 * generation whose outcome is unknown costs quota if it was made, so it is never repeated silently.
 */
export async function generatePolicy(deps: PolicyDeps, request: GenerateRequest): Promise<GenerateOutcome> {
  const { source, form } = request;
  if (!isCallable(source)) return { outcome: 'not-configured', reason: whyNotCallable(source) ?? '' };
  const about = aboutOf(form);
  await settleCalls(deps);
  const client = deps.clientFor(source);
  const send: Send =
    request.via === 'mcp'
      ? sendViaMcp(deps)
      : ({ body, signal, timeoutMs }) => client.generatePolicy(body, { signal, timeoutMs });
  const order = {
    source,
    actor: request.actor,
    operation: 'generate',
    via: request.via ?? 'rest',
    path: request.via === 'mcp' ? '/api/mcp' : '/policies/generate',
    body: canonicalJson(form),
    timeoutMs: request.timeoutMs ?? GENERATE_TIMEOUT_MS,
    about,
  } as const;
  const read = (bytes: Buffer) => {
    const value = readGenerated(bytes);
    const { id: policyId, version, hostedUrl, remaining } = value;
    return { value, facts: { policyId, version, hostedUrl, remaining } };
  };
  let twin: UnsettledCall | null = null;
  let least = 0;
  // Checked before each attempt, since another process may have sent the same in the meantime. If two check at once,
  // only one gets the number.
  const callUnlessOpen = async (): Promise<CallOutcome<GeneratedPolicy>> => {
    for (;;) {
      const number = Math.max(await countGenerations(deps, source, about), least);
      twin = await findUnsettledTwin(deps, source, about);
      if (twin !== null) return { outcome: 'stopped' };
      const intentKey = ['generate', canonicalJson(about).toString('utf8'), String(number)];
      const ended = await callOnce(deps, { ...order, intentKey }, { send, read }, request);
      if (ended.outcome !== 'taken') return ended;
      least = number + 1;
    }
  };
  const call = request.again === true ? () => callOnce(deps, order, { send, read }, request) : callUnlessOpen;
  const ended = await callPatiently(deps, call, request);
  if (twin !== null) return { outcome: 'unsettled', call: twin };
  if (ended.outcome !== 'done') return ended;
  return { outcome: 'done', requestId: ended.requestId, policy: ended.value, seq: ended.seq };
}

/** Through the service's MCP endpoint instead of the REST API (docs/service.md §4.9). */
const sendViaMcp =
  ({ destinations }: Pick<PolicyDeps, 'destinations'>): Send =>
  ({ source, body, timeoutMs, signal }) => {
    const { siteUrl, apiKey } = source;
    if (siteUrl === null)
      throw new ServiceError('bad-request', {
        detail: `${source.slug} has no public origin of the service`,
        about: 'policies',
        unsent: true,
      });
    return generateViaMcp({ siteUrl, destinations, apiKey, body, timeoutMs, signal });
  };

export function aboutOf(form: FormA | FormB): WantedPolicy {
  const { language: lang = 'en' } = form;
  return 'type' in form
    ? {
        policyType: form.type.replaceAll('_', '-'),
        jurisdiction: form.jurisdiction.join(','),
        language: lang,
        businessName: null,
      }
    : {
        policyType: form.policy_type,
        jurisdiction: form.jurisdiction,
        language: lang,
        businessName: form.business_name ?? null,
      };
}
