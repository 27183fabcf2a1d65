import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientTypes } from './client-types.ts';

/** Regenerates the types of the API client after a change of the API: `npm run client`. */
const path = join(import.meta.dirname, '../client/schema.ts');
writeFileSync(path, await clientTypes());
