import { normaliseName } from './field-table.ts';

/** What one language calls the person who makes a request, an e-mail address and a name, in field names. */
interface PeopleWords {
  readonly people: string;
  readonly email: string;
  readonly name: string;
}

const languages: readonly PeopleWords[] = [
  { people: 'applicant', email: 'email mail', name: 'name full_name' },
  {
    people:
      'interesado interesada solicitante afectado titular titular_datos titular_de_los_datos remitente cliente usuario',
    email: 'email mail correo correo_electronico',
    name: 'nombre nombre_completo',
  },
  {
    people: 'demandeur demandeuse personne_concernee expediteur requerant utilisateur',
    email: 'email mail courriel adresse_email adresse_mail',
    name: 'nom nom_complet',
  },
  {
    people:
      'betroffene_person betroffener betroffene antragsteller antragstellerin anfragender absender einsender kunde nutzer',
    email: 'email mail email_adresse mail_adresse',
    name: 'name vollstandiger_name',
  },
  {
    people: 'interessato interessata richiedente mittente cliente utente',
    email: 'email mail indirizzo_email indirizzo_mail',
    name: 'nome nome_completo nominativo',
  },
  {
    people: 'betrokkene verzoeker aanvrager afzender klant gebruiker',
    email: 'email mail emailadres mailadres',
    name: 'naam volledige_naam',
  },
  {
    people: 'osoba osoba_ktorej_dane_dotycza wnioskodawca nadawca klient uzytkownik',
    email: 'email mail adres_email adres_mail',
    name: 'imie_i_nazwisko imie_nazwisko',
  },
  {
    people: 'titular titular_dados titular_dos_dados requerente solicitante remetente cliente usuario utilizador',
    email: 'email mail endereco_email',
    name: 'nome nome_completo',
  },
  {
    people: 'registrerad den_registrerade sokande avsandare kund anvandare',
    email: 'email mail epost epostadress',
    name: 'namn fullstandigt_namn',
  },
];

const listed = (words: string) => words.split(' ').map(normaliseName);

/** Names of objects with how to reach the person. */
const contacts =
  'contact_details contact_information contact_info datos_contacto datos_de_contacto coordonnees kontaktdaten recapiti dati_contatto ' +
  'contactgegevens dane_kontaktowe dados_contato dados_de_contato kontaktuppgifter';

/** Names of objects that hold the person who makes a request, in look-up form. */
export const personNames: readonly string[] = [
  ...new Set([...languages.flatMap(({ people }) => listed(people)), ...listed(contacts)]),
];

/** Shorter names, such as `kund`, are parts of other words. */
const MIN_PART = 8;
const longNames = personNames.filter((name) => name.length >= MIN_PART);
/** Somebody who acts for the person. */
const AGENT =
  /agent|represent|rappresent|mandat|vertret|bevollm|anwalt|abogad|avvocat|avocat|advoca|advoka|gemachtigd|pelnomocn|procurad|ombud|delegat|tutor|betreuer/;

/** Whether a name, in look-up form, is of somebody who acts for the person. */
export function isAgent(name: string): boolean {
  return AGENT.test(name);
}

/** Whether an object of this name, in look-up form, holds the person who makes a request: `datosInteresado`, not `representanteDelInteresado`. */
export function namesPerson(name: string): boolean {
  return !isAgent(name) && (personNames.includes(name) || longNames.some((one) => name.includes(one)));
}

/** Names of two parts, in either order: `afzender_email`, `emailTitular`; in look-up form. */
function joinedNames(part: 'email' | 'name'): ReadonlySet<string> {
  return new Set(
    languages.flatMap(({ people, ...words }) =>
      listed(people).flatMap((person) => listed(words[part]).flatMap((word) => [person + word, word + person])),
    ),
  );
}

/** Names of fields with the address of the person who makes a request, in look-up form. */
export const personEmailNames = joinedNames('email');
/** Names of fields with their name, in look-up form. */
export const personFullNames = joinedNames('name');
