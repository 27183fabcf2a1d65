import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { apiRoutes } from '../src/http/api/api.ts';
import { openApiDocument } from '../src/http/api/openapi.ts';

/** Codes of failures that the API cannot describe, because it was not reached (client/client.ts). */
const ownCodes = ['unexpected_response', 'no_response'];

/**
 * The types of the API client, generated from the description that the server publishes at /openapi.json; problems may
 * also have the client's own codes.
 */
export async function clientTypes(): Promise<string> {
  const document = structuredClone(openApiDocument(apiRoutes, '')) as unknown as OpenAPI3 & {
    readonly components: { readonly schemas: { readonly Problem: { properties: { code: { enum: string[] } } } } };
  };
  document.components.schemas.Problem.properties.code.enum.push(...ownCodes);
  const types = astToString(await openapiTS(document, { alphabetize: true }));
  return `/* Generated from the description of the API by \`npm run client\`: change the routes, not this file. */\n\n${types}`;
}
