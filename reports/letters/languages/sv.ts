import type { LetterTexts } from '../texts.ts';

/** Svenska. */
export const sv: LetterTexts = {
  name: 'Svenska',
  locale: 'sv-SE',
  lawNames: {
    'eu-gdpr': { name: 'Dataskyddsförordningen, förordning (EU) 2016/679 (GDPR)', short: 'GDPR' },
    'uk-gdpr': { name: 'Förenade kungarikets dataskyddsförordning (UK GDPR)', short: 'UK GDPR' },
  },
  frame: {
    reference: 'Vår referens: {reference}',
    theirReference: 'Din referens: {reference}',
    applicableLaw: 'Tillämplig lag: {law}',
    unnamedRecipient: 'Till den person som gjorde begäran',
    dearNamed: 'Hej {name},',
    dearUnnamed: 'Hej,',
    closingNamed: 'Med vänliga hälsningar',
    closingUnnamed: 'Med vänliga hälsningar',
    page: 'Sida {page} av {pages}',
    document: 'Dokument {document}',
    attached: 'Vårt brev finns bifogat i det här e-postmeddelandet.',
    draft: 'UTKAST',
    stillToWrite: 'Återstår att skriva eller komplettera innan brevet skickas',
    dataProtectionOfficer: 'Dataskyddsombud: {contact}',
    jointContact: 'Kontaktpunkt för de gemensamt personuppgiftsansvariga: {contact}',
    questions: 'Om du har frågor, kontakta {contact} och ange vår referens {reference}.',
    agentFor: 'Du företräder {represented}. I detta brev avser ”du” och ”dina” {represented}.',
    agentForUnnamed: 'Du företräder en annan person. I detta brev avser ”du” och ”dina” den personen.',
    late: 'Detta svar kommer för sent: det skulle ha lämnats senast den {limit}. Vi ber om ursäkt för förseningen.',
  },
  titles: {
    acknowledgement: 'Vi har tagit emot din begäran',
    identity: 'Vi behöver bekräfta din identitet',
    clarification: 'En fråga om din begäran',
    extension: 'Vi behöver mer tid för din begäran',
    answer: 'Svar på din begäran av den {received}',
    partial: 'Svar på din begäran av den {received}: delvis beviljad',
    refusal: 'Svar på din begäran av den {received}: avslag',
    'no-match': 'Svar på din begäran av den {received}',
    notice: 'Underrättelse till mottagare av personuppgifter: {kind}',
    appeal: 'Beslut om ditt överklagande',
  },
  kinds: {
    access: {
      name: 'tillgång till personuppgifter',
      opening: 'Den {received} begärde du tillgång till dina personuppgifter.',
    },
    portability: {
      name: 'kopia av personuppgifter i flyttbart format',
      opening: 'Den {received} begärde du en kopia av dina personuppgifter i ett maskinläsbart format.',
    },
    erasure: {
      name: 'radering av personuppgifter',
      opening: 'Den {received} begärde du att vi skulle radera dina personuppgifter.',
    },
    rectification: {
      name: 'rättelse av personuppgifter',
      opening: 'Den {received} begärde du att vi skulle rätta dina personuppgifter.',
    },
    restriction: {
      name: 'begränsning av behandling',
      opening: 'Den {received} begärde du att vi skulle begränsa behandlingen av dina personuppgifter.',
    },
    objection: {
      name: 'invändning mot behandling',
      opening: 'Den {received} invände du mot behandlingen av dina personuppgifter.',
    },
    'opt-out': {
      name: 'avböjande av försäljning och delning av personuppgifter',
      opening: 'Den {received} avböjde du försäljning och delning av dina personuppgifter.',
    },
    limit: {
      name: 'begränsad användning av känsliga personuppgifter',
      opening: 'Den {received} begärde du att vi skulle begränsa användningen av dina känsliga personuppgifter.',
    },
    'withdraw-consent': {
      name: 'återkallande av samtycke',
      opening: 'Den {received} återkallade du ditt samtycke.',
    },
    unknown: {
      name: 'begäran som rör personuppgifter',
      opening: 'Den {received} skickade du en begäran till oss som rör dina personuppgifter.',
    },
  },
  openingOfAgent: 'Den {received} skickade du en begäran till oss för en annan persons räkning ({kind}).',
  acknowledgement: {
    received: 'Med detta brev bekräftar vi att vi har tagit emot din begäran.',
    due: 'Vårt svar ska lämnas senast den {limit}.',
    notYou: 'Om det inte är du som har gjort denna begäran ber vi dig meddela oss.',
  },
  identity: {
    lead: 'Innan vi kan behandla din begäran behöver vi bekräfta att den kommer från dig eller från någon som har rätt att företräda dig.',
    use: 'Skicka inga original, och täck på kopior över allt som vi inte har bett om. Vi antecknar hur din identitet bekräftas.',
    reply: 'Svara till {contact} och ange vår referens {reference}.',
    clockStarts: 'Tiden för vårt svar räknas från den dag då vi får det som vi här ber dig om.',
  },
  clarification: {
    lead: 'För att kunna besvara din begäran på rätt sätt behöver vi veta mer om vad du begär:',
    clockStops: 'Tidsfristen för vårt svar löper inte från och med i dag till dess att vi har fått ditt svar.',
    reply: 'Svara till {contact} och ange vår referens {reference}.',
    noReply: 'Utan ditt svar kan vi bara utgå från det vi vet.',
  },
  extension: {
    lead: 'Vi kan inte lämna ett fullständigt svar inom tidsfristen, som går ut den {firstLimit}. Skälet är följande:',
    newLimit: 'Vårt svar ska nu lämnas senast den {limit}.',
    complaint: 'Du kan lämna in ett klagomål om förlängningen till denna myndighet: {authority}',
  },
  answer: {
    records:
      'De uppgifter om samtycke som vi kunde koppla till dig avser perioden från den {from} till den {to}; antal val: {count}. Vi hittade dem med hjälp av {found}.',
    recordsOfOneDay:
      'De uppgifter om samtycke som vi kunde koppla till dig är från den {from}; antal val: {count}. Vi hittade dem med hjälp av {found}.',
    foundFromDevice: 'den besöksidentifierare som du skickade oss från din enhet',
    foundComputed: 'en identifierare som har beräknats utifrån den e-postadress som du gav oss',
    identityChecked: 'Innan vi lämnade ut något bekräftade vi din identitet.',
    enclosed: 'En kopia av alla dessa uppgifter bifogas:',
    files: {
      history: '{file}: dina val, att läsa i valfri webbläsare',
      decisions: 'decisions.csv och decisions.json: samma uppgifter för ett kalkylblad eller ett program',
      policies: 'policies.json: de policyer som gällde vid tillfället',
      policyTexts: '{file}: texterna i dessa policyer så som vi hämtade dem',
      evidence: 'banner-evidence: vad samtyckesbannern visade vid tillfället',
      records27560: 'records-27560.json: samma uppgifter i form av samtyckesposter enligt ISO/IEC TS 27560',
      about: 'case.json, README.txt och manifest.json: din begäran och en lista över alla filer med kontrollsummor',
      records: 'records.jsonl: uppgifterna exakt så som vi tog emot dem',
    },
    verify:
      'Du kan själv kontrollera att uppgifterna inte har ändrats: öppna den bifogade filen verify.html i en webbläsare och välj filen som du har fått från oss; ingen internetanslutning behövs. Varje uppgift jämförs med vår signerade logg, vars senaste kontrollpunkt före detta brev omfattar {entries} poster. Jämför loggens nyckel med den som du har fått från oss på annat sätt:',
    unverified:
      'Din identitet har inte bekräftats. För att skydda den person som uppgifterna gäller lämnar vi inte ut enskilda uppgifter. Vi svarar därför endast i allmänna ordalag.',
    categories:
      'Detta svar beskriver i allmänna ordalag hur vi behandlar personuppgifter. Det innehåller inga enskilda uppgifter.',
    unmatched:
      'Av uppgifterna i din begäran kan vi inte se i vilken webbläsare eller på vilken enhet ditt tidigare val registrerades.',
    unmatchedHowTo:
      'För att ditt val ska gälla även där ber vi dig att upprepa det där. Återkallande av samtycke: {withdrawalMethod}',
    parts: 'Vad vi har gjort',
    part: { done: 'utfört', partly: 'delvis utfört', refused: 'avslaget' },
    partGround: '{outcome}; skäl: {ground}',
    withheld:
      'Vi har följande uppgifter om dig. Lagen tillåter inte att vi lämnar ut dem, och vi har därför utelämnat dem i kopian ({source}): {types}.',
    withheldTypes: {
      socialSecurity: 'ett nummer som har formen av ett amerikanskt social security number',
      longNumber: 'ett långt nummer som kan vara ett konto-, kort- eller identifikationsnummer',
    },
    neverDisclosed:
      'Vare sig sådana uppgifter finns eller inte förbjuder lagen att i ett svar lämna ut personnummer (social security number), körkortsnummer eller andra officiella identifikationsnummer, finansiella kontonummer, sjukförsäkrings- eller medicinska identifikationsnummer, lösenord, säkerhetsfrågor och svar eller biometriska uppgifter ({source}).',
    proofPeriod:
      'Den lagringstid som har bestämts för det är {period}, räknat från ditt senaste val eller, om det är senare, från det att samtycket löper ut.',
  },
  partial: {
    lead: 'Vi har beviljat en del av din begäran. Vad vi har gjort, vad vi inte har gjort, och våra skäl:',
  },
  refusal: {
    lead: 'Vi har prövat din begäran och kan inte bevilja den. Våra skäl:',
    ground: 'Rättslig grund för avslaget: {ground}',
    healthStatement:
      'Om uppgifterna rör din hälsa kan du skicka oss ett skriftligt uttalande på högst 250 ord om varje uppgift som du anser vara felaktig, och be oss foga det till dina uppgifter (11 CCR § 7023).',
    optOut:
      'Du har rätt att förbjuda oss att sälja eller dela din personliga information. Om du vill utöva den rätten, skriv till {contact} och ange vår referens {reference}; du behöver inte styrka din identitet (11 CCR §§ 7013, 7022(g)).',
  },
  noMatch: {
    why: 'Vi hittar uppgifter om samtycke genom en besöksidentifierare, inte genom namnet. Det som din begäran innehåller gör det inte möjligt för oss att avgöra vilka av dem, om några, som rör dig.',
    notNone: 'Det betyder inte att det inte finns några.',
    help: 'Så här kan du hjälpa oss att hitta dem:',
    steps: [
      'Öppna vår webbplats på den enhet och i den webbläsare där du gjorde ditt val. Kopiera den besöksidentifierare som samtyckesbannern har sparat där (i sin kaka eller i sina inställningar).',
      'Berätta på vilken webbplats, och ungefär när, du gjorde eller ändrade ditt val.',
      'Skicka båda till {contact} och ange vår referens {reference}. Då kan vi söka igen.',
    ],
  },
  notice: {
    dear: 'Hej,',
    lead: 'Vi har lämnat ut personuppgifter till er. Den registrerade har gjort en begäran hos oss ({kind}).',
    done: 'Vi har beviljat den för följande uppgifter:',
    ask: 'Vi ber er vidta motsvarande åtgärder i era egna system och bekräfta dem till {contact}, med angivande av vår referens {reference}.',
  },
  appeal: {
    lead: 'Du har överklagat vårt beslut om din begäran av den {received}. Vi har omprövat det. Vårt beslut och våra skäl:',
    complaint: 'Om du inte är nöjd med detta beslut kan du lämna in ett klagomål till denna myndighet: {authority}',
  },
  processing: {
    heading: 'Hur vi behandlar personuppgifter',
    purposes: 'Ändamål',
    purpose: '{purpose} (sparas: {retention})',
    purposeWithBasis: '{purpose} (rättslig grund: {basis}; sparas: {retention})',
    dataCategories: 'Kategorier av uppgifter',
    recipients: 'Mottagare',
    dataSources: 'Varifrån uppgifterna kommer',
    transfers: 'Överföringar till tredjeländer',
    noTransfers: 'inga',
    automatedDecisions: 'Automatiserade beslut',
    withdrawalMethod: 'Återkallande av samtycke',
    notStated: 'Anges inte i detta svar: {parts}',
    soldOrShared:
      'vilka kategorier av uppgifter som vi har sålt, delat eller lämnat ut för affärsändamål under de 12 månaderna före din begäran, till vilka tredje parter och för vilka ändamål',
    parts: {
      address: 'postadress',
      email: 'e-postadress för kontakt',
      country: 'etableringsland',
      purposes: 'ändamål, rättsliga grunder och lagringstider',
      dataCategories: 'kategorier av uppgifter',
      dataSources: 'varifrån uppgifterna kommer',
      recipients: 'mottagare',
      transfers: 'överföringar till tredjeländer och skyddsåtgärder för dem',
      automatedDecisions: 'automatiserade beslut',
      supervisoryAuthority: 'tillsynsmyndighet',
      withdrawalMethod: 'hur samtycke återkallas',
      controller: 'den personuppgiftsansvarige',
      jointContact: 'kontaktpunkt för de gemensamt personuppgiftsansvariga',
    },
    criteria: 'de kriterier som används vid behandlingen (LGPD, art. 19, II)',
  },
  scope: {
    heading: 'Vad detta svar omfattar',
    consentOnly: 'Detta svar omfattar uppgifter om samtycke och om policyer.',
    otherSystems: 'Våra övriga system:',
    results: {
      'nothing-found': 'genomsökt, inget hittades',
      found: 'genomsökt, uppgifter hittades',
      attached: 'genomsökt, det vi hittade bifogas separat',
      searched: 'genomsökt',
      'not-applicable': 'saknar betydelse för denna begäran',
      open: 'ännu inte genomsökt',
    },
    others: 'Det omfattar inga andra system.',
    searched: 'För detta svar har vi sökt igenom våra uppgifter om samtycke.',
    notSearched: 'Din begäran innehåller inget som vi kan söka i våra uppgifter om samtycke med.',
  },
  rights: { heading: 'Dina rättigheter', remedies: 'Vad du kan göra' },
  families: {
    gdpr: {
      identity:
        'Om vi har rimliga skäl att betvivla identiteten hos den person som gör en begäran får vi begära ytterligare information (artikel 12.6 {gdpr}). Vårt skäl, och vad vi ber dig om:',
      extension:
        'Vi får förlänga tiden när det krävs med hänsyn till hur komplicerad begäran är och hur många begäranden som kommit in (artikel 12.3 {gdpr}).',
      access: 'Ja, vi behandlar personuppgifter om dig (artikel 15 {gdpr}).',
      portability: 'Med detta brev får du dina uppgifter om samtycke i ett maskinläsbart format (artikel 20 {gdpr}).',
      noMatch: 'Vi kan inte koppla dig till några uppgifter om samtycke (artikel 11.2 {gdpr}).',
      notes: {
        erasure: ['Du kan fråga oss vilka mottagare av dina uppgifter som har underrättats (artikel 19 {gdpr}).'],
        rectification: ['Du kan fråga oss vilka mottagare av dina uppgifter som har underrättats (artikel 19 {gdpr}).'],
        restriction: [
          'Bortsett från lagring får uppgifter vars behandling är begränsad endast behandlas med ditt samtycke, för att fastställa, göra gällande eller försvara rättsliga anspråk, för att skydda någon annan fysisk eller juridisk persons rättigheter eller av skäl som rör ett viktigt allmänintresse för unionen eller en medlemsstat (artikel 18.2 {gdpr}).',
          'Du ska underrättas innan begränsningen upphör (artikel 18.3 {gdpr}).',
          'Du kan fråga oss vilka mottagare av dina uppgifter som har underrättats (artikel 19 {gdpr}).',
        ],
        'withdraw-consent': [
          'Återkallandet påverkar inte lagligheten av behandlingen dessförinnan (artikel 7.3 {gdpr}).',
        ],
      },
      proof:
        'Vi behåller beviset för att du har lämnat, nekat eller återkallat samtycke, eftersom vi måste kunna visa det och för rättsliga anspråk (artikel 17.3 b och e {gdpr}).',
      rights: [
        'Du kan begära att vi rättar eller raderar dina personuppgifter eller begränsar behandlingen av dem (artiklarna 16, 17 och 18 {gdpr}).',
        'Du kan invända mot behandling som grundas på en uppgift av allmänt intresse eller på berättigade intressen (artikel 21 {gdpr}).',
        'Du kan när som helst återkalla ditt samtycke. Det påverkar inte lagligheten av behandlingen före återkallandet (artikel 7.3 {gdpr}).',
        'Du kan få de uppgifter som du har lämnat till oss i ett maskinläsbart format (artikel 20 {gdpr}).',
      ],
      notice: 'Vi underrättar er om detta enligt artikel 19 {gdpr}.',
    },
    uk: {
      extension:
        'Vi får förlänga tiden när det krävs med hänsyn till hur komplicerade dina begäranden är eller hur många de är (artikel 12A.3 {gdpr}).',
      notes: {
        restriction: [
          'Bortsett från lagring får uppgifter vars behandling är begränsad endast behandlas med ditt samtycke, för att fastställa, göra gällande eller försvara rättsliga anspråk, för att skydda någon annan fysisk eller juridisk persons rättigheter eller av skäl som rör ett viktigt allmänintresse (artikel 18.2 {gdpr}).',
          'Du ska underrättas innan begränsningen upphör (artikel 18.3 {gdpr}).',
          'Du kan fråga oss vilka mottagare av dina uppgifter som har underrättats (artikel 19 {gdpr}).',
        ],
      },
    },
    similar: {
      rights: [
        'Du kan begära att vi rättar eller raderar dina personuppgifter eller begränsar behandlingen av dem.',
        'Du kan invända mot behandling som grundas på en uppgift av allmänt intresse eller på berättigade intressen.',
        'Du kan när som helst återkalla ditt samtycke. Det påverkar inte lagligheten av behandlingen före återkallandet.',
        'Du kan få de uppgifter som du har lämnat till oss i ett maskinläsbart format.',
      ],
    },
    swiss: {
      rights: [
        'Du kan begära att vi rättar dina personuppgifter (artikel 32.1 FADP).',
        'Du kan uttryckligen förbjuda oss att behandla dina personuppgifter (artikel 30.2 b FADP).',
        'Du kan begära att domstol förbjuder en viss behandling eller utlämnande av uppgifter till tredje part, eller beslutar att uppgifter ska raderas eller förstöras (artikel 32.2 FADP).',
        'Du kan få de uppgifter som du har lämnat till oss i ett vanligt elektroniskt format (artikel 28 FADP).',
      ],
    },
    california: {
      acknowledgement: {
        checked: [
          'Lagen kräver att vi kontrollerar din identitet innan vi lämnar ut, rättar eller raderar personlig information, om möjligt genom att jämföra uppgifter som du lämnar med uppgifter som vi har (11 CCR § 7060). Om de inte räcker får vi be dig om fler.',
        ],
        unchecked: ['Du behöver inte styrka din identitet för denna begäran.'],
      },
      identity:
        'Lagen kräver att vi kontrollerar din identitet innan vi tillmötesgår denna begäran (11 CCR § 7060). Kontrollen förlänger inte tiden för vårt svar. Vad vi ber dig om:',
      extension:
        'Lagen ger oss sammanlagt högst 90 kalenderdagar från den dag då vi tog emot din begäran (11 CCR § 7021).',
      access: 'Ja, vi har samlat in personlig information om dig (Cal. Civ. Code § 1798.110).',
      portability:
        'Med detta brev får du dina uppgifter om samtycke i ett flyttbart och lättanvänt format (Cal. Civ. Code § 1798.130).',
      notes: {
        erasure: ['Vi behåller uppgifter om denna begäran, vilket lagen kräver (11 CCR § 7101).'],
        'opt-out': [
          'Du behövde inte styrka din identitet för detta. Lagen tillåter inte att vi ber dig ändra detta val på minst 12 månader.',
        ],
        limit: [
          'Du behövde inte styrka din identitet för detta. Lagen tillåter inte att vi ber dig ändra detta val på minst 12 månader.',
        ],
      },
      proof:
        'Vi behåller beviset för att du har lämnat, nekat eller återkallat samtycke, vilket lagen tillåter (Cal. Civ. Code § 1798.105(d)).',
      rights: [
        'Du kan begära att vi raderar eller rättar personlig information som vi har samlat in om dig.',
        'Du kan avböja försäljning och delning av din personliga information och begränsa användningen av känslig information. Du behöver inte styrka din identitet för det.',
        'Lagen förbjuder oss att behandla dig mindre förmånligt för att du utövar dessa rättigheter.',
      ],
      notice:
        'Vi underrättar er om detta eftersom Kaliforniens lag kräver att vi meddelar dem som har tagit emot uppgifterna.',
    },
    us: {
      identity:
        'När en begäran inte kan verifieras med kommersiellt rimliga insatser tillåter lagen att vi ber om ytterligare information. Vad vi ber dig om:',
      extension: 'Lagen tillåter en sådan förlängning när den är rimligen nödvändig.',
      rights: [
        'Lagen ger dig ytterligare rättigheter i fråga om dina personuppgifter, till exempel att få dem raderade och att avböja att de säljs. Meddela oss om du vill utöva dessa rättigheter.',
        'Lagen förbjuder oss att behandla dig mindre förmånligt för att du utövar dessa rättigheter.',
      ],
    },
    brazil: {
      identity: 'Vi får endast svara den registrerade eller dennes företrädare. Vad vi ber dig om:',
      access: 'Ja, vi behandlar personuppgifter om dig (LGPD, art. 18 och 19).',
      portability: 'Med detta brev får du dina uppgifter om samtycke i ett maskinläsbart format (LGPD, art. 18, V).',
      notes: {
        'withdraw-consent': ['Återkallandet påverkar inte behandlingen dessförinnan (LGPD, art. 8, § 5).'],
      },
      proof:
        'Vi behåller beviset för att du har lämnat, nekat eller återkallat samtycke för att uppfylla en rättslig skyldighet (LGPD, art. 16, I).',
      rights: [
        'Du kan begära bekräftelse, tillgång, rättelse, anonymisering, dataportabilitet och radering, och återkalla ditt samtycke (LGPD, art. 18).',
      ],
      notice: 'Vi underrättar er om detta enligt LGPD, art. 18, § 6.',
    },
    general: {
      acknowledgement: { checked: [], unchecked: [] },
      identity: 'Vi får lämna ut eller ändra personuppgifter endast om vi vet vem som begär det. Vad vi ber dig om:',
      access: 'Ja, vi behandlar personuppgifter om dig.',
      portability: 'Med detta brev får du dina uppgifter om samtycke i ett maskinläsbart format.',
      noMatch: 'Vi kan inte koppla dig till några uppgifter om samtycke.',
      notes: {
        erasure: ['Vi behåller uppgifter om denna begäran.'],
      },
      proof: 'Vi behåller beviset för att du har lämnat, nekat eller återkallat samtycke.',
      rights: ['Du kan begära att vi rättar dina personuppgifter.', 'Du kan återkalla ett samtycke som du har lämnat.'],
      notice: 'Vi underrättar er om detta eftersom ni har tagit emot uppgifter från oss.',
    },
  },
  remedies: {
    eu: [
      'Du kan lämna in ett klagomål till en tillsynsmyndighet, särskilt i den medlemsstat där du bor eller arbetar eller där du anser att överträdelsen har skett (artikel 77 GDPR).',
      'Du har också rätt till ett effektivt rättsmedel vid domstol (artikel 79 GDPR).',
    ],
    uk: [
      'Du kan klaga hos oss (Data Protection Act 2018, s. 164A): skriv till {contact}.',
      'Du kan klaga hos Information Commissioner (Data Protection Act 2018, s. 165): {authority}',
      'Du kan också vända dig till domstol (artikel 79 UK GDPR).',
    ],
    california: ['Du kan lämna in ett klagomål till dessa myndigheter: {authority}'],
    quebec: ['Inom 30 dagar från detta svar kan du begära omprövning hos denna myndighet: {authority}'],
    authority: ['Du kan lämna in ett klagomål till denna myndighet: {authority}'],
    authorityAndCourt: [
      'Du kan lämna in ett klagomål till denna myndighet: {authority}',
      'Du kan också vända dig till domstol.',
    ],
    unnamed: ['Du kan lämna in ett klagomål till den myndighet som ansvarar för dataskydd.'],
  },
  packFiles: { letter: 'brev', history: 'historik', policyTexts: 'policytexter' },
  handOver: {
    title: 'Vårt svar på din begäran',
    enterCode: 'Ange koden med 8 siffror som vi har skickat till dig separat från den här länken.',
    code: 'Kod',
    open: 'Öppna',
    wrongCode: 'Koden är fel. Återstående försök: {left}.',
    invalidTitle: 'Den här länken öppnar ingenting',
    invalid: 'Den är ofullständig, har gått ut eller har dragits tillbaka. Be avsändaren om en ny.',
    until: 'Du kan öppna den här sidan till {until}.',
    received: 'Mottagen den {received}: {kind}',
    contents: 'Vad du får',
    letter: '{file}: vårt svar på din begäran',
    proofs: 'verify.html, verify.mjs och proofs: med dem kan du kontrollera att inget har ändrats',
    download: 'Ladda ner som ZIP-fil ({size})',
    files: 'Övriga filer',
    fileChecksum: 'SHA-256-kontrollsumma:',
    check: 'Så kontrollerar du filen',
    checksum: 'SHA-256-kontrollsumma för ZIP-filen:',
    checkSteps: [
      'Packa upp ZIP-filen och öppna verify.html i en webbläsare. Ingen internetanslutning behövs.',
      'Välj där ZIP-filen som du har laddat ner. Sidan kontrollerar varje post i den.',
      'Ange där även nyckeln som är publicerad på {key}: den visar att posterna kommer från oss.',
    ],
    write: 'Frågor och invändningar',
    writeLead: 'Är något oklart, ofullständigt eller fel? Ditt meddelande når de personer som handlägger din begäran.',
    question: 'Jag har en fråga',
    objection: 'Jag invänder mot svaret',
    message: 'Ditt meddelande',
    send: 'Skicka',
    sent: 'Vi tog emot ditt meddelande {at}.',
    empty: 'Skriv först ett meddelande på högst 4 000 tecken.',
    tooMany: 'Det går inte att skicka fler meddelanden här. Kontakta oss direkt.',
    leave: 'Stäng sidan',
    formExpired: 'Formuläret hade gått ut och skickades inte. Försök igen.',
    wait: 'För många förfrågningar. Vänta en minut och försök igen.',
    unavailable: 'Sidan är tillfälligt otillgänglig. Försök igen om några minuter.',
    languages: 'Språk',
  },
  messages: {
    replied: 'Svar från {controller} {at}',
    answering: 'Jag svarar på ert meddelande',
    mailTitle: 'Svar på ditt meddelande',
    mailLead:
      '{controller} har svarat på ditt meddelande om din begäran. För att skydda dina uppgifter står svaret inte i det här e-postmeddelandet.',
    mailLink:
      'För att läsa svaret och skriva tillbaka öppnar du länken som du har fått från oss och anger koden. Länken gäller till {until}.',
    mailNoLink: 'Länken som du har fått från oss går inte längre att öppna. Kontakta oss för att få en ny.',
  },
  task: {
    title: 'En uppgift till dig',
    lead: '{controller} ber dig att göra följande för en begäran om personuppgifter.',
    due: 'Gör det senast {due}.',
    outcome: 'Hur gick det?',
    done: 'Det är gjort',
    notDone: 'Det blev inte gjort',
    note: 'Anmärkning',
    noteHint: 'Skriv vad du har gjort eller varför det inte blev gjort. Skriv inga personuppgifter.',
    noteMissing: 'Skriv med högst 2 000 tecken varför det inte blev gjort.',
    reportedDone: 'Tack. Du meddelade {at} att det är gjort.',
    reportedNotDone: 'Du meddelade {at} att det inte blev gjort. Om det har gjorts sedan dess kan du meddela det här.',
    mailLink: 'Meddela här hur det gick. Du behöver inget konto; länken gäller till {until}:',
  },
  requestForm: {
    title: 'Dina personuppgifter: skicka en begäran',
    lead: 'Med det här formuläret utövar du dina rättigheter till dina personuppgifter.',
    kind: 'Vad vill du?',
    kinds: {
      access: 'Veta vilka uppgifter ni har om mig',
      portability: 'Få en kopia av mina uppgifter som andra tjänster kan läsa',
      erasure: 'Få mina uppgifter raderade',
      rectification: 'Få mina uppgifter rättade',
      restriction: 'Begränsa användningen av mina uppgifter',
      objection: 'Invända mot användningen av mina uppgifter',
      'opt-out': 'Säga nej till att mina uppgifter säljs och delas',
      limit: 'Begränsa användningen av mina känsliga uppgifter',
      'withdraw-consent': 'Återkalla mitt samtycke',
      unknown: 'Något annat om mina uppgifter',
    },
    name: 'Ditt namn',
    email: 'Din e-postadress',
    emailHint: 'Vi skickar en bekräftelse och en kod till den här adressen.',
    place: 'Var du bor',
    placeHint: 'Det avgör vilken lag som gäller.',
    placeOpen: 'Vill helst inte säga',
    message: 'Ditt meddelande',
    messageHint: 'Till exempel vad det gäller mer exakt. Om du skriver för någon annan, ange för vem.',
    subject: 'Samtyckes-ID',
    subjectHint: 'Om vår webbplats visar ett.',
    optional: 'frivilligt',
    use: 'Vi använder uppgifterna för att hantera din begäran och sparar dem som bevis på att vi gjort det.',
    send: 'Skicka begäran',
    trap: 'Lämna det här fältet tomt',
    wrong: {
      kind: 'Välj vad du vill.',
      name: 'Ange ditt namn (högst 300 tecken).',
      email: 'Ange en e-postadress, till exempel namn@example.com.',
      place: 'Välj en plats i listan.',
      message: 'Ditt meddelande får ha högst 4 000 tecken.',
      subject: 'Samtyckes-ID:t får ha högst 300 tecken.',
    },
    again: 'Formuläret kunde inte skickas ännu. Kontrollera det och skicka det igen.',
    tooMany: 'Just nu kommer det in för många ärenden. Försök igen om en timme eller skriv till oss direkt.',
    receivedTitle: 'Vi har tagit emot din begäran',
    received: 'Mottagen {at}. Referens: {reference}',
    keep: 'Spara referensen.',
    codeLead:
      'Vi skickar en kod till e-postadressen som du angav. Skriv in den här för att bekräfta att adressen är din: då behöver vi kanske fråga mindre senare. Koden gäller till {until}.',
    noMail: 'Din begäran hanteras oavsett om du skriver in koden.',
    confirm: 'Bekräfta',
    confirmed: 'Tack: din e-postadress är bekräftad. Du behöver inte göra något mer just nu.',
    locked: 'Här kan inga fler koder skrivas in. Din begäran hanteras ändå.',
    closed: 'Din begäran är avslutad.',
    mailCode:
      'Din kod för att bekräfta den här e-postadressen: {code} (gäller till {until}). Skriv in den på sidan där du skickade din begäran:',
  },
  appealTo:
    'Du kan inom skälig tid överklaga detta beslut: skriv till {contact}, med ordet ”Appeal” och vår referens {reference}. Vi måste meddela dig skriftligen inom {days} dagar från det att vi tog emot överklagandet vad vi har beslutat och varför. Om överklagandet avslås kan du lämna in ett klagomål till denna myndighet: {authority}',
  authorityIs: 'Behörig tillsynsmyndighet för oss: {authority}',
  proposals: {
    identity: [
      '[Varför ni tvivlar på vem som gör begäran.]\n\nSvara från den e-postadress som vi har registrerad för dig, eller uppge [något som endast denna person kan veta].',
      'Skicka oss en fullmakt, undertecknad av den berörda personen, som ger rätt att göra denna begäran för personens räkning.',
    ],
    clarification: [
      'Berätta för oss [vilka uppgifter, vilken period eller vilken av våra tjänster din begäran gäller].',
      'Berätta för oss [vad som ska rättas, och vad som vore riktigt].',
    ],
    extension: [
      'Din begäran är komplicerad: [ange varför].',
      'Vi måste pröva flera begäranden från dig: [ange vilka].',
    ],
    partial: [
      'Vi har gjort följande:\n- [vad ni har gjort]\n\nVi har inte gjort följande:\n- [vad ni inte har gjort, varför, och den artikel som tillåter det]',
    ],
    refusal: [
      '[Era skäl.]\n\nRättslig grund för avslaget: [artikel]',
      'Vi kunde inte bekräfta din identitet: [vad ni bad om, och vad som saknades]. Vi kan därför inte lämna ut eller ändra några uppgifter.',
    ],
    notice: ['- [vilka uppgifter, under vilken identifierare, så att mottagaren kan hitta dem]'],
    appeal: ['Vi har ändrat vårt beslut: [vad ni nu har gjort].', 'Vi står fast vid vårt beslut: [era skäl].'],
    know: [
      'Under de 12 månaderna före din begäran har vi\n- samlat in dessa kategorier av personuppgifter om dig: [kategorier]\n- sålt eller delat: [varje kategori, till vilka kategorier av tredje parter och för vilket ändamål; eller att vi inte har sålt eller delat någon]\n- lämnat ut för affärsändamål: [varje kategori, till vilka kategorier av mottagare och för vilket ändamål; eller att vi inte har lämnat ut någon]\n\nVi har också, men får inte lämna ut: [typen av uppgift, till exempel ditt social security number; eller inget sådant]',
    ],
    criteria: ['Kriterier som används vid behandlingen av dina uppgifter: [kriterier]'],
    answer: {
      erasure: ['Vi har raderat följande personuppgifter om dig:\n- [vilka uppgifter, i vilket system]'],
      rectification: ['Vi har rättat följande:\n- [vad som var registrerat] till [vad som är registrerat nu]'],
      restriction: ['Vi har begränsat behandlingen av följande uppgifter:\n- [vilka uppgifter]'],
      objection: [
        'Sedan den [datum] behandlar vi inte längre dina personuppgifter för detta ändamål: [ändamål].',
        'Sedan den [datum] använder vi inte längre dina personuppgifter för direktmarknadsföring.',
      ],
      'opt-out': [
        'Vi har genomfört ditt val: sedan den [datum] säljer vi inte längre dina personuppgifter och delar dem inte för reklam på olika webbplatser.',
        '[Om det är så:] Vi säljer inte personuppgifter och delar dem inte för reklam på olika webbplatser. Vi har ändå registrerat ditt val.',
      ],
      limit: [
        'Vi har genomfört din begäran: sedan den [datum] använder vi dina känsliga personuppgifter endast för det som är nödvändigt för att tillhandahålla våra tjänster, och för de andra ändamål som lagen tillåter.',
      ],
      'withdraw-consent': [
        'Vi har registrerat att du återkallade ditt samtycke. Sedan den [datum] behandlar vi inte längre personuppgifter på den grunden.',
      ],
      unknown: ['[Vad ni har gjort.]'],
    },
    unmatched: {
      objection: ['Vi har registrerat din invändning. [Vad ni har gjort med anledning av det, och var.]'],
      'opt-out': ['Vi har registrerat ditt val. [Vad ni har gjort med anledning av det, och var.]'],
      limit: ['Vi har registrerat din begäran. [Vad ni har gjort med anledning av det, och var.]'],
      'withdraw-consent': [
        'Vi har registrerat att du återkallade ditt samtycke. [Vad ni har gjort med anledning av det, och var.]',
      ],
    },
  },
};
