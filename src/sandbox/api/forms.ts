import { z } from 'zod';

const jurisdiction = z.string().regex(/^[A-Z]{2}(-[A-Z0-9]{1,3})?$/, 'is not a jurisdiction code');
const language = z
  .string()
  .regex(/^[a-z]{2}$/, 'is not an ISO 639-1 code')
  .default('en');

/** Form A of generate (docs/service.md §4.1). */
export const formA = z.object({
  policy_type: z.string().regex(/^(?!hub$)[a-z0-9]+(-[a-z0-9]+)*$/, 'is not a policy type'),
  jurisdiction,
  language,
  business_name: z.string().max(200).optional(),
  domain: z.string().max(500).optional(),
  industry: z.string().max(100).optional(),
  business_type: z.string().max(100).optional(),
});

/** Form B of generate: other names, told from form A by its `type`. */
export const formB = z.object({
  type: z.string().regex(/^(?!hub$)[a-z0-9]+(_[a-z0-9]+)*$/, 'is not a policy type'),
  jurisdiction: z.array(jurisdiction).min(1),
  language,
  tone: z.string().max(100).optional(),
  custom_clauses: z.array(z.string().max(2000)).default([]),
});
