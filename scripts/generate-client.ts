import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientTypes } from './client-types.ts';

/** Writes the types of the API's client anew, after a change of the API: `npm run client`. */
const path = join(import.meta.dirname, '../client/schema.ts');
writeFileSync(path, await clientTypes());
