import type { ControllerProfile } from '../../src/law/profile.ts';
import type { NotKnown, Party } from './schema.ts';

/** Text as a part of an IRI. Lone surrogates, which no encoding accepts, become U+FFFD. */
export function iriPart(text: string): string {
  return encodeURIComponent(Buffer.from(text, 'utf8').toString('utf8'));
}

function partyId(name: string): string {
  return `urn:consent-ledger:party:${iriPart(name)}`;
}

function lacks(part: string): NotKnown {
  return { not_known: `the controller profile does not state: ${part}` };
}

type Contact = Exclude<Party['party_contact'][number], NotKnown | { '@id': string }>;

interface PartyFacts {
  readonly name: string;
  readonly type: Party['@type'];
  readonly address: string | null;
  readonly contact: Omit<Contact, '@type'> | null;
}

/** A party, with what is not known about it named. An address without a contact also serves as the contact. */
function partyOf({ name, type, address, contact }: PartyFacts): Party {
  const id = partyId(name);
  const addressId = `${id}#address`;
  return {
    '@id': id,
    '@type': type,
    party_id: id,
    party_name: name,
    party_address:
      address === null
        ? lacks(`the address of ${name}`)
        : { '@id': addressId, '@type': 'schema:PostalAddress', text: address },
    party_contact: [
      contact === null ? lacks(`how to reach ${name}`) : { '@type': 'schema:ContactPoint', ...contact },
      ...(address === null ? [] : [{ '@id': addressId }]),
    ],
  };
}

/** Who decides on the processing, and who carries it out on their behalf if the profile is a processor's: ids of parties. */
export function controllersOf(profile: ControllerProfile | null): {
  readonly controllers: (string | NotKnown)[];
  readonly processors: string[];
} {
  if (profile === null) return { controllers: [lacks('the controller')], processors: [] };
  if (profile.role !== 'processor') return { controllers: [partyId(profile.name)], processors: [] };
  const { controllerOrJointContact: controller } = profile;
  return {
    controllers: [controller === null ? lacks('the controller') : partyId(controller)],
    processors: [partyId(profile.name)],
  };
}

/** The id of the supervisory authority. */
export function authorityOf(profile: ControllerProfile | null): string | NotKnown {
  return profile?.supervisoryAuthority == null
    ? lacks('the supervisory authority')
    : partyId(profile.supervisoryAuthority.name);
}

/** The ids of the recipients. */
export function recipientsOf(profile: ControllerProfile | null): (string | NotKnown)[] {
  if (profile === null || profile.recipients.length === 0) return [lacks('recipients')];
  return [...new Set(profile.recipients.map(({ name }) => partyId(name)))];
}

const roles = {
  controller: 'dpv:DataController',
  processor: 'dpv:DataProcessor',
  joint: ['dpv:DataController', 'dpv:JointDataControllers'],
} as const satisfies Record<ControllerProfile['role'], unknown>;

/** Every party that the profile names, each once: controller or processor, recipients, supervisory authority. */
export function partiesOf(profile: ControllerProfile | null): Party[] {
  if (profile === null) return [];
  const { name, role, address, email, phone, website, controllerOrJointContact: controller } = profile;
  const own = { ...given('email', email), ...given('phone', phone), ...given('url', website) };
  const parties: Party[] = [
    partyOf({
      name,
      type: role === 'joint' ? [...roles.joint] : roles[role],
      address: address.length === 0 ? null : address.join(', '),
      contact: Object.keys(own).length === 0 ? null : own,
    }),
  ];
  if (role === 'processor' && controller !== null)
    parties.push(partyOf({ name: controller, type: 'dpv:DataController', address: null, contact: null }));
  for (const one of profile.recipients)
    parties.push(
      partyOf({
        name: one.name,
        type: 'dpv:Recipient',
        address: one.address ?? null,
        contact: one.contact == null ? null : contactIn(one.contact),
      }),
    );
  const authority = profile.supervisoryAuthority;
  if (authority !== null)
    parties.push(
      partyOf({
        name: authority.name,
        type: 'dpv:Authority',
        address: authority.address,
        contact: authority.website === null ? null : { url: authority.website },
      }),
    );
  return eachOnce(parties);
}

/** Parties of one name are one party with all its roles. */
function eachOnce(parties: readonly Party[]): Party[] {
  const byId = new Map<string, Party>();
  for (const party of parties) {
    const known = byId.get(party['@id']);
    if (known === undefined) {
      byId.set(party['@id'], party);
      continue;
    }
    const types = [...new Set([known['@type'], party['@type']].flat())];
    byId.set(party['@id'], { ...known, '@type': types.length === 1 ? (types[0] as (typeof types)[0]) : types });
  }
  return [...byId.values()];
}

function contactIn(text: string): Omit<Contact, '@type'> {
  if (/^https?:\/\/\S+$/i.test(text)) return { url: text };
  if (/^[^\s@]+@[^\s@]+$/.test(text)) return { email: text };
  return /^\+?[\d\s()/-]{5,}$/.test(text) ? { phone: text } : { description: text };
}

function given<Name extends string>(name: Name, value: string | null): { [key in Name]?: string } {
  return value === null ? {} : ({ [name]: value } as { [key in Name]: string });
}
