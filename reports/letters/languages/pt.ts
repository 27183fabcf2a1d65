import type { LetterTexts } from '../texts.ts';

/** Português. */
export const pt: LetterTexts = {
  name: 'Português',
  locale: 'pt-PT',
  regions: ['BR'],
  lawNames: {
    'eu-gdpr': {
      name: 'Regulamento Geral sobre a Proteção de Dados, Regulamento (UE) 2016/679 (RGPD)',
      short: 'RGPD',
    },
    'uk-gdpr': { name: 'Regulamento Geral sobre a Proteção de Dados do Reino Unido (UK GDPR)', short: 'UK GDPR' },
  },
  frame: {
    reference: 'A nossa referência: {reference}',
    theirReference: 'A sua referência: {reference}',
    applicableLaw: 'Lei aplicável: {law}',
    unnamedRecipient: 'À pessoa que apresentou o pedido',
    dearNamed: 'Exmo(a). Senhor(a) {name},',
    dearUnnamed: 'Exmo(a). Senhor(a),',
    closingNamed: 'Com os melhores cumprimentos,',
    closingUnnamed: 'Com os melhores cumprimentos,',
    page: 'Página {page} de {pages}',
    document: 'Documento {document}',
    attached: 'A nossa carta segue em anexo a este e-mail.',
    draft: 'MINUTA',
    stillToWrite: 'Por escrever ou completar antes do envio desta carta',
    dataProtectionOfficer: 'Encarregado da proteção de dados: {contact}',
    jointContact: 'Ponto de contacto dos responsáveis conjuntos pelo tratamento: {contact}',
    questions: 'Se tiver alguma dúvida, contacte {contact} e indique a nossa referência {reference}.',
    agentFor: 'Atua em nome de {represented}. Nesta carta, «si», «lhe» e «seus» referem-se a {represented}.',
    agentForUnnamed: 'Atua em nome de outra pessoa. Nesta carta, «si», «lhe» e «seus» referem-se a essa pessoa.',
    late: 'Esta resposta está atrasada: o prazo terminou em {limit}. Pedimos desculpa pelo atraso.',
  },
  titles: {
    acknowledgement: 'Recebemos o seu pedido',
    identity: 'Precisamos de confirmar a sua identidade',
    clarification: 'Uma questão sobre o seu pedido',
    extension: 'Precisamos de mais tempo para o seu pedido',
    answer: 'Resposta ao seu pedido de {received}',
    partial: 'Resposta ao seu pedido de {received}: deferido em parte',
    refusal: 'Resposta ao seu pedido de {received}: recusa',
    'no-match': 'Resposta ao seu pedido de {received}',
    notice: 'Comunicação aos destinatários de dados pessoais: {kind}',
    appeal: 'Decisão sobre o seu recurso',
  },
  kinds: {
    access: {
      name: 'acesso a dados pessoais',
      opening: 'Em {received}, pediu-nos acesso aos seus dados pessoais.',
    },
    portability: {
      name: 'cópia portátil de dados pessoais',
      opening: 'Em {received}, pediu-nos uma cópia dos seus dados pessoais num formato de leitura automática.',
    },
    erasure: {
      name: 'apagamento de dados pessoais',
      opening: 'Em {received}, pediu-nos o apagamento dos seus dados pessoais.',
    },
    rectification: {
      name: 'retificação de dados pessoais',
      opening: 'Em {received}, pediu-nos a retificação dos seus dados pessoais.',
    },
    restriction: {
      name: 'limitação do tratamento',
      opening: 'Em {received}, pediu-nos a limitação do tratamento dos seus dados pessoais.',
    },
    objection: {
      name: 'oposição ao tratamento',
      opening: 'Em {received}, opôs-se ao tratamento dos seus dados pessoais.',
    },
    'opt-out': {
      name: 'oposição à venda e à partilha de dados pessoais',
      opening: 'Em {received}, opôs-se à venda e à partilha dos seus dados pessoais.',
    },
    limit: {
      name: 'limitação da utilização de dados pessoais sensíveis',
      opening: 'Em {received}, pediu-nos que limitássemos a utilização dos seus dados pessoais sensíveis.',
    },
    'withdraw-consent': {
      name: 'retirada do consentimento',
      opening: 'Em {received}, retirou o seu consentimento.',
    },
    unknown: {
      name: 'pedido relativo a dados pessoais',
      opening: 'Em {received}, enviou-nos um pedido relativo aos seus dados pessoais.',
    },
  },
  openingOfAgent: 'Em {received}, enviou-nos um pedido em nome de outra pessoa ({kind}).',
  acknowledgement: {
    received: 'Confirmamos, pela presente, que recebemos o seu pedido.',
    due: 'O prazo para a nossa resposta termina em {limit}.',
    notYou: 'Se não apresentou este pedido, agradecemos que nos informe.',
  },
  identity: {
    lead: 'Antes de darmos seguimento ao seu pedido, precisamos de confirmar que provém de si ou de alguém autorizado a agir em seu nome.',
    use: 'Não envie originais e, nas cópias, oculte tudo o que não tenhamos pedido. Registamos a forma como a sua identidade é confirmada.',
    reply: 'Responda para {contact} e indique a nossa referência {reference}.',
    clockStarts: 'O prazo para a nossa resposta conta-se a partir do dia em que recebermos o que aqui lhe pedimos.',
  },
  clarification: {
    lead: 'Para respondermos devidamente ao seu pedido, precisamos de saber mais sobre o que pretende:',
    clockStops: 'O prazo para a nossa resposta fica suspenso a partir de hoje até recebermos a sua resposta.',
    reply: 'Responda para {contact} e indique a nossa referência {reference}.',
    noReply: 'Sem a sua resposta, só podemos basear-nos no que sabemos.',
  },
  extension: {
    lead: 'Não conseguimos concluir a nossa resposta até {firstLimit}, data em que seria devida. O motivo é o seguinte:',
    newLimit: 'O novo prazo para a nossa resposta termina em {limit}.',
    complaint: 'Pode apresentar reclamação contra esta prorrogação à seguinte autoridade: {authority}',
  },
  answer: {
    records:
      'Os registos de consentimento que pudemos associar a si abrangem o período de {from} a {to}; número de decisões: {count}. Encontrámo-los através de {found}.',
    recordsOfOneDay:
      'Os registos de consentimento que pudemos associar a si são de {from}; número de decisões: {count}. Encontrámo-los através de {found}.',
    foundFromDevice: 'um identificador de visitante que nos enviou a partir do seu dispositivo',
    foundComputed: 'um identificador calculado a partir do endereço de correio eletrónico que nos indicou',
    identityChecked: 'Antes de divulgarmos qualquer dado, confirmámos a sua identidade.',
    enclosed: 'Junta-se uma cópia de todos estes registos:',
    files: {
      history: '{file}: as suas decisões, para ler em qualquer navegador',
      decisions: 'decisions.csv e decisions.json: o mesmo para uma folha de cálculo ou um programa',
      policies: 'policies.json: as políticas em vigor na altura',
      policyTexts: '{file}: os textos dessas políticas tal como os obtivemos',
      evidence: 'banner-evidence: o que o aviso de consentimento mostrava na altura',
      records27560: 'records-27560.json: o mesmo em forma de registos de consentimento (ISO/IEC TS 27560)',
      about:
        'case.json, README.txt e manifest.json: o seu pedido e uma lista de todos os ficheiros com as respetivas somas de verificação',
      records: 'records.jsonl: os registos exatamente como os recebemos',
    },
    verify:
      'Pode verificar por si que estes registos não foram alterados: abra num navegador o ficheiro verify.html que se junta e escolha o ficheiro que recebeu de nós; não é necessária ligação à Internet. Cada registo é comparado com o nosso registo assinado, cujo último ponto de controlo anterior a esta carta abrange {entries} entradas. Compare a chave desse registo com a que tenha recebido de nós por outra via:',
    unverified:
      'A sua identidade não foi confirmada. Para proteger a pessoa a quem os dados dizem respeito, não divulgamos registos individuais. Por isso respondemos apenas em termos gerais.',
    categories:
      'Esta resposta descreve em termos gerais como tratamos os dados pessoais. Não contém registos individuais.',
    unmatched:
      'A partir dos elementos do seu pedido não conseguimos saber em que navegador ou dispositivo ficou registada a sua escolha anterior.',
    unmatchedHowTo:
      'Para que a sua escolha produza efeito também aí, repita-a aí. Retirada do consentimento: {withdrawalMethod}',
    parts: 'O que fizemos',
    part: { done: 'feito', partly: 'feito em parte', refused: 'recusado' },
    partGround: '{outcome}; motivo: {ground}',
    withheld:
      'Temos os seguintes dados sobre si. A lei não nos permite divulgá-los, pelo que os omitimos na cópia ({source}): {types}.',
    withheldTypes: {
      socialSecurity: 'um número com a forma de um número de segurança social dos EUA',
      longNumber:
        'um número longo que pode ser de uma conta financeira, de um cartão de pagamento ou de um documento de identificação',
    },
    neverDisclosed:
      'Quer esses dados existam quer não, a lei proíbe divulgar numa resposta números de segurança social, de carta de condução ou outros números de identificação oficiais, números de contas financeiras, números de seguro de saúde ou de identificação médica, palavras-passe, perguntas e respostas de segurança ou dados biométricos ({source}).',
    proofPeriod:
      'O prazo de conservação fixado para ela é de {period}, a contar da sua última decisão ou, se for posterior, da expiração do consentimento.',
  },
  partial: {
    lead: 'Deferimos parte do seu pedido. O que fizemos, o que não fizemos e os nossos motivos:',
  },
  refusal: {
    lead: 'Analisámos o seu pedido e não podemos deferi-lo. Os nossos motivos:',
    ground: 'Fundamento jurídico da recusa: {ground}',
    healthStatement:
      'Se os dados disserem respeito à sua saúde, pode enviar-nos uma declaração escrita até 250 palavras sobre cada dado que considere inexato e pedir-nos que a juntemos ao seu processo (11 CCR § 7023).',
    optOut:
      'Tem o direito de nos proibir de vender ou partilhar as suas informações pessoais. Se o quiser exercer, escreva para {contact} e indique a nossa referência {reference}; não tem de comprovar a sua identidade (11 CCR §§ 7013, 7022(g)).',
  },
  noMatch: {
    why: 'Encontramos os registos de consentimento através de um identificador de visitante, e não pelo nome. O que consta do seu pedido não nos permite saber quais deles, se os houver, lhe dizem respeito.',
    notNone: 'Isto não significa que não existam.',
    help: 'Pode ajudar-nos a encontrá-los assim:',
    steps: [
      'Abra o nosso sítio Web no dispositivo e no navegador em que fez a sua escolha. Copie o identificador de visitante que o aviso de consentimento aí guardou (no respetivo cookie ou nas definições).',
      'Diga-nos em que sítio Web, e aproximadamente quando, fez ou alterou a sua escolha.',
      'Envie ambos para {contact} e indique a nossa referência {reference}. Poderemos então fazer nova pesquisa.',
    ],
  },
  notice: {
    dear: 'Exmos. Senhores,',
    lead: 'Divulgámos-vos dados pessoais. O titular dos dados apresentou-nos um pedido ({kind}).',
    done: 'Deferimo-lo quanto aos seguintes dados:',
    ask: 'Solicitamos que tomem as medidas correspondentes nos vossos sistemas e que no-las confirmem para {contact}, indicando a nossa referência {reference}.',
  },
  appeal: {
    lead: 'Recorreu da nossa decisão sobre o seu pedido de {received}. Reapreciámo-la. A nossa decisão e os nossos motivos:',
    complaint: 'Se não concordar com esta decisão, pode apresentar reclamação à seguinte autoridade: {authority}',
  },
  processing: {
    heading: 'Como tratamos os dados pessoais',
    purposes: 'Finalidades',
    purpose: '{purpose} (conservação: {retention})',
    purposeWithBasis: '{purpose} (fundamento jurídico: {basis}; conservação: {retention})',
    dataCategories: 'Categorias de dados',
    recipients: 'Destinatários',
    dataSources: 'Origem dos dados',
    transfers: 'Transferências para países terceiros',
    noTransfers: 'nenhuma',
    automatedDecisions: 'Decisões automatizadas',
    withdrawalMethod: 'Retirada do consentimento',
    notStated: 'Não indicado nesta resposta: {parts}',
    soldOrShared:
      'que categorias de dados vendemos, partilhámos ou divulgámos para fins comerciais nos 12 meses anteriores ao seu pedido, a que terceiros e com que finalidades',
    parts: {
      address: 'endereço postal',
      email: 'correio eletrónico de contacto',
      country: 'país de estabelecimento',
      purposes: 'finalidades, fundamentos jurídicos e prazos de conservação',
      dataCategories: 'categorias de dados',
      dataSources: 'origem dos dados',
      recipients: 'destinatários',
      transfers: 'transferências para países terceiros e respetivas garantias',
      automatedDecisions: 'decisões automatizadas',
      supervisoryAuthority: 'autoridade de controlo',
      withdrawalMethod: 'forma de retirar o consentimento',
      controller: 'o responsável pelo tratamento',
      jointContact: 'ponto de contacto dos responsáveis conjuntos pelo tratamento',
    },
    criteria: 'os critérios utilizados no tratamento (LGPD, art. 19, II)',
  },
  scope: {
    heading: 'O que esta resposta abrange',
    consentOnly: 'Esta resposta abrange registos de consentimento e de políticas.',
    otherSystems: 'Os nossos outros sistemas:',
    results: {
      'nothing-found': 'pesquisado, nada encontrado',
      found: 'pesquisado, dados encontrados',
      attached: 'pesquisado, o que encontrámos segue em separado',
      searched: 'pesquisado',
      'not-applicable': 'não pertinente para este pedido',
      open: 'ainda não pesquisado',
    },
    others: 'Não abrange outros sistemas.',
    searched: 'Para esta resposta pesquisámos os nossos registos de consentimento.',
    notSearched: 'O seu pedido não contém nada com que possamos pesquisar os nossos registos de consentimento.',
  },
  rights: { heading: 'Os seus direitos', remedies: 'O que pode fazer' },
  families: {
    gdpr: {
      identity:
        'Quando tenhamos dúvidas razoáveis quanto à identidade da pessoa que apresenta um pedido, podemos solicitar informações adicionais (art. 12.º, n.º 6, do {gdpr}). O nosso motivo e o que lhe pedimos:',
      extension:
        'Podemos prorrogar o prazo quando a complexidade e o número de pedidos o tornem necessário (art. 12.º, n.º 3, do {gdpr}).',
      access: 'Sim, tratamos dados pessoais que lhe dizem respeito (art. 15.º do {gdpr}).',
      portability:
        'Com esta carta recebe os seus registos de consentimento num formato de leitura automática (art. 20.º do {gdpr}).',
      noMatch: 'Não conseguimos associar o seu pedido a um registo de consentimento (art. 11.º, n.º 2, do {gdpr}).',
      notes: {
        erasure: ['Pode perguntar-nos que destinatários dos seus dados foram informados (art. 19.º do {gdpr}).'],
        rectification: ['Pode perguntar-nos que destinatários dos seus dados foram informados (art. 19.º do {gdpr}).'],
        restriction: [
          'À exceção da conservação, os dados cujo tratamento foi limitado só podem ser tratados com o seu consentimento, para efeitos de declaração, exercício ou defesa de um direito num processo judicial, para a defesa dos direitos de outra pessoa singular ou coletiva ou por motivos ponderosos de interesse público da União ou de um Estado-Membro (art. 18.º, n.º 2, do {gdpr}).',
          'Antes de a limitação ser levantada, esse facto tem de lhe ser comunicado (art. 18.º, n.º 3, do {gdpr}).',
          'Pode perguntar-nos que destinatários dos seus dados foram informados (art. 19.º do {gdpr}).',
        ],
        'withdraw-consent': [
          'A retirada não compromete a licitude do tratamento anterior (art. 7.º, n.º 3, do {gdpr}).',
        ],
      },
      proof:
        'Conservamos a prova de que deu, recusou ou retirou um consentimento, porque temos de a poder apresentar e para efeitos de declaração, exercício ou defesa de um direito num processo judicial (art. 17.º, n.º 3, alíneas b) e e), do {gdpr}).',
      rights: [
        'Pode pedir-nos que retifiquemos ou apaguemos os seus dados pessoais ou que limitemos o seu tratamento (arts. 16.º, 17.º e 18.º do {gdpr}).',
        'Pode opor-se ao tratamento baseado numa missão de interesse público ou em interesses legítimos (art. 21.º do {gdpr}).',
        'Pode retirar o seu consentimento a qualquer momento. Isso não compromete a licitude do tratamento anterior à retirada (art. 7.º, n.º 3, do {gdpr}).',
        'Pode receber os dados que nos forneceu num formato de leitura automática (art. 20.º do {gdpr}).',
      ],
      notice: 'Prestamos esta informação nos termos do art. 19.º do {gdpr}.',
    },
    uk: {
      extension:
        'Podemos prorrogar o prazo quando a complexidade dos seus pedidos ou o seu número o torne necessário (art. 12A, n.º 3, do {gdpr}).',
      notes: {
        restriction: [
          'À exceção da conservação, os dados cujo tratamento foi limitado só podem ser tratados com o seu consentimento, para efeitos de declaração, exercício ou defesa de um direito num processo judicial, para a defesa dos direitos de outra pessoa singular ou coletiva ou por motivos ponderosos de interesse público (art. 18.º, n.º 2, do {gdpr}).',
          'Antes de a limitação ser levantada, esse facto tem de lhe ser comunicado (art. 18.º, n.º 3, do {gdpr}).',
          'Pode perguntar-nos que destinatários dos seus dados foram informados (art. 19.º do {gdpr}).',
        ],
      },
    },
    similar: {
      rights: [
        'Pode pedir-nos que retifiquemos ou apaguemos os seus dados pessoais ou que limitemos o seu tratamento.',
        'Pode opor-se ao tratamento baseado numa missão de interesse público ou em interesses legítimos.',
        'Pode retirar o seu consentimento a qualquer momento. Isso não compromete a licitude do tratamento anterior à retirada.',
        'Pode receber os dados que nos forneceu num formato de leitura automática.',
      ],
    },
    swiss: {
      rights: [
        'Pode pedir-nos que retifiquemos os seus dados pessoais (art. 32.º, n.º 1, da FADP).',
        'Pode proibir-nos expressamente de tratar os seus dados pessoais (art. 30.º, n.º 2, alínea b, da FADP).',
        'Pode pedir a um tribunal que proíba um determinado tratamento ou a comunicação de dados a terceiros, ou que ordene o apagamento ou a destruição de dados (art. 32.º, n.º 2, da FADP).',
        'Pode receber os dados que nos forneceu num formato eletrónico corrente (art. 28.º da FADP).',
      ],
    },
    california: {
      acknowledgement: {
        checked: [
          'A lei obriga-nos a verificar a sua identidade antes de divulgarmos, corrigirmos ou eliminarmos informações pessoais, se possível comparando os dados que nos fornece com os que temos (11 CCR § 7060). Se não forem suficientes, podemos pedir-lhe mais.',
        ],
        unchecked: ['Para este pedido não tem de comprovar a sua identidade.'],
      },
      identity:
        'A lei exige que verifiquemos a sua identidade antes de darmos seguimento a este pedido (11 CCR § 7060). A verificação não prorroga o prazo da nossa resposta. O que lhe pedimos:',
      extension:
        'A lei concede-nos, no total, até 90 dias de calendário a contar do dia em que recebemos o seu pedido (11 CCR § 7021).',
      access: 'Sim, recolhemos informações pessoais sobre si (Cal. Civ. Code § 1798.110).',
      portability:
        'Com esta carta recebe os seus registos de consentimento num formato portátil e de fácil utilização (Cal. Civ. Code § 1798.130).',
      notes: {
        erasure: ['Conservamos um registo deste pedido, como a lei exige (11 CCR § 7101).'],
        'opt-out': [
          'Não teve de comprovar a sua identidade para o efeito. A lei não nos permite pedir-lhe que reverta esta escolha durante, pelo menos, 12 meses.',
        ],
        limit: [
          'Não teve de comprovar a sua identidade para o efeito. A lei não nos permite pedir-lhe que reverta esta escolha durante, pelo menos, 12 meses.',
        ],
      },
      proof:
        'Conservamos a prova de que deu, recusou ou retirou um consentimento, como a lei permite (Cal. Civ. Code § 1798.105(d)).',
      rights: [
        'Pode pedir-nos que eliminemos ou corrijamos as informações pessoais que recolhemos sobre si.',
        'Pode opor-se à venda e à partilha das suas informações pessoais e limitar a utilização das informações sensíveis. Não tem de comprovar a sua identidade para o efeito.',
        'A lei proíbe-nos de lhe dar um tratamento menos favorável por exercer estes direitos.',
      ],
      notice: 'Prestamos esta informação porque a lei da Califórnia nos obriga a avisar quem recebeu os dados.',
    },
    us: {
      identity:
        'Quando um pedido não pode ser autenticado com esforços comercialmente razoáveis, a lei permite-nos solicitar informações adicionais. O que lhe pedimos:',
      extension: 'A lei permite uma única prorrogação deste tipo, quando razoavelmente necessária.',
      rights: [
        'A lei confere-lhe outros direitos sobre os seus dados pessoais, como a eliminação e a oposição à sua venda. Diga-nos se os pretende exercer.',
        'A lei proíbe-nos de lhe dar um tratamento menos favorável por exercer estes direitos.',
      ],
    },
    brazil: {
      identity: 'Só podemos responder ao titular dos dados ou ao seu representante. O que lhe pedimos:',
      access: 'Sim, tratamos dados pessoais sobre si (LGPD, art. 18 e 19).',
      portability:
        'Com esta carta recebe os seus registos de consentimento num formato de leitura automática (LGPD, art. 18, V).',
      notes: {
        'withdraw-consent': ['A retirada não afeta o tratamento anterior (LGPD, art. 8, § 5).'],
      },
      proof:
        'Conservamos a prova de que deu, recusou ou retirou um consentimento para cumprir uma obrigação legal (LGPD, art. 16, I).',
      rights: [
        'Pode pedir a confirmação, o acesso, a correção, a anonimização, a portabilidade e a eliminação, e retirar o seu consentimento (LGPD, art. 18).',
      ],
      notice: 'Prestamos esta informação nos termos da LGPD, art. 18, § 6.',
    },
    general: {
      acknowledgement: { checked: [], unchecked: [] },
      identity: 'Só podemos divulgar ou alterar dados pessoais se soubermos quem o pede. O que lhe pedimos:',
      access: 'Sim, tratamos dados pessoais sobre si.',
      portability: 'Com esta carta recebe os seus registos de consentimento num formato de leitura automática.',
      noMatch: 'Não conseguimos associar o seu pedido a um registo de consentimento.',
      notes: {
        erasure: ['Conservamos um registo deste pedido.'],
      },
      proof: 'Conservamos a prova de que deu, recusou ou retirou um consentimento.',
      rights: [
        'Pode pedir-nos que corrijamos os seus dados pessoais.',
        'Pode retirar um consentimento que tenha dado.',
      ],
      notice: 'Prestamos esta informação porque receberam dados nossos.',
    },
  },
  remedies: {
    eu: [
      'Pode apresentar reclamação a uma autoridade de controlo, em especial no Estado-Membro onde reside ou trabalha ou onde considera que ocorreu a infração (art. 77.º do RGPD).',
      'Tem também direito à ação judicial (art. 79.º do RGPD).',
    ],
    uk: [
      'Pode apresentar-nos uma reclamação (Data Protection Act 2018, s. 164A): escreva para {contact}.',
      'Pode apresentar reclamação ao Information Commissioner (Data Protection Act 2018, s. 165): {authority}',
      'Pode também recorrer a um tribunal (art. 79 do UK GDPR).',
    ],
    california: ['Pode apresentar reclamação às seguintes autoridades: {authority}'],
    quebec: [
      'No prazo de 30 dias a contar desta resposta, pode pedir a sua revisão à seguinte autoridade: {authority}',
    ],
    authority: ['Pode apresentar reclamação à seguinte autoridade: {authority}'],
    authorityAndCourt: [
      'Pode apresentar reclamação à seguinte autoridade: {authority}',
      'Pode também recorrer a um tribunal.',
    ],
    unnamed: ['Pode apresentar reclamação à autoridade responsável pela proteção de dados.'],
  },
  packFiles: { letter: 'carta', history: 'historico', policyTexts: 'textos-das-politicas' },
  handOver: {
    title: 'A nossa resposta ao seu pedido',
    enterCode: 'Introduza o código de 8 algarismos que lhe enviámos separadamente desta ligação.',
    code: 'Código',
    open: 'Abrir',
    wrongCode: 'Este código não está correto. Tentativas restantes: {left}.',
    invalidTitle: 'Esta ligação não abre nada',
    invalid: 'Está incompleta, expirou ou foi retirada. Peça uma nova a quem lha enviou.',
    until: 'Pode abrir esta página até {until}.',
    received: 'Recebido em {received}: {kind}',
    contents: 'O que recebe',
    letter: '{file}: a nossa resposta ao seu pedido',
    proofs: 'verify.html, verify.mjs e proofs: permitem verificar que nada foi alterado',
    download: 'Descarregar como ficheiro ZIP ({size})',
    files: 'Outros ficheiros',
    fileChecksum: 'Soma de verificação SHA-256:',
    check: 'Como verificar o ficheiro',
    checksum: 'Soma de verificação SHA-256 do ficheiro ZIP:',
    checkSteps: [
      'Descompacte o ficheiro ZIP e abra verify.html num navegador. Não é necessária ligação à Internet.',
      'Escolha aí o ficheiro ZIP que descarregou. A página verifica cada registo que ele contém.',
      'Introduza aí também a chave publicada em {key}: mostra que os registos são nossos.',
    ],
    write: 'Perguntas e objeções',
    writeLead: 'Há algo pouco claro, em falta ou incorreto? A sua mensagem chega às pessoas que tratam do seu pedido.',
    question: 'Tenho uma pergunta',
    objection: 'Não concordo com esta resposta',
    message: 'A sua mensagem',
    send: 'Enviar',
    sent: 'Recebemos a sua mensagem em {at}.',
    empty: 'Escreva primeiro uma mensagem com 4000 caracteres, no máximo.',
    tooMany: 'Já não é possível enviar mensagens aqui. Contacte-nos diretamente.',
    leave: 'Fechar esta página',
    formExpired: 'O formulário tinha expirado e não foi enviado. Tente novamente.',
    wait: 'Demasiados pedidos. Aguarde um minuto e tente novamente.',
    unavailable: 'Esta página está temporariamente indisponível. Tente novamente dentro de alguns minutos.',
    languages: 'Idioma',
  },
  messages: {
    replied: 'Resposta de {controller}, {at}',
    answering: 'Respondo à vossa mensagem',
    mailTitle: 'Resposta à sua mensagem',
    mailLead:
      '{controller} respondeu à sua mensagem sobre o seu pedido. Para proteger os seus dados, a resposta não consta deste e-mail.',
    mailLink:
      'Para a ler e responder, abra a ligação que lhe enviámos e introduza o código. A ligação é válida até {until}.',
    mailNoLink: 'A ligação que lhe enviámos já não pode ser aberta. Contacte-nos para obter uma nova.',
  },
  task: {
    title: 'Uma tarefa para si',
    lead: '{controller} pede-lhe que faça o seguinte para um pedido sobre dados pessoais.',
    due: 'Faça-o, por favor, até {due}.',
    outcome: 'Qual foi o resultado?',
    done: 'Está feito',
    notDone: 'Não foi feito',
    note: 'Nota',
    noteHint: 'Indique o que fez ou por que não foi feito. Não inclua dados pessoais.',
    noteMissing: 'Indique, em até 2000 carateres, por que não foi feito.',
    reportedDone: 'Obrigado. Comunicou em {at} que está feito.',
    reportedNotDone: 'Comunicou em {at} que não foi feito. Se entretanto foi feito, comunique-o aqui.',
    mailLink: 'Comunique aqui o resultado. Não precisa de conta; a ligação é válida até {until}:',
  },
  requestForm: {
    title: 'Os seus dados pessoais: envie-nos um pedido',
    lead: 'Use este formulário para exercer os seus direitos sobre os seus dados pessoais.',
    kind: 'O que pretende?',
    kinds: {
      access: 'Saber que dados têm sobre mim',
      portability: 'Receber uma cópia dos meus dados que outros serviços possam ler',
      erasure: 'Apagar os meus dados',
      rectification: 'Corrigir os meus dados',
      restriction: 'Limitar a utilização dos meus dados',
      objection: 'Opor-me à utilização dos meus dados',
      'opt-out': 'Recusar a venda e a partilha dos meus dados',
      limit: 'Limitar a utilização dos meus dados sensíveis',
      'withdraw-consent': 'Retirar o meu consentimento',
      unknown: 'Outro assunto sobre os meus dados',
    },
    name: 'O seu nome',
    email: 'O seu endereço de e-mail',
    emailHint: 'Enviamos uma confirmação e um código para este endereço.',
    place: 'Onde reside',
    placeHint: 'Disso depende a lei aplicável.',
    placeOpen: 'Prefiro não dizer',
    message: 'A sua mensagem',
    messageHint: 'Por exemplo, de que se trata exatamente. Se escreve em nome de outra pessoa, indique de quem.',
    subject: 'Identificador de consentimento',
    subjectHint: 'Se o nosso site lhe mostrar um.',
    optional: 'facultativo',
    use: 'Usamos estes dados para tratar o seu pedido e guardamo-los como prova disso.',
    send: 'Enviar o pedido',
    trap: 'Deixe este campo vazio',
    wrong: {
      kind: 'Escolha o que pretende.',
      name: 'Escreva o seu nome (no máximo 300 caracteres).',
      email: 'Escreva um endereço de e-mail, por exemplo nome@example.com.',
      place: 'Escolha um lugar da lista.',
      message: 'A sua mensagem pode ter no máximo 4000 caracteres.',
      subject: 'O identificador de consentimento pode ter no máximo 300 caracteres.',
    },
    again: 'O formulário ainda não foi enviado. Verifique-o e envie-o novamente.',
    tooMany:
      'Neste momento recebemos demasiados pedidos. Tente novamente dentro de uma hora ou escreva-nos diretamente.',
    receivedTitle: 'Recebemos o seu pedido',
    received: 'Recebido em {at}. Referência: {reference}',
    keep: 'Guarde esta referência.',
    codeLead:
      'Enviamos um código para o endereço de e-mail que indicou. Introduza-o aqui para confirmar que o endereço é seu: assim talvez tenhamos de lhe perguntar menos depois. O código é válido até {until}.',
    noMail: 'O seu pedido é tratado quer introduza o código quer não.',
    confirm: 'Confirmar',
    confirmed: 'Obrigado: o seu endereço de e-mail está confirmado. Por agora não tem de fazer mais nada.',
    locked: 'Já não é possível introduzir códigos aqui. O seu pedido é tratado na mesma.',
    closed: 'O seu pedido está concluído.',
    mailCode:
      'O seu código para confirmar este endereço de e-mail: {code} (válido até {until}). Introduza-o na página em que enviou o pedido:',
  },
  appealTo:
    'Pode recorrer desta decisão num prazo razoável: escreva para {contact}, com a palavra «Appeal» e a nossa referência {reference}. Temos de lhe comunicar por escrito, no prazo de {days} dias a contar da receção do recurso, o que decidimos e porquê. Se o recurso for indeferido, pode apresentar reclamação à seguinte autoridade: {authority}',
  authorityIs: 'A autoridade de controlo competente para nós: {authority}',
  proposals: {
    identity: [
      '[Por que motivo duvida de quem faz o pedido.]\n\nResponda a partir do endereço de correio eletrónico que temos registado, ou indique-nos [algo que só essa pessoa possa saber].',
      'Envie-nos uma autorização, assinada pela pessoa em causa, que permita fazer este pedido em seu nome.',
    ],
    clarification: [
      'Indique-nos [a que dados, período ou serviço nosso diz respeito o seu pedido].',
      'Indique-nos [o que deve ser retificado e o que seria correto].',
    ],
    extension: ['O seu pedido é complexo: [diga porquê].', 'Temos de analisar vários pedidos seus: [diga quais].'],
    partial: [
      'Fizemos o seguinte:\n- [o que fez]\n\nNão fizemos o seguinte:\n- [o que não fez, porquê, e o artigo que o permite]',
    ],
    refusal: [
      '[Os seus motivos.]\n\nFundamento jurídico da recusa: [artigo]',
      'Não conseguimos confirmar a sua identidade: [o que pediu e o que faltava]. Por isso não podemos divulgar nem alterar dados.',
    ],
    notice: ['- [que dados, sob que identificador, para que o destinatário os possa encontrar]'],
    appeal: ['Alterámos a nossa decisão: [o que fez agora].', 'Mantemos a nossa decisão: [os seus motivos].'],
    know: [
      'Nos 12 meses anteriores ao seu pedido:\n- recolhemos estas categorias de dados pessoais sobre si: [categorias]\n- vendemos ou partilhámos: [cada categoria, com que categorias de terceiros e com que finalidade; ou que não vendemos nem partilhámos nenhuma]\n- divulgámos para fins comerciais: [cada categoria, a que categorias de destinatários e com que finalidade; ou que não divulgámos nenhuma]\n- temos ainda, mas não podemos divulgar: [o tipo de dado, como o seu número de segurança social; ou nada deste tipo]',
    ],
    criteria: ['Critérios utilizados no tratamento dos seus dados: [critérios]'],
    answer: {
      erasure: ['Apagámos os seguintes dados pessoais sobre si:\n- [que dados, em que sistema]'],
      rectification: ['Retificámos o seguinte:\n- [o que estava registado] para [o que está agora registado]'],
      restriction: ['Limitámos o tratamento dos seguintes dados:\n- [que dados]'],
      objection: [
        'Desde [data], já não tratamos os seus dados pessoais para esta finalidade: [finalidade].',
        'Desde [data], já não utilizamos os seus dados pessoais para comercialização direta.',
      ],
      'opt-out': [
        'Demos seguimento à sua oposição: desde [data], já não vendemos os seus dados pessoais nem os partilhamos para publicidade em diferentes sítios Web.',
        '[Se for esse o caso:] Não vendemos dados pessoais nem os partilhamos para publicidade em diferentes sítios Web. Ainda assim, registámos a sua oposição.',
      ],
      limit: [
        'Demos seguimento ao seu pedido: desde [data], utilizamos os seus dados pessoais sensíveis apenas para o necessário à prestação dos nossos serviços e para os outros fins que a lei permite.',
      ],
      'withdraw-consent': [
        'Registámos que retirou o seu consentimento. Desde [data], já não tratamos dados pessoais com esse fundamento.',
      ],
      unknown: ['[O que fez.]'],
    },
    unmatched: {
      objection: ['Registámos a sua oposição. [O que fez a esse respeito, e onde.]'],
      'opt-out': ['Registámos a sua oposição. [O que fez a esse respeito, e onde.]'],
      limit: ['Registámos o seu pedido. [O que fez a esse respeito, e onde.]'],
      'withdraw-consent': ['Registámos que retirou o seu consentimento. [O que fez a esse respeito, e onde.]'],
    },
  },
};
