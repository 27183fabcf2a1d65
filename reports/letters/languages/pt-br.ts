import type { LetterTexts } from '../texts.ts';

/** Português do Brasil, with the terms of the LGPD. */
export const ptBr: LetterTexts = {
  name: 'Português (Brasil)',
  locale: 'pt-BR',
  lawNames: {
    'eu-gdpr': { name: 'Regulamento Geral de Proteção de Dados, Regulamento (UE) 2016/679 (GDPR)', short: 'GDPR' },
    'uk-gdpr': { name: 'Regulamento Geral de Proteção de Dados do Reino Unido (UK GDPR)', short: 'UK GDPR' },
  },
  frame: {
    reference: 'Nossa referência: {reference}',
    theirReference: 'Sua referência: {reference}',
    applicableLaw: 'Lei aplicável: {law}',
    unnamedRecipient: 'À pessoa que fez a solicitação',
    dearNamed: 'Prezado(a) {name},',
    dearUnnamed: 'Prezado(a) Senhor(a),',
    closingNamed: 'Atenciosamente,',
    closingUnnamed: 'Atenciosamente,',
    page: 'Página {page} de {pages}',
    document: 'Documento {document}',
    attached: 'Nossa carta segue anexa a este e-mail.',
    draft: 'RASCUNHO',
    stillToWrite: 'A escrever ou completar antes do envio desta carta',
    dataProtectionOfficer: 'Encarregado pelo tratamento de dados pessoais: {contact}',
    jointContact: 'Ponto de contato dos controladores conjuntos: {contact}',
    questions: 'Em caso de dúvidas, entre em contato com {contact} e informe nossa referência {reference}.',
    agentFor: 'Você atua em nome de {represented}. Nesta carta, “você”, “seu” e “sua” referem-se a {represented}.',
    agentForUnnamed: 'Você atua em nome de outra pessoa. Nesta carta, “você”, “seu” e “sua” referem-se a essa pessoa.',
    late: 'Esta resposta está atrasada: o prazo terminou em {limit}. Pedimos desculpas pelo atraso.',
  },
  titles: {
    acknowledgement: 'Recebemos sua solicitação',
    identity: 'Precisamos confirmar sua identidade',
    clarification: 'Uma pergunta sobre sua solicitação',
    extension: 'Precisamos de mais tempo para sua solicitação',
    answer: 'Resposta à sua solicitação de {received}',
    partial: 'Resposta à sua solicitação de {received}: atendida em parte',
    refusal: 'Resposta à sua solicitação de {received}: recusa',
    'no-match': 'Resposta à sua solicitação de {received}',
    notice: 'Comunicação aos destinatários de dados pessoais: {kind}',
    appeal: 'Decisão sobre seu recurso',
  },
  kinds: {
    access: {
      name: 'acesso a dados pessoais',
      opening: 'Em {received}, você nos solicitou acesso aos seus dados pessoais.',
    },
    portability: {
      name: 'portabilidade de dados pessoais',
      opening: 'Em {received}, você nos solicitou uma cópia dos seus dados pessoais em formato legível por máquina.',
    },
    erasure: {
      name: 'eliminação de dados pessoais',
      opening: 'Em {received}, você nos solicitou a eliminação dos seus dados pessoais.',
    },
    rectification: {
      name: 'correção de dados pessoais',
      opening: 'Em {received}, você nos solicitou a correção dos seus dados pessoais.',
    },
    restriction: {
      name: 'limitação do tratamento',
      opening: 'Em {received}, você nos solicitou a limitação do tratamento dos seus dados pessoais.',
    },
    objection: {
      name: 'oposição ao tratamento',
      opening: 'Em {received}, você se opôs ao tratamento dos seus dados pessoais.',
    },
    'opt-out': {
      name: 'oposição à venda e ao compartilhamento de dados pessoais',
      opening: 'Em {received}, você se opôs à venda e ao compartilhamento dos seus dados pessoais.',
    },
    limit: {
      name: 'limitação do uso de dados pessoais sensíveis',
      opening: 'Em {received}, você nos solicitou que limitássemos o uso dos seus dados pessoais sensíveis.',
    },
    'withdraw-consent': {
      name: 'revogação do consentimento',
      opening: 'Em {received}, você revogou seu consentimento.',
    },
    unknown: {
      name: 'solicitação sobre dados pessoais',
      opening: 'Em {received}, você nos enviou uma solicitação sobre seus dados pessoais.',
    },
  },
  openingOfAgent: 'Em {received}, você nos enviou uma solicitação em nome de outra pessoa ({kind}).',
  acknowledgement: {
    received: 'Confirmamos que recebemos sua solicitação.',
    due: 'O prazo para nossa resposta termina em {limit}.',
    notYou: 'Se você não fez esta solicitação, por favor nos informe.',
  },
  identity: {
    lead: 'Antes de atender à sua solicitação, precisamos confirmar que ela partiu de você ou de alguém autorizado a agir em seu nome.',
    use: 'Não envie originais e, nas cópias, cubra tudo o que não tivermos pedido. Registramos como sua identidade é confirmada.',
    reply: 'Responda para {contact} e informe nossa referência {reference}.',
    clockStarts: 'O prazo para nossa resposta é contado a partir do dia em que recebermos o que pedimos aqui.',
  },
  clarification: {
    lead: 'Para responder adequadamente à sua solicitação, precisamos saber mais sobre o que você deseja:',
    clockStops: 'O prazo para nossa resposta fica suspenso a partir de hoje até recebermos seu retorno.',
    reply: 'Responda para {contact} e informe nossa referência {reference}.',
    noReply: 'Sem sua resposta, só podemos nos basear no que sabemos.',
  },
  extension: {
    lead: 'Não conseguimos concluir nossa resposta até {firstLimit}, fim do prazo. O motivo é o seguinte:',
    newLimit: 'O novo prazo para nossa resposta termina em {limit}.',
    complaint: 'Você pode apresentar reclamação contra esta prorrogação à seguinte autoridade: {authority}',
  },
  answer: {
    records:
      'Os registros de consentimento que pudemos associar a você abrangem o período de {from} a {to}; número de decisões: {count}. Nós os encontramos por meio de {found}.',
    recordsOfOneDay:
      'Os registros de consentimento que pudemos associar a você são de {from}; número de decisões: {count}. Nós os encontramos por meio de {found}.',
    foundFromDevice: 'um identificador de visitante que você nos enviou do seu dispositivo',
    foundComputed: 'um identificador calculado a partir do endereço de e-mail que você nos informou',
    identityChecked: 'Antes de divulgar qualquer dado, confirmamos sua identidade.',
    enclosed: 'Segue anexa uma cópia de todos esses registros:',
    files: {
      history: '{file}: suas decisões, para ler em qualquer navegador',
      decisions: 'decisions.csv e decisions.json: o mesmo para uma planilha ou um programa',
      policies: 'policies.json: as políticas em vigor na época',
      policyTexts: '{file}: os textos dessas políticas tal como os obtivemos',
      evidence: 'banner-evidence: o que o aviso de consentimento mostrava na época',
      records27560: 'records-27560.json: o mesmo em forma de registros de consentimento (ISO/IEC TS 27560)',
      about:
        'case.json, README.txt e manifest.json: sua solicitação e uma lista de todos os arquivos com suas somas de verificação',
      records: 'records.jsonl: os registros exatamente como os recebemos',
    },
    verify:
      'Você mesmo pode verificar que esses registros não foram alterados: abra em um navegador o arquivo verify.html anexo e escolha o arquivo que recebeu de nós; não é necessária conexão com a internet. Cada registro é comparado com nosso log assinado, cujo último ponto de controle anterior a esta carta abrange {entries} entradas. Compare a chave desse log com a que você recebeu de nós por outro meio:',
    unverified:
      'Sua identidade não foi confirmada. Para proteger a pessoa a quem os dados se referem, não divulgamos registros individuais. Por isso respondemos apenas em termos gerais.',
    categories:
      'Esta resposta descreve em termos gerais como tratamos dados pessoais. Ela não contém registros individuais.',
    unmatched:
      'Com as informações da sua solicitação não conseguimos saber em que navegador ou dispositivo sua escolha anterior foi registrada.',
    unmatchedHowTo:
      'Para que sua escolha tenha efeito também ali, repita-a ali. Revogação do consentimento: {withdrawalMethod}',
    parts: 'O que fizemos',
    part: { done: 'feito', partly: 'feito em parte', refused: 'recusado' },
    partGround: '{outcome}; motivo: {ground}',
    withheld:
      'Temos os seguintes dados sobre você. A lei não nos permite divulgá-los, por isso nós os omitimos na cópia ({source}): {types}.',
    withheldTypes: {
      socialSecurity: 'um número com o formato de um número de seguridade social dos EUA',
      longNumber:
        'um número longo que pode ser de uma conta financeira, de um cartão de pagamento ou de um documento de identificação',
    },
    neverDisclosed:
      'Existam ou não esses dados, a lei proíbe divulgar em uma resposta números de seguridade social, de carteira de motorista ou outros números oficiais de identificação, números de contas financeiras, números de plano de saúde ou de identificação médica, senhas, perguntas e respostas de segurança ou dados biométricos ({source}).',
    proofPeriod:
      'O prazo de guarda definido para ela é de {period}, contado da sua última decisão ou, se posterior, da expiração do consentimento.',
  },
  partial: {
    lead: 'Atendemos parte da sua solicitação. O que fizemos, o que não fizemos e nossos motivos:',
  },
  refusal: {
    lead: 'Analisamos sua solicitação e não podemos atendê-la. Nossos motivos:',
    ground: 'Fundamento legal da recusa: {ground}',
    healthStatement:
      'Se os dados se referirem à sua saúde, você pode nos enviar uma declaração por escrito de até 250 palavras sobre cada dado que considerar inexato e pedir que a incluamos no seu registro (11 CCR § 7023).',
    optOut:
      'Você tem o direito de nos proibir de vender ou compartilhar suas informações pessoais. Se quiser exercê-lo, escreva para {contact} e informe nossa referência {reference}; não é preciso comprovar sua identidade (11 CCR §§ 7013, 7022(g)).',
  },
  noMatch: {
    why: 'Encontramos os registros de consentimento por um identificador de visitante, e não pelo nome. O que consta da sua solicitação não nos permite saber quais deles, se houver, se referem a você.',
    notNone: 'Isso não significa que não existam.',
    help: 'Você pode nos ajudar a encontrá-los assim:',
    steps: [
      'Abra nosso site no dispositivo e no navegador em que fez sua escolha. Copie o identificador de visitante que o aviso de consentimento gravou ali (no cookie ou nas configurações dele).',
      'Diga-nos em que site, e aproximadamente quando, você fez ou alterou sua escolha.',
      'Envie ambos para {contact} e informe nossa referência {reference}. Poderemos então pesquisar novamente.',
    ],
  },
  notice: {
    dear: 'Prezados Senhores,',
    lead: 'Compartilhamos dados pessoais com Vossas Senhorias. O titular dos dados nos apresentou uma solicitação ({kind}).',
    done: 'Nós a atendemos quanto aos seguintes dados:',
    ask: 'Solicitamos que adotem as medidas correspondentes em seus sistemas e as confirmem para {contact}, informando nossa referência {reference}.',
  },
  appeal: {
    lead: 'Você recorreu da nossa decisão sobre sua solicitação de {received}. Nós a reexaminamos. Nossa decisão e nossos motivos:',
    complaint: 'Se você não concordar com esta decisão, pode apresentar reclamação à seguinte autoridade: {authority}',
  },
  processing: {
    heading: 'Como tratamos dados pessoais',
    purposes: 'Finalidades',
    purpose: '{purpose} (guarda: {retention})',
    purposeWithBasis: '{purpose} (base legal: {basis}; guarda: {retention})',
    dataCategories: 'Categorias de dados',
    recipients: 'Destinatários',
    dataSources: 'Origem dos dados',
    transfers: 'Transferências internacionais',
    noTransfers: 'nenhuma',
    automatedDecisions: 'Decisões automatizadas',
    withdrawalMethod: 'Revogação do consentimento',
    notStated: 'Não informado nesta resposta: {parts}',
    soldOrShared:
      'quais categorias de dados vendemos, compartilhamos ou divulgamos para fins comerciais nos 12 meses anteriores à sua solicitação, a quais terceiros e com quais finalidades',
    criteria: 'os critérios utilizados no tratamento (LGPD, art. 19, II)',
    parts: {
      address: 'endereço postal',
      email: 'e-mail de contato',
      country: 'país de estabelecimento',
      purposes: 'finalidades, bases legais e prazos de guarda',
      dataCategories: 'categorias de dados',
      dataSources: 'origem dos dados',
      recipients: 'destinatários',
      transfers: 'transferências internacionais e suas garantias',
      automatedDecisions: 'decisões automatizadas',
      supervisoryAuthority: 'autoridade de proteção de dados',
      withdrawalMethod: 'como revogar o consentimento',
      controller: 'o controlador',
      jointContact: 'ponto de contato dos controladores conjuntos',
    },
  },
  scope: {
    heading: 'O que esta resposta abrange',
    consentOnly: 'Esta resposta abrange registros de consentimento e de políticas.',
    otherSystems: 'Nossos outros sistemas:',
    others: 'Ela não abrange outros sistemas.',
    searched: 'Para esta resposta pesquisamos nossos registros de consentimento.',
    notSearched: 'Sua solicitação não contém nada com que possamos pesquisar nossos registros de consentimento.',
    results: {
      'nothing-found': 'pesquisado, nada encontrado',
      found: 'pesquisado, dados encontrados',
      attached: 'pesquisado, o que encontramos segue em separado',
      searched: 'pesquisado',
      'not-applicable': 'não se aplica a esta solicitação',
      open: 'ainda não pesquisado',
    },
  },
  rights: { heading: 'Seus direitos', remedies: 'O que você pode fazer' },
  families: {
    gdpr: {
      identity:
        'Quando tivermos dúvidas razoáveis quanto à identidade de quem faz uma solicitação, podemos pedir informações adicionais (art. 12(6) do {gdpr}). Nosso motivo e o que pedimos:',
      extension:
        'Podemos prorrogar o prazo quando a complexidade e o número de solicitações tornarem isso necessário (art. 12(3) do {gdpr}).',
      access: 'Sim, tratamos dados pessoais sobre você (art. 15 do {gdpr}).',
      portability:
        'Com esta carta você recebe seus registros de consentimento em formato legível por máquina (art. 20 do {gdpr}).',
      noMatch: 'Não conseguimos associar você a um registro de consentimento (art. 11(2) do {gdpr}).',
      notes: {
        erasure: ['Você pode nos perguntar quais destinatários dos seus dados foram informados (art. 19 do {gdpr}).'],
        rectification: [
          'Você pode nos perguntar quais destinatários dos seus dados foram informados (art. 19 do {gdpr}).',
        ],
        restriction: [
          'Exceto quanto ao armazenamento, dados cujo tratamento foi limitado só podem ser tratados com seu consentimento, para a declaração, o exercício ou a defesa de um direito em processo judicial, para a proteção dos direitos de outra pessoa física ou jurídica ou por motivos de interesse público importante da União ou de um Estado-Membro (art. 18(2) do {gdpr}).',
          'Antes que a limitação seja suspensa, você deve ser informado disso (art. 18(3) do {gdpr}).',
          'Você pode nos perguntar quais destinatários dos seus dados foram informados (art. 19 do {gdpr}).',
        ],
        'withdraw-consent': ['A revogação não afeta a licitude do tratamento anterior a ela (art. 7(3) do {gdpr}).'],
      },
      proof:
        'Guardamos a prova de que você deu, recusou ou revogou um consentimento, porque precisamos poder apresentá-la e para a declaração, o exercício ou a defesa de um direito em processo judicial (art. 17(3)(b) e (e) do {gdpr}).',
      rights: [
        'Você pode nos pedir que corrijamos ou eliminemos seus dados pessoais ou limitemos seu tratamento (art. 16, 17 e 18 do {gdpr}).',
        'Você pode se opor ao tratamento baseado em uma missão de interesse público ou em interesses legítimos (art. 21 do {gdpr}).',
        'Você pode revogar seu consentimento a qualquer momento. Isso não afeta a licitude do tratamento anterior à revogação (art. 7(3) do {gdpr}).',
        'Você pode receber os dados que nos forneceu em formato legível por máquina (art. 20 do {gdpr}).',
      ],
      notice: 'Prestamos esta informação nos termos do art. 19 do {gdpr}.',
    },
    uk: {
      extension:
        'Podemos prorrogar o prazo quando a complexidade das suas solicitações ou o número delas tornar isso necessário (art. 12A(3) do {gdpr}).',
      notes: {
        restriction: [
          'Exceto quanto ao armazenamento, dados cujo tratamento foi limitado só podem ser tratados com seu consentimento, para a declaração, o exercício ou a defesa de um direito em processo judicial, para a proteção dos direitos de outra pessoa física ou jurídica ou por motivos de interesse público importante (art. 18(2) do {gdpr}).',
          'Antes que a limitação seja suspensa, você deve ser informado disso (art. 18(3) do {gdpr}).',
          'Você pode nos perguntar quais destinatários dos seus dados foram informados (art. 19 do {gdpr}).',
        ],
      },
    },
    similar: {
      rights: [
        'Você pode nos pedir que corrijamos ou eliminemos seus dados pessoais ou limitemos seu tratamento.',
        'Você pode se opor ao tratamento baseado em uma missão de interesse público ou em interesses legítimos.',
        'Você pode revogar seu consentimento a qualquer momento. Isso não afeta a licitude do tratamento anterior à revogação.',
        'Você pode receber os dados que nos forneceu em formato legível por máquina.',
      ],
    },
    swiss: {
      rights: [
        'Você pode nos pedir que corrijamos seus dados pessoais (art. 32(1) da FADP).',
        'Você pode nos proibir expressamente de tratar seus dados pessoais (art. 30(2)(b) da FADP).',
        'Você pode pedir a um tribunal que proíba determinado tratamento ou a comunicação de dados a terceiros, ou que ordene a eliminação ou a destruição de dados (art. 32(2) da FADP).',
        'Você pode receber os dados que nos forneceu em um formato eletrônico usual (art. 28 da FADP).',
      ],
    },
    california: {
      acknowledgement: {
        checked: [
          'A lei nos obriga a verificar sua identidade antes de divulgar, corrigir ou eliminar informações pessoais, se possível comparando os dados que você nos fornece com os que temos (11 CCR § 7060). Se não forem suficientes, podemos pedir outros.',
        ],
        unchecked: ['Para esta solicitação você não precisa comprovar sua identidade.'],
      },
      identity:
        'A lei exige que verifiquemos sua identidade antes de atender a esta solicitação (11 CCR § 7060). A verificação não prorroga o prazo da nossa resposta. O que pedimos:',
      extension:
        'A lei nos concede, no total, até 90 dias corridos a partir do dia em que recebemos sua solicitação (11 CCR § 7021).',
      access: 'Sim, coletamos informações pessoais sobre você (Cal. Civ. Code § 1798.110).',
      portability:
        'Com esta carta você recebe seus registros de consentimento em um formato portátil e fácil de usar (Cal. Civ. Code § 1798.130).',
      notes: {
        erasure: ['Guardamos um registro desta solicitação, como a lei exige (11 CCR § 7101).'],
        'opt-out': [
          'Você não precisou comprovar sua identidade para isso. A lei não nos permite pedir que você reverta esta escolha durante pelo menos 12 meses.',
        ],
        limit: [
          'Você não precisou comprovar sua identidade para isso. A lei não nos permite pedir que você reverta esta escolha durante pelo menos 12 meses.',
        ],
      },
      proof:
        'Guardamos a prova de que você deu, recusou ou revogou um consentimento, como a lei permite (Cal. Civ. Code § 1798.105(d)).',
      rights: [
        'Você pode nos pedir que eliminemos ou corrijamos as informações pessoais que coletamos sobre você.',
        'Você pode se opor à venda e ao compartilhamento das suas informações pessoais e limitar o uso de informações sensíveis. Você não precisa comprovar sua identidade para isso.',
        'A lei nos proíbe de tratar você de forma menos favorável por exercer estes direitos.',
      ],
      notice: 'Prestamos esta informação porque a lei da Califórnia nos obriga a avisar quem recebeu os dados.',
    },
    us: {
      identity:
        'Quando uma solicitação não pode ser autenticada com esforços comercialmente razoáveis, a lei nos permite pedir informações adicionais. O que pedimos:',
      extension: 'A lei permite uma única prorrogação deste tipo, quando razoavelmente necessária.',
      rights: [
        'A lei lhe dá outros direitos sobre seus dados pessoais, como a eliminação e a oposição à venda deles. Diga-nos se quiser exercê-los.',
        'A lei nos proíbe de tratar você de forma menos favorável por exercer estes direitos.',
      ],
    },
    brazil: {
      identity:
        'Só podemos responder ao titular dos dados ou ao seu representante legalmente constituído. O que pedimos:',
      access: 'Sim, tratamos dados pessoais sobre você (LGPD, art. 18 e 19).',
      portability:
        'Com esta carta você recebe seus registros de consentimento em formato legível por máquina (LGPD, art. 18, V).',
      notes: {
        'withdraw-consent': ['A revogação não afeta o tratamento realizado antes dela (LGPD, art. 8º, § 5º).'],
      },
      proof:
        'Guardamos a prova de que você deu, recusou ou revogou um consentimento para cumprir uma obrigação legal (LGPD, art. 16, I).',
      rights: [
        'Você pode solicitar a confirmação, o acesso, a correção, a anonimização, a portabilidade e a eliminação, e revogar seu consentimento (LGPD, art. 18).',
      ],
      notice: 'Prestamos esta informação nos termos da LGPD, art. 18, § 6º.',
    },
    general: {
      acknowledgement: { checked: [], unchecked: [] },
      identity: 'Só podemos divulgar ou alterar dados pessoais se soubermos quem os pede. O que pedimos:',
      access: 'Sim, tratamos dados pessoais sobre você.',
      portability: 'Com esta carta você recebe seus registros de consentimento em formato legível por máquina.',
      noMatch: 'Não conseguimos associar você a um registro de consentimento.',
      notes: { erasure: ['Guardamos um registro desta solicitação.'] },
      proof: 'Guardamos a prova de que você deu, recusou ou revogou um consentimento.',
      rights: [
        'Você pode nos pedir que corrijamos seus dados pessoais.',
        'Você pode revogar um consentimento que tenha dado.',
      ],
      notice: 'Prestamos esta informação porque Vossas Senhorias receberam dados de nós.',
    },
  },
  remedies: {
    eu: [
      'Você pode apresentar reclamação a uma autoridade de controle, em especial no Estado-Membro onde mora ou trabalha ou onde considera que ocorreu a infração (art. 77 do GDPR).',
      'Você também tem direito a um recurso judicial efetivo (art. 79 do GDPR).',
    ],
    uk: [
      'Você pode apresentar reclamação a nós (Data Protection Act 2018, s. 164A): escreva para {contact}.',
      'Você pode apresentar reclamação ao Information Commissioner (Data Protection Act 2018, s. 165): {authority}',
      'Você também pode recorrer a um tribunal (art. 79 do UK GDPR).',
    ],
    california: ['Você pode apresentar reclamação às seguintes autoridades: {authority}'],
    quebec: [
      'No prazo de 30 dias a contar desta resposta, você pode pedir à seguinte autoridade que examine a divergência: {authority}',
    ],
    authority: ['Você pode apresentar reclamação à seguinte autoridade: {authority}'],
    authorityAndCourt: [
      'Você pode apresentar reclamação à seguinte autoridade: {authority}',
      'Você também pode recorrer a um tribunal.',
    ],
    unnamed: ['Você pode apresentar reclamação à autoridade responsável pela proteção de dados.'],
  },
  packFiles: { letter: 'carta', history: 'historico', policyTexts: 'textos-das-politicas' },
  handOver: {
    title: 'Nossa resposta à sua solicitação',
    enterCode: 'Digite o código de 8 dígitos que enviamos separadamente deste link.',
    code: 'Código',
    open: 'Abrir',
    wrongCode: 'Este código está incorreto. Tentativas restantes: {left}.',
    invalidTitle: 'Este link não funciona',
    invalid: 'Ele está incompleto, expirou ou foi retirado. Peça um novo a quem o enviou.',
    until: 'Você pode abrir esta página até {until}.',
    received: 'Recebida em {received}: {kind}',
    contents: 'O que você recebe',
    letter: '{file}: nossa resposta à sua solicitação',
    proofs: 'verify.html, verify.mjs e proofs: com eles você pode verificar que nada foi alterado',
    download: 'Baixar como arquivo ZIP ({size})',
    files: 'Outros arquivos',
    fileChecksum: 'Soma de verificação SHA-256:',
    check: 'Como verificar o arquivo',
    checksum: 'Soma de verificação SHA-256 do arquivo ZIP:',
    checkSteps: [
      'Descompacte o arquivo ZIP e abra verify.html em um navegador. Não é necessária conexão com a internet.',
      'Escolha ali o arquivo ZIP que você baixou. A página verifica cada registro contido nele.',
      'Digite ali também a chave publicada em {key}: ela mostra que os registros são nossos.',
    ],
    write: 'Perguntas e objeções',
    writeLead:
      'Algo está pouco claro, faltando ou incorreto? Sua mensagem chega às pessoas que cuidam da sua solicitação.',
    question: 'Tenho uma pergunta',
    objection: 'Não concordo com esta resposta',
    message: 'Sua mensagem',
    send: 'Enviar',
    sent: 'Recebemos sua mensagem em {at}.',
    empty: 'Escreva primeiro uma mensagem de até 4.000 caracteres.',
    tooMany: 'Não é mais possível enviar mensagens aqui. Entre em contato conosco diretamente.',
    leave: 'Fechar esta página',
    formExpired: 'O formulário havia expirado e não foi enviado. Tente novamente.',
    wait: 'Solicitações demais. Aguarde um minuto e tente novamente.',
    unavailable: 'Esta página está temporariamente indisponível. Tente novamente em alguns minutos.',
    languages: 'Idioma',
  },
  messages: {
    replied: 'Resposta de {controller}, {at}',
    answering: 'Respondo à sua mensagem',
    mailTitle: 'Resposta à sua mensagem',
    mailLead:
      '{controller} respondeu à sua mensagem sobre a sua solicitação. Para proteger os seus dados, a resposta não consta deste e-mail.',
    mailLink: 'Para ler e responder, abra o link que enviamos e digite o código. O link é válido até {until}.',
    mailNoLink: 'O link que enviamos não pode mais ser aberto. Entre em contato conosco para obter um novo.',
  },
  task: {
    title: 'Uma tarefa para você',
    lead: '{controller} pede que você faça o seguinte para uma solicitação sobre dados pessoais.',
    due: 'Faça isso até {due}.',
    outcome: 'Qual foi o resultado?',
    done: 'Foi feito',
    notDone: 'Não foi feito',
    note: 'Observação',
    noteHint: 'Diga o que você fez ou por que não foi feito. Não inclua dados pessoais.',
    noteMissing: 'Diga, em até 2.000 caracteres, por que não foi feito.',
    reportedDone: 'Obrigado. Em {at} você informou que foi feito.',
    reportedNotDone: 'Em {at} você informou que não foi feito. Se foi feito depois, informe aqui.',
    mailLink: 'Informe o resultado aqui. Você não precisa de uma conta; o link é válido até {until}:',
  },
  requestForm: {
    title: 'Seus dados pessoais: envie-nos uma solicitação',
    lead: 'Use este formulário para exercer seus direitos sobre seus dados pessoais.',
    kind: 'O que você deseja?',
    kinds: {
      access: 'Saber quais dados vocês têm sobre mim',
      portability: 'Receber uma cópia dos meus dados que outros serviços possam ler',
      erasure: 'Eliminar meus dados',
      rectification: 'Corrigir meus dados',
      restriction: 'Limitar o uso dos meus dados',
      objection: 'Opor-me ao uso dos meus dados',
      'opt-out': 'Recusar a venda e o compartilhamento dos meus dados',
      limit: 'Limitar o uso dos meus dados sensíveis',
      'withdraw-consent': 'Revogar meu consentimento',
      unknown: 'Outro assunto sobre meus dados',
    },
    name: 'Seu nome',
    email: 'Seu endereço de e-mail',
    emailHint: 'Enviamos uma confirmação e um código para este endereço.',
    place: 'Onde você mora',
    placeHint: 'Isso determina a lei aplicável.',
    placeOpen: 'Prefiro não dizer',
    message: 'Sua mensagem',
    messageHint: 'Por exemplo, do que se trata exatamente. Se você escreve em nome de outra pessoa, diga de quem.',
    subject: 'ID de consentimento',
    subjectHint: 'Se nosso site mostrar um.',
    optional: 'opcional',
    use: 'Usamos o que você informa aqui para tratar sua solicitação e o guardamos como prova disso.',
    send: 'Enviar a solicitação',
    trap: 'Deixe este campo vazio',
    wrong: {
      kind: 'Escolha o que você deseja.',
      name: 'Digite seu nome (até 300 caracteres).',
      email: 'Digite um endereço de e-mail, por exemplo nome@example.com.',
      place: 'Escolha um lugar da lista.',
      message: 'Sua mensagem pode ter até 4.000 caracteres.',
      subject: 'O ID de consentimento pode ter até 300 caracteres.',
    },
    again: 'O formulário ainda não pôde ser enviado. Verifique-o e envie novamente.',
    tooMany:
      'Estamos recebendo solicitações demais no momento. Tente novamente em uma hora ou escreva diretamente para nós.',
    receivedTitle: 'Recebemos sua solicitação',
    received: 'Recebida em {at}. Referência: {reference}',
    keep: 'Guarde a referência.',
    codeLead:
      'Estamos enviando um código para o endereço de e-mail que você informou. Digite-o aqui para confirmar que o endereço é seu: talvez precisemos perguntar menos depois. O código é válido até {until}.',
    noMail: 'Sua solicitação está sendo tratada, quer você digite o código ou não.',
    confirm: 'Confirmar',
    confirmed: 'Obrigado: seu endereço de e-mail está confirmado. Por enquanto não há mais nada a fazer.',
    locked: 'Não é mais possível digitar códigos aqui. Sua solicitação está sendo tratada mesmo assim.',
    closed: 'Sua solicitação foi concluída.',
    mailCode:
      'Seu código para confirmar este endereço de e-mail: {code} (válido até {until}). Digite-o na página em que você enviou a solicitação:',
  },
  appealTo:
    'Você pode recorrer desta decisão em um prazo razoável: escreva para {contact}, com a palavra “Appeal” e nossa referência {reference}. Devemos comunicar por escrito, em até {days} dias do recebimento do recurso, o que decidimos e por quê. Se o recurso for negado, você pode apresentar reclamação à seguinte autoridade: {authority}',
  authorityIs: 'A autoridade competente para nós: {authority}',
  proposals: {
    identity: [
      '[Por que você duvida de quem faz a solicitação.]\n\nResponda do endereço de e-mail que temos cadastrado ou informe-nos [algo que só essa pessoa possa saber].',
      'Envie-nos uma procuração, assinada pela pessoa em questão, que permita fazer esta solicitação em nome dela.',
    ],
    clarification: [
      'Informe-nos [a quais dados, a qual período ou a qual dos nossos serviços sua solicitação se refere].',
      'Informe-nos [o que deve ser corrigido e o que seria correto].',
    ],
    extension: [
      'Sua solicitação é complexa: [diga por quê].',
      'Precisamos analisar várias solicitações suas: [diga quais].',
    ],
    partial: [
      'Fizemos o seguinte:\n- [o que você fez]\n\nNão fizemos o seguinte:\n- [o que você não fez, por quê, e o artigo que o permite]',
    ],
    refusal: [
      '[Seus motivos.]\n\nFundamento legal da recusa: [artigo]',
      'Não conseguimos confirmar sua identidade: [o que você pediu e o que faltou]. Por isso não podemos divulgar nem alterar dados.',
    ],
    notice: ['- [quais dados, sob qual identificador, para que o destinatário possa encontrá-los]'],
    appeal: ['Alteramos nossa decisão: [o que você fez agora].', 'Mantemos nossa decisão: [seus motivos].'],
    know: [
      'Nos 12 meses anteriores à sua solicitação:\n- coletamos estas categorias de informações pessoais sobre você: [categorias]\n- vendemos ou compartilhamos: [cada categoria, com quais categorias de terceiros e com qual finalidade; ou que não vendemos nem compartilhamos nenhuma]\n- divulgamos para fins comerciais: [cada categoria, a quais categorias de destinatários e com qual finalidade; ou que não divulgamos nenhuma]\n- temos ainda, mas não podemos divulgar: [o tipo de dado, como seu número de seguridade social; ou nada desse tipo]',
    ],
    criteria: ['Critérios utilizados no tratamento dos seus dados: [critérios]'],
    answer: {
      erasure: ['Eliminamos os seguintes dados pessoais sobre você:\n- [quais dados, em qual sistema]'],
      rectification: ['Corrigimos o seguinte:\n- [o que estava registrado] para [o que está registrado agora]'],
      restriction: ['Limitamos o tratamento dos seguintes dados:\n- [quais dados]'],
      objection: [
        'Desde [data], não tratamos mais seus dados pessoais para esta finalidade: [finalidade].',
        'Desde [data], não usamos mais seus dados pessoais para marketing direto.',
      ],
      'opt-out': [
        'Atendemos à sua oposição: desde [data], não vendemos mais seus dados pessoais nem os compartilhamos para publicidade em diferentes sites.',
        '[Se for esse o caso:] Não vendemos dados pessoais nem os compartilhamos para publicidade em diferentes sites. Ainda assim, registramos sua oposição.',
      ],
      limit: [
        'Atendemos à sua solicitação: desde [data], usamos seus dados pessoais sensíveis apenas para o que é necessário à prestação dos nossos serviços e para os outros fins que a lei permite.',
      ],
      'withdraw-consent': [
        'Registramos que você revogou seu consentimento. Desde [data], não tratamos mais dados pessoais com base nele.',
      ],
      unknown: ['[O que você fez.]'],
    },
    unmatched: {
      objection: ['Registramos sua oposição. [O que você fez a respeito, e onde.]'],
      'opt-out': ['Registramos sua oposição. [O que você fez a respeito, e onde.]'],
      limit: ['Registramos sua solicitação. [O que você fez a respeito, e onde.]'],
      'withdraw-consent': ['Registramos que você revogou seu consentimento. [O que você fez a respeito, e onde.]'],
    },
  },
};
