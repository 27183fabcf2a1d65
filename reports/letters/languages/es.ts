import type { LetterTexts } from '../texts.ts';

/** Español. */
export const es: LetterTexts = {
  name: 'Español',
  locale: 'es-ES',
  regions: ['MX', 'US'],
  lawNames: {
    'eu-gdpr': { name: 'Reglamento general de protección de datos, Reglamento (UE) 2016/679 (RGPD)', short: 'RGPD' },
    'uk-gdpr': { name: 'Reglamento general de protección de datos del Reino Unido (UK GDPR)', short: 'UK GDPR' },
  },
  frame: {
    reference: 'Nuestra referencia: {reference}',
    theirReference: 'Su referencia: {reference}',
    applicableLaw: 'Derecho aplicable: {law}',
    unnamedRecipient: 'A la persona que presentó la solicitud',
    dearNamed: 'Estimado/a {name}:',
    dearUnnamed: 'Estimado/a señor/a:',
    closingNamed: 'Atentamente,',
    closingUnnamed: 'Atentamente,',
    page: 'Página {page} de {pages}',
    document: 'Documento {document}',
    attached: 'Encontrará nuestra carta adjunta a este correo electrónico.',
    draft: 'BORRADOR',
    stillToWrite: 'Pendiente de redactar o completar antes de enviar esta carta',
    dataProtectionOfficer: 'Delegado de protección de datos: {contact}',
    jointContact: 'Punto de contacto de los corresponsables del tratamiento: {contact}',
    questions: 'Si tiene alguna pregunta, póngase en contacto con {contact} e indique nuestra referencia {reference}.',
    agentFor: 'Usted actúa en nombre de {represented}. En esta carta, «usted» y «sus» se refieren a {represented}.',
    agentForUnnamed:
      'Usted actúa en nombre de otra persona. En esta carta, «usted» y «sus» se refieren a dicha persona.',
    late: 'Esta respuesta llega fuera de plazo: debía enviarse el {limit} a más tardar. Le pedimos disculpas por el retraso.',
  },
  titles: {
    acknowledgement: 'Hemos recibido su solicitud',
    identity: 'Necesitamos confirmar su identidad',
    clarification: 'Una pregunta sobre su solicitud',
    extension: 'Necesitamos más tiempo para su solicitud',
    answer: 'Respuesta a su solicitud de {received}',
    partial: 'Respuesta a su solicitud de {received}: estimada en parte',
    refusal: 'Respuesta a su solicitud de {received}: denegación',
    'no-match': 'Respuesta a su solicitud de {received}',
    notice: 'Comunicación a los destinatarios de datos personales: {kind}',
    appeal: 'Decisión sobre su recurso',
  },
  kinds: {
    access: {
      name: 'acceso a datos personales',
      opening: 'El {received} nos solicitó el acceso a sus datos personales.',
    },
    portability: {
      name: 'copia portable de datos personales',
      opening: 'El {received} nos solicitó una copia de sus datos personales en un formato de lectura mecánica.',
    },
    erasure: {
      name: 'supresión de datos personales',
      opening: 'El {received} nos solicitó la supresión de sus datos personales.',
    },
    rectification: {
      name: 'rectificación de datos personales',
      opening: 'El {received} nos solicitó la rectificación de sus datos personales.',
    },
    restriction: {
      name: 'limitación del tratamiento',
      opening: 'El {received} nos solicitó la limitación del tratamiento de sus datos personales.',
    },
    objection: {
      name: 'oposición al tratamiento',
      opening: 'El {received} se opuso al tratamiento de sus datos personales.',
    },
    'opt-out': {
      name: 'oposición a que se vendan o compartan datos personales',
      opening: 'El {received} nos solicitó que no vendiéramos ni compartiéramos sus datos personales.',
    },
    limit: {
      name: 'limitación del uso de datos personales sensibles',
      opening: 'El {received} nos solicitó que limitáramos el uso de sus datos personales sensibles.',
    },
    'withdraw-consent': {
      name: 'retirada del consentimiento',
      opening: 'El {received} retiró su consentimiento.',
    },
    unknown: {
      name: 'solicitud sobre datos personales',
      opening: 'El {received} nos envió una solicitud sobre sus datos personales.',
    },
  },
  openingOfAgent: 'El {received} nos envió una solicitud en nombre de otra persona ({kind}).',
  acknowledgement: {
    received: 'Mediante esta carta le confirmamos que hemos recibido su solicitud.',
    due: 'El plazo para responderle vence el {limit}.',
    notYou: 'Si usted no presentó esta solicitud, le rogamos que nos lo comunique.',
  },
  identity: {
    lead: 'Antes de atender su solicitud, necesitamos confirmar que procede de usted o de una persona autorizada para actuar en su nombre.',
    use: 'No envíe originales y oculte en las copias todo lo que no le hayamos pedido. Dejamos constancia de cómo se confirma su identidad.',
    reply: 'Responda a {contact} e indique nuestra referencia {reference}.',
    clockStarts: 'El plazo de nuestra respuesta empieza a contar el día en que recibamos lo que aquí le pedimos.',
  },
  clarification: {
    lead: 'Para responder debidamente a su solicitud, necesitamos saber algo más sobre lo que pide:',
    clockStops: 'El plazo de respuesta queda suspendido desde hoy hasta que recibamos su contestación.',
    reply: 'Responda a {contact} e indique nuestra referencia {reference}.',
    noReply: 'Sin su respuesta solo podemos basarnos en la información de que disponemos.',
  },
  extension: {
    lead: 'No podemos completar nuestra respuesta antes de que venza el plazo, el {firstLimit}. El motivo es el siguiente:',
    newLimit: 'El nuevo plazo para responderle vence el {limit}.',
    complaint: 'Puede presentar una reclamación por esta prórroga ante la siguiente autoridad: {authority}',
  },
  answer: {
    records:
      'Los registros de consentimiento que hemos podido asociar con usted abarcan el período del {from} al {to}; número de decisiones: {count}. Los hemos localizado mediante {found}.',
    recordsOfOneDay:
      'Los registros de consentimiento que hemos podido asociar con usted son del {from}; número de decisiones: {count}. Los hemos localizado mediante {found}.',
    foundFromDevice: 'el identificador de visitante que nos envió desde su dispositivo',
    foundComputed: 'un identificador calculado a partir de la dirección de correo electrónico que nos facilitó',
    identityChecked: 'Antes de comunicarle los datos, hemos confirmado su identidad.',
    enclosed: 'Se adjunta una copia de todos estos registros:',
    files: {
      history: '{file}: sus decisiones, para leerlas en cualquier navegador',
      decisions: 'decisions.csv y decisions.json: lo mismo para una hoja de cálculo o un programa',
      policies: 'policies.json: las políticas vigentes en aquel momento',
      policyTexts: '{file}: los textos de dichas políticas tal como los obtuvimos',
      evidence: 'banner-evidence: lo que mostraba el aviso de consentimiento en aquel momento',
      records27560: 'records-27560.json: lo mismo en forma de registros de consentimiento (ISO/IEC TS 27560)',
      about:
        'case.json, README.txt y manifest.json: su solicitud y una lista de todos los archivos con sus sumas de comprobación',
      records: 'records.jsonl: los registros exactamente como los recibimos',
    },
    verify:
      'Usted mismo puede comprobar que estos registros no se han modificado: abra en un navegador el archivo verify.html adjunto y elija el archivo que ha recibido de nosotros; no hace falta conexión a Internet. Se compara cada registro con nuestro registro firmado, cuyo último punto de control anterior a esta carta abarca {entries} entradas. Compare la clave de ese registro con la que haya recibido de nosotros por otra vía:',
    unverified:
      'Su identidad no está confirmada. Para proteger a la persona a la que se refieren los datos, no comunicamos registros individuales. Por ello respondemos solo en términos generales.',
    categories:
      'Esta respuesta describe en términos generales cómo tratamos los datos personales. No contiene registros individuales.',
    unmatched:
      'Con los datos de su solicitud no podemos saber en qué navegador o dispositivo quedó registrada su elección anterior.',
    unmatchedHowTo:
      'Para que su elección surta efecto también allí, repítala allí. Retirada del consentimiento: {withdrawalMethod}',
    parts: 'Qué hemos hecho',
    part: { done: 'hecho', partly: 'hecho en parte', refused: 'denegado' },
    partGround: '{outcome}; motivo: {ground}',
    withheld:
      'Tenemos los siguientes datos sobre usted. La ley no nos permite revelarlos, por lo que no figuran en la copia ({source}): {types}.',
    withheldTypes: {
      socialSecurity: 'un número con la forma de un número de Seguro Social',
      longNumber:
        'un número largo que puede ser de una cuenta financiera, una tarjeta de pago o un documento de identificación',
    },
    neverDisclosed:
      'Con independencia de que existan tales datos, la ley prohíbe revelar en una respuesta números de Seguro Social, de licencia de conducir u otros números de identificación oficiales, números de cuentas financieras, números de seguro médico o de identificación médica, contraseñas, preguntas y respuestas de seguridad o datos biométricos ({source}).',
    proofPeriod:
      'El plazo de conservación fijado para ella es de {period}, contado desde su última decisión o, si es posterior, desde la expiración del consentimiento.',
  },
  partial: {
    lead: 'Hemos estimado parte de su solicitud. Qué hemos hecho, qué no hemos hecho y nuestros motivos:',
  },
  refusal: {
    lead: 'Hemos examinado su solicitud y no podemos atenderla. Nuestros motivos:',
    ground: 'Base jurídica de la denegación: {ground}',
    healthStatement:
      'Si los datos se refieren a su salud, puede enviarnos una declaración escrita de hasta 250 palabras sobre cada dato que considere inexacto y pedirnos que la incorporemos a su expediente (11 CCR § 7023).',
    optOut:
      'Tiene derecho a indicarnos que no vendamos ni compartamos su información personal. Si desea ejercerlo, escriba a {contact} e indique nuestra referencia {reference}; no tiene que verificar su identidad (11 CCR §§ 7013, 7022(g)).',
  },
  noMatch: {
    why: 'Localizamos los registros de consentimiento por un identificador de visitante, no por el nombre. Lo que contiene su solicitud no nos permite saber cuáles de ellos, en su caso, se refieren a usted.',
    notNone: 'Esto no significa que no haya ninguno.',
    help: 'Así puede ayudarnos a encontrarlos:',
    steps: [
      'Abra nuestro sitio web en el dispositivo y en el navegador en que hizo su elección. Copie el identificador de visitante que el aviso de consentimiento ha guardado allí (en su cookie o en sus ajustes).',
      'Díganos en qué sitio web, y aproximadamente cuándo, hizo o cambió su elección.',
      'Envíe ambos datos a {contact} e indique nuestra referencia {reference}. Con ellos podremos volver a buscar.',
    ],
  },
  notice: {
    dear: 'Estimados señores:',
    lead: 'Les comunicamos en su día datos personales. La persona interesada nos ha presentado una solicitud ({kind}).',
    done: 'La hemos estimado respecto de los siguientes datos:',
    ask: 'Les rogamos que adopten las medidas correspondientes en sus propios sistemas y que nos las confirmen en {contact}, indicando nuestra referencia {reference}.',
  },
  appeal: {
    lead: 'Usted recurrió nuestra decisión sobre su solicitud de {received}. La hemos revisado. Nuestra decisión y nuestros motivos:',
    complaint:
      'Si no está de acuerdo con esta decisión, puede presentar una reclamación ante la siguiente autoridad: {authority}',
  },
  processing: {
    heading: 'Cómo tratamos los datos personales',
    purposes: 'Fines',
    purpose: '{purpose} (conservación: {retention})',
    purposeWithBasis: '{purpose} (base jurídica: {basis}; conservación: {retention})',
    dataCategories: 'Categorías de datos',
    recipients: 'Destinatarios',
    dataSources: 'Procedencia de los datos',
    transfers: 'Transferencias a terceros países',
    noTransfers: 'ninguna',
    automatedDecisions: 'Decisiones automatizadas',
    withdrawalMethod: 'Retirada del consentimiento',
    notStated: 'No se indica en esta respuesta: {parts}',
    soldOrShared:
      'qué categorías de datos hemos vendido, compartido o comunicado con fines comerciales en los 12 meses anteriores a su solicitud, a qué terceros y con qué fines',
    parts: {
      address: 'dirección postal',
      email: 'correo electrónico de contacto',
      country: 'país de establecimiento',
      purposes: 'fines, bases jurídicas y plazos de conservación',
      dataCategories: 'categorías de datos',
      dataSources: 'procedencia de los datos',
      recipients: 'destinatarios',
      transfers: 'transferencias a terceros países y sus garantías',
      automatedDecisions: 'decisiones automatizadas',
      supervisoryAuthority: 'autoridad de control',
      withdrawalMethod: 'cómo retirar el consentimiento',
      controller: 'el responsable del tratamiento',
      jointContact: 'punto de contacto de los corresponsables del tratamiento',
    },
    criteria: 'los criterios utilizados en el tratamiento (LGPD, art. 19, II)',
  },
  scope: {
    heading: 'Qué abarca esta respuesta',
    consentOnly: 'Esta respuesta abarca los registros de consentimiento y de políticas.',
    otherSystems: 'Nuestros demás sistemas:',
    results: {
      'nothing-found': 'consultado, no se encontró nada',
      found: 'consultado, se encontraron datos',
      attached: 'consultado, lo encontrado se adjunta por separado',
      searched: 'consultado',
      'not-applicable': 'no pertinente para esta solicitud',
      open: 'aún no consultado',
    },
    others: 'No abarca otros sistemas.',
    searched: 'Para esta respuesta hemos consultado nuestros registros de consentimiento.',
    notSearched: 'Su solicitud no contiene nada con lo que podamos consultar nuestros registros de consentimiento.',
  },
  rights: { heading: 'Sus derechos', remedies: 'Qué puede hacer' },
  families: {
    gdpr: {
      identity:
        'Cuando tengamos dudas razonables sobre la identidad de la persona que presenta una solicitud, podemos pedir información adicional (art. 12.6 del {gdpr}). Nuestro motivo y lo que le pedimos:',
      extension:
        'Podemos prorrogar el plazo cuando la complejidad y el número de solicitudes lo hagan necesario (art. 12.3 del {gdpr}).',
      access: 'Sí, tratamos datos personales que le conciernen (art. 15 del {gdpr}).',
      portability:
        'Con esta carta recibe sus registros de consentimiento en un formato de lectura mecánica (art. 20 del {gdpr}).',
      noMatch: 'No podemos asociarle con ningún registro de consentimiento (art. 11.2 del {gdpr}).',
      notes: {
        erasure: ['Puede preguntarnos a qué destinatarios de sus datos se ha informado (art. 19 del {gdpr}).'],
        rectification: ['Puede preguntarnos a qué destinatarios de sus datos se ha informado (art. 19 del {gdpr}).'],
        restriction: [
          'Aparte de su conservación, los datos cuyo tratamiento está limitado solo pueden tratarse con su consentimiento, para la formulación, el ejercicio o la defensa de reclamaciones, para proteger los derechos de otra persona física o jurídica, o por razones de interés público importante de la Unión o de un Estado miembro (art. 18.2 del {gdpr}).',
          'Antes de que se levante la limitación, debe informársele de ello (art. 18.3 del {gdpr}).',
          'Puede preguntarnos a qué destinatarios de sus datos se ha informado (art. 19 del {gdpr}).',
        ],
        'withdraw-consent': [
          'La retirada no afecta a la licitud del tratamiento anterior a ella (art. 7.3 del {gdpr}).',
        ],
      },
      proof:
        'Conservamos la prueba de que usted dio, denegó o retiró un consentimiento, porque debemos poder presentarla y para la formulación, el ejercicio o la defensa de reclamaciones (art. 17.3, letras b) y e), del {gdpr}).',
      rights: [
        'Puede pedirnos que rectifiquemos o suprimamos sus datos personales o que limitemos su tratamiento (arts. 16, 17 y 18 del {gdpr}).',
        'Puede oponerse al tratamiento basado en una misión de interés público o en intereses legítimos (art. 21 del {gdpr}).',
        'Puede retirar su consentimiento en cualquier momento. Ello no afecta a la licitud del tratamiento anterior a la retirada (art. 7.3 del {gdpr}).',
        'Puede recibir los datos que nos facilitó en un formato de lectura mecánica (art. 20 del {gdpr}).',
      ],
      notice: 'Les informamos de ello en virtud del art. 19 del {gdpr}.',
    },
    uk: {
      extension:
        'Podemos prorrogar el plazo cuando la complejidad de sus solicitudes o su número lo hagan necesario (art. 12A.3 del {gdpr}).',
      notes: {
        restriction: [
          'Aparte de su conservación, los datos cuyo tratamiento está limitado solo pueden tratarse con su consentimiento, para la formulación, el ejercicio o la defensa de reclamaciones, para proteger los derechos de otra persona física o jurídica, o por razones de interés público importante (art. 18.2 del {gdpr}).',
          'Antes de que se levante la limitación, debe informársele de ello (art. 18.3 del {gdpr}).',
          'Puede preguntarnos a qué destinatarios de sus datos se ha informado (art. 19 del {gdpr}).',
        ],
      },
    },
    similar: {
      rights: [
        'Puede pedirnos que rectifiquemos o suprimamos sus datos personales o que limitemos su tratamiento.',
        'Puede oponerse al tratamiento basado en una misión de interés público o en intereses legítimos.',
        'Puede retirar su consentimiento en cualquier momento. Ello no afecta a la licitud del tratamiento anterior a la retirada.',
        'Puede recibir los datos que nos facilitó en un formato de lectura mecánica.',
      ],
    },
    swiss: {
      rights: [
        'Puede pedirnos que rectifiquemos sus datos personales (art. 32.1 de la FADP).',
        'Puede prohibirnos expresamente que tratemos sus datos personales (art. 30.2, letra b, de la FADP).',
        'Puede pedir a un tribunal que prohíba un tratamiento determinado o la comunicación de datos a terceros, o que ordene suprimir o destruir los datos (art. 32.2 de la FADP).',
        'Puede recibir los datos que nos facilitó en un formato electrónico habitual (art. 28 de la FADP).',
      ],
    },
    california: {
      acknowledgement: {
        checked: [
          'La ley nos obliga a verificar su identidad antes de comunicar, corregir o eliminar información personal, si es posible comparando los datos que usted nos facilita con los que tenemos (11 CCR § 7060). Si no bastan, podemos pedirle más.',
        ],
        unchecked: ['Para esta solicitud no tiene que verificar su identidad.'],
      },
      identity:
        'La ley nos exige verificar su identidad antes de atender esta solicitud (11 CCR § 7060). La verificación no prorroga el plazo de nuestra respuesta. Lo que le pedimos:',
      extension:
        'La ley nos concede un máximo de 90 días naturales en total desde el día en que recibimos su solicitud (11 CCR § 7021).',
      access: 'Sí, hemos recopilado información personal sobre usted (Cal. Civ. Code § 1798.110).',
      portability:
        'Con esta carta recibe sus registros de consentimiento en un formato portable y fácil de usar (Cal. Civ. Code § 1798.130).',
      notes: {
        erasure: ['Conservamos constancia de esta solicitud, como exige la ley (11 CCR § 7101).'],
        'opt-out': [
          'Para ello no ha tenido que verificar su identidad. La ley no nos permite pedirle que revoque esta elección durante al menos 12 meses.',
        ],
        limit: [
          'Para ello no ha tenido que verificar su identidad. La ley no nos permite pedirle que revoque esta elección durante al menos 12 meses.',
        ],
      },
      proof:
        'Conservamos la prueba de que usted dio, denegó o retiró un consentimiento, como permite la ley (Cal. Civ. Code § 1798.105(d)).',
      rights: [
        'Puede pedirnos que eliminemos o corrijamos la información personal que hemos recopilado sobre usted.',
        'Puede oponerse a que vendamos o compartamos su información personal y limitar el uso de la información personal sensible. Para ello no tiene que verificar su identidad.',
        'La ley nos prohíbe tratarle peor por ejercer estos derechos.',
      ],
      notice: 'Les informamos de ello porque la ley de California nos obliga a avisar a quienes recibieron los datos.',
    },
    us: {
      identity:
        'Cuando una solicitud no puede autenticarse con esfuerzos comercialmente razonables, la ley nos permite pedir información adicional. Lo que le pedimos:',
      extension: 'La ley permite una única prórroga de este tipo cuando sea razonablemente necesaria.',
      rights: [
        'La ley le concede otros derechos sobre sus datos personales, como el de suprimirlos y el de oponerse a su venta. Díganos si desea ejercerlos.',
        'La ley nos prohíbe tratarle peor por ejercer estos derechos.',
      ],
    },
    brazil: {
      identity: 'Solo podemos responder a la persona interesada o a su representante. Lo que le pedimos:',
      access: 'Sí, tratamos datos personales sobre usted (LGPD, arts. 18 y 19).',
      portability:
        'Con esta carta recibe sus registros de consentimiento en un formato de lectura mecánica (LGPD, art. 18, V).',
      notes: {
        'withdraw-consent': ['La retirada no afecta al tratamiento anterior a ella (LGPD, art. 8, § 5).'],
      },
      proof:
        'Conservamos la prueba de que usted dio, denegó o retiró un consentimiento para cumplir una obligación legal (LGPD, art. 16, I).',
      rights: [
        'Puede pedir la confirmación, el acceso, la corrección, la anonimización, la portabilidad y la supresión, y retirar su consentimiento (LGPD, art. 18).',
      ],
      notice: 'Les informamos de ello en virtud de la LGPD, art. 18, § 6.',
    },
    general: {
      acknowledgement: { checked: [], unchecked: [] },
      identity: 'Solo podemos comunicar o modificar datos personales si sabemos quién lo pide. Lo que le pedimos:',
      access: 'Sí, tratamos datos personales sobre usted.',
      portability: 'Con esta carta recibe sus registros de consentimiento en un formato de lectura mecánica.',
      noMatch: 'No podemos asociarle con ningún registro de consentimiento.',
      notes: {
        erasure: ['Conservamos constancia de esta solicitud.'],
      },
      proof: 'Conservamos la prueba de que usted dio, denegó o retiró un consentimiento.',
      rights: ['Puede pedirnos que corrijamos sus datos personales.', 'Puede retirar un consentimiento que haya dado.'],
      notice: 'Les informamos de ello porque recibieron datos de nosotros.',
    },
  },
  remedies: {
    eu: [
      'Puede presentar una reclamación ante una autoridad de control, en particular en el Estado miembro en que resida o trabaje o en que considere que se ha producido la infracción (art. 77 del RGPD).',
      'También tiene derecho a la tutela judicial efectiva (art. 79 del RGPD).',
    ],
    uk: [
      'Puede presentarnos una reclamación (Data Protection Act 2018, s. 164A): escriba a {contact}.',
      'Puede presentar una reclamación ante el Information Commissioner (Data Protection Act 2018, s. 165): {authority}',
      'También puede acudir a los tribunales (art. 79 del UK GDPR).',
    ],
    california: ['Puede presentar una reclamación ante estas autoridades: {authority}'],
    quebec: [
      'En los 30 días siguientes a esta respuesta puede solicitar su revisión a la siguiente autoridad: {authority}',
    ],
    authority: ['Puede presentar una reclamación ante la siguiente autoridad: {authority}'],
    authorityAndCourt: [
      'Puede presentar una reclamación ante la siguiente autoridad: {authority}',
      'También puede acudir a los tribunales.',
    ],
    unnamed: ['Puede presentar una reclamación ante la autoridad responsable de la protección de datos.'],
  },
  packFiles: { letter: 'carta', history: 'historial', policyTexts: 'textos-de-politicas' },
  handOver: {
    title: 'Nuestra respuesta a su solicitud',
    enterCode: 'Introduzca el código de 8 cifras que le hemos enviado por separado de este enlace.',
    code: 'Código',
    open: 'Abrir',
    wrongCode: 'Este código no es correcto. Intentos restantes: {left}.',
    invalidTitle: 'Este enlace no abre nada',
    invalid: 'Está incompleto, ha caducado o se ha retirado. Pida uno nuevo a quien se lo envió.',
    until: 'Puede abrir esta página hasta el {until}.',
    received: 'Recibida el {received}: {kind}',
    contents: 'Qué recibe',
    letter: '{file}: nuestra respuesta a su solicitud',
    proofs: 'verify.html, verify.mjs y proofs: con ellos puede comprobar que no se ha modificado nada',
    download: 'Descargar como archivo ZIP ({size})',
    files: 'Otros archivos',
    fileChecksum: 'Suma de comprobación SHA-256:',
    check: 'Cómo comprobar el archivo',
    checksum: 'Suma de comprobación SHA-256 del archivo ZIP:',
    checkSteps: [
      'Descomprima el archivo ZIP y abra verify.html en un navegador. No hace falta conexión a internet.',
      'Elija allí el archivo ZIP que ha descargado. La página comprueba cada registro que contiene.',
      'Introduzca allí también la clave publicada en {key}: demuestra que los registros proceden de nosotros.',
    ],
    write: 'Preguntas y objeciones',
    writeLead:
      '¿Hay algo que no esté claro, que falte o que sea incorrecto? Su mensaje llegará a las personas que tramitan su solicitud.',
    question: 'Tengo una pregunta',
    objection: 'No estoy de acuerdo con esta respuesta',
    message: 'Su mensaje',
    send: 'Enviar',
    sent: 'Hemos recibido su mensaje el {at}.',
    empty: 'Escriba primero un mensaje de 4000 caracteres como máximo.',
    tooMany: 'No se pueden enviar más mensajes desde aquí. Póngase en contacto directamente con nosotros.',
    leave: 'Cerrar esta página',
    formExpired: 'El formulario había caducado y no se ha enviado. Inténtelo de nuevo.',
    wait: 'Demasiadas solicitudes. Espere un minuto e inténtelo de nuevo.',
    unavailable: 'Esta página no está disponible en este momento. Inténtelo de nuevo dentro de unos minutos.',
    languages: 'Idioma',
  },
  messages: {
    replied: 'Respuesta de {controller} del {at}',
    answering: 'Respondo a su mensaje',
    mailTitle: 'Respuesta a su mensaje',
    mailLead:
      '{controller} ha respondido a su mensaje sobre su solicitud. Para proteger sus datos, la respuesta no figura en este correo electrónico.',
    mailLink:
      'Para leerla y contestar, abra el enlace que le enviamos e introduzca el código. El enlace es válido hasta el {until}.',
    mailNoLink:
      'El enlace que le enviamos ya no se puede abrir. Póngase en contacto con nosotros para pedir uno nuevo.',
  },
  task: {
    title: 'Una tarea para usted',
    lead: '{controller} le pide que haga lo siguiente para una solicitud sobre datos personales.',
    due: 'Hágalo, por favor, a más tardar el {due}.',
    outcome: '¿Cuál ha sido el resultado?',
    done: 'Está hecho',
    notDone: 'No se ha hecho',
    note: 'Nota',
    noteHint: 'Indique qué ha hecho o por qué no se ha hecho. No incluya datos personales.',
    noteMissing: 'Indique en un máximo de 2000 caracteres por qué no se ha hecho.',
    reportedDone: 'Gracias. Comunicó el {at} que está hecho.',
    reportedNotDone: 'Comunicó el {at} que no se ha hecho. Si ya se ha hecho, comuníquelo aquí.',
    mailLink: 'Comunique aquí el resultado. No necesita una cuenta; el enlace es válido hasta el {until}:',
  },
  requestForm: {
    title: 'Sus datos personales: envíenos una solicitud',
    lead: 'Utilice este formulario para ejercer sus derechos sobre sus datos personales.',
    kind: '¿Qué desea?',
    kinds: {
      access: 'Saber qué datos tienen sobre mí',
      portability: 'Recibir una copia de mis datos que otros servicios puedan leer',
      erasure: 'Que se supriman mis datos',
      rectification: 'Que se rectifiquen mis datos',
      restriction: 'Que se limite el uso de mis datos',
      objection: 'Oponerme al uso de mis datos',
      'opt-out': 'Rechazar la venta y la cesión de mis datos',
      limit: 'Limitar el uso de mis datos sensibles',
      'withdraw-consent': 'Retirar mi consentimiento',
      unknown: 'Otro asunto sobre mis datos',
    },
    name: 'Su nombre',
    email: 'Su correo electrónico',
    emailHint: 'Enviamos una confirmación y un código a esta dirección.',
    place: 'Dónde reside',
    placeHint: 'De ello depende qué ley se aplica.',
    placeOpen: 'Prefiero no decirlo',
    message: 'Su mensaje',
    messageHint: 'Por ejemplo, de qué se trata exactamente. Si escribe en nombre de otra persona, indique de quién.',
    subject: 'Identificador de consentimiento',
    subjectHint: 'Si nuestro sitio web le muestra uno.',
    optional: 'opcional',
    use: 'Utilizamos estos datos para tramitar su solicitud y los conservamos como prueba de ello.',
    send: 'Enviar la solicitud',
    trap: 'Deje este campo vacío',
    wrong: {
      kind: 'Elija lo que desea.',
      name: 'Escriba su nombre (300 caracteres como máximo).',
      email: 'Escriba un correo electrónico, por ejemplo nombre@example.com.',
      place: 'Elija un lugar de la lista.',
      message: 'Su mensaje puede tener 4.000 caracteres como máximo.',
      subject: 'El identificador de consentimiento puede tener 300 caracteres como máximo.',
    },
    again: 'El formulario no se ha podido enviar todavía. Revíselo y envíelo de nuevo.',
    tooMany:
      'En este momento recibimos demasiadas solicitudes. Inténtelo de nuevo dentro de una hora o escríbanos directamente.',
    receivedTitle: 'Hemos recibido su solicitud',
    received: 'Recibida el {at}. Referencia: {reference}',
    keep: 'Conserve esta referencia.',
    codeLead:
      'Enviamos un código al correo electrónico que ha indicado. Introdúzcalo aquí para confirmar que la dirección es suya: así quizá tengamos que preguntarle menos después. El código es válido hasta el {until}.',
    noMail: 'Su solicitud se tramita tanto si introduce el código como si no.',
    confirm: 'Confirmar',
    confirmed: 'Gracias: su correo electrónico está confirmado. No tiene que hacer nada más por ahora.',
    locked: 'Ya no se pueden introducir códigos aquí. Su solicitud se tramita igualmente.',
    closed: 'Su solicitud está resuelta.',
    mailCode:
      'Su código para confirmar este correo electrónico: {code} (válido hasta el {until}). Introdúzcalo en la página en la que envió la solicitud:',
  },
  appealTo:
    'Puede recurrir esta decisión en un plazo razonable: escriba a {contact}, con la palabra «Appeal» y nuestra referencia {reference}. Debemos comunicarle por escrito nuestra decisión y sus motivos en un plazo de {days} días desde la recepción del recurso. Si el recurso se desestima, puede presentar una reclamación ante la siguiente autoridad: {authority}',
  authorityIs: 'Nuestra autoridad de control: {authority}',
  proposals: {
    identity: [
      '[Por qué duda de quién hace la solicitud.]\n\nResponda desde la dirección de correo electrónico que tenemos registrada, o indíquenos [algo que solo esa persona pueda saber].',
      'Envíenos una autorización, firmada por la persona interesada, que permita presentar esta solicitud en su nombre.',
    ],
    clarification: [
      'Indíquenos [a qué datos, período o servicio nuestro se refiere su solicitud].',
      'Indíquenos [qué debe rectificarse y qué sería lo correcto].',
    ],
    extension: [
      'Su solicitud es compleja: [explique por qué].',
      'Tenemos que examinar varias solicitudes suyas: [indique cuáles].',
    ],
    partial: [
      'Hemos hecho lo siguiente:\n- [lo que ha hecho]\n\nNo hemos hecho lo siguiente:\n- [lo que no ha hecho, por qué, y el artículo que lo permite]',
    ],
    refusal: [
      '[Sus motivos.]\n\nBase jurídica de la denegación: [artículo]',
      'No hemos podido confirmar su identidad: [lo que pidió y lo que faltaba]. Por ello no podemos comunicar ni modificar datos.',
    ],
    notice: ['- [qué datos, con qué identificador, para que el destinatario pueda encontrarlos]'],
    appeal: [
      'Hemos cambiado nuestra decisión: [lo que ha hecho ahora].',
      'Mantenemos nuestra decisión: [sus motivos].',
    ],
    know: [
      'En los 12 meses anteriores a su solicitud:\n- hemos recopilado estas categorías de datos personales sobre usted: [categorías]\n- hemos vendido o compartido: [cada categoría, con qué categorías de terceros y con qué fin; o que no hemos vendido ni compartido ninguna]\n- hemos comunicado con fines comerciales: [cada categoría, a qué categorías de destinatarios y con qué fin; o que no hemos comunicado ninguna]\n- tenemos además, pero no podemos revelar: [el tipo de dato, como su número de Seguro Social; o nada de este tipo]',
    ],
    criteria: ['Criterios utilizados en el tratamiento de sus datos: [criterios]'],
    answer: {
      erasure: ['Hemos suprimido los siguientes datos personales sobre usted:\n- [qué datos, en qué sistema]'],
      rectification: ['Hemos rectificado lo siguiente:\n- [lo que constaba] por [lo que consta ahora]'],
      restriction: ['Hemos limitado el tratamiento de los siguientes datos:\n- [qué datos]'],
      objection: [
        'Desde el [fecha] ya no tratamos sus datos personales para este fin: [fin].',
        'Desde el [fecha] ya no usamos sus datos personales para mercadotecnia directa.',
      ],
      'opt-out': [
        'Hemos atendido su solicitud: desde el [fecha] ya no vendemos sus datos personales ni los compartimos para publicidad en distintos sitios web.',
        '[Si es así:] No vendemos datos personales ni los compartimos para publicidad en distintos sitios web. Aun así, hemos registrado su solicitud.',
      ],
      limit: [
        'Hemos atendido su solicitud: desde el [fecha] usamos sus datos personales sensibles solo para lo necesario para prestar nuestros servicios y para los demás fines que la ley permite.',
      ],
      'withdraw-consent': [
        'Hemos registrado que retiró su consentimiento. Desde el [fecha] ya no tratamos datos personales sobre esa base.',
      ],
      unknown: ['[Lo que ha hecho.]'],
    },
    unmatched: {
      objection: ['Hemos registrado su oposición. [Lo que ha hecho al respecto, y dónde.]'],
      'opt-out': ['Hemos registrado su solicitud. [Lo que ha hecho al respecto, y dónde.]'],
      limit: ['Hemos registrado su solicitud. [Lo que ha hecho al respecto, y dónde.]'],
      'withdraw-consent': ['Hemos registrado que retiró su consentimiento. [Lo que ha hecho al respecto, y dónde.]'],
    },
  },
};
