import type { LetterTexts } from '../texts.ts';

/** Italiano. */
export const it: LetterTexts = {
  name: 'Italiano',
  locale: 'it-IT',
  lawNames: {
    'eu-gdpr': {
      name: 'Regolamento generale sulla protezione dei dati, regolamento (UE) 2016/679 (GDPR)',
      short: 'GDPR',
    },
    'uk-gdpr': { name: 'Regolamento generale sulla protezione dei dati del Regno Unito (UK GDPR)', short: 'UK GDPR' },
    ch: {
      name: 'Legge federale svizzera sulla protezione dei dati (LPD)',
      short: 'LPD',
      authority:
        'Incaricato federale della protezione dei dati e della trasparenza (IFPDT), https://www.edoeb.admin.ch',
    },
  },
  frame: {
    reference: 'Nostro riferimento: {reference}',
    theirReference: 'Suo riferimento: {reference}',
    applicableLaw: 'Legge applicabile: {law}',
    unnamedRecipient: 'Alla persona che ha presentato la richiesta',
    dearNamed: 'Gentile {name},',
    dearUnnamed: 'Gentile Signora, egregio Signore,',
    closingNamed: 'Distinti saluti',
    closingUnnamed: 'Distinti saluti',
    page: 'Pagina {page} di {pages}',
    document: 'Documento {document}',
    attached: 'La nostra lettera è allegata a questa e-mail.',
    draft: 'BOZZA',
    stillToWrite: 'Da scrivere o completare prima dell’invio di questa lettera',
    dataProtectionOfficer: 'Responsabile della protezione dei dati: {contact}',
    jointContact: 'Punto di contatto dei contitolari del trattamento: {contact}',
    questions: 'Per qualsiasi domanda può rivolgersi a {contact}, indicando il nostro riferimento {reference}.',
    agentFor: 'Lei agisce per conto di {represented}. In questa lettera «Lei» e «Suoi» si riferiscono a {represented}.',
    agentForUnnamed:
      'Lei agisce per conto di un’altra persona. In questa lettera «Lei» e «Suoi» si riferiscono a tale persona.',
    late: 'Questa risposta è in ritardo: il termine scadeva il {limit}. Ci scusiamo per il ritardo.',
  },
  titles: {
    acknowledgement: 'Abbiamo ricevuto la Sua richiesta',
    identity: 'Dobbiamo verificare la Sua identità',
    clarification: 'Una domanda sulla Sua richiesta',
    extension: 'Abbiamo bisogno di più tempo per la Sua richiesta',
    answer: 'Risposta alla Sua richiesta del {received}',
    partial: 'Risposta alla Sua richiesta del {received}: accoglimento parziale',
    refusal: 'Risposta alla Sua richiesta del {received}: rifiuto',
    'no-match': 'Risposta alla Sua richiesta del {received}',
    notice: 'Notifica ai destinatari di dati personali: {kind}',
    appeal: 'Decisione sulla Sua contestazione',
  },
  kinds: {
    access: {
      name: 'accesso ai dati personali',
      opening: 'il {received} ci ha chiesto l’accesso ai Suoi dati personali.',
    },
    portability: {
      name: 'copia portabile dei dati personali',
      opening:
        'il {received} ci ha chiesto una copia dei Suoi dati personali in un formato leggibile da dispositivo automatico.',
    },
    erasure: {
      name: 'cancellazione di dati personali',
      opening: 'il {received} ci ha chiesto di cancellare i Suoi dati personali.',
    },
    rectification: {
      name: 'rettifica di dati personali',
      opening: 'il {received} ci ha chiesto di rettificare i Suoi dati personali.',
    },
    restriction: {
      name: 'limitazione del trattamento',
      opening: 'il {received} ci ha chiesto di limitare il trattamento dei Suoi dati personali.',
    },
    objection: {
      name: 'opposizione al trattamento',
      opening: 'il {received} ha presentato opposizione al trattamento dei Suoi dati personali.',
    },
    'opt-out': {
      name: 'opposizione alla vendita e alla condivisione di dati personali',
      opening: 'il {received} ha presentato opposizione alla vendita e alla condivisione dei Suoi dati personali.',
    },
    limit: {
      name: 'limitazione dell’uso di dati personali sensibili',
      opening: 'il {received} ci ha chiesto di limitare l’uso dei Suoi dati personali sensibili.',
    },
    'withdraw-consent': {
      name: 'revoca del consenso',
      opening: 'il {received} ha revocato il Suo consenso.',
    },
    unknown: {
      name: 'richiesta relativa a dati personali',
      opening: 'il {received} ci ha inviato una richiesta relativa ai Suoi dati personali.',
    },
  },
  openingOfAgent: 'il {received} ci ha inviato una richiesta per conto di un’altra persona ({kind}).',
  acknowledgement: {
    received: 'Con questa lettera confermiamo di aver ricevuto la Sua richiesta.',
    due: 'Il termine per la nostra risposta scade il {limit}.',
    notYou: 'Se non ha presentato Lei questa richiesta, La preghiamo di farcelo sapere.',
  },
  identity: {
    lead: 'Prima di dare seguito alla Sua richiesta dobbiamo accertare che provenga da Lei o da una persona autorizzata ad agire per Suo conto.',
    use: 'Non invii originali e oscuri sulle copie tutto ciò che non abbiamo chiesto. Registriamo il modo in cui la Sua identità viene verificata.',
    reply: 'Risponda a {contact} indicando il nostro riferimento {reference}.',
    clockStarts: 'Il termine per la nostra risposta decorre dal giorno in cui riceviamo quanto Le chiediamo qui.',
  },
  clarification: {
    lead: 'Per rispondere correttamente alla Sua richiesta dobbiamo sapere meglio che cosa chiede:',
    clockStops: 'Il termine per la nostra risposta è sospeso da oggi fino a quando riceveremo la Sua risposta.',
    reply: 'Risponda a {contact} indicando il nostro riferimento {reference}.',
    noReply: 'Senza la Sua risposta possiamo basarci soltanto su ciò che sappiamo.',
  },
  extension: {
    lead: 'Non possiamo completare la nostra risposta entro il {firstLimit}, scadenza del termine. Il motivo è il seguente:',
    newLimit: 'Il nuovo termine per la nostra risposta scade il {limit}.',
    complaint: 'Contro questa proroga può presentare reclamo alla seguente autorità: {authority}',
  },
  answer: {
    records:
      'Le registrazioni di consenso che abbiamo potuto collegare a Lei riguardano il periodo dal {from} al {to}; numero di decisioni: {count}. Le abbiamo trovate tramite {found}.',
    recordsOfOneDay:
      'Le registrazioni di consenso che abbiamo potuto collegare a Lei sono del {from}; numero di decisioni: {count}. Le abbiamo trovate tramite {found}.',
    foundFromDevice: 'l’identificatore di visitatore che ci ha inviato dal Suo dispositivo',
    foundComputed: 'un identificatore calcolato dall’indirizzo e-mail che ci ha indicato',
    identityChecked: 'Prima di comunicare qualsiasi dato abbiamo verificato la Sua identità.',
    enclosed: 'È allegata una copia di tutte queste registrazioni:',
    files: {
      history: '{file}: le Sue decisioni, da leggere in qualsiasi browser',
      decisions: 'decisions.csv e decisions.json: le stesse per un foglio di calcolo o un programma',
      policies: 'policies.json: le informative in vigore all’epoca',
      policyTexts: '{file}: i testi di tali informative come li abbiamo acquisiti',
      evidence: 'banner-evidence: che cosa mostrava il banner del consenso all’epoca',
      records27560: 'records-27560.json: le stesse in forma di registrazioni di consenso (ISO/IEC TS 27560)',
      about:
        'case.json, README.txt e manifest.json: la Sua richiesta e un elenco di tutti i file con le relative somme di controllo',
      records: 'records.jsonl: le registrazioni esattamente come le abbiamo ricevute',
    },
    verify:
      'Può verificare personalmente che queste registrazioni non siano state modificate: apra in un browser il file verify.html allegato e scelga il file che ha ricevuto da noi; non occorre una connessione a Internet. Ogni registrazione viene confrontata con il nostro registro firmato, il cui ultimo punto di controllo prima di questa lettera comprende {entries} voci. La preghiamo di confrontare la chiave di questo registro con quella che ha ricevuto da noi per altra via:',
    unverified:
      'La Sua identità non è stata verificata. Per proteggere la persona a cui i dati si riferiscono non comunichiamo singole registrazioni. Rispondiamo quindi soltanto in termini generali.',
    categories:
      'Questa risposta descrive in termini generali come trattiamo i dati personali. Non contiene singole registrazioni.',
    unmatched:
      'Dai dati contenuti nella Sua richiesta non possiamo stabilire in quale browser o su quale dispositivo sia stata registrata la Sua scelta precedente.',
    unmatchedHowTo:
      'Affinché la Sua scelta abbia effetto anche lì, La preghiamo di ripeterla lì. Revoca del consenso: {withdrawalMethod}',
    parts: 'Che cosa abbiamo fatto',
    part: { done: 'fatto', partly: 'fatto in parte', refused: 'rifiutato' },
    partGround: '{outcome}; motivo: {ground}',
    withheld:
      'Conserviamo su di Lei i dati seguenti. La legge non ci consente di comunicarli; nella copia li abbiamo quindi omessi ({source}): {types}.',
    withheldTypes: {
      socialSecurity: 'un numero che ha la forma di un numero di previdenza sociale statunitense',
      longNumber:
        'un numero lungo che può essere quello di un conto finanziario, di una carta di pagamento o di un documento',
    },
    neverDisclosed:
      'Indipendentemente dal fatto che tali dati esistano, la legge vieta di comunicare in una risposta numeri di previdenza sociale, di patente o di altri documenti ufficiali, numeri di conti finanziari, numeri di assicurazione sanitaria o identificativi medici, password, domande e risposte di sicurezza o dati biometrici ({source}).',
    proofPeriod:
      'Il periodo di conservazione stabilito per essa è di {period}, a decorrere dalla Sua ultima decisione o, se successiva, dalla scadenza del consenso.',
  },
  partial: {
    lead: 'Abbiamo accolto una parte della Sua richiesta. Ecco che cosa abbiamo fatto, che cosa non abbiamo fatto e i nostri motivi:',
  },
  refusal: {
    lead: 'Abbiamo esaminato la Sua richiesta e non possiamo accoglierla. I nostri motivi:',
    ground: 'Base giuridica del rifiuto: {ground}',
    healthStatement:
      'Se i dati riguardano la Sua salute, può inviarci una dichiarazione scritta di non più di 250 parole per ciascun dato che ritiene inesatto e chiederci di inserirla nel Suo fascicolo (11 CCR § 7023).',
    optOut:
      'Ha il diritto di vietarci di vendere o condividere le Sue informazioni personali. Se desidera esercitarlo, scriva a {contact} indicando il nostro riferimento {reference}; non deve dimostrare la Sua identità (11 CCR §§ 7013, 7022(g)).',
  },
  noMatch: {
    why: 'Troviamo le registrazioni di consenso tramite un identificatore di visitatore, non tramite il nome. Ciò che la Sua richiesta contiene non ci permette di stabilire quali di esse, se ve ne sono, La riguardino.',
    notNone: 'Questo non significa che non ve ne siano.',
    help: 'Ecco come può aiutarci a trovarle:',
    steps: [
      'Apra il nostro sito web sul dispositivo e nel browser in cui ha fatto la Sua scelta. Copi l’identificatore di visitatore che il banner del consenso vi ha memorizzato (nel suo cookie o nelle sue impostazioni).',
      'Ci indichi su quale sito web, e all’incirca quando, ha fatto o cambiato la Sua scelta.',
      'Invii entrambi a {contact} indicando il nostro riferimento {reference}. Potremo quindi eseguire una nuova ricerca.',
    ],
  },
  notice: {
    dear: 'Gentili Signore e Signori,',
    lead: 'Vi abbiamo comunicato dati personali. L’interessato ci ha presentato una richiesta ({kind}).',
    done: 'L’abbiamo accolta per i seguenti dati:',
    ask: 'Vi preghiamo di adottare le misure corrispondenti nei Vostri sistemi e di confermarcele a {contact}, indicando il nostro riferimento {reference}.',
  },
  appeal: {
    lead: 'Ha contestato la nostra decisione sulla Sua richiesta del {received}. L’abbiamo riesaminata. La nostra decisione e i nostri motivi:',
    complaint: 'Se non è d’accordo con questa decisione, può presentare reclamo alla seguente autorità: {authority}',
  },
  processing: {
    heading: 'Come trattiamo i dati personali',
    purposes: 'Finalità',
    purpose: '{purpose} (conservazione: {retention})',
    purposeWithBasis: '{purpose} (base giuridica: {basis}; conservazione: {retention})',
    dataCategories: 'Categorie di dati',
    recipients: 'Destinatari',
    dataSources: 'Origine dei dati',
    transfers: 'Trasferimenti verso paesi terzi',
    noTransfers: 'nessuno',
    automatedDecisions: 'Decisioni automatizzate',
    withdrawalMethod: 'Revoca del consenso',
    notStated: 'Non indicato in questa risposta: {parts}',
    soldOrShared:
      'quali categorie di dati abbiamo venduto, condiviso o comunicato per finalità commerciali nei 12 mesi precedenti la Sua richiesta, a quali terzi e per quali finalità',
    parts: {
      address: 'indirizzo postale',
      email: 'e-mail di contatto',
      country: 'paese di stabilimento',
      purposes: 'finalità, basi giuridiche e periodi di conservazione',
      dataCategories: 'categorie di dati',
      dataSources: 'origine dei dati',
      recipients: 'destinatari',
      transfers: 'trasferimenti verso paesi terzi e relative garanzie',
      automatedDecisions: 'decisioni automatizzate',
      supervisoryAuthority: 'autorità di controllo',
      withdrawalMethod: 'modalità di revoca del consenso',
      controller: 'il titolare del trattamento',
      jointContact: 'punto di contatto dei contitolari del trattamento',
    },
    criteria: 'i criteri utilizzati nel trattamento (LGPD, art. 19, II)',
  },
  scope: {
    heading: 'Che cosa comprende questa risposta',
    consentOnly: 'Questa risposta comprende le registrazioni di consenso e di informative.',
    otherSystems: 'Gli altri nostri sistemi:',
    results: {
      'nothing-found': 'consultato, nessun risultato',
      found: 'consultato, dati trovati',
      attached: 'consultato, quanto trovato è allegato separatamente',
      searched: 'consultato',
      'not-applicable': 'non rilevante per questa richiesta',
      open: 'non ancora consultato',
    },
    others: 'Non comprende altri sistemi.',
    searched: 'Per questa risposta abbiamo consultato le nostre registrazioni di consenso.',
    notSearched: 'La Sua richiesta non contiene nulla con cui possiamo consultare le nostre registrazioni di consenso.',
  },
  rights: { heading: 'I Suoi diritti', remedies: 'Che cosa può fare' },
  families: {
    gdpr: {
      identity:
        'Qualora nutriamo ragionevoli dubbi sull’identità della persona che presenta una richiesta, possiamo chiedere ulteriori informazioni (art. 12, par. 6, {gdpr}). Il nostro motivo e ciò che Le chiediamo:',
      extension:
        'Possiamo prorogare il termine se la complessità e il numero delle richieste lo rendono necessario (art. 12, par. 3, {gdpr}).',
      access: 'Sì, trattiamo dati personali che La riguardano (art. 15 {gdpr}).',
      portability:
        'Con questa lettera riceve le Sue registrazioni di consenso in un formato leggibile da dispositivo automatico (art. 20 {gdpr}).',
      noMatch: 'Non possiamo collegarLa ad alcuna registrazione di consenso (art. 11, par. 2, {gdpr}).',
      notes: {
        erasure: ['Può chiederci quali destinatari dei Suoi dati sono stati informati (art. 19 {gdpr}).'],
        rectification: ['Può chiederci quali destinatari dei Suoi dati sono stati informati (art. 19 {gdpr}).'],
        restriction: [
          'Salvo che per la conservazione, i dati soggetti a limitazione possono essere trattati soltanto con il Suo consenso, per l’accertamento, l’esercizio o la difesa di un diritto in sede giudiziaria, per tutelare i diritti di un’altra persona fisica o giuridica o per motivi di interesse pubblico rilevante dell’Unione o di uno Stato membro (art. 18, par. 2, {gdpr}).',
          'Della revoca della limitazione deve esserLe data comunicazione preventiva (art. 18, par. 3, {gdpr}).',
          'Può chiederci quali destinatari dei Suoi dati sono stati informati (art. 19 {gdpr}).',
        ],
        'withdraw-consent': [
          'La revoca non pregiudica la liceità del trattamento precedente (art. 7, par. 3, {gdpr}).',
        ],
      },
      proof:
        'Conserviamo la prova che Lei ha prestato, rifiutato o revocato un consenso, perché dobbiamo poterla esibire e per l’accertamento, l’esercizio o la difesa di un diritto in sede giudiziaria (art. 17, par. 3, lett. b) ed e), {gdpr}).',
      rights: [
        'Può chiederci di rettificare o cancellare i Suoi dati personali o di limitarne il trattamento (artt. 16, 17 e 18 {gdpr}).',
        'Può opporsi al trattamento fondato su un compito di interesse pubblico o su legittimi interessi (art. 21 {gdpr}).',
        'Può revocare il Suo consenso in qualsiasi momento. Ciò non pregiudica la liceità del trattamento precedente alla revoca (art. 7, par. 3, {gdpr}).',
        'Può ricevere i dati che ci ha fornito in un formato leggibile da dispositivo automatico (art. 20 {gdpr}).',
      ],
      notice: 'La presente comunicazione è effettuata ai sensi dell’art. 19 {gdpr}.',
    },
    uk: {
      extension:
        'Possiamo prorogare il termine se la complessità delle Sue richieste o il loro numero lo rende necessario (art. 12A, par. 3, {gdpr}).',
      notes: {
        restriction: [
          'Salvo che per la conservazione, i dati soggetti a limitazione possono essere trattati soltanto con il Suo consenso, per l’accertamento, l’esercizio o la difesa di un diritto in sede giudiziaria, per tutelare i diritti di un’altra persona fisica o giuridica o per motivi di interesse pubblico rilevante (art. 18, par. 2, {gdpr}).',
          'Della revoca della limitazione deve esserLe data comunicazione preventiva (art. 18, par. 3, {gdpr}).',
          'Può chiederci quali destinatari dei Suoi dati sono stati informati (art. 19 {gdpr}).',
        ],
      },
    },
    similar: {
      rights: [
        'Può chiederci di rettificare o cancellare i Suoi dati personali o di limitarne il trattamento.',
        'Può opporsi al trattamento fondato su un compito di interesse pubblico o su legittimi interessi.',
        'Può revocare il Suo consenso in qualsiasi momento. Ciò non pregiudica la liceità del trattamento precedente alla revoca.',
        'Può ricevere i dati che ci ha fornito in un formato leggibile da dispositivo automatico.',
      ],
    },
    swiss: {
      rights: [
        'Può chiederci di rettificare i Suoi dati personali (art. 32 cpv. 1 LPD).',
        'Può vietarci espressamente di trattare i Suoi dati personali (art. 30 cpv. 2 lett. b LPD).',
        'Può chiedere al giudice di vietare un determinato trattamento o la comunicazione di dati a terzi, o di ordinare la cancellazione o la distruzione di dati (art. 32 cpv. 2 LPD).',
        'Può ricevere i dati che ci ha comunicato in un formato elettronico usuale (art. 28 LPD).',
      ],
    },
    california: {
      acknowledgement: {
        checked: [
          'La legge ci impone di verificare la Sua identità prima di comunicare, correggere o cancellare informazioni personali, ove possibile confrontando i dati che ci fornisce con quelli in nostro possesso (11 CCR § 7060). Se non bastano, possiamo chiederLe altri dati.',
        ],
        unchecked: ['Per questa richiesta non deve dimostrare la Sua identità.'],
      },
      identity:
        'La legge ci impone di verificare la Sua identità prima di dare seguito a questa richiesta (11 CCR § 7060). La verifica non proroga il termine della nostra risposta. Che cosa Le chiediamo:',
      extension:
        'La legge ci concede al massimo 90 giorni di calendario in totale dal giorno in cui abbiamo ricevuto la Sua richiesta (11 CCR § 7021).',
      access: 'Sì, abbiamo raccolto informazioni personali su di Lei (Cal. Civ. Code § 1798.110).',
      portability:
        'Con questa lettera riceve le Sue registrazioni di consenso in un formato portabile e di facile uso (Cal. Civ. Code § 1798.130).',
      notes: {
        erasure: ['Conserviamo traccia di questa richiesta, come la legge impone (11 CCR § 7101).'],
        'opt-out': [
          'Per questo non ha dovuto dimostrare la Sua identità. La legge non ci consente di chiederLe di revocare questa scelta per almeno 12 mesi.',
        ],
        limit: [
          'Per questo non ha dovuto dimostrare la Sua identità. La legge non ci consente di chiederLe di revocare questa scelta per almeno 12 mesi.',
        ],
      },
      proof:
        'Conserviamo la prova che Lei ha prestato, rifiutato o revocato un consenso, come la legge consente (Cal. Civ. Code § 1798.105(d)).',
      rights: [
        'Può chiederci di cancellare o correggere le informazioni personali che abbiamo raccolto su di Lei.',
        'Può opporsi alla vendita e alla condivisione delle Sue informazioni personali e limitare l’uso di quelle sensibili. Per questo non deve dimostrare la Sua identità.',
        'La legge ci vieta di trattarLa in modo meno favorevole perché esercita questi diritti.',
      ],
      notice: 'Vi informiamo perché la legge della California ci impone di avvisare chi ha ricevuto i dati.',
    },
    us: {
      identity:
        'Se una richiesta non può essere autenticata con mezzi commercialmente ragionevoli, la legge ci consente di chiedere ulteriori informazioni. Che cosa Le chiediamo:',
      extension: 'La legge consente una sola proroga di questo tipo, se ragionevolmente necessaria.',
      rights: [
        'La legge Le riconosce altri diritti sui Suoi dati personali, come la cancellazione e l’opposizione alla loro vendita. Ci faccia sapere se desidera esercitarli.',
        'La legge ci vieta di trattarLa in modo meno favorevole perché esercita questi diritti.',
      ],
    },
    brazil: {
      identity: 'Possiamo rispondere soltanto all’interessato o al suo rappresentante. Che cosa Le chiediamo:',
      access: 'Sì, trattiamo dati personali su di Lei (LGPD, artt. 18 e 19).',
      portability:
        'Con questa lettera riceve le Sue registrazioni di consenso in un formato leggibile da dispositivo automatico (LGPD, art. 18, V).',
      notes: {
        'withdraw-consent': ['La revoca non incide sul trattamento precedente (LGPD, art. 8, § 5).'],
      },
      proof:
        'Conserviamo la prova che Lei ha prestato, rifiutato o revocato un consenso per adempiere un obbligo di legge (LGPD, art. 16, I).',
      rights: [
        'Può chiedere conferma, accesso, correzione, anonimizzazione, portabilità e cancellazione, e revocare il Suo consenso (LGPD, art. 18).',
      ],
      notice: 'Vi informiamo ai sensi della LGPD, art. 18, § 6.',
    },
    general: {
      acknowledgement: { checked: [], unchecked: [] },
      identity:
        'Possiamo comunicare o modificare dati personali soltanto se sappiamo chi lo chiede. Che cosa Le chiediamo:',
      access: 'Sì, trattiamo dati personali su di Lei.',
      portability:
        'Con questa lettera riceve le Sue registrazioni di consenso in un formato leggibile da dispositivo automatico.',
      noMatch: 'Non possiamo collegarLa ad alcuna registrazione di consenso.',
      notes: {
        erasure: ['Conserviamo traccia di questa richiesta.'],
      },
      proof: 'Conserviamo la prova che Lei ha prestato, rifiutato o revocato un consenso.',
      rights: ['Può chiederci di correggere i Suoi dati personali.', 'Può revocare un consenso che ha prestato.'],
      notice: 'Vi informiamo perché avete ricevuto dati da noi.',
    },
  },
  remedies: {
    eu: [
      'Può proporre reclamo a un’autorità di controllo, in particolare nello Stato membro in cui risiede o lavora oppure in cui ritiene sia avvenuta la violazione (art. 77 GDPR).',
      'Ha inoltre diritto a un ricorso giurisdizionale effettivo (art. 79 GDPR).',
    ],
    uk: [
      'Può presentarci un reclamo (Data Protection Act 2018, s. 164A): scriva a {contact}.',
      'Può proporre reclamo all’Information Commissioner (Data Protection Act 2018, s. 165): {authority}',
      'Può inoltre rivolgersi a un giudice (art. 79 UK GDPR).',
    ],
    california: ['Può presentare reclamo alle seguenti autorità: {authority}'],
    quebec: ['Entro 30 giorni da questa risposta può chiederne il riesame alla seguente autorità: {authority}'],
    authority: ['Può presentare reclamo alla seguente autorità: {authority}'],
    authorityAndCourt: [
      'Può presentare reclamo alla seguente autorità: {authority}',
      'Può inoltre rivolgersi a un giudice.',
    ],
    unnamed: ['Può presentare reclamo all’autorità competente per la protezione dei dati.'],
  },
  packFiles: { letter: 'lettera', history: 'cronologia', policyTexts: 'testi-delle-informative' },
  handOver: {
    title: 'La nostra risposta alla Sua richiesta',
    enterCode: 'Inserisca il codice di 8 cifre che Le abbiamo comunicato separatamente da questo link.',
    code: 'Codice',
    open: 'Apri',
    wrongCode: 'Questo codice non è corretto. Tentativi rimasti: {left}.',
    invalidTitle: 'Questo link non apre alcun contenuto',
    invalid: 'È incompleto, è scaduto o è stato ritirato. Ne chieda uno nuovo al mittente.',
    until: 'Può aprire questa pagina fino al {until}.',
    received: 'Ricevuta il {received}: {kind}',
    contents: 'Che cosa riceve',
    letter: '{file}: la nostra risposta alla Sua richiesta',
    proofs: 'verify.html, verify.mjs e proofs: permettono di verificare che nulla sia stato modificato',
    download: 'Scarica il file ZIP ({size})',
    files: 'Altri file',
    fileChecksum: 'Checksum SHA-256:',
    check: 'Come verificare il file',
    checksum: 'Checksum SHA-256 del file ZIP:',
    checkSteps: [
      'Estragga il file ZIP e apra verify.html in un browser. Non serve una connessione a Internet.',
      'Scelga lì il file ZIP che ha scaricato. La pagina verifica ogni registrazione che contiene.',
      'Inserisca lì anche la chiave pubblicata all’indirizzo {key}: mostra che le registrazioni provengono da noi.',
    ],
    write: 'Domande e obiezioni',
    writeLead:
      'Qualcosa non è chiaro, manca o è errato? Il Suo messaggio arriva alle persone che si occupano della Sua richiesta.',
    question: 'Ho una domanda',
    objection: 'Contesto questa risposta',
    message: 'Il Suo messaggio',
    send: 'Invia',
    sent: 'Abbiamo ricevuto il Suo messaggio il {at}.',
    empty: 'Scriva prima un messaggio di 4.000 caratteri al massimo.',
    tooMany: 'Da qui non è più possibile inviare messaggi. La preghiamo di contattarci direttamente.',
    leave: 'Chiudi questa pagina',
    formExpired: 'Il modulo era scaduto e non è stato inviato. La preghiamo di riprovare.',
    wait: 'Troppe richieste. Attenda un minuto e riprovi.',
    unavailable: 'Questa pagina non è al momento disponibile. La preghiamo di riprovare tra qualche minuto.',
    languages: 'Lingua',
  },
  messages: {
    replied: 'Risposta di {controller} del {at}',
    answering: 'Rispondo al vostro messaggio',
    mailTitle: 'Risposta al Suo messaggio',
    mailLead:
      '{controller} ha risposto al Suo messaggio relativo alla Sua richiesta. Per proteggere i Suoi dati, la risposta non è contenuta in questa e-mail.',
    mailLink:
      'Per leggerla e rispondere, apra il link che Le abbiamo inviato e inserisca il codice. Il link è valido fino al {until}.',
    mailNoLink:
      'Il link che Le abbiamo inviato non può più essere aperto. La preghiamo di contattarci per riceverne uno nuovo.',
  },
  task: {
    title: 'Un’attività per Lei',
    lead: '{controller} Le chiede di fare quanto segue per una richiesta relativa a dati personali.',
    due: 'La preghiamo di farlo entro il {due}.',
    outcome: 'Qual è l’esito?',
    done: 'È stato fatto',
    notDone: 'Non è stato fatto',
    note: 'Nota',
    noteHint: 'Indichi che cosa ha fatto o perché non è stato fatto. Non inserisca dati personali.',
    noteMissing: 'Indichi in non più di 2000 caratteri perché non è stato fatto.',
    reportedDone: 'Grazie. Il {at} ha comunicato che è stato fatto.',
    reportedNotDone: 'Il {at} ha comunicato che non è stato fatto. Se nel frattempo è stato fatto, lo comunichi qui.',
    mailLink: 'Comunichi qui l’esito. Non serve un account; il link è valido fino al {until}:',
  },
  requestForm: {
    title: 'I Suoi dati personali: invii una richiesta',
    lead: 'Con questo modulo può esercitare i Suoi diritti sui Suoi dati personali.',
    kind: 'Che cosa desidera?',
    kinds: {
      access: 'Sapere quali dati avete su di me',
      portability: 'Ricevere una copia dei miei dati leggibile da altri servizi',
      erasure: 'Far cancellare i miei dati',
      rectification: 'Far rettificare i miei dati',
      restriction: 'Far limitare l’uso dei miei dati',
      objection: 'Oppormi all’uso dei miei dati',
      'opt-out': 'Rifiutare la vendita e la condivisione dei miei dati',
      limit: 'Limitare l’uso dei miei dati sensibili',
      'withdraw-consent': 'Revocare il mio consenso',
      unknown: 'Altro sui miei dati',
    },
    name: 'Il Suo nome',
    email: 'Il Suo indirizzo e-mail',
    emailHint: 'A questo indirizzo inviamo una conferma e un codice.',
    place: 'Dove risiede',
    placeHint: 'Ne dipende la legge applicabile.',
    placeOpen: 'Preferisco non dirlo',
    message: 'Il Suo messaggio',
    messageHint: 'Per esempio, di che cosa si tratta esattamente. Se scrive per un’altra persona, indichi per chi.',
    subject: 'ID del consenso',
    subjectHint: 'Se il nostro sito gliene mostra uno.',
    optional: 'facoltativo',
    use: 'Usiamo questi dati per gestire la Sua richiesta e li conserviamo come prova di averlo fatto.',
    send: 'Invia la richiesta',
    trap: 'Lasci vuoto questo campo',
    wrong: {
      kind: 'Scelga che cosa desidera.',
      name: 'Inserisca il Suo nome (al massimo 300 caratteri).',
      email: 'Inserisca un indirizzo e-mail, per esempio nome@example.com.',
      place: 'Scelga un luogo dall’elenco.',
      message: 'Il messaggio può avere al massimo 4.000 caratteri.',
      subject: 'L’ID del consenso può avere al massimo 300 caratteri.',
    },
    again: 'Il modulo non è stato ancora inviato. Lo controlli e lo invii di nuovo.',
    tooMany: 'In questo momento arrivano troppe richieste. Riprovi tra un’ora o ci scriva direttamente.',
    receivedTitle: 'Abbiamo ricevuto la Sua richiesta',
    received: 'Ricevuta il {at}. Riferimento: {reference}',
    keep: 'Conservi questo riferimento.',
    codeLead:
      'Inviamo un codice all’indirizzo e-mail che ha indicato. Lo inserisca qui per confermare che l’indirizzo è Suo: così forse dovremo chiederLe meno in seguito. Il codice è valido fino al {until}.',
    noMail: 'La Sua richiesta viene gestita anche se non inserisce il codice.',
    confirm: 'Conferma',
    confirmed: 'Grazie: il Suo indirizzo e-mail è confermato. Per ora non deve fare altro.',
    locked: 'Qui non si possono più inserire codici. La Sua richiesta viene comunque gestita.',
    closed: 'La Sua richiesta è conclusa.',
    mailCode:
      'Il codice per confermare questo indirizzo e-mail: {code} (valido fino al {until}). Lo inserisca nella pagina da cui ha inviato la richiesta:',
  },
  appealTo:
    'Entro un termine ragionevole può contestare questa decisione: scriva a {contact}, con la parola «Appeal» e il nostro riferimento {reference}. Dobbiamo comunicarLe per iscritto la nostra decisione e i suoi motivi entro {days} giorni dal ricevimento. Se la contestazione è respinta, può presentare reclamo alla seguente autorità: {authority}',
  authorityIs: 'L’autorità di controllo competente per noi: {authority}',
  proposals: {
    identity: [
      '[Perché dubita dell’identità del richiedente.]\n\nRisponda dall’indirizzo e-mail che abbiamo registrato per Lei, oppure ci indichi [qualcosa che solo questa persona può sapere].',
      'Ci invii un’autorizzazione, firmata dalla persona interessata, che consenta di presentare questa richiesta in suo nome.',
    ],
    clarification: [
      'Ci indichi [quali dati, quale periodo o quale dei nostri servizi riguarda la Sua richiesta].',
      'Ci indichi [che cosa deve essere rettificato e che cosa sarebbe esatto].',
    ],
    extension: [
      'La Sua richiesta è complessa: [indicare perché].',
      'Dobbiamo esaminare più richieste da parte Sua: [indicare quali].',
    ],
    partial: [
      'Abbiamo fatto quanto segue:\n- [che cosa ha fatto]\n\nNon abbiamo fatto quanto segue:\n- [che cosa non ha fatto, perché, e l’articolo che lo consente]',
    ],
    refusal: [
      '[I Suoi motivi.]\n\nBase giuridica del rifiuto: [articolo]',
      'Non abbiamo potuto verificare la Sua identità: [che cosa ha chiesto e che cosa mancava]. Non possiamo quindi comunicare né modificare dati.',
    ],
    notice: ['- [quali dati, sotto quale identificatore, affinché il destinatario possa trovarli]'],
    appeal: [
      'Abbiamo modificato la nostra decisione: [che cosa ha fatto ora].',
      'Confermiamo la nostra decisione: [i Suoi motivi].',
    ],
    know: [
      'Nei 12 mesi precedenti la Sua richiesta:\n- abbiamo raccolto queste categorie di dati personali che La riguardano: [categorie]\n- abbiamo venduto o condiviso: [ciascuna categoria, con quali categorie di terzi e per quale finalità; oppure che non ne abbiamo venduta né condivisa alcuna]\n- abbiamo comunicato per finalità commerciali: [ciascuna categoria, a quali categorie di destinatari e per quale finalità; oppure che non ne abbiamo comunicata alcuna]\n- conserviamo inoltre, ma non possiamo comunicare: [il tipo di dato, per esempio il Suo numero di previdenza sociale; oppure nulla di questo tipo]',
    ],
    criteria: ['Criteri utilizzati nel trattamento dei Suoi dati: [criteri]'],
    answer: {
      erasure: ['Abbiamo cancellato i seguenti dati personali che La riguardano:\n- [quali dati, in quale sistema]'],
      rectification: ['Abbiamo rettificato quanto segue:\n- [che cosa era registrato] in [che cosa è registrato ora]'],
      restriction: ['Abbiamo limitato il trattamento dei seguenti dati:\n- [quali dati]'],
      objection: [
        'Dal [data] non trattiamo più i Suoi dati personali per questa finalità: [finalità].',
        'Dal [data] non usiamo più i Suoi dati personali per il marketing diretto.',
      ],
      'opt-out': [
        'Abbiamo dato seguito alla Sua opposizione: dal [data] non vendiamo più i Suoi dati personali e non li condividiamo più per pubblicità su siti web diversi.',
        '[Se è così:] Non vendiamo dati personali e non li condividiamo per pubblicità su siti web diversi. Abbiamo comunque registrato la Sua opposizione.',
      ],
      limit: [
        'Abbiamo dato seguito alla Sua richiesta: dal [data] usiamo i Suoi dati personali sensibili solo per quanto necessario a fornire i nostri servizi e per gli altri scopi consentiti dalla legge.',
      ],
      'withdraw-consent': [
        'Abbiamo registrato la revoca del Suo consenso. Dal [data] non trattiamo più dati personali su tale base.',
      ],
      unknown: ['[Che cosa ha fatto.]'],
    },
    unmatched: {
      objection: ['Abbiamo registrato la Sua opposizione. [Che cosa ha fatto di conseguenza, e dove.]'],
      'opt-out': ['Abbiamo registrato la Sua opposizione. [Che cosa ha fatto di conseguenza, e dove.]'],
      limit: ['Abbiamo registrato la Sua richiesta. [Che cosa ha fatto di conseguenza, e dove.]'],
      'withdraw-consent': [
        'Abbiamo registrato la revoca del Suo consenso. [Che cosa ha fatto di conseguenza, e dove.]',
      ],
    },
  },
};
