import type { LetterTexts } from '../texts.ts';

/** Français. */
export const fr: LetterTexts = {
  name: 'Français',
  locale: 'fr-FR',
  regions: ['CA'],
  lawNames: {
    'eu-gdpr': {
      name: 'Règlement général sur la protection des données, règlement (UE) 2016/679 (RGPD)',
      short: 'RGPD',
    },
    'uk-gdpr': { name: 'Règlement général sur la protection des données du Royaume-Uni (UK GDPR)', short: 'UK GDPR' },
    ch: {
      name: 'Loi fédérale suisse sur la protection des données (LPD)',
      short: 'LPD',
      authority: 'Préposé fédéral à la protection des données et à la transparence (PFPDT), https://www.edoeb.admin.ch',
    },
  },
  frame: {
    reference: 'Notre référence : {reference}',
    theirReference: 'Votre référence : {reference}',
    applicableLaw: 'Droit applicable : {law}',
    unnamedRecipient: 'À la personne qui a présenté la demande',
    dearNamed: 'Madame, Monsieur,',
    dearUnnamed: 'Madame, Monsieur,',
    closingNamed: 'Nous vous prions d’agréer, Madame, Monsieur, nos salutations distinguées.',
    closingUnnamed: 'Nous vous prions d’agréer, Madame, Monsieur, nos salutations distinguées.',
    page: 'Page {page} sur {pages}',
    document: 'Document {document}',
    attached: 'Notre lettre est jointe à cet e-mail.',
    draft: 'PROJET',
    stillToWrite: 'À rédiger ou à compléter avant l’envoi de cette lettre',
    dataProtectionOfficer: 'Délégué à la protection des données : {contact}',
    jointContact: 'Point de contact des responsables conjoints du traitement : {contact}',
    questions: 'Pour toute question, veuillez contacter {contact} en indiquant notre référence {reference}.',
    agentFor:
      'Vous agissez pour le compte de {represented}. Dans cette lettre, « vous » et « vos » désignent {represented}.',
    agentForUnnamed:
      'Vous agissez pour le compte d’une autre personne. Dans cette lettre, « vous » et « vos » désignent cette personne.',
    late: 'Cette réponse est tardive : elle était due le {limit}. Nous vous prions de nous en excuser.',
  },
  titles: {
    acknowledgement: 'Nous avons bien reçu votre demande',
    identity: 'Nous devons vérifier votre identité',
    clarification: 'Une question sur votre demande',
    extension: 'Nous avons besoin de plus de temps pour votre demande',
    answer: 'Réponse à votre demande du {received}',
    partial: 'Réponse à votre demande du {received} : acceptation partielle',
    refusal: 'Réponse à votre demande du {received} : refus',
    'no-match': 'Réponse à votre demande du {received}',
    notice: 'Notification aux destinataires de données à caractère personnel : {kind}',
    appeal: 'Décision sur votre recours',
  },
  kinds: {
    access: {
      name: 'accès aux données à caractère personnel',
      opening: 'Le {received}, vous nous avez demandé l’accès à vos données à caractère personnel.',
    },
    portability: {
      name: 'copie portable des données à caractère personnel',
      opening:
        'Le {received}, vous nous avez demandé une copie de vos données à caractère personnel dans un format lisible par machine.',
    },
    erasure: {
      name: 'effacement de données à caractère personnel',
      opening: 'Le {received}, vous nous avez demandé d’effacer vos données à caractère personnel.',
    },
    rectification: {
      name: 'rectification de données à caractère personnel',
      opening: 'Le {received}, vous nous avez demandé de rectifier vos données à caractère personnel.',
    },
    restriction: {
      name: 'limitation du traitement',
      opening: 'Le {received}, vous nous avez demandé de limiter le traitement de vos données à caractère personnel.',
    },
    objection: {
      name: 'opposition au traitement',
      opening:
        'Le {received}, vous nous avez fait part de votre opposition au traitement de vos données à caractère personnel.',
    },
    'opt-out': {
      name: 'refus de la vente et du partage de données à caractère personnel',
      opening: 'Le {received}, vous avez refusé la vente et le partage de vos données à caractère personnel.',
    },
    limit: {
      name: 'limitation de l’utilisation de données sensibles',
      opening: 'Le {received}, vous nous avez demandé de limiter l’utilisation de vos données sensibles.',
    },
    'withdraw-consent': {
      name: 'retrait du consentement',
      opening: 'Le {received}, vous avez retiré votre consentement.',
    },
    unknown: {
      name: 'demande relative à des données à caractère personnel',
      opening: 'Le {received}, vous nous avez adressé une demande relative à vos données à caractère personnel.',
    },
  },
  openingOfAgent: 'Le {received}, vous nous avez adressé une demande au nom d’une autre personne ({kind}).',
  acknowledgement: {
    received: 'Par la présente, nous vous confirmons la réception de votre demande.',
    due: 'Notre réponse est due au plus tard le {limit}.',
    notYou: 'Si vous n’êtes pas à l’origine de cette demande, veuillez nous en informer.',
  },
  identity: {
    lead: 'Avant de donner suite à votre demande, nous devons nous assurer qu’elle émane bien de vous ou d’une personne habilitée à agir pour vous.',
    use: 'N’envoyez pas d’originaux et masquez sur les copies tout ce que nous n’avons pas demandé. Nous consignons la manière dont votre identité est vérifiée.',
    reply: 'Veuillez répondre à {contact} en indiquant notre référence {reference}.',
    clockStarts: 'Le délai de notre réponse court à compter du jour où nous recevons ce que nous vous demandons ici.',
  },
  clarification: {
    lead: 'Afin de bien répondre à votre demande, nous devons en savoir davantage sur ce que vous demandez :',
    clockStops: 'Le délai de réponse est suspendu à compter d’aujourd’hui jusqu’à la réception de votre réponse.',
    reply: 'Veuillez répondre à {contact} en indiquant notre référence {reference}.',
    noReply: 'Sans réponse de votre part, nous ne pouvons nous fonder que sur ce que nous savons.',
  },
  extension: {
    lead: 'Nous ne pouvons pas achever notre réponse avant l’expiration du délai, le {firstLimit}. En voici la raison :',
    newLimit: 'Notre réponse est désormais due au plus tard le {limit}.',
    complaint:
      'Vous pouvez introduire une réclamation contre cette prolongation auprès de l’autorité suivante : {authority}',
  },
  answer: {
    records:
      'Les enregistrements de consentement que nous avons pu vous rattacher couvrent la période du {from} au {to} ; nombre de décisions : {count}. Nous les avons trouvés grâce à {found}.',
    recordsOfOneDay:
      'Les enregistrements de consentement que nous avons pu vous rattacher datent du {from} ; nombre de décisions : {count}. Nous les avons trouvés grâce à {found}.',
    foundFromDevice: 'l’identifiant de visiteur que vous nous avez envoyé depuis votre appareil',
    foundComputed: 'un identifiant calculé à partir de l’adresse e-mail que vous nous avez indiquée',
    identityChecked: 'Avant toute communication, nous avons vérifié votre identité.',
    enclosed: 'Une copie de tous ces enregistrements est jointe :',
    files: {
      history: '{file} : vos décisions, lisibles dans tout navigateur',
      decisions: 'decisions.csv et decisions.json : les mêmes pour un tableur ou un programme',
      policies: 'policies.json : les politiques en vigueur à l’époque',
      policyTexts: '{file} : les textes de ces politiques tels que nous les avons téléchargés',
      evidence: 'banner-evidence : ce que le bandeau de consentement affichait à l’époque',
      records27560: 'records-27560.json : les mêmes sous forme d’enregistrements de consentement (ISO/IEC TS 27560)',
      about:
        'case.json, README.txt et manifest.json : votre demande et la liste de tous les fichiers avec leurs sommes de contrôle',
      records: 'records.jsonl : les enregistrements exactement tels que nous les avons reçus',
    },
    verify:
      'Vous pouvez vérifier vous-même que ces enregistrements n’ont pas été modifiés : ouvrez le fichier verify.html ci-joint dans un navigateur et choisissez le fichier que vous avez reçu de nous ; aucune connexion à Internet n’est nécessaire. Chaque enregistrement est comparé à notre journal signé, dont le dernier point de contrôle avant cette lettre porte sur {entries} entrées. Veuillez comparer la clé de ce journal à celle que vous avez reçue de nous par une autre voie :',
    unverified:
      'Votre identité n’a pas été vérifiée. Afin de protéger la personne concernée, nous ne communiquons aucun enregistrement individuel. Nous répondons donc seulement de manière générale.',
    categories:
      'Cette réponse décrit de manière générale comment nous traitons les données à caractère personnel. Elle ne contient pas d’enregistrements individuels.',
    unmatched:
      'Les indications de votre demande ne nous permettent pas de savoir dans quel navigateur ou sur quel appareil votre choix antérieur a été enregistré.',
    unmatchedHowTo:
      'Pour que votre choix prenne effet là aussi, veuillez l’y exprimer également. Retrait du consentement : {withdrawalMethod}',
    parts: 'Ce que nous avons fait',
    part: { done: 'fait', partly: 'fait en partie', refused: 'refusé' },
    partGround: '{outcome} ; motif : {ground}',
    withheld:
      'Nous détenons les éléments suivants à votre sujet. La loi ne nous permet pas de les communiquer ; ils ne figurent donc pas dans la copie ({source}) : {types}.',
    withheldTypes: {
      socialSecurity: 'un numéro ayant la forme d’un numéro de sécurité sociale américain',
      longNumber:
        'un long numéro qui peut être celui d’un compte financier, d’une carte de paiement ou d’une pièce d’identité',
    },
    neverDisclosed:
      'Que de telles données soient détenues ou non, la loi interdit de communiquer dans une réponse des numéros de sécurité sociale, de permis de conduire ou d’autres numéros d’identification officiels, des numéros de comptes financiers, des numéros d’assurance maladie ou d’identification médicale, des mots de passe, des questions et réponses de sécurité ou des données biométriques ({source}).',
    proofPeriod:
      'La durée de conservation fixée pour cette preuve est de {period}, à compter de votre dernière décision ou, si elle est postérieure, de l’expiration du consentement.',
  },
  partial: {
    lead: 'Nous avons accepté une partie de votre demande. Voici ce que nous avons fait, ce que nous n’avons pas fait, et nos motifs :',
  },
  refusal: {
    lead: 'Nous avons examiné votre demande et ne pouvons pas y donner suite. Nos motifs :',
    ground: 'Base juridique du refus : {ground}',
    healthStatement:
      'Si les données concernent votre santé, vous pouvez nous envoyer une déclaration écrite de 250 mots au plus pour chaque donnée que vous estimez inexacte, et nous demander de la joindre à votre dossier (11 CCR § 7023).',
    optOut:
      'Vous avez le droit de nous interdire de vendre ou de partager vos données à caractère personnel. Si vous souhaitez l’exercer, écrivez à {contact} en indiquant notre référence {reference} ; vous n’avez pas à prouver votre identité (11 CCR §§ 7013, 7022(g)).',
  },
  noMatch: {
    why: 'Nous retrouvons les enregistrements de consentement par un identifiant de visiteur, et non par le nom. Les éléments de votre demande ne nous permettent pas de déterminer lesquels, le cas échéant, vous concernent.',
    notNone: 'Cela ne signifie pas qu’il n’y en a aucun.',
    help: 'Voici comment vous pouvez nous aider à les trouver :',
    steps: [
      'Ouvrez notre site web sur l’appareil et dans le navigateur où vous avez fait votre choix. Copiez l’identifiant de visiteur que le bandeau de consentement y a enregistré (dans son cookie ou dans ses paramètres).',
      'Indiquez-nous sur quel site web, et à peu près quand, vous avez fait ou modifié votre choix.',
      'Envoyez ces deux éléments à {contact} en indiquant notre référence {reference}. Nous pourrons alors effectuer une nouvelle recherche.',
    ],
  },
  notice: {
    dear: 'Madame, Monsieur,',
    lead: 'Nous vous avons communiqué des données à caractère personnel. La personne concernée nous a adressé une demande ({kind}).',
    done: 'Nous y avons fait droit pour les données suivantes :',
    ask: 'Veuillez prendre les mesures correspondantes dans vos propres systèmes et nous les confirmer à l’adresse suivante : {contact}, en indiquant notre référence {reference}.',
  },
  appeal: {
    lead: 'Vous avez formé un recours contre notre décision relative à votre demande du {received}. Nous l’avons réexaminée. Notre décision et nos motifs :',
    complaint:
      'Si vous n’êtes pas d’accord avec cette décision, vous pouvez introduire une réclamation auprès de l’autorité suivante : {authority}',
  },
  processing: {
    heading: 'Comment nous traitons les données à caractère personnel',
    purposes: 'Finalités',
    purpose: '{purpose} (conservation : {retention})',
    purposeWithBasis: '{purpose} (base juridique : {basis} ; conservation : {retention})',
    dataCategories: 'Catégories de données',
    recipients: 'Destinataires',
    dataSources: 'Sources des données',
    transfers: 'Transferts vers des pays tiers',
    noTransfers: 'aucun',
    automatedDecisions: 'Décisions automatisées',
    withdrawalMethod: 'Retrait du consentement',
    notStated: 'Non précisé dans cette réponse : {parts}',
    soldOrShared:
      'les catégories de données que nous avons vendues, partagées ou communiquées à des fins commerciales au cours des 12 mois précédant votre demande, à quels tiers et à quelles fins',
    parts: {
      address: 'adresse postale',
      email: 'adresse e-mail de contact',
      country: 'pays d’établissement',
      purposes: 'finalités, bases juridiques et durées de conservation',
      dataCategories: 'catégories de données',
      dataSources: 'sources des données',
      recipients: 'destinataires',
      transfers: 'transferts vers des pays tiers et leurs garanties',
      automatedDecisions: 'décisions automatisées',
      supervisoryAuthority: 'autorité de contrôle',
      withdrawalMethod: 'manière de retirer le consentement',
      controller: 'responsable du traitement',
      jointContact: 'point de contact des responsables conjoints du traitement',
    },
    criteria: 'les critères utilisés pour le traitement (LGPD, art. 19, II)',
  },
  scope: {
    heading: 'Ce que couvre cette réponse',
    consentOnly: 'Cette réponse porte sur les enregistrements de consentement et de politiques.',
    otherSystems: 'Nos autres systèmes :',
    results: {
      'nothing-found': 'recherche effectuée, rien trouvé',
      found: 'recherche effectuée, données trouvées',
      attached: 'recherche effectuée, les résultats sont joints séparément',
      searched: 'recherche effectuée',
      'not-applicable': 'sans objet pour cette demande',
      open: 'recherche non encore effectuée',
    },
    others: 'Elle ne porte pas sur d’autres systèmes.',
    searched: 'Pour cette réponse, nous avons consulté nos enregistrements de consentement.',
    notSearched: 'Votre demande ne contient rien qui nous permette de consulter nos enregistrements de consentement.',
  },
  rights: { heading: 'Vos droits', remedies: 'Ce que vous pouvez faire' },
  families: {
    gdpr: {
      identity:
        'En cas de doute raisonnable quant à l’identité de la personne qui présente une demande, nous pouvons demander des informations supplémentaires (art. 12, § 6, du {gdpr}). Notre motif, et ce que nous vous demandons :',
      extension:
        'Nous pouvons prolonger le délai lorsque la complexité et le nombre des demandes le rendent nécessaire (art. 12, § 3, du {gdpr}).',
      access: 'Oui, nous traitons des données à caractère personnel vous concernant (art. 15 du {gdpr}).',
      portability:
        'Vous recevez avec cette lettre vos enregistrements de consentement dans un format lisible par machine (art. 20 du {gdpr}).',
      noMatch: 'Nous ne pouvons pas vous rattacher à un enregistrement de consentement (art. 11, § 2, du {gdpr}).',
      notes: {
        erasure: ['Vous pouvez nous demander quels destinataires de vos données ont été informés (art. 19 du {gdpr}).'],
        rectification: [
          'Vous pouvez nous demander quels destinataires de vos données ont été informés (art. 19 du {gdpr}).',
        ],
        restriction: [
          'À l’exception de leur conservation, les données dont le traitement est limité ne peuvent être traitées qu’avec votre consentement, pour la constatation, l’exercice ou la défense de droits en justice, pour la protection des droits d’une autre personne physique ou morale, ou pour des motifs importants d’intérêt public de l’Union ou d’un État membre (art. 18, § 2, du {gdpr}).',
          'La levée de la limitation doit vous être annoncée au préalable (art. 18, § 3, du {gdpr}).',
          'Vous pouvez nous demander quels destinataires de vos données ont été informés (art. 19 du {gdpr}).',
        ],
        'withdraw-consent': [
          'Le retrait ne compromet pas la licéité du traitement effectué auparavant (art. 7, § 3, du {gdpr}).',
        ],
      },
      proof:
        'Nous conservons la preuve que vous avez donné, refusé ou retiré un consentement, parce que nous devons pouvoir la produire et pour la constatation, l’exercice ou la défense de droits en justice (art. 17, § 3, points b) et e), du {gdpr}).',
      rights: [
        'Vous pouvez nous demander de rectifier ou d’effacer vos données à caractère personnel ou d’en limiter le traitement (art. 16, 17 et 18 du {gdpr}).',
        'Vous pouvez vous opposer à un traitement fondé sur une mission d’intérêt public ou sur des intérêts légitimes (art. 21 du {gdpr}).',
        'Vous pouvez retirer votre consentement à tout moment. Cela ne compromet pas la licéité du traitement effectué avant le retrait (art. 7, § 3, du {gdpr}).',
        'Vous pouvez recevoir les données que vous nous avez fournies dans un format lisible par machine (art. 20 du {gdpr}).',
      ],
      notice: 'Nous vous en informons en application de l’art. 19 du {gdpr}.',
    },
    uk: {
      extension:
        'Nous pouvons prolonger le délai lorsque la complexité de vos demandes ou leur nombre le rend nécessaire (art. 12A, § 3, du {gdpr}).',
      notes: {
        restriction: [
          'À l’exception de leur conservation, les données dont le traitement est limité ne peuvent être traitées qu’avec votre consentement, pour la constatation, l’exercice ou la défense de droits en justice, pour la protection des droits d’une autre personne physique ou morale, ou pour des motifs importants d’intérêt public (art. 18, § 2, du {gdpr}).',
          'La levée de la limitation doit vous être annoncée au préalable (art. 18, § 3, du {gdpr}).',
          'Vous pouvez nous demander quels destinataires de vos données ont été informés (art. 19 du {gdpr}).',
        ],
      },
    },
    similar: {
      rights: [
        'Vous pouvez nous demander de rectifier ou d’effacer vos données à caractère personnel ou d’en limiter le traitement.',
        'Vous pouvez vous opposer à un traitement fondé sur une mission d’intérêt public ou sur des intérêts légitimes.',
        'Vous pouvez retirer votre consentement à tout moment. Cela ne compromet pas la licéité du traitement effectué avant le retrait.',
        'Vous pouvez recevoir les données que vous nous avez fournies dans un format lisible par machine.',
      ],
    },
    swiss: {
      rights: [
        'Vous pouvez nous demander de rectifier vos données personnelles (art. 32, al. 1, LPD).',
        'Vous pouvez nous interdire expressément de traiter vos données personnelles (art. 30, al. 2, let. b, LPD).',
        'Vous pouvez demander au tribunal d’interdire un traitement déterminé ou la communication de données à des tiers, ou d’ordonner l’effacement ou la destruction de données (art. 32, al. 2, LPD).',
        'Vous pouvez recevoir les données que vous nous avez communiquées sous un format électronique couramment utilisé (art. 28 LPD).',
      ],
    },
    california: {
      acknowledgement: {
        checked: [
          'La loi nous oblige à vérifier votre identité avant de communiquer, de rectifier ou d’effacer des données à caractère personnel, si possible en comparant vos indications avec celles que nous détenons (11 CCR § 7060). Si elles ne suffisent pas, nous pouvons vous en demander d’autres.',
        ],
        unchecked: ['Vous n’avez pas à prouver votre identité pour cette demande.'],
      },
      identity:
        'La loi nous oblige à vérifier votre identité avant de donner suite à cette demande (11 CCR § 7060). La vérification ne prolonge pas le délai de notre réponse. Ce que nous vous demandons :',
      extension:
        'La loi nous accorde au total jusqu’à 90 jours calendaires à compter du jour où nous avons reçu votre demande (11 CCR § 7021).',
      access:
        'Oui, nous avons recueilli des données à caractère personnel vous concernant (Cal. Civ. Code § 1798.110).',
      portability:
        'Vous recevez avec cette lettre vos enregistrements de consentement dans un format portable et facilement utilisable (Cal. Civ. Code § 1798.130).',
      notes: {
        erasure: ['Nous conservons la trace de cette demande, comme la loi l’exige (11 CCR § 7101).'],
        'opt-out': [
          'Vous n’avez pas eu à prouver votre identité pour cela. La loi ne nous permet pas de vous demander de revenir sur ce choix pendant au moins 12 mois.',
        ],
        limit: [
          'Vous n’avez pas eu à prouver votre identité pour cela. La loi ne nous permet pas de vous demander de revenir sur ce choix pendant au moins 12 mois.',
        ],
      },
      proof:
        'Nous conservons la preuve que vous avez donné, refusé ou retiré un consentement, comme la loi le permet (Cal. Civ. Code § 1798.105(d)).',
      rights: [
        'Vous pouvez nous demander d’effacer ou de rectifier les données à caractère personnel que nous avons recueillies à votre sujet.',
        'Vous pouvez refuser la vente et le partage de vos données à caractère personnel et limiter l’utilisation de vos données sensibles. Vous n’avez pas à prouver votre identité pour cela.',
        'La loi nous interdit de vous traiter moins favorablement parce que vous exercez ces droits.',
      ],
      notice:
        'Nous vous en informons parce que le droit californien nous oblige à avertir ceux qui ont reçu les données.',
    },
    us: {
      identity:
        'Lorsqu’une demande ne peut être authentifiée par des moyens commercialement raisonnables, la loi nous permet de demander des informations supplémentaires. Ce que nous vous demandons :',
      extension: 'La loi permet une seule prolongation de ce type lorsqu’elle est raisonnablement nécessaire.',
      rights: [
        'La loi vous accorde d’autres droits sur vos données à caractère personnel, tels que l’effacement et le refus de leur vente. Veuillez nous faire savoir si vous souhaitez les exercer.',
        'La loi nous interdit de vous traiter moins favorablement parce que vous exercez ces droits.',
      ],
    },
    brazil: {
      identity:
        'Nous ne pouvons répondre qu’à la personne concernée ou à son représentant. Ce que nous vous demandons :',
      access: 'Oui, nous traitons des données à caractère personnel vous concernant (LGPD, art. 18 et 19).',
      portability:
        'Vous recevez avec cette lettre vos enregistrements de consentement dans un format lisible par machine (LGPD, art. 18, V).',
      notes: {
        'withdraw-consent': ['Le retrait n’affecte pas le traitement effectué auparavant (LGPD, art. 8, § 5).'],
      },
      proof:
        'Nous conservons la preuve que vous avez donné, refusé ou retiré un consentement afin de respecter une obligation légale (LGPD, art. 16, I).',
      rights: [
        'Vous pouvez demander la confirmation, l’accès, la rectification, l’anonymisation, la portabilité et l’effacement, et retirer votre consentement (LGPD, art. 18).',
      ],
      notice: 'Nous vous en informons en application de la LGPD, art. 18, § 6.',
    },
    general: {
      acknowledgement: { checked: [], unchecked: [] },
      identity:
        'Nous ne pouvons communiquer ou modifier des données à caractère personnel que si nous savons qui le demande. Ce que nous vous demandons :',
      access: 'Oui, nous traitons des données à caractère personnel vous concernant.',
      portability:
        'Vous recevez avec cette lettre vos enregistrements de consentement dans un format lisible par machine.',
      noMatch: 'Nous ne pouvons pas vous rattacher à un enregistrement de consentement.',
      notes: {
        erasure: ['Nous conservons la trace de cette demande.'],
      },
      proof: 'Nous conservons la preuve que vous avez donné, refusé ou retiré un consentement.',
      rights: [
        'Vous pouvez nous demander de rectifier vos données à caractère personnel.',
        'Vous pouvez retirer un consentement que vous avez donné.',
      ],
      notice: 'Nous vous en informons parce que vous avez reçu des données de notre part.',
    },
  },
  remedies: {
    eu: [
      'Vous pouvez introduire une réclamation auprès d’une autorité de contrôle, en particulier dans l’État membre où vous résidez ou travaillez ou dans lequel la violation aurait été commise (art. 77 du RGPD).',
      'Vous avez également droit à un recours juridictionnel effectif (art. 79 du RGPD).',
    ],
    uk: [
      'Vous pouvez nous adresser une réclamation (Data Protection Act 2018, s. 164A) : veuillez écrire à {contact}.',
      'Vous pouvez introduire une réclamation auprès de l’Information Commissioner (Data Protection Act 2018, s. 165) : {authority}',
      'Vous pouvez également saisir un tribunal (art. 79 du UK GDPR).',
    ],
    california: ['Vous pouvez introduire une réclamation auprès des autorités suivantes : {authority}'],
    quebec: [
      'Dans les 30 jours suivant cette réponse, vous pouvez présenter une demande d’examen de mésentente à l’autorité suivante : {authority}',
    ],
    authority: ['Vous pouvez introduire une réclamation auprès de l’autorité suivante : {authority}'],
    authorityAndCourt: [
      'Vous pouvez introduire une réclamation auprès de l’autorité suivante : {authority}',
      'Vous pouvez également saisir un tribunal.',
    ],
    unnamed: ['Vous pouvez introduire une réclamation auprès de l’autorité chargée de la protection des données.'],
  },
  packFiles: { letter: 'lettre', history: 'historique', policyTexts: 'textes-des-politiques' },
  handOver: {
    title: 'Notre réponse à votre demande',
    enterCode: 'Saisissez le code à 8 chiffres que nous vous avons transmis séparément de ce lien.',
    code: 'Code',
    open: 'Ouvrir',
    wrongCode: 'Ce code est incorrect. Nombre d’essais restants : {left}.',
    invalidTitle: 'Ce lien n’ouvre rien',
    invalid: 'Il est incomplet, a expiré ou a été retiré. Veuillez en demander un nouveau à son expéditeur.',
    until: 'Vous pouvez ouvrir cette page jusqu’au {until}.',
    received: 'Reçue le {received} : {kind}',
    contents: 'Ce que vous recevez',
    letter: '{file} : notre réponse à votre demande',
    proofs: 'verify.html, verify.mjs et proofs : ils permettent de vérifier que rien n’a été modifié',
    download: 'Télécharger le fichier ZIP ({size})',
    files: 'Autres fichiers',
    fileChecksum: 'Empreinte SHA-256 :',
    check: 'Comment vérifier le fichier',
    checksum: 'Empreinte SHA-256 du fichier ZIP :',
    checkSteps: [
      'Décompressez le fichier ZIP et ouvrez verify.html dans un navigateur. Aucune connexion à Internet n’est nécessaire.',
      'Choisissez-y le fichier ZIP que vous avez téléchargé. La page vérifie chaque enregistrement qu’il contient.',
      'Saisissez-y aussi la clé publiée à l’adresse {key} : elle montre que les enregistrements viennent de nous.',
    ],
    write: 'Questions et objections',
    writeLead:
      'Quelque chose n’est pas clair, manque ou est inexact ? Votre message parviendra aux personnes qui traitent votre demande.',
    question: 'J’ai une question',
    objection: 'Je conteste cette réponse',
    message: 'Votre message',
    send: 'Envoyer',
    sent: 'Nous avons reçu votre message le {at}.',
    empty: 'Veuillez d’abord écrire un message de 4 000 caractères au maximum.',
    tooMany: 'Il n’est plus possible d’envoyer de message ici. Veuillez nous contacter directement.',
    leave: 'Fermer cette page',
    formExpired: 'Le formulaire avait expiré et n’a pas été envoyé. Veuillez réessayer.',
    wait: 'Trop de requêtes. Veuillez patienter une minute, puis réessayer.',
    unavailable: 'Cette page est momentanément indisponible. Veuillez réessayer dans quelques minutes.',
    languages: 'Langue',
  },
  messages: {
    replied: 'Réponse de {controller} du {at}',
    answering: 'Je réponds à votre message',
    mailTitle: 'Réponse à votre message',
    mailLead:
      '{controller} a répondu à votre message concernant votre demande. Pour protéger vos données, la réponse ne figure pas dans cet e-mail.',
    mailLink:
      'Pour la lire et y répondre, ouvrez le lien que nous vous avons transmis et saisissez le code. Le lien est valable jusqu’au {until}.',
    mailNoLink:
      'Le lien que nous vous avons transmis ne peut plus être ouvert. Veuillez nous contacter pour en obtenir un nouveau.',
  },
  task: {
    title: 'Une tâche pour vous',
    lead: '{controller} vous demande d’effectuer ce qui suit pour une demande relative à des données personnelles.',
    due: 'Merci de le faire au plus tard le {due}.',
    outcome: 'Quel est le résultat ?',
    done: 'C’est fait',
    notDone: 'Cela n’a pas été fait',
    note: 'Remarque',
    noteHint:
      'Indiquez ce que vous avez fait, ou pourquoi cela n’a pas été fait. N’indiquez aucune donnée personnelle.',
    noteMissing: 'Indiquez en 2 000 caractères au plus pourquoi cela n’a pas été fait.',
    reportedDone: 'Merci. Vous avez signalé le {at} que c’est fait.',
    reportedNotDone: 'Vous avez signalé le {at} que cela n’a pas été fait. Si cela a été fait depuis, signalez-le ici.',
    mailLink: 'Signalez ici le résultat. Aucun compte n’est nécessaire ; le lien est valable jusqu’au {until} :',
  },
  requestForm: {
    title: 'Vos données personnelles : envoyez-nous une demande',
    lead: 'Utilisez ce formulaire pour exercer vos droits sur vos données personnelles.',
    kind: 'Que souhaitez-vous ?',
    kinds: {
      access: 'Savoir quelles données vous détenez sur moi',
      portability: 'Obtenir une copie de mes données lisible par d’autres services',
      erasure: 'Faire effacer mes données',
      rectification: 'Faire rectifier mes données',
      restriction: 'Faire limiter l’utilisation de mes données',
      objection: 'M’opposer à l’utilisation de mes données',
      'opt-out': 'Refuser la vente et le partage de mes données',
      limit: 'Limiter l’utilisation de mes données sensibles',
      'withdraw-consent': 'Retirer mon consentement',
      unknown: 'Autre chose concernant mes données',
    },
    name: 'Votre nom',
    email: 'Votre adresse e-mail',
    emailHint: 'Nous envoyons une confirmation et un code à cette adresse.',
    place: 'Votre lieu de résidence',
    placeHint: 'Il détermine la loi applicable.',
    placeOpen: 'Je préfère ne pas le dire',
    message: 'Votre message',
    messageHint:
      'Par exemple, de quoi il s’agit précisément. Si vous écrivez pour une autre personne, indiquez laquelle.',
    subject: 'Identifiant de consentement',
    subjectHint: 'Si notre site vous en affiche un.',
    optional: 'facultatif',
    use: 'Nous utilisons ces informations pour traiter votre demande et les conservons comme preuve de ce traitement.',
    send: 'Envoyer la demande',
    trap: 'Laissez ce champ vide',
    wrong: {
      kind: 'Choisissez ce que vous souhaitez.',
      name: 'Saisissez votre nom (300 caractères au plus).',
      email: 'Saisissez une adresse e-mail, par exemple nom@example.com.',
      place: 'Choisissez un lieu dans la liste.',
      message: 'Votre message peut comporter 4 000 caractères au plus.',
      subject: 'L’identifiant de consentement peut comporter 300 caractères au plus.',
    },
    again: 'Le formulaire n’a pas encore pu être envoyé. Veuillez le vérifier et l’envoyer de nouveau.',
    tooMany:
      'Trop de demandes nous parviennent en ce moment. Veuillez réessayer dans une heure ou nous écrire directement.',
    receivedTitle: 'Nous avons reçu votre demande',
    received: 'Reçue le {at}. Référence : {reference}',
    keep: 'Veuillez conserver cette référence.',
    codeLead:
      'Nous envoyons un code à l’adresse e-mail que vous avez saisie. Entrez-le ici pour confirmer que cette adresse est la vôtre : nous aurons peut-être moins à vous demander ensuite. Le code est valable jusqu’au {until}.',
    noMail: 'Votre demande est traitée, que vous entriez le code ou non.',
    confirm: 'Confirmer',
    confirmed: 'Merci : votre adresse e-mail est confirmée. Vous n’avez rien d’autre à faire pour le moment.',
    locked: 'Il n’est plus possible d’entrer de code ici. Votre demande est tout de même traitée.',
    closed: 'Votre demande est réglée.',
    mailCode:
      'Votre code pour confirmer cette adresse e-mail : {code} (valable jusqu’au {until}). Entrez-le sur la page où vous avez envoyé la demande :',
  },
  appealTo:
    'Vous pouvez, dans un délai raisonnable, former un recours contre cette décision : écrivez à {contact}, avec la mention « Appeal » et notre référence {reference}. Nous devons vous communiquer par écrit notre décision et ses motifs dans les {days} jours suivant la réception du recours. Si le recours est rejeté, vous pouvez introduire une réclamation auprès de l’autorité suivante : {authority}',
  authorityIs: 'L’autorité dont nous relevons : {authority}',
  proposals: {
    identity: [
      '[Pourquoi vous doutez de l’identité du demandeur.]\n\nVeuillez répondre depuis l’adresse e-mail que nous avons enregistrée pour vous, ou nous indiquer [un élément que seule cette personne peut connaître].',
      'Veuillez nous envoyer une procuration, signée par la personne concernée, qui autorise cette demande en son nom.',
    ],
    clarification: [
      'Veuillez nous indiquer [quelles données, quelle période ou lequel de nos services concerne votre demande].',
      'Veuillez nous indiquer [ce qui doit être rectifié, et ce qui serait exact].',
    ],
    extension: [
      'Votre demande est complexe : [préciser pourquoi].',
      'Nous devons examiner plusieurs demandes de votre part : [préciser lesquelles].',
    ],
    partial: [
      'Nous avons fait ce qui suit :\n- [ce que vous avez fait]\n\nNous n’avons pas fait ce qui suit :\n- [ce que vous n’avez pas fait, pourquoi, et l’article qui le permet]',
    ],
    refusal: [
      '[Vos motifs.]\n\nBase juridique du refus : [article]',
      'Nous n’avons pas pu vérifier votre identité : [ce que vous avez demandé, et ce qui manquait]. Nous ne pouvons donc ni communiquer ni modifier de données.',
    ],
    notice: ['- [quelles données, sous quel identifiant, afin que le destinataire puisse les trouver]'],
    appeal: [
      'Nous avons modifié notre décision : [ce que vous avez fait depuis].',
      'Nous maintenons notre décision : [vos motifs].',
    ],
    know: [
      'Au cours des 12 mois précédant votre demande :\n- nous avons collecté ces catégories de données à caractère personnel vous concernant : [catégories]\n- nous avons vendu ou partagé : [chaque catégorie, avec quelles catégories de tiers et à quelle fin ; ou que nous n’en avons vendu ni partagé aucune]\n- nous avons communiqué à des fins commerciales : [chaque catégorie, à quelles catégories de destinataires et à quelle fin ; ou que nous n’en avons communiqué aucune]\n- nous détenons également, sans pouvoir les communiquer : [le type de données, par exemple votre numéro de sécurité sociale ; ou aucune donnée de ce type]',
    ],
    criteria: ['Critères utilisés pour le traitement de vos données : [critères]'],
    answer: {
      erasure: [
        'Nous avons effacé les données à caractère personnel suivantes vous concernant :\n- [quelles données, dans quel système]',
      ],
      rectification: [
        'Nous avons rectifié ce qui suit :\n- [ce qui était enregistré] en [ce qui est enregistré désormais]',
      ],
      restriction: ['Nous avons limité le traitement des données suivantes :\n- [quelles données]'],
      objection: [
        'Depuis le [date], nous ne traitons plus vos données à caractère personnel pour cette finalité : [finalité].',
        'Depuis le [date], nous n’utilisons plus vos données à caractère personnel à des fins de prospection.',
      ],
      'opt-out': [
        'Nous avons appliqué votre refus : depuis le [date], nous ne vendons plus vos données à caractère personnel et ne les partageons plus à des fins de publicité sur différents sites web.',
        '[Si tel est le cas :] Nous ne vendons pas de données à caractère personnel et ne les partageons pas à des fins de publicité sur différents sites web. Nous avons néanmoins enregistré votre refus.',
      ],
      limit: [
        'Nous avons appliqué votre demande : depuis le [date], nous n’utilisons vos données sensibles que pour ce qui est nécessaire à la fourniture de nos services et pour les autres fins que la loi permet.',
      ],
      'withdraw-consent': [
        'Nous avons enregistré le retrait de votre consentement. Depuis le [date], nous ne traitons plus de données à caractère personnel sur ce fondement.',
      ],
      unknown: ['[Ce que vous avez fait.]'],
    },
    unmatched: {
      objection: ['Nous avons enregistré votre opposition. [Ce que vous avez fait en conséquence, et où.]'],
      'opt-out': ['Nous avons enregistré votre refus. [Ce que vous avez fait en conséquence, et où.]'],
      limit: ['Nous avons enregistré votre demande. [Ce que vous avez fait en conséquence, et où.]'],
      'withdraw-consent': [
        'Nous avons enregistré le retrait de votre consentement. [Ce que vous avez fait en conséquence, et où.]',
      ],
    },
  },
};
