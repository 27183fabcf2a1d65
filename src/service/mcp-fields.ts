/** The input schema of a tool, as far as it is looked at (JSON Schema). */
export interface ToolSchema {
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: unknown;
}

/** `impossible`: the tool does not take what was asked for, or wants what form A does not have. */
export type ToolArguments =
  | { readonly outcome: 'mapped'; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly outcome: 'impossible'; readonly reason: string };

/** Other names that a field of form A may have there. The input of the tool is not documented (docs/assumptions.md). */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  policy_type: ['policyType', 'type', 'policy', 'document_type', 'documentType'],
  jurisdiction: ['jurisdictions', 'region', 'country'],
  language: ['lang', 'locale'],
  business_name: ['businessName', 'company_name', 'companyName', 'brand_name', 'brandName', 'company', 'business'],
  domain: ['website', 'website_url', 'websiteUrl', 'site_url', 'siteUrl', 'url'],
  industry: ['sector'],
  business_type: ['businessType', 'legal_structure', 'legalStructure', 'company_type', 'companyType', 'entity_type'],
};

/**
 * Form A in the words of the tool: by the same name, else by a likely other one; a value becomes a list where the tool wants one, and takes the
 * spelling (hyphens or underscores) that the tool lists. Nothing that was asked for is dropped in silence.
 */
export function toToolArguments(form: Readonly<Record<string, string>>, schema: ToolSchema): ToolArguments {
  const properties = schema.properties ?? {};
  const isSilent = Object.keys(properties).length === 0;
  const given: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(form)) {
    const name = [field, ...(otherNames[field] ?? [])].find((one) => Object.hasOwn(properties, one));
    if (name !== undefined) given[name] = fitted(value, properties[name]);
    else if (isSilent || schema.additionalProperties !== false) given[field] = value;
    else return { outcome: 'impossible', reason: `the MCP tool does not take ${field}: leave it out, or use REST` };
  }
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(given, name));
  if (missing.length > 0)
    return { outcome: 'impossible', reason: `the MCP tool also needs ${missing.join(', ')}: use REST` };
  return { outcome: 'mapped', arguments: given };
}

function fitted(value: string, property: unknown): unknown {
  if (typeof property !== 'object' || property === null) return value;
  const { type, items } = property as { type?: unknown; items?: unknown };
  if (type === 'array') return [spelled(value, items)];
  return spelled(value, property);
}

function spelled(value: string, property: unknown): string {
  const allowed =
    typeof property === 'object' && property !== null && 'enum' in property && Array.isArray(property.enum)
      ? (property.enum as unknown[])
      : [];
  const plain = (text: string) => text.toLowerCase().replaceAll('_', '-');
  const same = allowed.find((one): one is string => typeof one === 'string' && plain(one) === plain(value));
  return same ?? value;
}
