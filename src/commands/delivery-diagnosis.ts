import pc from 'picocolors';
import { diagnoseSignature } from '../../receivers/diagnose.ts';
import type { Finding } from '../../receivers/finding.ts';
import type { Context } from '../context.ts';
import type { RejectedItem } from '../rejected/ring.ts';
import { counted, printable } from './command-io.ts';

/** A refused delivery and why, for the operator's eyes. Holds no secret and no digest. */
export interface Diagnosed extends RejectedItem {
  readonly findings: readonly (Omit<Finding, 'code'> & { readonly code: string })[];
}

/** Says of each refused delivery why its signature failed, with the secrets of now. */
export async function diagnoseRefused(
  { rejected, sources }: Pick<Context, 'rejected' | 'sources'>,
  items: readonly RejectedItem[],
): Promise<readonly Diagnosed[]> {
  const diagnosed: Diagnosed[] = [];
  for (const item of items) {
    const content = await rejected.read(item.id);
    const source = sources.find(item.source);
    if (content === null) {
      diagnosed.push({
        ...item,
        findings: [
          {
            code: 'unreadable',
            sentence: 'It has expired or was altered in the database.',
            remedy: 'Ask the service to send it again.',
          },
        ],
      });
      continue;
    }
    if (source === null) {
      const remedy = `Add it again: \`source add ${item.source}\`.`;
      diagnosed.push({
        ...item,
        findings: [{ code: 'unknown-source', sentence: `Source ${item.source} no longer exists.`, remedy }],
      });
      continue;
    }
    const otherSecrets = sources
      .list()
      .filter(({ slug }) => slug !== source.slug)
      .flatMap(({ slug, webhookSecrets }) =>
        webhookSecrets.map((secret) => ({ ...secret, id: `${secret.id} of ${slug}` })),
      );
    const { headers, rawBody } = content;
    const findings = diagnoseSignature({ headers, rawBody, secrets: source.webhookSecrets, otherSecrets });
    diagnosed.push({ ...item, findings });
  }
  return diagnosed;
}

const IDS_SHOWN = 8;

/** Deliveries that failed for the same reasons stand together: a wrong secret refuses hundreds alike. */
export function diagnosisText(diagnosed: readonly Diagnosed[], kept: number): string {
  const groups = new Map<string, Diagnosed[]>();
  for (const one of diagnosed) {
    const key = JSON.stringify([one.source, one.findings]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const blocks = [...groups.values()].map((group) => {
    const first = group[0] as Diagnosed;
    const last = group[group.length - 1] as Diagnosed;
    const ids = group
      .slice(0, IDS_SHOWN)
      .map(({ id }) => id)
      .join(', ');
    const times = group.length === 1 ? first.receivedAt : `${last.receivedAt} to ${first.receivedAt}`;
    const addresses = [...new Set(group.map(({ address }) => address))];
    const from = addresses.length === 1 ? addresses[0] : counted(addresses.length, 'address', 'addresses');
    return [
      pc.bold(`${counted(group.length, 'delivery', 'deliveries')} to ${first.source}, ${times}, from ${from}`),
      `  number ${ids}${group.length > IDS_SHOWN ? ' …' : ''}`,
      ...first.findings.flatMap(({ sentence, remedy }) => [
        `  ${pc.red('✗')} ${printable(sentence)}`,
        `    ${printable(remedy)}`,
      ]),
    ].join('\n');
  });
  const more = kept - diagnosed.length;
  return [...blocks, ...(more > 0 ? [`${counted(more, 'older one')} not examined: raise --limit.`] : [])].join('\n\n');
}
