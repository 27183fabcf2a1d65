import type { LetterTexts } from '../texts.ts';

/** Deutsch. */
export const de: LetterTexts = {
  name: 'Deutsch',
  locale: 'de-DE',
  regions: ['AT', 'CH'],
  lawNames: {
    'eu-gdpr': { name: 'Datenschutz-Grundverordnung, Verordnung (EU) 2016/679 (DSGVO)', short: 'DSGVO' },
    'uk-gdpr': { name: 'Datenschutz-Grundverordnung des Vereinigten Königreichs (UK GDPR)', short: 'UK GDPR' },
    ch: {
      name: 'Schweizer Bundesgesetz über den Datenschutz (DSG)',
      short: 'DSG',
      authority: 'Eidgenössischer Datenschutz- und Öffentlichkeitsbeauftragter (EDÖB), https://www.edoeb.admin.ch',
    },
  },
  frame: {
    reference: 'Unser Zeichen: {reference}',
    theirReference: 'Ihr Zeichen: {reference}',
    applicableLaw: 'Anwendbares Recht: {law}',
    unnamedRecipient: 'An die Person, die die Anfrage gestellt hat',
    dearNamed: 'Guten Tag {name},',
    dearUnnamed: 'Sehr geehrte Damen und Herren,',
    closingNamed: 'Mit freundlichen Grüßen',
    closingUnnamed: 'Mit freundlichen Grüßen',
    page: 'Seite {page} von {pages}',
    document: 'Dokument {document}',
    attached: 'Unser Schreiben finden Sie im Anhang dieser E-Mail.',
    draft: 'ENTWURF',
    stillToWrite: 'Vor dem Versand noch zu ergänzen',
    dataProtectionOfficer: 'Datenschutzbeauftragte Person: {contact}',
    jointContact: 'Anlaufstelle der gemeinsam Verantwortlichen: {contact}',
    questions: 'Bei Fragen wenden Sie sich bitte unter Angabe unseres Zeichens {reference} an {contact}.',
    agentFor: 'Sie handeln für {represented}. „Sie“ und „Ihre Daten“ bezeichnen in diesem Schreiben {represented}.',
    agentForUnnamed:
      'Sie handeln für eine andere Person. „Sie“ und „Ihre Daten“ bezeichnen in diesem Schreiben diese Person.',
    late: 'Diese Antwort kommt verspätet: Sie war am {limit} fällig. Wir bitten um Entschuldigung.',
  },
  titles: {
    acknowledgement: 'Ihre Anfrage ist bei uns eingegangen',
    identity: 'Wir müssen Ihre Identität überprüfen',
    clarification: 'Rückfrage zu Ihrer Anfrage',
    extension: 'Wir benötigen mehr Zeit für Ihre Anfrage',
    answer: 'Antwort auf Ihre Anfrage vom {received}',
    partial: 'Antwort auf Ihre Anfrage vom {received}: teilweise Stattgabe',
    refusal: 'Antwort auf Ihre Anfrage vom {received}: Ablehnung',
    'no-match': 'Antwort auf Ihre Anfrage vom {received}',
    notice: 'Mitteilung an Empfänger personenbezogener Daten: {kind}',
    appeal: 'Entscheidung über Ihren Antrag auf Überprüfung',
  },
  kinds: {
    access: {
      name: 'Auskunft über personenbezogene Daten',
      opening: 'am {received} haben Sie bei uns Auskunft über Ihre personenbezogenen Daten verlangt.',
    },
    portability: {
      name: 'Herausgabe personenbezogener Daten in maschinenlesbarem Format',
      opening:
        'am {received} haben Sie die Herausgabe Ihrer personenbezogenen Daten in einem maschinenlesbaren Format verlangt.',
    },
    erasure: {
      name: 'Löschung personenbezogener Daten',
      opening: 'am {received} haben Sie die Löschung Ihrer personenbezogenen Daten verlangt.',
    },
    rectification: {
      name: 'Berichtigung personenbezogener Daten',
      opening: 'am {received} haben Sie die Berichtigung Ihrer personenbezogenen Daten verlangt.',
    },
    restriction: {
      name: 'Einschränkung der Verarbeitung',
      opening:
        'am {received} haben Sie verlangt, dass wir die Verarbeitung Ihrer personenbezogenen Daten einschränken.',
    },
    objection: {
      name: 'Widerspruch gegen die Verarbeitung',
      opening: 'am {received} haben Sie der Verarbeitung Ihrer personenbezogenen Daten widersprochen.',
    },
    'opt-out': {
      name: 'Widerspruch gegen Verkauf und Weitergabe personenbezogener Daten',
      opening: 'am {received} haben Sie dem Verkauf und der Weitergabe Ihrer personenbezogenen Daten widersprochen.',
    },
    limit: {
      name: 'Beschränkung der Nutzung sensibler personenbezogener Daten',
      opening:
        'am {received} haben Sie verlangt, dass wir die Nutzung Ihrer sensiblen personenbezogenen Daten beschränken.',
    },
    'withdraw-consent': {
      name: 'Widerruf der Einwilligung',
      opening: 'am {received} haben Sie Ihre Einwilligung widerrufen.',
    },
    unknown: {
      name: 'Anfrage zu personenbezogenen Daten',
      opening: 'am {received} haben Sie sich mit einer Anfrage zu Ihren personenbezogenen Daten an uns gewandt.',
    },
  },
  openingOfAgent: 'am {received} haben Sie sich im Namen einer anderen Person an uns gewandt ({kind}).',
  acknowledgement: {
    received: 'Mit diesem Schreiben bestätigen wir den Eingang Ihrer Anfrage.',
    due: 'Unsere Antwort ist spätestens am {limit} fällig.',
    notYou: 'Falls die Anfrage nicht von Ihnen stammt, teilen Sie uns dies bitte mit.',
  },
  identity: {
    lead: 'Bevor wir Ihrer Anfrage nachkommen können, müssen wir sicherstellen, dass sie von Ihnen stammt oder von jemandem, der für Sie handeln darf.',
    use: 'Bitte senden Sie keine Originale und schwärzen Sie auf Kopien alles, wonach wir nicht gefragt haben. Wir halten fest, wie Ihre Identität bestätigt wird.',
    reply: 'Bitte senden Sie Ihre Antwort unter Angabe unseres Zeichens {reference} an {contact}.',
    clockStarts: 'Die Frist für unsere Antwort läuft ab dem Tag, an dem wir das hier Erbetene erhalten.',
  },
  clarification: {
    lead: 'Damit wir Ihre Anfrage richtig beantworten können, müssen wir genauer wissen, worum es Ihnen geht:',
    clockStops: 'Die Frist für unsere Antwort ruht von heute an, bis Ihre Antwort bei uns eingeht.',
    reply: 'Bitte senden Sie Ihre Antwort unter Angabe unseres Zeichens {reference} an {contact}.',
    noReply: 'Solange wir keine Antwort von Ihnen haben, können wir nur von dem ausgehen, was uns bekannt ist.',
  },
  extension: {
    lead: 'Wir können Ihre Anfrage nicht bis zum {firstLimit}, dem Ende der Frist, abschließend beantworten. Der Grund:',
    newLimit: 'Unsere Antwort ist nun spätestens am {limit} fällig.',
    complaint: 'Über diese Verlängerung können Sie sich bei folgender Stelle beschweren: {authority}',
  },
  answer: {
    records:
      'Die Einwilligungsnachweise, die wir Ihnen zuordnen konnten, reichen vom {from} bis zum {to}; Anzahl der Entscheidungen: {count}. Gefunden haben wir sie über {found}.',
    recordsOfOneDay:
      'Die Einwilligungsnachweise, die wir Ihnen zuordnen konnten, stammen vom {from}; Anzahl der Entscheidungen: {count}. Gefunden haben wir sie über {found}.',
    foundFromDevice: 'die Besucherkennung, die Sie uns von Ihrem Gerät geschickt haben',
    foundComputed: 'eine Kennung, die aus der von Ihnen genannten E-Mail-Adresse berechnet ist',
    identityChecked: 'Vor der Herausgabe haben wir Ihre Identität überprüft.',
    enclosed: 'Eine Kopie all dieser Nachweise liegt bei:',
    files: {
      history: '{file}: Ihre Entscheidungen zum Lesen, in jedem Browser',
      decisions: 'decisions.csv und decisions.json: dasselbe für Tabellenprogramme und andere Programme',
      policies: 'policies.json: die Datenschutzerklärungen, die damals galten',
      policyTexts: '{file}: die Texte dieser Erklärungen, wie wir sie abgerufen haben',
      evidence: 'banner-evidence: was das Einwilligungsbanner damals zeigte',
      records27560: 'records-27560.json: dasselbe als Einwilligungsnachweise nach ISO/IEC TS 27560',
      about: 'case.json, README.txt und manifest.json: Ihre Anfrage und eine Liste aller Dateien mit Prüfsummen',
      records: 'records.jsonl: die Nachweise genau so, wie sie bei uns eingegangen sind',
    },
    verify:
      'Sie können selbst prüfen, dass diese Nachweise nicht verändert wurden: Öffnen Sie die beiliegende Datei verify.html in einem Browser und wählen Sie die Datei aus, die Sie von uns erhalten haben; eine Internetverbindung ist nicht nötig. Jeder Datensatz wird mit unserem signierten Protokoll verglichen, dessen letzter Prüfpunkt vor diesem Schreiben {entries} Einträge umfasst. Bitte vergleichen Sie den Schlüssel dieses Protokolls mit einem, den Sie auf anderem Weg von uns erhalten haben:',
    unverified:
      'Ihre Identität ist nicht bestätigt. Zum Schutz der betroffenen Person geben wir keine einzelnen Datensätze heraus. Wir antworten deshalb nur allgemein.',
    categories:
      'Diese Antwort beschreibt allgemein, wie wir personenbezogene Daten verarbeiten. Einzelne Datensätze enthält sie nicht.',
    unmatched:
      'Aus den Angaben in Ihrer Anfrage können wir nicht erkennen, in welchem Browser oder auf welchem Gerät Ihre frühere Wahl gespeichert wurde.',
    unmatchedHowTo:
      'Damit Ihre Wahl auch dort wirksam wird, treffen Sie sie bitte auch dort. Widerruf der Einwilligung: {withdrawalMethod}',
    parts: 'Was wir getan haben',
    part: { done: 'erledigt', partly: 'teilweise erledigt', refused: 'abgelehnt' },
    partGround: '{outcome}; Grund: {ground}',
    withheld:
      'Folgendes haben wir über Sie gespeichert. Das Gesetz erlaubt uns nicht, es herauszugeben; in der Kopie haben wir es deshalb ausgelassen ({source}): {types}.',
    withheldTypes: {
      socialSecurity: 'eine Nummer in der Form einer US-Sozialversicherungsnummer',
      longNumber: 'eine lange Nummer, die eine Konto-, Karten- oder Identifikationsnummer sein kann',
    },
    neverDisclosed:
      'Sozialversicherungs-, Führerschein- und andere behördliche Identifikationsnummern, Kontonummern, Nummern von Krankenversicherungen und medizinische Kennungen, Passwörter, Sicherheitsfragen und -antworten sowie biometrische Daten dürfen nach dem Gesetz in keiner Antwort stehen, unabhängig davon, ob sie gespeichert sind ({source}).',
    proofPeriod:
      'Die dafür festgelegte Aufbewahrungsfrist beträgt {period}, gerechnet ab Ihrer letzten Entscheidung oder, falls später, ab dem Ablauf der Einwilligung.',
  },
  partial: {
    lead: 'Wir kommen Ihrer Anfrage teilweise nach. Was wir getan haben, was nicht, und unsere Gründe:',
  },
  refusal: {
    lead: 'Wir haben Ihre Anfrage geprüft und können ihr nicht nachkommen. Unsere Gründe:',
    ground: 'Rechtsgrundlage der Ablehnung: {ground}',
    healthStatement:
      'Betreffen die Daten Ihre Gesundheit, können Sie uns zu jeder Angabe, die Sie für unrichtig halten, eine schriftliche Stellungnahme von höchstens 250 Wörtern senden und verlangen, dass wir sie zu Ihren Daten nehmen (11 CCR § 7023).',
    optOut:
      'Sie haben das Recht, uns den Verkauf und die Weitergabe Ihrer personenbezogenen Daten zu untersagen. Wenn Sie es ausüben möchten, schreiben Sie unter Angabe unseres Zeichens {reference} an {contact}; Ihre Identität müssen Sie nicht nachweisen (11 CCR §§ 7013, 7022(g)).',
  },
  noMatch: {
    why: 'Einwilligungsnachweise finden wir über eine Besucherkennung, nicht über den Namen. Anhand Ihrer Angaben können wir nicht feststellen, welche davon, falls überhaupt, Sie betreffen.',
    notNone: 'Das bedeutet nicht, dass es keine gibt.',
    help: 'So können Sie uns bei der Suche helfen:',
    steps: [
      'Öffnen Sie unsere Website auf dem Gerät und in dem Browser, in dem Sie Ihre Wahl getroffen haben. Kopieren Sie die Besucherkennung, die das Einwilligungsbanner dort gespeichert hat (in seinem Cookie oder in seinen Einstellungen).',
      'Teilen Sie uns mit, auf welcher Website und wann ungefähr Sie Ihre Wahl getroffen oder geändert haben.',
      'Senden Sie beides unter Angabe unseres Zeichens {reference} an {contact}. Damit können wir erneut suchen.',
    ],
  },
  notice: {
    dear: 'Sehr geehrte Damen und Herren,',
    lead: 'wir haben Ihnen gegenüber personenbezogene Daten offengelegt. Die betroffene Person hat sich mit folgendem Anliegen an uns gewandt: {kind}.',
    done: 'Wir sind dem für die folgenden Daten nachgekommen:',
    ask: 'Bitte nehmen Sie in Ihren Systemen die entsprechenden Schritte vor und senden Sie eine Bestätigung unter Angabe unseres Zeichens {reference} an {contact}.',
  },
  appeal: {
    lead: 'Sie haben sich gegen unsere Antwort auf Ihre Anfrage vom {received} gewandt. Wir haben sie überprüft. Unsere Entscheidung und unsere Gründe:',
    complaint:
      'Wenn Sie mit dieser Entscheidung nicht einverstanden sind, können Sie sich bei folgender Behörde beschweren: {authority}',
  },
  processing: {
    heading: 'Wie wir personenbezogene Daten verarbeiten',
    purposes: 'Zwecke',
    purpose: '{purpose} (Speicherdauer: {retention})',
    purposeWithBasis: '{purpose} (Rechtsgrundlage: {basis}; Speicherdauer: {retention})',
    dataCategories: 'Kategorien von Daten',
    recipients: 'Empfänger',
    dataSources: 'Herkunft der Daten',
    transfers: 'Übermittlung in Drittländer',
    noTransfers: 'keine',
    automatedDecisions: 'Automatisierte Entscheidungen',
    withdrawalMethod: 'Widerruf der Einwilligung',
    notStated: 'In dieser Antwort nicht angegeben: {parts}',
    soldOrShared:
      'welche Kategorien von Daten wir in den zwölf Monaten vor Ihrer Anfrage verkauft, weitergegeben oder zu geschäftlichen Zwecken offengelegt haben, an welche Dritten und zu welchen Zwecken',
    parts: {
      address: 'Postanschrift',
      email: 'E-Mail-Adresse für Anfragen',
      country: 'Land der Niederlassung',
      purposes: 'Zwecke, Rechtsgrundlagen und Speicherdauer',
      dataCategories: 'Kategorien von Daten',
      dataSources: 'Herkunft der Daten',
      recipients: 'Empfänger',
      transfers: 'Übermittlungen in Drittländer und ihre Garantien',
      automatedDecisions: 'automatisierte Entscheidungen',
      supervisoryAuthority: 'Aufsichtsbehörde',
      withdrawalMethod: 'Wege zum Widerruf der Einwilligung',
      controller: 'der Verantwortliche',
      jointContact: 'Anlaufstelle der gemeinsam Verantwortlichen',
    },
    criteria: 'die bei der Verarbeitung angewandten Kriterien (LGPD, Art. 19, II)',
  },
  scope: {
    heading: 'Worauf sich diese Antwort bezieht',
    consentOnly: 'Diese Antwort bezieht sich auf Nachweise über Einwilligungen und Datenschutzerklärungen.',
    otherSystems: 'Unsere übrigen Systeme:',
    results: {
      'nothing-found': 'durchsucht, nichts gefunden',
      found: 'durchsucht, Daten gefunden',
      attached: 'durchsucht, das Gefundene liegt gesondert bei',
      searched: 'durchsucht',
      'not-applicable': 'für diese Anfrage nicht von Bedeutung',
      open: 'noch nicht durchsucht',
    },
    others: 'Auf andere Systeme bezieht sie sich nicht.',
    searched: 'Für diese Antwort haben wir unsere Einwilligungsnachweise durchsucht.',
    notSearched: 'Ihre Anfrage enthält nichts, womit wir unsere Einwilligungsnachweise durchsuchen könnten.',
  },
  rights: { heading: 'Ihre Rechte', remedies: 'Was Sie tun können' },
  families: {
    gdpr: {
      identity:
        'Bei begründeten Zweifeln an der Identität der anfragenden Person dürfen wir weitere Informationen verlangen (Art. 12 Abs. 6 {gdpr}). Unser Grund und worum wir Sie bitten:',
      extension:
        'Wir dürfen die Frist verlängern, wenn dies wegen der Komplexität und der Anzahl von Anträgen erforderlich ist (Art. 12 Abs. 3 {gdpr}).',
      access: 'Ja, wir verarbeiten personenbezogene Daten über Sie (Art. 15 {gdpr}).',
      portability:
        'Mit diesem Schreiben erhalten Sie Ihre Einwilligungsnachweise in einem maschinenlesbaren Format (Art. 20 {gdpr}).',
      noMatch: 'Wir können Sie keinem Einwilligungsnachweis zuordnen (Art. 11 Abs. 2 {gdpr}).',
      notes: {
        erasure: ['Sie können uns fragen, welche Empfänger Ihrer Daten unterrichtet wurden (Art. 19 {gdpr}).'],
        rectification: ['Sie können uns fragen, welche Empfänger Ihrer Daten unterrichtet wurden (Art. 19 {gdpr}).'],
        restriction: [
          'Von der Speicherung abgesehen dürfen eingeschränkte Daten nur mit Ihrer Einwilligung, zur Geltendmachung, Ausübung oder Verteidigung von Rechtsansprüchen, zum Schutz der Rechte einer anderen natürlichen oder juristischen Person oder aus Gründen eines wichtigen öffentlichen Interesses der Union oder eines Mitgliedstaats verarbeitet werden (Art. 18 Abs. 2 {gdpr}).',
          'Bevor die Einschränkung aufgehoben wird, müssen Sie davon unterrichtet werden (Art. 18 Abs. 3 {gdpr}).',
          'Sie können uns fragen, welche Empfänger Ihrer Daten unterrichtet wurden (Art. 19 {gdpr}).',
        ],
        'withdraw-consent': [
          'Der Widerruf berührt nicht die Rechtmäßigkeit der Verarbeitung bis zum Widerruf (Art. 7 Abs. 3 {gdpr}).',
        ],
      },
      proof:
        'Den Nachweis, dass Sie eine Einwilligung erteilt, verweigert oder widerrufen haben, bewahren wir auf, weil wir ihn vorlegen können müssen, sowie für Rechtsansprüche (Art. 17 Abs. 3 Buchst. b und e {gdpr}).',
      rights: [
        'Sie können verlangen, dass wir Ihre personenbezogenen Daten berichtigen oder löschen oder ihre Verarbeitung einschränken (Art. 16, 17 und 18 {gdpr}).',
        'Sie können einer Verarbeitung widersprechen, die auf einer Aufgabe im öffentlichen Interesse oder auf berechtigten Interessen beruht (Art. 21 {gdpr}).',
        'Sie können Ihre Einwilligung jederzeit widerrufen. Die Rechtmäßigkeit der Verarbeitung bis zum Widerruf bleibt davon unberührt (Art. 7 Abs. 3 {gdpr}).',
        'Sie können Daten, die Sie uns bereitgestellt haben, in einem maschinenlesbaren Format erhalten (Art. 20 {gdpr}).',
      ],
      notice: 'Wir teilen Ihnen dies nach Art. 19 {gdpr} mit.',
    },
    uk: {
      extension:
        'Wir dürfen die Frist verlängern, wenn dies wegen der Komplexität Ihrer Anträge oder wegen ihrer Anzahl erforderlich ist (Art. 12A Abs. 3 {gdpr}).',
      notes: {
        restriction: [
          'Von der Speicherung abgesehen dürfen eingeschränkte Daten nur mit Ihrer Einwilligung, zur Geltendmachung, Ausübung oder Verteidigung von Rechtsansprüchen, zum Schutz der Rechte einer anderen natürlichen oder juristischen Person oder aus Gründen eines wichtigen öffentlichen Interesses verarbeitet werden (Art. 18 Abs. 2 {gdpr}).',
          'Bevor die Einschränkung aufgehoben wird, müssen Sie davon unterrichtet werden (Art. 18 Abs. 3 {gdpr}).',
          'Sie können uns fragen, welche Empfänger Ihrer Daten unterrichtet wurden (Art. 19 {gdpr}).',
        ],
      },
    },
    similar: {
      rights: [
        'Sie können verlangen, dass wir Ihre personenbezogenen Daten berichtigen oder löschen oder ihre Verarbeitung einschränken.',
        'Sie können einer Verarbeitung widersprechen, die auf einer Aufgabe im öffentlichen Interesse oder auf berechtigten Interessen beruht.',
        'Sie können Ihre Einwilligung jederzeit widerrufen. Die Rechtmäßigkeit der Verarbeitung bis zum Widerruf bleibt davon unberührt.',
        'Sie können Daten, die Sie uns bereitgestellt haben, in einem maschinenlesbaren Format erhalten.',
      ],
    },
    swiss: {
      rights: [
        'Sie können verlangen, dass wir Ihre Personendaten berichtigen (Art. 32 Abs. 1 DSG).',
        'Sie können uns ausdrücklich untersagen, Ihre Personendaten zu bearbeiten (Art. 30 Abs. 2 Bst. b DSG).',
        'Sie können beim Gericht verlangen, dass eine bestimmte Bearbeitung oder die Bekanntgabe an Dritte verboten wird oder dass Personendaten gelöscht oder vernichtet werden (Art. 32 Abs. 2 DSG).',
        'Sie können die Personendaten, die Sie uns bekanntgegeben haben, in einem gängigen elektronischen Format erhalten (Art. 28 DSG).',
      ],
    },
    california: {
      acknowledgement: {
        checked: [
          'Das Gesetz verpflichtet uns, Ihre Identität zu prüfen, bevor wir personenbezogene Daten herausgeben, berichtigen oder löschen, nach Möglichkeit durch Vergleich Ihrer Angaben mit den bei uns gespeicherten (11 CCR § 7060). Reichen sie nicht aus, dürfen wir weitere erbitten.',
        ],
        unchecked: ['Für diese Anfrage müssen Sie Ihre Identität nicht nachweisen.'],
      },
      identity:
        'Wir sind gesetzlich verpflichtet, Ihre Identität zu prüfen, bevor wir dieser Anfrage nachkommen (11 CCR § 7060). Die Prüfung verlängert die Frist für unsere Antwort nicht. Worum wir Sie bitten:',
      extension:
        'Das Gesetz gibt uns dafür insgesamt bis zu 90 Kalendertage ab dem Tag, an dem Ihre Anfrage eingegangen ist (11 CCR § 7021).',
      access: 'Ja, wir haben personenbezogene Daten über Sie erhoben (Cal. Civ. Code § 1798.110).',
      portability:
        'Mit diesem Schreiben erhalten Sie Ihre Einwilligungsnachweise in einem übertragbaren, leicht nutzbaren Format (Cal. Civ. Code § 1798.130).',
      notes: {
        erasure: ['Einen Nachweis über diese Anfrage bewahren wir auf, wie es das Gesetz verlangt (11 CCR § 7101).'],
        'opt-out': [
          'Einen Nachweis Ihrer Identität brauchten wir dafür nicht. Das Gesetz erlaubt uns frühestens nach 12 Monaten, Sie um eine Änderung dieser Entscheidung zu bitten.',
        ],
        limit: [
          'Einen Nachweis Ihrer Identität brauchten wir dafür nicht. Das Gesetz erlaubt uns frühestens nach 12 Monaten, Sie um eine Änderung dieser Entscheidung zu bitten.',
        ],
      },
      proof:
        'Den Nachweis, dass Sie eine Einwilligung erteilt, verweigert oder widerrufen haben, bewahren wir auf, wie es das Gesetz erlaubt (Cal. Civ. Code § 1798.105(d)).',
      rights: [
        'Sie können verlangen, dass wir über Sie erhobene personenbezogene Daten löschen oder berichtigen.',
        'Sie können dem Verkauf und der Weitergabe Ihrer personenbezogenen Daten widersprechen und die Nutzung sensibler Daten beschränken. Ihre Identität müssen Sie dafür nicht nachweisen.',
        'Das Gesetz verbietet uns, Sie schlechter zu behandeln, weil Sie diese Rechte ausüben.',
      ],
      notice:
        'Wir teilen Ihnen dies mit, weil das kalifornische Recht verlangt, dass wir die Empfänger der Daten unterrichten.',
    },
    us: {
      identity:
        'Lässt sich eine Anfrage mit wirtschaftlich vertretbarem Aufwand nicht authentifizieren, dürfen wir nach dem Gesetz weitere Informationen verlangen. Worum wir Sie bitten:',
      extension: 'Das Gesetz erlaubt eine solche Verlängerung einmal, wenn sie vernünftigerweise erforderlich ist.',
      rights: [
        'Das Gesetz gibt Ihnen weitere Rechte an Ihren personenbezogenen Daten, etwa auf Löschung und auf Widerspruch gegen ihren Verkauf. Bitte teilen Sie uns mit, wenn Sie davon Gebrauch machen möchten.',
        'Das Gesetz verbietet uns, Sie schlechter zu behandeln, weil Sie diese Rechte ausüben.',
      ],
    },
    brazil: {
      identity: 'Wir dürfen nur der betroffenen Person oder ihrer Vertretung antworten. Worum wir Sie bitten:',
      access: 'Ja, wir verarbeiten personenbezogene Daten über Sie (LGPD, Art. 18 und 19).',
      portability:
        'Mit diesem Schreiben erhalten Sie Ihre Einwilligungsnachweise in einem maschinenlesbaren Format (LGPD, Art. 18, V).',
      notes: {
        'withdraw-consent': [
          'Der Widerruf berührt nicht die Verarbeitung, die vor ihm stattgefunden hat (LGPD, Art. 8, § 5).',
        ],
      },
      proof:
        'Den Nachweis, dass Sie eine Einwilligung erteilt, verweigert oder widerrufen haben, bewahren wir auf, um eine rechtliche Verpflichtung zu erfüllen (LGPD, Art. 16, I).',
      rights: [
        'Sie können Bestätigung, Auskunft, Berichtigung, Anonymisierung, Übertragung und Löschung verlangen und Ihre Einwilligung widerrufen (LGPD, Art. 18).',
      ],
      notice: 'Wir teilen Ihnen dies nach LGPD, Art. 18, § 6, mit.',
    },
    general: {
      acknowledgement: { checked: [], unchecked: [] },
      identity:
        'Wir dürfen personenbezogene Daten nur herausgeben oder ändern, wenn wir wissen, wer danach fragt. Worum wir Sie bitten:',
      access: 'Ja, wir verarbeiten personenbezogene Daten über Sie.',
      portability: 'Mit diesem Schreiben erhalten Sie Ihre Einwilligungsnachweise in einem maschinenlesbaren Format.',
      noMatch: 'Wir können Sie keinem Einwilligungsnachweis zuordnen.',
      notes: {
        erasure: ['Einen Nachweis über diese Anfrage bewahren wir auf.'],
      },
      proof: 'Den Nachweis, dass Sie eine Einwilligung erteilt, verweigert oder widerrufen haben, bewahren wir auf.',
      rights: [
        'Sie können die Berichtigung Ihrer personenbezogenen Daten verlangen.',
        'Sie können eine erteilte Einwilligung widerrufen.',
      ],
      notice: 'Wir teilen Ihnen dies mit, weil Sie Daten von uns erhalten haben.',
    },
  },
  remedies: {
    eu: [
      'Sie können sich bei einer Aufsichtsbehörde beschweren, insbesondere in dem Mitgliedstaat, in dem Sie wohnen oder arbeiten oder in dem der mutmaßliche Verstoß stattgefunden hat (Art. 77 DSGVO).',
      'Sie haben außerdem das Recht auf einen wirksamen gerichtlichen Rechtsbehelf (Art. 79 DSGVO).',
    ],
    uk: [
      'Sie können sich bei uns beschweren (Data Protection Act 2018, s. 164A): bitte schreiben Sie an {contact}.',
      'Sie können sich beim Information Commissioner beschweren (Data Protection Act 2018, s. 165): {authority}',
      'Sie können außerdem ein Gericht anrufen (Art. 79 UK GDPR).',
    ],
    california: ['Sie können sich bei folgenden Behörden beschweren: {authority}'],
    quebec: [
      'Innerhalb von 30 Tagen nach dieser Antwort können Sie bei folgender Behörde eine Überprüfung beantragen: {authority}',
    ],
    authority: ['Sie können sich bei folgender Behörde beschweren: {authority}'],
    authorityAndCourt: [
      'Sie können sich bei folgender Behörde beschweren: {authority}',
      'Sie können außerdem ein Gericht anrufen.',
    ],
    unnamed: ['Sie können sich bei der für den Datenschutz zuständigen Behörde beschweren.'],
  },
  packFiles: { letter: 'brief', history: 'verlauf', policyTexts: 'datenschutzerklaerungen' },
  handOver: {
    title: 'Unsere Antwort auf Ihre Anfrage',
    enterCode: 'Bitte geben Sie den achtstelligen Code ein, den wir Ihnen getrennt von diesem Link mitgeteilt haben.',
    code: 'Code',
    open: 'Öffnen',
    wrongCode: 'Dieser Code ist falsch. Verbleibende Versuche: {left}.',
    invalidTitle: 'Dieser Link führt zu keinem Inhalt',
    invalid:
      'Er ist unvollständig, abgelaufen oder wurde zurückgezogen. Bitte lassen Sie sich vom Absender einen neuen geben.',
    until: 'Sie können diese Seite bis zum {until} öffnen.',
    received: 'Eingegangen am {received}: {kind}',
    contents: 'Was Sie erhalten',
    letter: '{file}: unsere Antwort auf Ihre Anfrage',
    proofs: 'verify.html, verify.mjs und proofs: damit können Sie prüfen, dass nichts verändert wurde',
    download: 'Als ZIP-Datei herunterladen ({size})',
    files: 'Weitere Dateien',
    fileChecksum: 'SHA-256-Prüfsumme:',
    check: 'So prüfen Sie die Datei',
    checksum: 'SHA-256-Prüfsumme der ZIP-Datei:',
    checkSteps: [
      'Entpacken Sie die ZIP-Datei und öffnen Sie verify.html in einem Browser. Eine Internetverbindung ist nicht nötig.',
      'Wählen Sie dort die heruntergeladene ZIP-Datei aus. Die Seite prüft jeden Datensatz darin.',
      'Geben Sie dort auch den Schlüssel ein, der unter {key} veröffentlicht ist: Er zeigt, dass die Datensätze von uns stammen.',
    ],
    write: 'Rückfragen und Einwände',
    writeLead:
      'Ist etwas unklar, unvollständig oder falsch? Ihre Nachricht erreicht die Personen, die Ihre Anfrage bearbeiten.',
    question: 'Ich habe eine Frage',
    objection: 'Ich bin mit dieser Antwort nicht einverstanden',
    message: 'Ihre Nachricht',
    send: 'Absenden',
    sent: 'Ihre Nachricht ist am {at} bei uns eingegangen.',
    empty: 'Bitte schreiben Sie zuerst eine Nachricht mit höchstens 4.000 Zeichen.',
    tooMany: 'Hier können keine weiteren Nachrichten gesendet werden. Bitte wenden Sie sich direkt an uns.',
    leave: 'Seite schließen',
    formExpired: 'Das Formular war abgelaufen und wurde nicht gesendet. Bitte versuchen Sie es noch einmal.',
    wait: 'Zu viele Anfragen. Bitte warten Sie eine Minute und versuchen Sie es dann erneut.',
    unavailable: 'Diese Seite ist vorübergehend nicht verfügbar. Bitte versuchen Sie es in einigen Minuten erneut.',
    languages: 'Sprache',
  },
  messages: {
    replied: 'Antwort von {controller} am {at}',
    answering: 'Ich antworte auf Ihre Nachricht',
    mailTitle: 'Antwort auf Ihre Nachricht',
    mailLead:
      '{controller} hat auf Ihre Nachricht zu Ihrer Anfrage geantwortet. Zum Schutz Ihrer Daten steht die Antwort nicht in dieser E-Mail.',
    mailLink:
      'Um sie zu lesen und darauf zu antworten, öffnen Sie bitte den Link, den wir Ihnen mitgeteilt haben, und geben Sie den Code ein. Der Link gilt bis zum {until}.',
    mailNoLink:
      'Der Link, den wir Ihnen mitgeteilt haben, lässt sich nicht mehr öffnen. Bitte wenden Sie sich an uns, um einen neuen zu erhalten.',
  },
  task: {
    title: 'Eine Aufgabe für Sie',
    lead: '{controller} bittet Sie, für eine Anfrage zu personenbezogenen Daten Folgendes zu erledigen.',
    due: 'Bitte erledigen Sie es bis zum {due}.',
    outcome: 'Was ist daraus geworden?',
    done: 'Es ist erledigt',
    notDone: 'Es wurde nicht erledigt',
    note: 'Anmerkung',
    noteHint:
      'Schreiben Sie, was Sie getan haben oder warum es nicht erledigt wurde. Bitte keine personenbezogenen Daten.',
    noteMissing: 'Schreiben Sie in höchstens 2.000 Zeichen, warum es nicht erledigt wurde.',
    reportedDone: 'Vielen Dank. Sie haben am {at} gemeldet, dass es erledigt ist.',
    reportedNotDone:
      'Sie haben am {at} gemeldet, dass es nicht erledigt wurde. Wurde es inzwischen erledigt, melden Sie es hier.',
    mailLink: 'Melden Sie hier, was daraus geworden ist. Sie brauchen kein Konto; der Link gilt bis zum {until}:',
  },
  requestForm: {
    title: 'Ihre personenbezogenen Daten: Anfrage stellen',
    lead: 'Mit diesem Formular können Sie Ihre Rechte an Ihren personenbezogenen Daten ausüben.',
    kind: 'Was möchten Sie?',
    kinds: {
      access: 'Auskunft, welche Daten Sie über mich haben',
      portability: 'Eine Kopie meiner Daten, die andere Dienste lesen können',
      erasure: 'Meine Daten löschen lassen',
      rectification: 'Meine Daten berichtigen lassen',
      restriction: 'Die Nutzung meiner Daten einschränken lassen',
      objection: 'Der Nutzung meiner Daten widersprechen',
      'opt-out': 'Dem Verkauf und der Weitergabe meiner Daten widersprechen',
      limit: 'Die Nutzung meiner sensiblen Daten begrenzen',
      'withdraw-consent': 'Meine Einwilligung widerrufen',
      unknown: 'Etwas anderes zu meinen Daten',
    },
    name: 'Ihr Name',
    email: 'Ihre E-Mail-Adresse',
    emailHint: 'An diese Adresse senden wir eine Bestätigung und einen Code.',
    place: 'Wo Sie wohnen',
    placeHint: 'Davon hängt ab, welches Recht gilt.',
    placeOpen: 'Möchte ich nicht angeben',
    message: 'Ihre Nachricht',
    messageHint: 'Zum Beispiel, worum genau es geht. Wenn Sie für jemand anderen schreiben, sagen Sie bitte, für wen.',
    subject: 'Einwilligungs-ID',
    subjectHint: 'Falls unsere Website Ihnen eine anzeigt.',
    optional: 'freiwillig',
    use: 'Wir verwenden Ihre Angaben, um Ihre Anfrage zu bearbeiten, und bewahren sie als Nachweis darüber auf.',
    send: 'Anfrage senden',
    trap: 'Dieses Feld bitte leer lassen',
    wrong: {
      kind: 'Wählen Sie aus, was Sie möchten.',
      name: 'Geben Sie Ihren Namen ein (höchstens 300 Zeichen).',
      email: 'Geben Sie eine E-Mail-Adresse ein, etwa name@example.com.',
      place: 'Wählen Sie einen Ort aus der Liste.',
      message: 'Ihre Nachricht darf höchstens 4.000 Zeichen haben.',
      subject: 'Die Einwilligungs-ID darf höchstens 300 Zeichen haben.',
    },
    again: 'Das Formular konnte noch nicht gesendet werden. Bitte prüfen Sie es und senden Sie es noch einmal.',
    tooMany:
      'Im Moment gehen zu viele Anfragen ein. Bitte versuchen Sie es in einer Stunde noch einmal oder schreiben Sie uns direkt.',
    receivedTitle: 'Wir haben Ihre Anfrage erhalten',
    received: 'Eingegangen am {at}. Aktenzeichen: {reference}',
    keep: 'Bitte bewahren Sie das Aktenzeichen auf.',
    codeLead:
      'Wir senden einen Code an die E-Mail-Adresse, die Sie eingegeben haben. Geben Sie ihn hier ein, um zu bestätigen, dass die Adresse Ihnen gehört: Dann müssen wir später vielleicht weniger nachfragen. Der Code gilt bis {until}.',
    noMail: 'Ihre Anfrage wird bearbeitet, auch wenn Sie den Code nicht eingeben.',
    confirm: 'Bestätigen',
    confirmed: 'Vielen Dank: Ihre E-Mail-Adresse ist bestätigt. Sie müssen jetzt nichts weiter tun.',
    locked: 'Hier können keine Codes mehr eingegeben werden. Ihre Anfrage wird trotzdem bearbeitet.',
    closed: 'Ihre Anfrage ist erledigt.',
    mailCode:
      'Ihr Code zur Bestätigung dieser E-Mail-Adresse: {code} (gültig bis {until}). Geben Sie ihn auf der Seite ein, auf der Sie die Anfrage gesendet haben:',
  },
  appealTo:
    'Sie können innerhalb einer angemessenen Frist verlangen, dass wir diese Entscheidung überprüfen („Appeal“): Schreiben Sie mit dem Stichwort „Appeal“ und unserem Zeichen {reference} an {contact}. Innerhalb von {days} Tagen nach Eingang müssen wir Ihnen schriftlich mitteilen, wie wir entschieden haben und warum. Bleiben wir bei unserer Entscheidung, können Sie sich bei folgender Behörde beschweren: {authority}',
  authorityIs: 'Die für uns zuständige Aufsichtsbehörde: {authority}',
  proposals: {
    identity: [
      '[Warum Sie an der Identität zweifeln.]\n\nBitte antworten Sie von der E-Mail-Adresse aus, die bei uns gespeichert ist, oder nennen Sie uns [etwas, das nur diese Person wissen kann].',
      'Bitte senden Sie uns eine von der betroffenen Person unterschriebene Vollmacht, die diese Anfrage in ihrem Namen erlaubt.',
    ],
    clarification: [
      'Bitte teilen Sie uns mit, [um welche Daten, welchen Zeitraum oder welchen unserer Dienste es Ihnen geht].',
      'Bitte teilen Sie uns mit, [was berichtigt werden soll und was richtig wäre].',
    ],
    extension: ['Ihre Anfrage ist komplex: [Begründung].', 'Wir haben mehrere Anfragen von Ihnen zu prüfen: [welche].'],
    partial: [
      'Folgendes haben wir getan:\n- [was Sie getan haben]\n\nFolgendes haben wir nicht getan:\n- [was Sie nicht getan haben, warum, und nach welcher Vorschrift]',
    ],
    refusal: [
      '[Ihre Gründe.]\n\nRechtsgrundlage der Ablehnung: [Vorschrift]',
      'Wir konnten Ihre Identität nicht bestätigen: [worum Sie gebeten hatten und was fehlte]. Deshalb können wir keine Daten herausgeben oder ändern.',
    ],
    notice: ['- [welche Daten, unter welcher Kennung, damit der Empfänger sie finden kann]'],
    appeal: [
      'Wir haben unsere Entscheidung geändert: [was Sie nun getan haben].',
      'Wir bleiben bei unserer Entscheidung: [Ihre Gründe].',
    ],
    know: [
      'In den zwölf Monaten vor Ihrer Anfrage:\n- haben wir diese Kategorien personenbezogener Daten über Sie erhoben: [Kategorien]\n- haben wir verkauft oder weitergegeben: [jede Kategorie, an welche Kategorien Dritter und zu welchem Zweck; oder dass wir keine verkauft oder weitergegeben haben]\n- haben wir zu geschäftlichen Zwecken offengelegt: [jede Kategorie, gegenüber welchen Kategorien von Empfängern und zu welchem Zweck; oder dass wir keine offengelegt haben]\n- speichern wir außerdem, dürfen es aber nicht herausgeben: [Art der Daten, etwa Ihre Sozialversicherungsnummer; oder nichts dieser Art]',
    ],
    criteria: ['Bei der Verarbeitung Ihrer Daten angewandte Kriterien: [Kriterien]'],
    answer: {
      erasure: [
        'Wir haben die folgenden personenbezogenen Daten über Sie gelöscht:\n- [welche Daten, in welchem System]',
      ],
      rectification: ['Wir haben Folgendes berichtigt:\n- [bisheriger Eintrag] in [neuer Eintrag]'],
      restriction: ['Wir haben die Verarbeitung der folgenden Daten eingeschränkt:\n- [welche Daten]'],
      objection: [
        'Seit dem [Datum] verarbeiten wir Ihre personenbezogenen Daten nicht mehr für diesen Zweck: [Zweck].',
        'Seit dem [Datum] verwenden wir Ihre personenbezogenen Daten nicht mehr für Direktwerbung.',
      ],
      'opt-out': [
        'Wir haben Ihren Widerspruch umgesetzt: Seit dem [Datum] verkaufen wir Ihre personenbezogenen Daten nicht mehr und geben sie nicht mehr für Werbung über verschiedene Websites hinweg weiter.',
        '[Falls dem so ist:] Wir verkaufen keine personenbezogenen Daten und geben sie nicht für Werbung über verschiedene Websites hinweg weiter. Ihren Widerspruch haben wir dennoch vermerkt.',
      ],
      limit: [
        'Wir haben Ihre Anfrage umgesetzt: Seit dem [Datum] verwenden wir Ihre sensiblen personenbezogenen Daten nur noch, soweit es für unsere Leistungen nötig ist, und für die weiteren Zwecke, die das Gesetz erlaubt.',
      ],
      'withdraw-consent': [
        'Wir haben vermerkt, dass Sie Ihre Einwilligung widerrufen haben. Seit dem [Datum] verarbeiten wir auf ihrer Grundlage keine personenbezogenen Daten mehr.',
      ],
      unknown: ['[Was Sie getan haben.]'],
    },
    unmatched: {
      objection: ['Wir haben Ihren Widerspruch vermerkt. [Was Sie deshalb getan haben, und wo.]'],
      'opt-out': ['Wir haben Ihren Widerspruch vermerkt. [Was Sie deshalb getan haben, und wo.]'],
      limit: ['Wir haben Ihre Anfrage vermerkt. [Was Sie deshalb getan haben, und wo.]'],
      'withdraw-consent': [
        'Wir haben vermerkt, dass Sie Ihre Einwilligung widerrufen haben. [Was Sie deshalb getan haben, und wo.]',
      ],
    },
  },
};
