import { readFileSync } from 'node:fs';
import jsonld, { type ContextDefinition, type JsonLdDocument, type NodeObject } from 'jsonld';
import { Parser, Store } from 'n3';
import SHACLValidator from 'rdf-validate-shacl';

/** Anything that a processor would fetch is a fault: a record contains its context. */
const options = {
  documentLoader: (url: string) => Promise.reject(new Error(`a record must not need ${url}`)),
  // Terms that are not in the context would be dropped silently; `safe` makes that an error.
  safe: true,
};

const shapes = new Store(
  new Parser({ format: 'text/turtle' }).parse(readFileSync(new URL('dpv-27560.shapes.ttl', import.meta.url), 'utf8')),
);

/** A consent record as a JSON-LD processor reads it: from its JSON, with its own context. */
export const readRecord = (record: unknown) => JSON.parse(JSON.stringify(record)) as JsonLdDocument & NodeObject;

/** The record after expansion and compaction with its own context. */
export async function roundTrip(record: unknown): Promise<unknown> {
  const document = readRecord(record);
  const expanded = await jsonld.expand(document, options);
  return jsonld.compact(expanded, document['@context'] as ContextDefinition, options);
}

/** The record as N-Quads. */
export async function quadsOf(record: unknown): Promise<readonly string[]> {
  const text = (await jsonld.toRDF(readRecord(record), {
    ...options,
    format: 'application/n-quads',
  })) as unknown as string;
  return text.split('\n').filter((line) => line !== '');
}

/** Messages of the shapes that a record violates, each once, sorted; empty: it conforms. */
export async function violationsOf(record: unknown): Promise<readonly string[]> {
  const quads = await quadsOf(record);
  const data = new Store(new Parser({ format: 'N-Quads' }).parse(quads.join('\n')));
  const { conforms, results } = await new SHACLValidator(shapes).validate(data);
  const messages = results.flatMap(({ message }) => message.map(({ value }) => value));
  if (conforms !== (messages.length === 0)) throw new Error('a shape without a message is violated');
  return [...new Set(messages)].sort();
}

/** The statements that a record must give: one for each type, value and node in it; `evidence` is one JSON literal. */
export function statementsIn(record: Readonly<Record<string, unknown>>): number {
  const subjects = new Set<string>();
  let nodes = 0;
  const walk = (value: unknown, subject: string): void => {
    for (const [name, inner] of Object.entries(value as Readonly<Record<string, unknown>>)) {
      if (name === '@id' || name === '@context') continue;
      if (name === 'header' || name === 'notice') {
        walk(inner, subject);
        continue;
      }
      for (const one of Array.isArray(inner) && name !== 'evidence' ? (inner as readonly unknown[]) : [inner]) {
        if (typeof one !== 'object' || one === null || name === 'evidence') {
          subjects.add(JSON.stringify([subject, name, name === 'evidence' ? '' : one]));
          continue;
        }
        const id = (one as { readonly '@id'?: string })['@id'] ?? `_:${(nodes += 1)}`;
        subjects.add(JSON.stringify([subject, name, id]));
        walk(one, id);
      }
    }
  };
  walk(record, String(record['@id']));
  return subjects.size;
}
