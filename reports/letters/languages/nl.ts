import type { LetterTexts } from '../texts.ts';

/** Nederlands. */
export const nl: LetterTexts = {
  name: 'Nederlands',
  locale: 'nl-NL',
  lawNames: {
    'eu-gdpr': {
      name: 'Algemene verordening gegevensbescherming, Verordening (EU) 2016/679 (AVG)',
      short: 'AVG',
    },
    'uk-gdpr': {
      name: 'Algemene verordening gegevensbescherming van het Verenigd Koninkrijk (UK GDPR)',
      short: 'UK GDPR',
    },
  },
  frame: {
    reference: 'Ons kenmerk: {reference}',
    theirReference: 'Uw kenmerk: {reference}',
    applicableLaw: 'Toepasselijk recht: {law}',
    unnamedRecipient: 'Aan de persoon die het verzoek heeft ingediend',
    dearNamed: 'Geachte {name},',
    dearUnnamed: 'Geachte heer, mevrouw,',
    closingNamed: 'Met vriendelijke groet,',
    closingUnnamed: 'Hoogachtend,',
    page: 'Pagina {page} van {pages}',
    document: 'Document {document}',
    attached: 'Onze brief vindt u in de bijlage van deze e-mail.',
    draft: 'CONCEPT',
    stillToWrite: 'Nog te schrijven of aan te vullen voordat deze brief wordt verzonden',
    dataProtectionOfficer: 'Functionaris voor gegevensbescherming: {contact}',
    jointContact: 'Contactpunt van de gezamenlijke verwerkingsverantwoordelijken: {contact}',
    questions: 'Heeft u vragen, neem dan contact op met {contact} en vermeld ons kenmerk {reference}.',
    agentFor: 'U treedt op namens {represented}. In deze brief verwijzen ‘u’ en ‘uw’ naar {represented}.',
    agentForUnnamed: 'U treedt op namens een andere persoon. In deze brief verwijzen ‘u’ en ‘uw’ naar die persoon.',
    late: 'Dit antwoord is te laat: het had uiterlijk op {limit} verstuurd moeten zijn. Onze excuses voor de vertraging.',
  },
  titles: {
    acknowledgement: 'Wij hebben uw verzoek ontvangen',
    identity: 'Wij moeten uw identiteit vaststellen',
    clarification: 'Een vraag over uw verzoek',
    extension: 'Wij hebben meer tijd nodig voor uw verzoek',
    answer: 'Antwoord op uw verzoek van {received}',
    partial: 'Antwoord op uw verzoek van {received}: gedeeltelijk ingewilligd',
    refusal: 'Antwoord op uw verzoek van {received}: afwijzing',
    'no-match': 'Antwoord op uw verzoek van {received}',
    notice: 'Kennisgeving aan ontvangers van persoonsgegevens: {kind}',
    appeal: 'Beslissing op uw verzoek om heroverweging',
  },
  kinds: {
    access: {
      name: 'inzage in persoonsgegevens',
      opening: 'Op {received} heeft u ons om inzage in uw persoonsgegevens gevraagd.',
    },
    portability: {
      name: 'overdraagbare kopie van persoonsgegevens',
      opening:
        'Op {received} heeft u ons om een kopie van uw persoonsgegevens in een machineleesbaar formaat gevraagd.',
    },
    erasure: {
      name: 'wissing van persoonsgegevens',
      opening: 'Op {received} heeft u ons gevraagd uw persoonsgegevens te wissen.',
    },
    rectification: {
      name: 'rectificatie van persoonsgegevens',
      opening: 'Op {received} heeft u ons gevraagd uw persoonsgegevens te corrigeren.',
    },
    restriction: {
      name: 'beperking van de verwerking',
      opening: 'Op {received} heeft u ons gevraagd de verwerking van uw persoonsgegevens te beperken.',
    },
    objection: {
      name: 'bezwaar tegen de verwerking',
      opening: 'Op {received} heeft u bezwaar gemaakt tegen de verwerking van uw persoonsgegevens.',
    },
    'opt-out': {
      name: 'afmelding voor de verkoop en het delen van persoonsgegevens',
      opening: 'Op {received} heeft u zich afgemeld voor de verkoop en het delen van uw persoonsgegevens.',
    },
    limit: {
      name: 'beperking van het gebruik van gevoelige persoonsgegevens',
      opening: 'Op {received} heeft u ons gevraagd het gebruik van uw gevoelige persoonsgegevens te beperken.',
    },
    'withdraw-consent': {
      name: 'intrekking van toestemming',
      opening: 'Op {received} heeft u uw toestemming ingetrokken.',
    },
    unknown: {
      name: 'verzoek over persoonsgegevens',
      opening: 'Op {received} heeft u ons een verzoek over uw persoonsgegevens gestuurd.',
    },
  },
  openingOfAgent: 'Op {received} heeft u ons namens een andere persoon een verzoek gestuurd ({kind}).',
  acknowledgement: {
    received: 'Met deze brief bevestigen wij dat wij uw verzoek hebben ontvangen.',
    due: 'De termijn voor ons antwoord eindigt op {limit}.',
    notYou: 'Heeft u dit verzoek niet ingediend, laat het ons dan weten.',
  },
  identity: {
    lead: 'Voordat wij gevolg kunnen geven aan uw verzoek, moeten wij vaststellen dat het van u komt of van iemand die bevoegd is namens u op te treden.',
    use: 'Stuur geen originelen en maak op kopieën alles onleesbaar waar wij niet om hebben gevraagd. Wij leggen vast hoe uw identiteit wordt vastgesteld.',
    reply: 'Stuur uw antwoord naar {contact} en vermeld ons kenmerk {reference}.',
    clockStarts: 'De termijn voor ons antwoord begint op de dag waarop wij ontvangen wat wij u hier vragen.',
  },
  clarification: {
    lead: 'Om uw verzoek goed te kunnen beantwoorden, moeten wij meer weten over wat u vraagt:',
    clockStops: 'De termijn voor ons antwoord is vanaf vandaag opgeschort totdat wij uw reactie hebben ontvangen.',
    reply: 'Stuur uw antwoord naar {contact} en vermeld ons kenmerk {reference}.',
    noReply: 'Zonder uw antwoord kunnen wij alleen uitgaan van wat wij weten.',
  },
  extension: {
    lead: 'Wij kunnen ons antwoord niet afronden vóór het einde van de termijn op {firstLimit}. De reden is:',
    newLimit: 'De nieuwe termijn voor ons antwoord eindigt op {limit}.',
    complaint: 'U kunt over deze verlenging een klacht indienen bij de volgende autoriteit: {authority}',
  },
  answer: {
    records:
      'De toestemmingsgegevens die wij aan u konden koppelen, beslaan de periode van {from} tot en met {to}; aantal beslissingen: {count}. Wij hebben ze gevonden via {found}.',
    recordsOfOneDay:
      'De toestemmingsgegevens die wij aan u konden koppelen, zijn van {from}; aantal beslissingen: {count}. Wij hebben ze gevonden via {found}.',
    foundFromDevice: 'de bezoekers-ID die u ons vanaf uw apparaat heeft gestuurd',
    foundComputed: 'een ID die is berekend op basis van het e-mailadres dat u ons heeft gegeven',
    identityChecked: 'Voordat wij iets hebben verstrekt, hebben wij uw identiteit vastgesteld.',
    enclosed: 'Een kopie van al deze gegevens is bijgevoegd:',
    files: {
      history: '{file}: uw beslissingen, leesbaar in elke browser',
      decisions: 'decisions.csv en decisions.json: dezelfde gegevens voor een spreadsheet of een programma',
      policies: 'policies.json: de privacyverklaringen die destijds van kracht waren',
      policyTexts: '{file}: de teksten van deze verklaringen zoals wij ze hebben opgehaald',
      evidence: 'banner-evidence: wat de toestemmingsbanner destijds toonde',
      records27560: 'records-27560.json: hetzelfde in de vorm van toestemmingsgegevens volgens ISO/IEC TS 27560',
      about:
        'case.json, README.txt en manifest.json: uw verzoek en een lijst van alle bestanden met hun controlegetallen',
      records: 'records.jsonl: de gegevens precies zoals wij ze hebben ontvangen',
    },
    verify:
      'U kunt zelf controleren dat deze gegevens niet zijn gewijzigd: open het bijgevoegde verify.html in een browser en kies het bestand dat u van ons hebt ontvangen; een internetverbinding is niet nodig. Elk gegeven wordt vergeleken met ons ondertekende logboek, waarvan het laatste controlepunt vóór deze brief {entries} vermeldingen omvat. Vergelijk de sleutel van dit logboek met de sleutel die u langs een andere weg van ons heeft ontvangen:',
    unverified:
      'Uw identiteit is niet vastgesteld. Om de persoon op wie deze gegevens betrekking hebben te beschermen, verstrekken wij geen afzonderlijke gegevens. Wij antwoorden daarom alleen in algemene zin.',
    categories:
      'Dit antwoord beschrijft in algemene zin hoe wij persoonsgegevens verwerken. Het bevat geen afzonderlijke gegevens.',
    unmatched:
      'Uit de gegevens in uw verzoek kunnen wij niet afleiden in welke browser of op welk apparaat uw eerdere keuze is vastgelegd.',
    unmatchedHowTo:
      'Om uw keuze ook daar te laten gelden, maakt u die keuze ook daar. Toestemming intrekken: {withdrawalMethod}',
    parts: 'Wat wij hebben gedaan',
    part: { done: 'uitgevoerd', partly: 'gedeeltelijk uitgevoerd', refused: 'afgewezen' },
    partGround: '{outcome}; reden: {ground}',
    withheld:
      'Wij hebben het volgende over u. De wet staat ons niet toe het te verstrekken; daarom hebben wij het in de kopie weggelaten ({source}): {types}.',
    withheldTypes: {
      socialSecurity: 'een nummer in de vorm van een Amerikaans socialezekerheidsnummer',
      longNumber: 'een lang nummer dat een rekening-, kaart- of identificatienummer kan zijn',
    },
    neverDisclosed:
      'Ongeacht of zulke gegevens bestaan, verbiedt de wet om in een antwoord socialezekerheidsnummers, rijbewijsnummers of andere officiële identificatienummers, financiële rekeningnummers, zorgverzekerings- of medische identificatienummers, wachtwoorden, beveiligingsvragen en -antwoorden of biometrische gegevens te verstrekken ({source}).',
    proofPeriod:
      'De daarvoor vastgestelde bewaartermijn is {period}, gerekend vanaf uw laatste beslissing of, indien later, vanaf het verlopen van de toestemming.',
  },
  partial: {
    lead: 'Wij hebben een deel van uw verzoek ingewilligd. Wat wij hebben gedaan, wat wij niet hebben gedaan, en onze redenen:',
  },
  refusal: {
    lead: 'Wij hebben uw verzoek onderzocht en kunnen het niet inwilligen. Onze redenen:',
    ground: 'Rechtsgrond van de afwijzing: {ground}',
    healthStatement:
      'Gaan de gegevens over uw gezondheid, dan kunt u ons over elk gegeven dat u onjuist vindt een schriftelijke verklaring van ten hoogste 250 woorden sturen en ons vragen die in uw dossier op te nemen (11 CCR § 7023).',
    optOut:
      'U heeft het recht ons te verbieden uw persoonlijke informatie te verkopen of te delen. Als u daarvan gebruik wilt maken, schrijf dan naar {contact} en vermeld ons kenmerk {reference}; u hoeft uw identiteit niet aan te tonen (11 CCR §§ 7013, 7022(g)).',
  },
  noMatch: {
    why: 'Wij vinden toestemmingsgegevens via een bezoekers-ID, niet via de naam. Op basis van uw verzoek kunnen wij niet bepalen welke daarvan, als ze er zijn, op u betrekking hebben.',
    notNone: 'Dat betekent niet dat ze er niet zijn.',
    help: 'Zo kunt u ons helpen ze te vinden:',
    steps: [
      'Open onze website op het apparaat en in de browser waarin u uw keuze heeft gemaakt. Kopieer de bezoekers-ID die de toestemmingsbanner daar heeft opgeslagen (in de cookie of in de instellingen).',
      'Vertel ons op welke website, en ongeveer wanneer, u uw keuze heeft gemaakt of gewijzigd.',
      'Stuur beide naar {contact} en vermeld ons kenmerk {reference}. Dan kunnen wij opnieuw zoeken.',
    ],
  },
  notice: {
    dear: 'Geachte heer, mevrouw,',
    lead: 'Wij hebben persoonsgegevens aan u verstrekt. De betrokkene heeft een verzoek bij ons ingediend ({kind}).',
    done: 'Wij hebben het ingewilligd voor de volgende gegevens:',
    ask: 'Neem in uw eigen systemen de overeenkomstige maatregelen en bevestig deze aan {contact}, met vermelding van ons kenmerk {reference}.',
  },
  appeal: {
    lead: 'U heeft ons gevraagd onze beslissing op uw verzoek van {received} te heroverwegen. Dat hebben wij gedaan. Onze beslissing en onze redenen:',
    complaint:
      'Bent u het niet eens met deze beslissing, dan kunt u een klacht indienen bij de volgende autoriteit: {authority}',
  },
  processing: {
    heading: 'Hoe wij persoonsgegevens verwerken',
    purposes: 'Doeleinden',
    purpose: '{purpose} (bewaard: {retention})',
    purposeWithBasis: '{purpose} (rechtsgrond: {basis}; bewaard: {retention})',
    dataCategories: 'Categorieën gegevens',
    recipients: 'Ontvangers',
    dataSources: 'Bronnen van de gegevens',
    transfers: 'Doorgiften aan derde landen',
    noTransfers: 'geen',
    automatedDecisions: 'Geautomatiseerde besluiten',
    withdrawalMethod: 'Toestemming intrekken',
    notStated: 'In dit antwoord niet vermeld: {parts}',
    soldOrShared:
      'welke categorieën gegevens wij in de 12 maanden vóór uw verzoek hebben verkocht, gedeeld of voor een zakelijk doel verstrekt, aan welke derden en voor welke doeleinden',
    parts: {
      address: 'postadres',
      email: 'e-mailadres voor contact',
      country: 'land van vestiging',
      purposes: 'doeleinden, rechtsgronden en bewaartermijnen',
      dataCategories: 'categorieën gegevens',
      dataSources: 'bronnen van de gegevens',
      recipients: 'ontvangers',
      transfers: 'doorgiften aan derde landen en de waarborgen daarvoor',
      automatedDecisions: 'geautomatiseerde besluiten',
      supervisoryAuthority: 'toezichthoudende autoriteit',
      withdrawalMethod: 'hoe toestemming kan worden ingetrokken',
      controller: 'de verwerkingsverantwoordelijke',
      jointContact: 'contactpunt van de gezamenlijke verwerkingsverantwoordelijken',
    },
    criteria: 'de criteria die bij de verwerking worden gebruikt (LGPD, art. 19, II)',
  },
  scope: {
    heading: 'Wat dit antwoord omvat',
    consentOnly: 'Dit antwoord omvat gegevens over toestemming en over privacyverklaringen.',
    otherSystems: 'Onze andere systemen:',
    results: {
      'nothing-found': 'doorzocht, niets gevonden',
      found: 'doorzocht, gegevens gevonden',
      attached: 'doorzocht, wat wij hebben gevonden is afzonderlijk bijgevoegd',
      searched: 'doorzocht',
      'not-applicable': 'niet van belang voor dit verzoek',
      open: 'nog niet doorzocht',
    },
    others: 'Het omvat geen andere systemen.',
    searched: 'Voor dit antwoord hebben wij onze toestemmingsgegevens doorzocht.',
    notSearched: 'Uw verzoek bevat niets waarmee wij onze toestemmingsgegevens kunnen doorzoeken.',
  },
  rights: { heading: 'Uw rechten', remedies: 'Wat u kunt doen' },
  families: {
    gdpr: {
      identity:
        'Bij redelijke twijfel over de identiteit van de persoon die een verzoek indient, mogen wij om aanvullende informatie vragen (art. 12, lid 6, {gdpr}). Onze reden, en wat wij van u vragen:',
      extension:
        'Wij mogen de termijn verlengen wanneer de complexiteit en het aantal verzoeken dat nodig maken (art. 12, lid 3, {gdpr}).',
      access: 'Ja, wij verwerken persoonsgegevens over u (art. 15 {gdpr}).',
      portability: 'Met deze brief ontvangt u uw toestemmingsgegevens in een machineleesbaar formaat (art. 20 {gdpr}).',
      noMatch: 'Wij kunnen u niet aan toestemmingsgegevens koppelen (art. 11, lid 2, {gdpr}).',
      notes: {
        erasure: ['U kunt ons vragen welke ontvangers van uw gegevens zijn ingelicht (art. 19 {gdpr}).'],
        rectification: ['U kunt ons vragen welke ontvangers van uw gegevens zijn ingelicht (art. 19 {gdpr}).'],
        restriction: [
          'Afgezien van de opslag mogen gegevens waarvan de verwerking is beperkt alleen worden verwerkt met uw toestemming, voor de instelling, uitoefening of onderbouwing van een rechtsvordering, ter bescherming van de rechten van een andere natuurlijke persoon of rechtspersoon of om gewichtige redenen van algemeen belang van de Unie of van een lidstaat (art. 18, lid 2, {gdpr}).',
          'U moet op de hoogte worden gesteld voordat de beperking wordt opgeheven (art. 18, lid 3, {gdpr}).',
          'U kunt ons vragen welke ontvangers van uw gegevens zijn ingelicht (art. 19 {gdpr}).',
        ],
        'withdraw-consent': [
          'De intrekking laat de rechtmatigheid van de verwerking daarvóór onverlet (art. 7, lid 3, {gdpr}).',
        ],
      },
      proof:
        'Wij bewaren het bewijs dat u toestemming heeft gegeven, geweigerd of ingetrokken, omdat wij het moeten kunnen overleggen en voor rechtsvorderingen (art. 17, lid 3, onder b) en e), {gdpr}).',
      rights: [
        'U kunt ons vragen uw persoonsgegevens te corrigeren of te wissen of de verwerking ervan te beperken (art. 16, 17 en 18 {gdpr}).',
        'U kunt bezwaar maken tegen verwerking op grond van een taak van algemeen belang of van gerechtvaardigde belangen (art. 21 {gdpr}).',
        'U kunt uw toestemming op elk moment intrekken. Dat laat de rechtmatigheid van de verwerking vóór de intrekking onverlet (art. 7, lid 3, {gdpr}).',
        'U kunt de gegevens die u ons heeft gegeven in een machineleesbaar formaat ontvangen (art. 20 {gdpr}).',
      ],
      notice: 'Wij stellen u hiervan op de hoogte op grond van art. 19 {gdpr}.',
    },
    uk: {
      extension:
        'Wij mogen de termijn verlengen wanneer de complexiteit van uw verzoeken of het aantal daarvan dat nodig maakt (art. 12A, lid 3, {gdpr}).',
      notes: {
        restriction: [
          'Afgezien van de opslag mogen gegevens waarvan de verwerking is beperkt alleen worden verwerkt met uw toestemming, voor de instelling, uitoefening of onderbouwing van een rechtsvordering, ter bescherming van de rechten van een andere natuurlijke persoon of rechtspersoon of om gewichtige redenen van algemeen belang (art. 18, lid 2, {gdpr}).',
          'U moet op de hoogte worden gesteld voordat de beperking wordt opgeheven (art. 18, lid 3, {gdpr}).',
          'U kunt ons vragen welke ontvangers van uw gegevens zijn ingelicht (art. 19 {gdpr}).',
        ],
      },
    },
    similar: {
      rights: [
        'U kunt ons vragen uw persoonsgegevens te corrigeren of te wissen of de verwerking ervan te beperken.',
        'U kunt bezwaar maken tegen verwerking op grond van een taak van algemeen belang of van gerechtvaardigde belangen.',
        'U kunt uw toestemming op elk moment intrekken. Dat laat de rechtmatigheid van de verwerking vóór de intrekking onverlet.',
        'U kunt de gegevens die u ons heeft gegeven in een machineleesbaar formaat ontvangen.',
      ],
    },
    swiss: {
      rights: [
        'U kunt ons vragen uw persoonsgegevens te corrigeren (art. 32, lid 1, FADP).',
        'U kunt ons uitdrukkelijk verbieden uw persoonsgegevens te verwerken (art. 30, lid 2, onder b, FADP).',
        'U kunt de rechter vragen een bepaalde verwerking of de verstrekking aan derden te verbieden, of te gelasten dat gegevens worden gewist of vernietigd (art. 32, lid 2, FADP).',
        'U kunt de gegevens die u ons heeft gegeven in een gangbaar elektronisch formaat ontvangen (art. 28 FADP).',
      ],
    },
    california: {
      acknowledgement: {
        checked: [
          'De wet verplicht ons uw identiteit te controleren voordat wij persoonlijke informatie verstrekken, corrigeren of verwijderen, zo mogelijk door de gegevens die u ons geeft te vergelijken met de gegevens die wij hebben (11 CCR § 7060). Als die niet volstaan, mogen wij om meer vragen.',
        ],
        unchecked: ['Voor dit verzoek hoeft u uw identiteit niet aan te tonen.'],
      },
      identity:
        'De wet verplicht ons uw identiteit te controleren voordat wij gevolg geven aan dit verzoek (11 CCR § 7060). De controle verlengt de termijn voor ons antwoord niet. Wat wij van u vragen:',
      extension:
        'De wet geeft ons in totaal ten hoogste 90 kalenderdagen vanaf de dag waarop wij uw verzoek hebben ontvangen (11 CCR § 7021).',
      access: 'Ja, wij hebben persoonlijke informatie over u verzameld (Cal. Civ. Code § 1798.110).',
      portability:
        'Met deze brief ontvangt u uw toestemmingsgegevens in een overdraagbaar, direct bruikbaar formaat (Cal. Civ. Code § 1798.130).',
      notes: {
        erasure: ['Wij bewaren gegevens over dit verzoek, zoals de wet vereist (11 CCR § 7101).'],
        'opt-out': [
          'U hoefde daarvoor uw identiteit niet aan te tonen. De wet staat ons niet toe u gedurende ten minste 12 maanden te vragen op deze keuze terug te komen.',
        ],
        limit: [
          'U hoefde daarvoor uw identiteit niet aan te tonen. De wet staat ons niet toe u gedurende ten minste 12 maanden te vragen op deze keuze terug te komen.',
        ],
      },
      proof:
        'Wij bewaren het bewijs dat u toestemming heeft gegeven, geweigerd of ingetrokken, zoals de wet toestaat (Cal. Civ. Code § 1798.105(d)).',
      rights: [
        'U kunt ons vragen de persoonlijke informatie die wij over u hebben verzameld te verwijderen of te corrigeren.',
        'U kunt zich afmelden voor de verkoop en het delen van uw persoonlijke informatie en het gebruik van gevoelige informatie beperken. Daarvoor hoeft u uw identiteit niet aan te tonen.',
        'De wet verbiedt ons u minder gunstig te behandelen omdat u deze rechten uitoefent.',
      ],
      notice:
        'Wij stellen u hiervan op de hoogte omdat het recht van Californië ons verplicht degenen in te lichten die de gegevens hebben ontvangen.',
    },
    us: {
      identity:
        'Kan een verzoek met commercieel redelijke inspanningen niet worden geverifieerd, dan staat de wet ons toe om aanvullende informatie te vragen. Wat wij van u vragen:',
      extension: 'De wet staat één zo’n verlenging toe wanneer die redelijkerwijs nodig is.',
      rights: [
        'De wet geeft u verdere rechten over uw persoonsgegevens, zoals verwijdering en afmelding voor de verkoop ervan. Laat het ons weten als u daarvan gebruik wilt maken.',
        'De wet verbiedt ons u minder gunstig te behandelen omdat u deze rechten uitoefent.',
      ],
    },
    brazil: {
      identity: 'Wij mogen alleen de betrokkene of diens vertegenwoordiger antwoorden. Wat wij van u vragen:',
      access: 'Ja, wij verwerken persoonsgegevens over u (LGPD, art. 18 en 19).',
      portability:
        'Met deze brief ontvangt u uw toestemmingsgegevens in een machineleesbaar formaat (LGPD, art. 18, V).',
      notes: {
        'withdraw-consent': ['De intrekking heeft geen gevolgen voor de verwerking daarvóór (LGPD, art. 8, § 5).'],
      },
      proof:
        'Wij bewaren het bewijs dat u toestemming heeft gegeven, geweigerd of ingetrokken om aan een wettelijke verplichting te voldoen (LGPD, art. 16, I).',
      rights: [
        'U kunt vragen om bevestiging, inzage, correctie, anonimisering, overdraagbaarheid en verwijdering, en uw toestemming intrekken (LGPD, art. 18).',
      ],
      notice: 'Wij stellen u hiervan op de hoogte op grond van LGPD, art. 18, § 6.',
    },
    general: {
      acknowledgement: { checked: [], unchecked: [] },
      identity:
        'Wij mogen persoonsgegevens alleen verstrekken of wijzigen als wij weten wie erom vraagt. Wat wij van u vragen:',
      access: 'Ja, wij verwerken persoonsgegevens over u.',
      portability: 'Met deze brief ontvangt u uw toestemmingsgegevens in een machineleesbaar formaat.',
      noMatch: 'Wij kunnen u niet aan toestemmingsgegevens koppelen.',
      notes: {
        erasure: ['Wij bewaren gegevens over dit verzoek.'],
      },
      proof: 'Wij bewaren het bewijs dat u toestemming heeft gegeven, geweigerd of ingetrokken.',
      rights: ['U kunt ons vragen uw persoonsgegevens te corrigeren.', 'U kunt een gegeven toestemming intrekken.'],
      notice: 'Wij stellen u hiervan op de hoogte omdat u gegevens van ons heeft ontvangen.',
    },
  },
  remedies: {
    eu: [
      'U kunt een klacht indienen bij een toezichthoudende autoriteit, met name in de lidstaat waar u woont of werkt of waar volgens u de inbreuk heeft plaatsgevonden (art. 77 AVG).',
      'U heeft ook recht op een doeltreffende voorziening in rechte (art. 79 AVG).',
    ],
    uk: [
      'U kunt bij ons een klacht indienen (Data Protection Act 2018, s. 164A): schrijf naar {contact}.',
      'U kunt een klacht indienen bij de Information Commissioner (Data Protection Act 2018, s. 165): {authority}',
      'U kunt zich ook tot een rechter wenden (art. 79 UK GDPR).',
    ],
    california: ['U kunt een klacht indienen bij de volgende autoriteiten: {authority}'],
    quebec: ['Binnen 30 dagen na dit antwoord kunt u de volgende autoriteit om herziening vragen: {authority}'],
    authority: ['U kunt een klacht indienen bij de volgende autoriteit: {authority}'],
    authorityAndCourt: [
      'U kunt een klacht indienen bij de volgende autoriteit: {authority}',
      'U kunt zich ook tot een rechter wenden.',
    ],
    unnamed: ['U kunt een klacht indienen bij de autoriteit die verantwoordelijk is voor gegevensbescherming.'],
  },
  packFiles: { letter: 'brief', history: 'overzicht', policyTexts: 'privacyverklaringen' },
  handOver: {
    title: 'Ons antwoord op uw verzoek',
    enterCode: 'Vul de code van 8 cijfers in die wij u los van deze link hebben gestuurd.',
    code: 'Code',
    open: 'Openen',
    wrongCode: 'Deze code is onjuist. Resterende pogingen: {left}.',
    invalidTitle: 'Deze link opent niets',
    invalid: 'De link is onvolledig, verlopen of ingetrokken. Vraag de afzender om een nieuwe.',
    until: 'U kunt deze pagina openen tot {until}.',
    received: 'Ontvangen op {received}: {kind}',
    contents: 'Wat u ontvangt',
    letter: '{file}: ons antwoord op uw verzoek',
    proofs: 'verify.html, verify.mjs en proofs: hiermee kunt u controleren dat er niets is gewijzigd',
    download: 'Downloaden als ZIP-bestand ({size})',
    files: 'Overige bestanden',
    fileChecksum: 'SHA-256-controlegetal:',
    check: 'Zo controleert u het bestand',
    checksum: 'SHA-256-controlegetal van het ZIP-bestand:',
    checkSteps: [
      'Pak het ZIP-bestand uit en open verify.html in een browser. Een internetverbinding is niet nodig.',
      'Kies daar het ZIP-bestand dat u hebt gedownload. De pagina controleert elk record erin.',
      'Vul daar ook de sleutel in die op {key} staat: die toont dat de records van ons komen.',
    ],
    write: 'Vragen en bezwaren',
    writeLead:
      'Is er iets onduidelijk, onvolledig of onjuist? Uw bericht komt terecht bij de mensen die uw verzoek behandelen.',
    question: 'Ik heb een vraag',
    objection: 'Ik maak bezwaar tegen dit antwoord',
    message: 'Uw bericht',
    send: 'Versturen',
    sent: 'Wij hebben uw bericht ontvangen op {at}.',
    empty: 'Schrijf eerst een bericht van hoogstens 4.000 tekens.',
    tooMany: 'U kunt hier geen berichten meer versturen. Neem rechtstreeks contact met ons op.',
    leave: 'Deze pagina sluiten',
    formExpired: 'Het formulier was verlopen en is niet verstuurd. Probeer het opnieuw.',
    wait: 'Te veel verzoeken. Wacht een minuut en probeer het opnieuw.',
    unavailable: 'Deze pagina is tijdelijk niet beschikbaar. Probeer het over enkele minuten opnieuw.',
    languages: 'Taal',
  },
  messages: {
    replied: 'Antwoord van {controller}, {at}',
    answering: 'Ik reageer op uw bericht',
    mailTitle: 'Antwoord op uw bericht',
    mailLead:
      '{controller} heeft geantwoord op uw bericht over uw verzoek. Om uw gegevens te beschermen staat het antwoord niet in deze e-mail.',
    mailLink:
      'Om het te lezen en erop te reageren, opent u de link die wij u hebben gestuurd en vult u de code in. De link is geldig tot {until}.',
    mailNoLink:
      'De link die wij u hebben gestuurd, kan niet meer worden geopend. Neem contact met ons op voor een nieuwe.',
  },
  task: {
    title: 'Een taak voor u',
    lead: '{controller} vraagt u het volgende te doen voor een verzoek over persoonsgegevens.',
    due: 'Doe dit uiterlijk op {due}.',
    outcome: 'Wat is het resultaat?',
    done: 'Het is gedaan',
    notDone: 'Het is niet gedaan',
    note: 'Opmerking',
    noteHint: 'Schrijf wat u hebt gedaan of waarom het niet is gedaan. Vermeld geen persoonsgegevens.',
    noteMissing: 'Schrijf in maximaal 2.000 tekens waarom het niet is gedaan.',
    reportedDone: 'Dank u. U hebt op {at} gemeld dat het is gedaan.',
    reportedNotDone: 'U hebt op {at} gemeld dat het niet is gedaan. Is het intussen gedaan, meld het dan hier.',
    mailLink: 'Meld hier het resultaat. U hebt geen account nodig; de link is geldig tot {until}:',
  },
  requestForm: {
    title: 'Uw persoonsgegevens: een verzoek indienen',
    lead: 'Met dit formulier oefent u uw rechten op uw persoonsgegevens uit.',
    kind: 'Wat wilt u?',
    kinds: {
      access: 'Weten welke gegevens u over mij hebt',
      portability: 'Een kopie van mijn gegevens die andere diensten kunnen lezen',
      erasure: 'Mijn gegevens laten wissen',
      rectification: 'Mijn gegevens laten corrigeren',
      restriction: 'Het gebruik van mijn gegevens laten beperken',
      objection: 'Bezwaar maken tegen het gebruik van mijn gegevens',
      'opt-out': 'De verkoop en het delen van mijn gegevens weigeren',
      limit: 'Het gebruik van mijn gevoelige gegevens beperken',
      'withdraw-consent': 'Mijn toestemming intrekken',
      unknown: 'Iets anders over mijn gegevens',
    },
    name: 'Uw naam',
    email: 'Uw e-mailadres',
    emailHint: 'Naar dit adres sturen wij een bevestiging en een code.',
    place: 'Waar u woont',
    placeHint: 'Dat bepaalt welk recht geldt.',
    placeOpen: 'Dat zeg ik liever niet',
    message: 'Uw bericht',
    messageHint: 'Bijvoorbeeld waar het precies om gaat. Schrijft u namens iemand anders, vermeld dan wie.',
    subject: 'Toestemmings-ID',
    subjectHint: 'Als onze website u er een toont.',
    optional: 'niet verplicht',
    use: 'Wij gebruiken deze gegevens om uw verzoek te behandelen en bewaren ze als bewijs daarvan.',
    send: 'Verzoek versturen',
    trap: 'Laat dit veld leeg',
    wrong: {
      kind: 'Kies wat u wilt.',
      name: 'Vul uw naam in (hoogstens 300 tekens).',
      email: 'Vul een e-mailadres in, bijvoorbeeld naam@example.com.',
      place: 'Kies een plaats uit de lijst.',
      message: 'Uw bericht mag hoogstens 4.000 tekens hebben.',
      subject: 'De toestemmings-ID mag hoogstens 300 tekens hebben.',
    },
    again: 'Het formulier kon nog niet worden verstuurd. Controleer het en verstuur het opnieuw.',
    tooMany:
      'Er komen op dit moment te veel verzoeken binnen. Probeer het over een uur opnieuw of schrijf ons rechtstreeks.',
    receivedTitle: 'Wij hebben uw verzoek ontvangen',
    received: 'Ontvangen op {at}. Kenmerk: {reference}',
    keep: 'Bewaar dit kenmerk.',
    codeLead:
      'Wij sturen een code naar het e-mailadres dat u hebt ingevuld. Vul de code hier in om te bevestigen dat het adres van u is: dan hoeven wij later misschien minder te vragen. De code is geldig tot {until}.',
    noMail: 'Uw verzoek wordt behandeld, ook als u de code niet invult.',
    confirm: 'Bevestigen',
    confirmed: 'Dank u: uw e-mailadres is bevestigd. U hoeft nu niets meer te doen.',
    locked: 'Hier kunnen geen codes meer worden ingevuld. Uw verzoek wordt toch behandeld.',
    closed: 'Uw verzoek is afgehandeld.',
    mailCode:
      'Uw code om dit e-mailadres te bevestigen: {code} (geldig tot {until}). Vul de code in op de pagina waarop u het verzoek hebt verstuurd:',
  },
  appealTo:
    'U kunt ons binnen een redelijke termijn vragen deze beslissing te heroverwegen: schrijf naar {contact}, onder vermelding van ‘Appeal’ en ons kenmerk {reference}. Wij moeten u binnen {days} dagen na ontvangst schriftelijk laten weten wat wij hebben besloten en waarom. Wijzen wij dat verzoek af, dan kunt u een klacht indienen bij de volgende autoriteit: {authority}',
  authorityIs: 'De voor ons bevoegde toezichthoudende autoriteit: {authority}',
  proposals: {
    identity: [
      '[Waarom u twijfelt aan wie het verzoek doet.]\n\nAntwoord vanaf het e-mailadres dat wij van u hebben, of vertel ons [iets dat alleen deze persoon kan weten].',
      'Stuur ons een machtiging, ondertekend door de betrokkene, waarmee dit verzoek namens de betrokkene mag worden gedaan.',
    ],
    clarification: [
      'Vertel ons [over welke gegevens, welke periode of welke van onze diensten uw verzoek gaat].',
      'Vertel ons [wat moet worden gecorrigeerd, en wat juist zou zijn].',
    ],
    extension: [
      'Uw verzoek is complex: [zeg waarom].',
      'Wij moeten meerdere verzoeken van u onderzoeken: [zeg welke].',
    ],
    partial: [
      'Wij hebben het volgende gedaan:\n- [wat u heeft gedaan]\n\nWij hebben het volgende niet gedaan:\n- [wat u niet heeft gedaan, waarom, en het artikel dat dit toestaat]',
    ],
    refusal: [
      '[Uw redenen.]\n\nRechtsgrond van de afwijzing: [artikel]',
      'Wij konden uw identiteit niet vaststellen: [wat u heeft gevraagd, en wat ontbrak]. Wij kunnen daarom geen gegevens verstrekken of wijzigen.',
    ],
    notice: ['- [welke gegevens, onder welke ID, zodat de ontvanger ze kan vinden]'],
    appeal: [
      'Wij hebben onze beslissing gewijzigd: [wat u nu heeft gedaan].',
      'Wij handhaven onze beslissing: [uw redenen].',
    ],
    know: [
      'In de 12 maanden vóór uw verzoek:\n- hebben wij deze categorieën persoonsgegevens over u verzameld: [categorieën]\n- hebben wij verkocht of gedeeld: [elke categorie, met welke categorieën derden en voor welk doel; of dat wij er geen hebben verkocht of gedeeld]\n- hebben wij voor een zakelijk doel verstrekt: [elke categorie, aan welke categorieën ontvangers en voor welk doel; of dat wij er geen hebben verstrekt]\n- hebben wij daarnaast, maar mogen wij niet verstrekken: [het soort gegeven, zoals uw socialezekerheidsnummer; of niets van dien aard]',
    ],
    criteria: ['Criteria die bij de verwerking van uw gegevens worden gebruikt: [criteria]'],
    answer: {
      erasure: ['Wij hebben de volgende persoonsgegevens over u gewist:\n- [welke gegevens, in welk systeem]'],
      rectification: ['Wij hebben het volgende gecorrigeerd:\n- [wat was vastgelegd] in [wat nu is vastgelegd]'],
      restriction: ['Wij hebben de verwerking van de volgende gegevens beperkt:\n- [welke gegevens]'],
      objection: [
        'Sinds [datum] verwerken wij uw persoonsgegevens niet meer voor dit doel: [doel].',
        'Sinds [datum] gebruiken wij uw persoonsgegevens niet meer voor direct marketing.',
      ],
      'opt-out': [
        'Wij hebben uw afmelding verwerkt: sinds [datum] verkopen wij uw persoonsgegevens niet meer en delen wij ze niet meer voor reclame op verschillende websites.',
        '[Als dat zo is:] Wij verkopen geen persoonsgegevens en delen ze niet voor reclame op verschillende websites. Wij hebben uw afmelding niettemin vastgelegd.',
      ],
      limit: [
        'Wij hebben uw verzoek verwerkt: sinds [datum] gebruiken wij uw gevoelige persoonsgegevens alleen voor wat nodig is om onze diensten te leveren, en voor de andere doeleinden die de wet toestaat.',
      ],
      'withdraw-consent': [
        'Wij hebben vastgelegd dat u uw toestemming heeft ingetrokken. Sinds [datum] verwerken wij op die grond geen persoonsgegevens meer.',
      ],
      unknown: ['[Wat u heeft gedaan.]'],
    },
    unmatched: {
      objection: ['Wij hebben uw bezwaar vastgelegd. [Wat u naar aanleiding daarvan heeft gedaan, en waar.]'],
      'opt-out': ['Wij hebben uw afmelding vastgelegd. [Wat u naar aanleiding daarvan heeft gedaan, en waar.]'],
      limit: ['Wij hebben uw verzoek vastgelegd. [Wat u naar aanleiding daarvan heeft gedaan, en waar.]'],
      'withdraw-consent': [
        'Wij hebben vastgelegd dat u uw toestemming heeft ingetrokken. [Wat u naar aanleiding daarvan heeft gedaan, en waar.]',
      ],
    },
  },
};
