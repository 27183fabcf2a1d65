import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { apiRoutes } from '../src/http/api/api.ts';
import { openApiDocument } from '../src/http/api/openapi.ts';

/** The types of the API client, generated from the description that the server publishes at /openapi.json. */
export async function clientTypes(): Promise<string> {
  const document = openApiDocument(apiRoutes, '') as unknown as OpenAPI3;
  const types = astToString(await openapiTS(document, { alphabetize: true }));
  return `/* Generated from the description of the API by \`npm run client\`: change the routes, not this file. */\n\n${types}`;
}
