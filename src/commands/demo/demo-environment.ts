import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sandbox } from '../../sandbox/sandbox.ts';

/** The controller profile of the demo's clients: complete, and plainly made up. */
function profileOf(name: string): object {
  return {
    name: `${name} (SAMPLE)`,
    address: ['Sample Street 1', '10115 Berlin', 'Germany'],
    country: 'DE',
    region: 'BE',
    email: 'privacy@sample.example',
    website: 'https://sample.example',
    dataProtectionOfficer: 'Sam Sample, dpo@sample.example',
    purposes: [
      {
        purpose: 'Proving consent choices',
        lawfulBasis: 'GDPR Art. 6(1)(c) with Art. 7(1)',
        retention: 'while relied on, and 3 years after',
      },
      { purpose: 'Statistics of use', lawfulBasis: 'GDPR Art. 6(1)(a)', retention: '13 months' },
      { purpose: 'Marketing', lawfulBasis: 'GDPR Art. 6(1)(a)', retention: 'until withdrawn' },
    ],
    dataCategories: ['consent choices with their time', 'hashed visitor identifier', 'region'],
    dataSources: ['the consent banner on the website'],
    recipients: [{ name: 'The policy service (processor)', purpose: 'operates the consent banner', country: 'IE' }],
    noTransfers: true,
    automatedDecisions: 'None within the meaning of GDPR Art. 22.',
    supervisoryAuthority: {
      name: 'Berliner Beauftragte für Datenschutz und Informationsfreiheit',
      website: 'https://www.datenschutz-berlin.de',
    },
    withdrawalMethod: 'At any time through "Cookie settings" at the foot of each page.',
    otherSystems: [
      { id: 'shop', name: 'Shop database' },
      { id: 'newsletter', name: 'Newsletter tool' },
    ],
    signatory: 'Sam Sample, data protection officer',
    translations: {
      de: {
        dataProtectionOfficer: 'Sam Sample, dpo@sample.example',
        purposes: [
          {
            purpose: 'Nachweis von Einwilligungen',
            lawfulBasis: 'Art. 6 Abs. 1 Buchst. c i. V. m. Art. 7 Abs. 1 DSGVO',
            retention: 'solange wir uns auf sie berufen, danach 3 Jahre',
          },
          { purpose: 'Nutzungsstatistik', lawfulBasis: 'Art. 6 Abs. 1 Buchst. a DSGVO', retention: '13 Monate' },
          { purpose: 'Werbung', lawfulBasis: 'Art. 6 Abs. 1 Buchst. a DSGVO', retention: 'bis zum Widerruf' },
        ],
        dataCategories: [
          'Einwilligungsentscheidungen mit Zeitpunkt',
          'pseudonyme Besucherkennung (Hashwert)',
          'Region',
        ],
        dataSources: ['das Einwilligungsbanner auf unserer Website'],
        recipients: [
          {
            name: 'Der Policy-Dienst (Auftragsverarbeiter)',
            purpose: 'Betrieb des Einwilligungsbanners',
            country: 'IE',
          },
        ],
        automatedDecisions: 'Es finden keine automatisierten Entscheidungen im Sinne des Art. 22 DSGVO statt.',
        withdrawalMethod: 'Jederzeit über „Cookie-Einstellungen“ am Ende jeder Seite.',
        otherSystems: [
          { id: 'shop', name: 'Shop-Datenbank' },
          { id: 'newsletter', name: 'Newsletter-Programm' },
        ],
        signatory: 'Sam Sample, Datenschutzbeauftragte Person',
      },
    },
  };
}

/** The environment of the demo's installation: the first client as the source `default`, nothing of the user's own settings. */
export async function demoEnvironment(
  folder: string,
  sandbox: Sandbox,
  urls: { baseUrl: string; siteUrl: string },
): Promise<Record<string, string>> {
  const [client] = sandbox.clients;
  if (client === undefined) throw new Error('the sandbox has no client');
  const controllerFile = join(folder, 'controller.json');
  await writeFile(controllerFile, `${JSON.stringify(profileOf(client.name), null, 2)}\n`);
  const env = {
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    ADMIN_PORT: '0',
    SERVICE_BASE_URL: urls.baseUrl,
    SERVICE_SITE_URL: urls.siteUrl,
    SERVICE_API_KEY: client.apiKey,
    SERVICE_SITE_KEY: client.siteKey,
    WEBHOOK_SECRETS: client.webhookSecret,
    CONTROLLER_FILE: controllerFile,
    TIME_ZONE: 'Europe/Berlin',
    LOG_LEVEL: 'error',
  };
  // So that every other command works in this folder as it is: `cd demo-output && consent-ledger dsar list`.
  const lines = Object.entries({ ...env, PORT: '8080', ADMIN_PORT: '8081' }).map(([name, value]) => `${name}=${value}`);
  await writeFile(join(folder, '.env'), `${lines.join('\n')}\n`, { mode: 0o600 });
  return env;
}

/** Writes the profile of a further client; returns its path. */
export async function writeProfile(folder: string, slug: string, name: string): Promise<string> {
  const path = join(folder, `controller-${slug}.json`);
  await writeFile(path, `${JSON.stringify(profileOf(name), null, 2)}\n`);
  return path;
}
