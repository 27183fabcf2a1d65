import type { LetterTexts } from '../texts.ts';

/** Polski. */
export const pl: LetterTexts = {
  name: 'Polski',
  locale: 'pl-PL',
  lawNames: {
    'eu-gdpr': {
      name: 'ogólne rozporządzenie o ochronie danych, rozporządzenie (UE) 2016/679 (RODO)',
      short: 'RODO',
    },
    'uk-gdpr': {
      name: 'ogólne rozporządzenie o ochronie danych Zjednoczonego Królestwa (UK GDPR)',
      short: 'UK GDPR',
    },
  },
  frame: {
    reference: 'Nasz znak: {reference}',
    theirReference: 'Państwa znak: {reference}',
    applicableLaw: 'Prawo właściwe: {law}',
    unnamedRecipient: 'Do osoby, która złożyła wniosek',
    dearNamed: 'Szanowni Państwo,',
    dearUnnamed: 'Szanowni Państwo,',
    closingNamed: 'Z poważaniem',
    closingUnnamed: 'Z poważaniem',
    page: 'Strona {page} z {pages}',
    document: 'Dokument {document}',
    attached: 'Nasze pismo znajduje się w załączniku do tej wiadomości.',
    draft: 'PROJEKT',
    stillToWrite: 'Do napisania lub uzupełnienia przed wysłaniem tego pisma',
    dataProtectionOfficer: 'Inspektor ochrony danych: {contact}',
    jointContact: 'Punkt kontaktowy współadministratorów: {contact}',
    questions: 'W razie pytań prosimy o kontakt: {contact}, z podaniem naszego znaku {reference}.',
    agentFor:
      'Działają Państwo w imieniu: {represented}. W tym piśmie zwroty „Państwo” i „Państwa” odnoszą się do tej osoby ({represented}).',
    agentForUnnamed:
      'Działają Państwo w imieniu innej osoby. W tym piśmie zwroty „Państwo” i „Państwa” odnoszą się do tej osoby.',
    late: 'Ta odpowiedź jest spóźniona: termin upłynął {limit}. Przepraszamy za opóźnienie.',
  },
  titles: {
    acknowledgement: 'Otrzymaliśmy Państwa wniosek',
    identity: 'Musimy potwierdzić Państwa tożsamość',
    clarification: 'Pytanie dotyczące Państwa wniosku',
    extension: 'Potrzebujemy więcej czasu na Państwa wniosek',
    answer: 'Odpowiedź na Państwa wniosek z {received}',
    partial: 'Odpowiedź na Państwa wniosek z {received}: uwzględniony w części',
    refusal: 'Odpowiedź na Państwa wniosek z {received}: odmowa',
    'no-match': 'Odpowiedź na Państwa wniosek z {received}',
    notice: 'Powiadomienie odbiorców danych osobowych: {kind}',
    appeal: 'Decyzja w sprawie Państwa odwołania',
  },
  kinds: {
    access: {
      name: 'dostęp do danych osobowych',
      opening: '{received} zwrócili się Państwo do nas o dostęp do swoich danych osobowych.',
    },
    portability: {
      name: 'przenoszenie danych osobowych',
      opening:
        '{received} zwrócili się Państwo do nas o kopię swoich danych osobowych w formacie nadającym się do odczytu maszynowego.',
    },
    erasure: {
      name: 'usunięcie danych osobowych',
      opening: '{received} zwrócili się Państwo do nas o usunięcie swoich danych osobowych.',
    },
    rectification: {
      name: 'sprostowanie danych osobowych',
      opening: '{received} zwrócili się Państwo do nas o sprostowanie swoich danych osobowych.',
    },
    restriction: {
      name: 'ograniczenie przetwarzania',
      opening: '{received} zwrócili się Państwo do nas o ograniczenie przetwarzania swoich danych osobowych.',
    },
    objection: {
      name: 'sprzeciw wobec przetwarzania',
      opening: '{received} wnieśli Państwo sprzeciw wobec przetwarzania swoich danych osobowych.',
    },
    'opt-out': {
      name: 'sprzeciw wobec sprzedaży i udostępniania danych osobowych',
      opening: '{received} sprzeciwili się Państwo sprzedaży i udostępnianiu swoich danych osobowych.',
    },
    limit: {
      name: 'ograniczenie wykorzystywania wrażliwych danych osobowych',
      opening:
        '{received} zwrócili się Państwo do nas o ograniczenie wykorzystywania swoich wrażliwych danych osobowych.',
    },
    'withdraw-consent': {
      name: 'wycofanie zgody',
      opening: '{received} wycofali Państwo swoją zgodę.',
    },
    unknown: {
      name: 'wniosek dotyczący danych osobowych',
      opening: '{received} przesłali nam Państwo wniosek dotyczący swoich danych osobowych.',
    },
  },
  openingOfAgent: '{received} przesłali nam Państwo wniosek w imieniu innej osoby ({kind}).',
  acknowledgement: {
    received: 'Niniejszym potwierdzamy otrzymanie Państwa wniosku.',
    due: 'Termin naszej odpowiedzi upływa {limit}.',
    notYou: 'Jeżeli to nie Państwo złożyli ten wniosek, prosimy o informację.',
  },
  identity: {
    lead: 'Zanim zajmiemy się Państwa wnioskiem, musimy potwierdzić, że pochodzi on od Państwa lub od osoby uprawnionej do działania w Państwa imieniu.',
    use: 'Prosimy nie wysyłać oryginałów i zakryć na kopiach wszystko, o co nie prosiliśmy. Odnotowujemy, w jaki sposób potwierdzono tożsamość.',
    reply: 'Prosimy o odpowiedź na adres: {contact}, z podaniem naszego znaku {reference}.',
    clockStarts: 'Termin naszej odpowiedzi biegnie od dnia, w którym otrzymamy to, o co tu prosimy.',
  },
  clarification: {
    lead: 'Aby właściwie odpowiedzieć na Państwa wniosek, musimy wiedzieć więcej o tym, czego on dotyczy:',
    clockStops: 'Bieg terminu na naszą odpowiedź jest zawieszony od dziś do czasu otrzymania Państwa odpowiedzi.',
    reply: 'Prosimy o odpowiedź na adres: {contact}, z podaniem naszego znaku {reference}.',
    noReply: 'Bez Państwa odpowiedzi możemy opierać się tylko na tym, co wiemy.',
  },
  extension: {
    lead: 'Nie możemy udzielić pełnej odpowiedzi w terminie, który upływa {firstLimit}. Powód jest następujący:',
    newLimit: 'Nowy termin naszej odpowiedzi upływa {limit}.',
    complaint: 'Na to przedłużenie mogą Państwo wnieść skargę do następującego organu: {authority}',
  },
  answer: {
    records:
      'Zapisy zgód, które mogliśmy powiązać z Państwem, obejmują okres od {from} do {to}; liczba decyzji: {count}. Znaleźliśmy je na podstawie {found}.',
    recordsOfOneDay:
      'Zapisy zgód, które mogliśmy powiązać z Państwem, pochodzą z {from}; liczba decyzji: {count}. Znaleźliśmy je na podstawie {found}.',
    foundFromDevice: 'identyfikatora użytkownika, który przesłali nam Państwo ze swojego urządzenia',
    foundComputed: 'identyfikatora obliczonego na podstawie podanego nam adresu e-mail',
    identityChecked: 'Przed ujawnieniem jakichkolwiek danych potwierdziliśmy Państwa tożsamość.',
    enclosed: 'Kopia wszystkich tych zapisów znajduje się w załączeniu:',
    files: {
      history: '{file}: Państwa decyzje, do odczytania w dowolnej przeglądarce',
      decisions: 'decisions.csv i decisions.json: to samo dla arkusza kalkulacyjnego lub programu',
      policies: 'policies.json: polityki obowiązujące w danym czasie',
      policyTexts: '{file}: teksty tych polityk w postaci, w jakiej je pobraliśmy',
      evidence: 'banner-evidence: co w danym czasie pokazywał baner zgody',
      records27560: 'records-27560.json: to samo w postaci zapisów zgód według ISO/IEC TS 27560',
      about: 'case.json, README.txt i manifest.json: Państwa wniosek oraz lista wszystkich plików z sumami kontrolnymi',
      records: 'records.jsonl: zapisy dokładnie w postaci, w jakiej je otrzymaliśmy',
    },
    verify:
      'Mogą Państwo samodzielnie sprawdzić, że zapisy te nie zostały zmienione: proszę otworzyć załączony plik verify.html w przeglądarce i wybrać plik, który Państwo od nas otrzymali; połączenie z internetem nie jest potrzebne. Każdy zapis jest porównywany z naszym podpisanym dziennikiem, którego ostatni punkt kontrolny przed tym pismem obejmuje następującą liczbę wpisów: {entries}. Prosimy porównać klucz tego dziennika z kluczem, który otrzymali Państwo od nas inną drogą:',
    unverified:
      'Państwa tożsamość nie została potwierdzona. W celu ochrony osoby, której dane dotyczą, nie ujawniamy poszczególnych zapisów. Odpowiadamy zatem tylko ogólnie.',
    categories: 'Ta odpowiedź opisuje ogólnie, jak przetwarzamy dane osobowe. Nie zawiera poszczególnych zapisów.',
    unmatched:
      'Na podstawie danych zawartych we wniosku nie możemy ustalić, w jakiej przeglądarce lub na jakim urządzeniu zapisano Państwa wcześniejszy wybór.',
    unmatchedHowTo:
      'Aby Państwa wybór obowiązywał również tam, prosimy powtórzyć go tam. Wycofanie zgody: {withdrawalMethod}',
    parts: 'Co zrobiliśmy',
    part: { done: 'wykonano', partly: 'wykonano w części', refused: 'odmówiono' },
    partGround: '{outcome}; powód: {ground}',
    withheld:
      'Posiadamy następujące dane na Państwa temat. Prawo nie pozwala nam ich ujawnić, dlatego w kopii je pominęliśmy ({source}): {types}.',
    withheldTypes: {
      socialSecurity: 'numer w postaci amerykańskiego numeru ubezpieczenia społecznego',
      longNumber: 'długi numer, który może być numerem rachunku, karty płatniczej lub dokumentu tożsamości',
    },
    neverDisclosed:
      'Niezależnie od tego, czy takie dane istnieją, prawo zabrania ujawniania w odpowiedzi numerów ubezpieczenia społecznego, prawa jazdy i innych urzędowych numerów identyfikacyjnych, numerów rachunków finansowych, numerów ubezpieczenia zdrowotnego i identyfikatorów medycznych, haseł, pytań i odpowiedzi zabezpieczających oraz danych biometrycznych ({source}).',
    proofPeriod:
      'Ustalony okres jego przechowywania to {period}, licząc od Państwa ostatniej decyzji lub, jeśli nastąpi to później, od wygaśnięcia zgody.',
  },
  partial: {
    lead: 'Uwzględniliśmy część Państwa wniosku. Co zrobiliśmy, czego nie zrobiliśmy i dlaczego:',
  },
  refusal: {
    lead: 'Rozpatrzyliśmy Państwa wniosek i nie możemy go uwzględnić. Nasze powody:',
    ground: 'Podstawa prawna odmowy: {ground}',
    healthStatement:
      'Jeżeli dane dotyczą Państwa zdrowia, mogą Państwo przesłać nam pisemne oświadczenie o długości do 250 słów w sprawie każdej informacji, którą uważają Państwo za nieprawidłową, i zażądać dołączenia go do swoich danych (11 CCR § 7023).',
    optOut:
      'Mają Państwo prawo zakazać nam sprzedaży i udostępniania Państwa danych osobowych. Jeżeli chcą Państwo z niego skorzystać, prosimy napisać na adres {contact}, z podaniem naszego znaku {reference}; nie muszą Państwo wykazywać swojej tożsamości (11 CCR §§ 7013, 7022(g)).',
  },
  noMatch: {
    why: 'Zapisy zgód wyszukujemy według identyfikatora użytkownika, a nie według nazwiska. Treść Państwa wniosku nie pozwala nam ustalić, które z nich, jeśli w ogóle, dotyczą Państwa.',
    notNone: 'Nie oznacza to, że takich zapisów nie ma.',
    help: 'Mogą Państwo pomóc nam je znaleźć:',
    steps: [
      'Proszę otworzyć naszą stronę internetową na urządzeniu i w przeglądarce, w których dokonali Państwo wyboru, i skopiować identyfikator użytkownika zapisany tam przez baner zgody (w jego pliku cookie lub w jego ustawieniach).',
      'Proszę wskazać, na jakiej stronie internetowej i mniej więcej kiedy dokonali Państwo wyboru lub go zmienili.',
      'Proszę przesłać jedno i drugie na adres: {contact}, z podaniem naszego znaku {reference}. Wtedy będziemy mogli wyszukać ponownie.',
    ],
  },
  notice: {
    dear: 'Szanowni Państwo,',
    lead: 'ujawniliśmy Państwu dane osobowe. Osoba, której dane dotyczą, złożyła u nas wniosek ({kind}).',
    done: 'Uwzględniliśmy go w odniesieniu do następujących danych:',
    ask: 'Prosimy o podjęcie odpowiednich działań we własnych systemach i przesłanie nam potwierdzenia na adres: {contact}, z podaniem naszego znaku {reference}.',
  },
  appeal: {
    lead: 'Odwołali się Państwo od naszej decyzji w sprawie wniosku z {received}. Rozpatrzyliśmy ją ponownie. Nasza decyzja i jej powody:',
    complaint:
      'Jeżeli nie zgadzają się Państwo z tą decyzją, mogą Państwo wnieść skargę do następującego organu: {authority}',
  },
  processing: {
    heading: 'Jak przetwarzamy dane osobowe',
    purposes: 'Cele',
    purpose: '{purpose} (przechowywanie: {retention})',
    purposeWithBasis: '{purpose} (podstawa prawna: {basis}; przechowywanie: {retention})',
    dataCategories: 'Kategorie danych',
    recipients: 'Odbiorcy',
    dataSources: 'Źródła danych',
    transfers: 'Przekazywanie do państw trzecich',
    noTransfers: 'brak',
    automatedDecisions: 'Zautomatyzowane decyzje',
    withdrawalMethod: 'Wycofanie zgody',
    notStated: 'Nie podano w tej odpowiedzi: {parts}',
    soldOrShared:
      'jakie kategorie danych sprzedaliśmy, udostępniliśmy lub ujawniliśmy w celach biznesowych w ciągu 12 miesięcy przed Państwa wnioskiem, jakim osobom trzecim i w jakich celach',
    parts: {
      address: 'adres pocztowy',
      email: 'kontaktowy adres e-mail',
      country: 'państwo siedziby',
      purposes: 'cele, podstawy prawne i okresy przechowywania',
      dataCategories: 'kategorie danych',
      dataSources: 'źródła danych',
      recipients: 'odbiorcy',
      transfers: 'przekazywanie do państw trzecich i zabezpieczenia',
      automatedDecisions: 'zautomatyzowane decyzje',
      supervisoryAuthority: 'organ nadzorczy',
      withdrawalMethod: 'sposób wycofania zgody',
      controller: 'administrator',
      jointContact: 'punkt kontaktowy współadministratorów',
    },
    criteria: 'kryteria stosowane przy przetwarzaniu (LGPD, art. 19, II)',
  },
  scope: {
    heading: 'Co obejmuje ta odpowiedź',
    consentOnly: 'Ta odpowiedź obejmuje zapisy zgód i polityk.',
    otherSystems: 'Nasze pozostałe systemy:',
    results: {
      'nothing-found': 'przeszukano, niczego nie znaleziono',
      found: 'przeszukano, znaleziono dane',
      attached: 'przeszukano, znalezione dane załączono oddzielnie',
      searched: 'przeszukano',
      'not-applicable': 'bez znaczenia dla tego wniosku',
      open: 'jeszcze nie przeszukano',
    },
    others: 'Nie obejmuje innych systemów.',
    searched: 'Na potrzeby tej odpowiedzi przeszukaliśmy nasze zapisy zgód.',
    notSearched: 'Państwa wniosek nie zawiera niczego, według czego moglibyśmy przeszukać nasze zapisy zgód.',
  },
  rights: { heading: 'Państwa prawa', remedies: 'Co mogą Państwo zrobić' },
  families: {
    gdpr: {
      identity:
        'Jeżeli mamy uzasadnione wątpliwości co do tożsamości osoby składającej wniosek, możemy zażądać dodatkowych informacji (art. 12 ust. 6 {gdpr}). Nasz powód i to, o co prosimy:',
      extension:
        'Termin możemy przedłużyć, gdy wymaga tego skomplikowany charakter i liczba żądań (art. 12 ust. 3 {gdpr}).',
      access: 'Tak, przetwarzamy dane osobowe, które Państwa dotyczą (art. 15 {gdpr}).',
      portability:
        'Wraz z tym pismem otrzymują Państwo zapisy swoich zgód w formacie nadającym się do odczytu maszynowego (art. 20 {gdpr}).',
      noMatch: 'Nie możemy powiązać Państwa z żadnym zapisem zgody (art. 11 ust. 2 {gdpr}).',
      notes: {
        erasure: ['Mogą Państwo zapytać nas, których odbiorców Państwa danych poinformowano (art. 19 {gdpr}).'],
        rectification: ['Mogą Państwo zapytać nas, których odbiorców Państwa danych poinformowano (art. 19 {gdpr}).'],
        restriction: [
          'Poza przechowywaniem dane objęte ograniczeniem można przetwarzać wyłącznie za Państwa zgodą, w celu ustalenia, dochodzenia lub obrony roszczeń, w celu ochrony praw innej osoby fizycznej lub prawnej lub z uwagi na ważne względy interesu publicznego Unii lub państwa członkowskiego (art. 18 ust. 2 {gdpr}).',
          'Przed uchyleniem ograniczenia muszą Państwo zostać o tym poinformowani (art. 18 ust. 3 {gdpr}).',
          'Mogą Państwo zapytać nas, których odbiorców Państwa danych poinformowano (art. 19 {gdpr}).',
        ],
        'withdraw-consent': [
          'Wycofanie nie wpływa na zgodność z prawem wcześniejszego przetwarzania (art. 7 ust. 3 {gdpr}).',
        ],
      },
      proof:
        'Zachowujemy dowód, że udzielili Państwo zgody, odmówili jej lub ją wycofali, ponieważ musimy móc go przedstawić, oraz na potrzeby roszczeń (art. 17 ust. 3 lit. b) i e) {gdpr}).',
      rights: [
        'Mogą Państwo żądać sprostowania lub usunięcia swoich danych osobowych albo ograniczenia ich przetwarzania (art. 16, 17 i 18 {gdpr}).',
        'Mogą Państwo wnieść sprzeciw wobec przetwarzania opartego na wykonywaniu zadania w interesie publicznym lub na prawnie uzasadnionych interesach (art. 21 {gdpr}).',
        'Mogą Państwo w każdej chwili wycofać zgodę. Nie wpływa to na zgodność z prawem przetwarzania przed jej wycofaniem (art. 7 ust. 3 {gdpr}).',
        'Mogą Państwo otrzymać dane, które nam Państwo dostarczyli, w formacie nadającym się do odczytu maszynowego (art. 20 {gdpr}).',
      ],
      notice: 'Informujemy o tym na podstawie art. 19 {gdpr}.',
    },
    uk: {
      extension:
        'Termin możemy przedłużyć, gdy wymaga tego skomplikowany charakter Państwa żądań lub ich liczba (art. 12A ust. 3 {gdpr}).',
      notes: {
        restriction: [
          'Poza przechowywaniem dane objęte ograniczeniem można przetwarzać wyłącznie za Państwa zgodą, w celu ustalenia, dochodzenia lub obrony roszczeń, w celu ochrony praw innej osoby fizycznej lub prawnej lub z uwagi na ważne względy interesu publicznego (art. 18 ust. 2 {gdpr}).',
          'Przed uchyleniem ograniczenia muszą Państwo zostać o tym poinformowani (art. 18 ust. 3 {gdpr}).',
          'Mogą Państwo zapytać nas, których odbiorców Państwa danych poinformowano (art. 19 {gdpr}).',
        ],
      },
    },
    similar: {
      rights: [
        'Mogą Państwo żądać sprostowania lub usunięcia swoich danych osobowych albo ograniczenia ich przetwarzania.',
        'Mogą Państwo wnieść sprzeciw wobec przetwarzania opartego na wykonywaniu zadania w interesie publicznym lub na prawnie uzasadnionych interesach.',
        'Mogą Państwo w każdej chwili wycofać zgodę. Nie wpływa to na zgodność z prawem przetwarzania przed jej wycofaniem.',
        'Mogą Państwo otrzymać dane, które nam Państwo dostarczyli, w formacie nadającym się do odczytu maszynowego.',
      ],
    },
    swiss: {
      rights: [
        'Mogą Państwo żądać sprostowania swoich danych osobowych (art. 32 ust. 1 FADP).',
        'Mogą Państwo wyraźnie zakazać nam przetwarzania swoich danych osobowych (art. 30 ust. 2 lit. b FADP).',
        'Mogą Państwo żądać, aby sąd zakazał określonego przetwarzania lub ujawniania danych osobom trzecim albo nakazał usunięcie lub zniszczenie danych (art. 32 ust. 2 FADP).',
        'Mogą Państwo otrzymać dane, które nam Państwo przekazali, w powszechnie używanym formacie elektronicznym (art. 28 FADP).',
      ],
    },
    california: {
      acknowledgement: {
        checked: [
          'Prawo wymaga, abyśmy sprawdzili Państwa tożsamość, zanim ujawnimy, poprawimy lub usuniemy dane osobowe, w miarę możliwości porównując podane dane z tymi, które posiadamy (11 CCR § 7060). Jeżeli nie wystarczą, możemy poprosić o więcej.',
        ],
        unchecked: ['Do tego wniosku nie muszą Państwo wykazywać swojej tożsamości.'],
      },
      identity:
        'Prawo wymaga, abyśmy sprawdzili Państwa tożsamość przed spełnieniem tego wniosku (11 CCR § 7060). Sprawdzenie nie przedłuża terminu naszej odpowiedzi. O co prosimy:',
      extension:
        'Prawo daje nam łącznie najwyżej 90 dni kalendarzowych od dnia, w którym otrzymaliśmy Państwa wniosek (11 CCR § 7021).',
      access: 'Tak, zebraliśmy dane osobowe na Państwa temat (Cal. Civ. Code § 1798.110).',
      portability:
        'Wraz z tym pismem otrzymują Państwo zapisy swoich zgód w przenośnym, łatwym do użycia formacie (Cal. Civ. Code § 1798.130).',
      notes: {
        erasure: ['Zachowujemy zapis tego wniosku, czego wymaga prawo (11 CCR § 7101).'],
        'opt-out': [
          'Nie musieli Państwo w tym celu wykazywać swojej tożsamości. Prawo nie pozwala nam prosić Państwa o zmianę tego wyboru przez co najmniej 12 miesięcy.',
        ],
        limit: [
          'Nie musieli Państwo w tym celu wykazywać swojej tożsamości. Prawo nie pozwala nam prosić Państwa o zmianę tego wyboru przez co najmniej 12 miesięcy.',
        ],
      },
      proof:
        'Zachowujemy dowód, że udzielili Państwo zgody, odmówili jej lub ją wycofali, na co pozwala prawo (Cal. Civ. Code § 1798.105(d)).',
      rights: [
        'Mogą Państwo żądać usunięcia lub poprawienia danych osobowych, które o Państwu zebraliśmy.',
        'Mogą Państwo sprzeciwić się sprzedaży i udostępnianiu swoich danych osobowych oraz ograniczyć wykorzystywanie danych wrażliwych. Nie muszą Państwo w tym celu wykazywać swojej tożsamości.',
        'Prawo zabrania nam traktować Państwa mniej korzystnie z powodu korzystania z tych praw.',
      ],
      notice:
        'Informujemy o tym, ponieważ prawo Kalifornii zobowiązuje nas do powiadomienia tych, którzy otrzymali dane.',
    },
    us: {
      identity:
        'Jeżeli wniosku nie można uwierzytelnić mimo dołożenia uzasadnionych starań, prawo pozwala nam zażądać dodatkowych informacji. O co prosimy:',
      extension: 'Prawo dopuszcza jedno takie przedłużenie, jeżeli jest ono racjonalnie konieczne.',
      rights: [
        'Przepisy przyznają Państwu dalsze prawa dotyczące danych osobowych, takie jak prawo do ich usunięcia i prawo sprzeciwu wobec ich sprzedaży. Prosimy o informację, jeżeli chcą Państwo z nich skorzystać.',
        'Prawo zabrania nam traktować Państwa mniej korzystnie z powodu korzystania z tych praw.',
      ],
    },
    brazil: {
      identity: 'Możemy odpowiedzieć tylko osobie, której dane dotyczą, lub jej przedstawicielowi. O co prosimy:',
      access: 'Tak, przetwarzamy dane osobowe na Państwa temat (LGPD, art. 18 i 19).',
      portability:
        'Wraz z tym pismem otrzymują Państwo zapisy swoich zgód w formacie nadającym się do odczytu maszynowego (LGPD, art. 18, V).',
      notes: {
        'withdraw-consent': ['Wycofanie nie wpływa na wcześniejsze przetwarzanie (LGPD, art. 8, § 5).'],
      },
      proof:
        'Zachowujemy dowód, że udzielili Państwo zgody, odmówili jej lub ją wycofali, w celu wypełnienia obowiązku prawnego (LGPD, art. 16, I).',
      rights: [
        'Mogą Państwo żądać potwierdzenia, dostępu, poprawienia, anonimizacji, przeniesienia i usunięcia danych oraz wycofać zgodę (LGPD, art. 18).',
      ],
      notice: 'Informujemy o tym na podstawie LGPD, art. 18, § 6.',
    },
    general: {
      acknowledgement: { checked: [], unchecked: [] },
      identity: 'Dane osobowe możemy ujawnić lub zmienić tylko wtedy, gdy wiemy, kto o to prosi. O co prosimy:',
      access: 'Tak, przetwarzamy dane osobowe na Państwa temat.',
      portability:
        'Wraz z tym pismem otrzymują Państwo zapisy swoich zgód w formacie nadającym się do odczytu maszynowego.',
      noMatch: 'Nie możemy powiązać Państwa z żadnym zapisem zgody.',
      notes: {
        erasure: ['Zachowujemy zapis tego wniosku.'],
      },
      proof: 'Zachowujemy dowód, że udzielili Państwo zgody, odmówili jej lub ją wycofali.',
      rights: ['Mogą Państwo żądać poprawienia swoich danych osobowych.', 'Mogą Państwo wycofać udzieloną zgodę.'],
      notice: 'Informujemy o tym, ponieważ otrzymali Państwo od nas dane.',
    },
  },
  remedies: {
    eu: [
      'Mogą Państwo wnieść skargę do organu nadzorczego, w szczególności w państwie członkowskim zwykłego pobytu, miejsca pracy lub miejsca popełnienia domniemanego naruszenia (art. 77 RODO).',
      'Mają Państwo również prawo do skutecznego środka ochrony prawnej przed sądem (art. 79 RODO).',
    ],
    uk: [
      'Mogą Państwo złożyć skargę do nas (Data Protection Act 2018, s. 164A): prosimy pisać na adres {contact}.',
      'Mogą Państwo złożyć skargę do Information Commissioner (Data Protection Act 2018, s. 165): {authority}',
      'Mogą Państwo również zwrócić się do sądu (art. 79 UK GDPR).',
    ],
    california: ['Mogą Państwo złożyć skargę do następujących organów: {authority}'],
    quebec: [
      'W ciągu 30 dni od tej odpowiedzi mogą Państwo wystąpić o jej ponowne rozpatrzenie do następującego organu: {authority}',
    ],
    authority: ['Mogą Państwo złożyć skargę do następującego organu: {authority}'],
    authorityAndCourt: [
      'Mogą Państwo złożyć skargę do następującego organu: {authority}',
      'Mogą Państwo również zwrócić się do sądu.',
    ],
    unnamed: ['Mogą Państwo złożyć skargę do organu odpowiedzialnego za ochronę danych.'],
  },
  packFiles: { letter: 'list', history: 'historia', policyTexts: 'teksty-polityk' },
  handOver: {
    title: 'Nasza odpowiedź na złożony wniosek',
    enterCode: 'Proszę wpisać 8-cyfrowy kod, który przekazaliśmy osobno, nie razem z tym linkiem.',
    code: 'Kod',
    open: 'Otwórz',
    wrongCode: 'Ten kod jest nieprawidłowy. Pozostało prób: {left}.',
    invalidTitle: 'Ten link niczego nie otwiera',
    invalid: 'Jest niepełny, wygasł lub został wycofany. Prosimy poprosić nadawcę o nowy.',
    until: 'Tę stronę można otwierać do {until}.',
    received: 'Otrzymano {received}: {kind}',
    contents: 'Co zawiera odpowiedź',
    letter: '{file}: nasza odpowiedź na wniosek',
    proofs: 'verify.html, verify.mjs i proofs: pozwalają sprawdzić, że niczego nie zmieniono',
    download: 'Pobierz jako plik ZIP ({size})',
    files: 'Pozostałe pliki',
    fileChecksum: 'Suma kontrolna SHA-256:',
    check: 'Jak sprawdzić plik',
    checksum: 'Suma kontrolna SHA-256 pliku ZIP:',
    checkSteps: [
      'Proszę rozpakować plik ZIP i otworzyć verify.html w przeglądarce. Połączenie z internetem nie jest potrzebne.',
      'Proszę wybrać tam pobrany plik ZIP. Strona sprawdza każdy zapis w tym pliku.',
      'Proszę wpisać tam także klucz opublikowany pod adresem {key}: pokazuje on, że zapisy pochodzą od nas.',
    ],
    write: 'Pytania i zastrzeżenia',
    writeLead: 'Czy coś jest niejasne, niepełne lub błędne? Wiadomość trafi do osób, które zajmują się tym wnioskiem.',
    question: 'Mam pytanie',
    objection: 'Nie zgadzam się z tą odpowiedzią',
    message: 'Wiadomość',
    send: 'Wyślij',
    sent: 'Otrzymaliśmy wiadomość {at}.',
    empty: 'Proszę najpierw napisać wiadomość o długości do 4000 znaków.',
    tooMany: 'Nie można stąd wysłać więcej wiadomości. Prosimy o bezpośredni kontakt.',
    leave: 'Zamknij tę stronę',
    formExpired: 'Formularz wygasł i nie został wysłany. Proszę spróbować ponownie.',
    wait: 'Zbyt wiele zapytań. Proszę odczekać minutę i spróbować ponownie.',
    unavailable: 'Ta strona jest chwilowo niedostępna. Proszę spróbować ponownie za kilka minut.',
    languages: 'Język',
  },
  messages: {
    replied: 'Odpowiedź ({controller}), {at}',
    answering: 'Odpowiadam na wiadomość',
    mailTitle: 'Odpowiedź na wiadomość',
    mailLead:
      'Jest odpowiedź ({controller}) na wiadomość w sprawie złożonego wniosku. Ze względu na ochronę danych ten e-mail nie zawiera jej treści.',
    mailLink:
      'Aby ją przeczytać i na nią odpisać, należy otworzyć przekazany link i wpisać kod. Link jest ważny do {until}.',
    mailNoLink: 'Przekazanego linku nie można już otworzyć. Prosimy o kontakt w celu otrzymania nowego.',
  },
  task: {
    title: 'Zadanie do wykonania',
    lead: '{controller} prosi o wykonanie poniższego zadania w związku z wnioskiem dotyczącym danych osobowych.',
    due: 'Termin wykonania: {due}.',
    outcome: 'Jaki jest wynik?',
    done: 'Zadanie wykonano',
    notDone: 'Zadania nie wykonano',
    note: 'Uwagi',
    noteHint: 'Proszę napisać, co zrobiono lub dlaczego zadania nie wykonano. Proszę nie podawać danych osobowych.',
    noteMissing: 'Proszę napisać, dlaczego zadania nie wykonano (najwyżej 2000 znaków).',
    reportedDone: 'Dziękujemy. Zgłoszono wykonanie zadania: {at}.',
    reportedNotDone: 'Zgłoszono, że zadania nie wykonano: {at}. Jeśli wykonano je później, można to zgłosić tutaj.',
    mailLink: 'Wynik można zgłosić tutaj. Konto nie jest potrzebne; link jest ważny do {until}:',
  },
  requestForm: {
    title: 'Państwa dane osobowe: wniosek',
    lead: 'Ten formularz służy do korzystania z praw dotyczących danych osobowych.',
    kind: 'Czego dotyczy wniosek?',
    kinds: {
      access: 'Chcę wiedzieć, jakie moje dane Państwo mają',
      portability: 'Chcę otrzymać kopię moich danych czytelną dla innych usług',
      erasure: 'Chcę usunięcia moich danych',
      rectification: 'Chcę sprostowania moich danych',
      restriction: 'Chcę ograniczenia wykorzystywania moich danych',
      objection: 'Sprzeciwiam się wykorzystywaniu moich danych',
      'opt-out': 'Nie zgadzam się na sprzedaż i udostępnianie moich danych',
      limit: 'Chcę ograniczyć wykorzystywanie moich danych wrażliwych',
      'withdraw-consent': 'Wycofuję zgodę',
      unknown: 'Inna sprawa dotycząca moich danych',
    },
    name: 'Imię i nazwisko',
    email: 'Adres e-mail',
    emailHint: 'Na ten adres wyślemy potwierdzenie i kod.',
    place: 'Miejsce zamieszkania',
    placeHint: 'Od niego zależy, które prawo ma zastosowanie.',
    placeOpen: 'Wolę nie podawać',
    message: 'Wiadomość',
    messageHint:
      'Na przykład, czego dokładnie dotyczy sprawa. Jeśli piszą Państwo w imieniu innej osoby, proszę podać, kogo.',
    subject: 'Identyfikator zgody',
    subjectHint: 'Jeśli nasza strona go wyświetla.',
    optional: 'nieobowiązkowe',
    use: 'Dane te wykorzystujemy do rozpatrzenia wniosku i przechowujemy jako dowód jego rozpatrzenia.',
    send: 'Wyślij wniosek',
    trap: 'To pole proszę pozostawić puste',
    wrong: {
      kind: 'Proszę wybrać, czego dotyczy wniosek.',
      name: 'Proszę podać imię i nazwisko (najwyżej 300 znaków).',
      email: 'Proszę podać adres e-mail, na przykład nazwa@example.com.',
      place: 'Proszę wybrać miejsce z listy.',
      message: 'Wiadomość może mieć najwyżej 4000 znaków.',
      subject: 'Identyfikator zgody może mieć najwyżej 300 znaków.',
    },
    again: 'Formularz nie został jeszcze wysłany. Proszę go sprawdzić i wysłać ponownie.',
    tooMany: 'W tej chwili wpływa zbyt wiele wniosków. Proszę spróbować za godzinę lub napisać do nas bezpośrednio.',
    receivedTitle: 'Otrzymaliśmy Państwa wniosek',
    received: 'Wpłynął: {at}. Sygnatura: {reference}',
    keep: 'Proszę zachować sygnaturę.',
    codeLead:
      'Wysyłamy kod na podany adres e-mail. Proszę wpisać go tutaj, aby potwierdzić, że adres należy do Państwa: być może będziemy później mieć mniej pytań. Kod jest ważny do {until}.',
    noMail: 'Wniosek zostanie rozpatrzony także bez wpisania kodu.',
    confirm: 'Potwierdź',
    confirmed: 'Dziękujemy: adres e-mail jest potwierdzony. Na razie nic więcej nie trzeba robić.',
    locked: 'Tutaj nie można już wpisać kodu. Wniosek mimo to zostanie rozpatrzony.',
    closed: 'Wniosek został załatwiony.',
    mailCode:
      'Kod potwierdzający ten adres e-mail: {code} (ważny do {until}). Proszę wpisać go na stronie, na której wysłano wniosek:',
  },
  appealTo:
    'W rozsądnym terminie mogą Państwo odwołać się od tej decyzji: prosimy pisać na adres {contact}, z dopiskiem „Appeal” i naszym znakiem {reference}. O naszej decyzji i jej powodach musimy poinformować Państwa pisemnie w ciągu {days} dni od otrzymania odwołania. Jeżeli odwołanie zostanie oddalone, mogą Państwo złożyć skargę do następującego organu: {authority}',
  authorityIs: 'Właściwy dla nas organ nadzorczy: {authority}',
  proposals: {
    identity: [
      '[Z jakiego powodu istnieją wątpliwości co do tożsamości wnioskodawcy.]\n\nProsimy o odpowiedź z adresu e-mail, który mamy zapisany, lub o podanie [czegoś, co może wiedzieć tylko ta osoba].',
      'Prosimy o przesłanie upoważnienia, podpisanego przez osobę, której dane dotyczą, do złożenia tego wniosku w jej imieniu.',
    ],
    clarification: [
      'Prosimy wskazać, [jakich danych, jakiego okresu lub której z naszych usług dotyczy wniosek].',
      'Prosimy wskazać, [co należy sprostować i jaka byłaby treść prawidłowa].',
    ],
    extension: [
      'Państwa wniosek jest skomplikowany: [dlaczego].',
      'Musimy rozpatrzyć kilka Państwa wniosków: [które].',
    ],
    partial: [
      'Zrobiliśmy, co następuje:\n- [co zostało zrobione]\n\nNie zrobiliśmy tego, co następuje:\n- [czego nie zrobiono, dlaczego i który artykuł na to pozwala]',
    ],
    refusal: [
      '[Powody.]\n\nPodstawa prawna odmowy: [artykuł]',
      'Nie mogliśmy potwierdzić Państwa tożsamości: [o co poproszono i czego zabrakło]. Nie możemy zatem ujawnić ani zmienić żadnych danych.',
    ],
    notice: ['- [jakie dane, pod jakim identyfikatorem, aby odbiorca mógł je znaleźć]'],
    appeal: ['Zmieniliśmy naszą decyzję: [co zostało teraz zrobione].', 'Podtrzymujemy naszą decyzję: [powody].'],
    know: [
      'W ciągu 12 miesięcy przed Państwa wnioskiem:\n- zebraliśmy następujące kategorie danych osobowych na Państwa temat: [kategorie]\n- sprzedaliśmy lub udostępniliśmy: [każda kategoria, jakim kategoriom osób trzecich i w jakim celu; albo że nie sprzedaliśmy ani nie udostępniliśmy żadnej]\n- ujawniliśmy w celach biznesowych: [każda kategoria, jakim kategoriom odbiorców i w jakim celu; albo że nie ujawniliśmy żadnej]\n- posiadamy ponadto, lecz nie możemy ujawnić: [rodzaj danych, na przykład Państwa numer ubezpieczenia społecznego; albo nic takiego]',
    ],
    criteria: ['Kryteria stosowane przy przetwarzaniu Państwa danych: [kryteria]'],
    answer: {
      erasure: ['Usunęliśmy następujące dane osobowe, które Państwa dotyczą:\n- [jakie dane, w jakim systemie]'],
      rectification: ['Sprostowaliśmy, co następuje:\n- [co było zapisane] na [co jest zapisane teraz]'],
      restriction: ['Ograniczyliśmy przetwarzanie następujących danych:\n- [jakie dane]'],
      objection: [
        'Od [data] nie przetwarzamy już Państwa danych osobowych w tym celu: [cel].',
        'Od [data] nie wykorzystujemy już Państwa danych osobowych do marketingu bezpośredniego.',
      ],
      'opt-out': [
        'Uwzględniliśmy Państwa sprzeciw: od [data] nie sprzedajemy już Państwa danych osobowych ani nie udostępniamy ich na potrzeby reklamy w różnych witrynach.',
        '[Jeżeli tak jest:] Nie sprzedajemy danych osobowych ani nie udostępniamy ich na potrzeby reklamy w różnych witrynach. Państwa sprzeciw został mimo to odnotowany.',
      ],
      limit: [
        'Uwzględniliśmy Państwa wniosek: od [data] wykorzystujemy Państwa wrażliwe dane osobowe tylko w zakresie niezbędnym do świadczenia naszych usług oraz w innych celach dozwolonych przez prawo.',
      ],
      'withdraw-consent': [
        'Odnotowaliśmy wycofanie Państwa zgody. Od [data] nie przetwarzamy już danych osobowych na tej podstawie.',
      ],
      unknown: ['[Co zostało zrobione.]'],
    },
    unmatched: {
      objection: ['Odnotowaliśmy Państwa sprzeciw. [Co w związku z tym zrobiono i gdzie.]'],
      'opt-out': ['Odnotowaliśmy Państwa sprzeciw. [Co w związku z tym zrobiono i gdzie.]'],
      limit: ['Odnotowaliśmy Państwa wniosek. [Co w związku z tym zrobiono i gdzie.]'],
      'withdraw-consent': ['Odnotowaliśmy wycofanie Państwa zgody. [Co w związku z tym zrobiono i gdzie.]'],
    },
  },
};
