import { inLanguage, type TextLanguage } from '../letters/languages.ts';

/** What README.txt of a pack says besides the list of files and how to check them, which letters and pages say too. */
interface ReadmeTexts {
  readonly start: string;
  /** `{file}` stands in for the evidence of a banner. */
  readonly lost: string;
  readonly keys: string;
  readonly witnessed: string;
  readonly spreadsheet: string;
  readonly noLegalAdvice: string;
}

/** The texts for a language tag (BCP 47). Throws if there are none in the language. */
export function readmeTextsIn(tag: string): ReadmeTexts {
  return inLanguage(readmeTexts, tag);
}

const readmeTexts: Readonly<Record<TextLanguage, ReadmeTexts>> = {
  en: {
    start: 'Start with the letter. These files cover records of consent and policies only.',
    lost: '{file}: in place of a file that is missing in our store or was changed there',
    keys: 'log.vkey and tlog-policy: the key that signed the records, and any witnesses that signed them too',
    witnessed: 'witnessed: time stamps over the checkpoint of these proofs',
    spreadsheet:
      'In CSV files, an apostrophe that is not part of the text precedes what a spreadsheet could run as a formula (=, +, -, @ …). Import all columns as text: a spreadsheet also turns ids into numbers and dates.',
    noLegalAdvice: 'A program generated these files from our records. They are not legal advice.',
  },
  de: {
    start: 'Lesen Sie zuerst den Brief. Die Dateien betreffen nur Einwilligungen und Datenschutzerklärungen.',
    lost: '{file}: anstelle einer Datei, die bei uns fehlt oder verändert wurde',
    keys: 'log.vkey und tlog-policy: der Schlüssel, mit dem die Nachweise signiert sind, und gegebenenfalls die Zeugen, die ebenfalls signiert haben',
    witnessed: 'witnessed: Zeitstempel zum Prüfpunkt (Checkpoint) dieser Nachweise',
    spreadsheet:
      'In CSV-Dateien steht ein zusätzlicher Apostroph vor allem, was ein Tabellenprogramm als Formel ausführen könnte (=, +, -, @ …). Importieren Sie alle Spalten als Text: Tabellenprogramme machen sonst aus Kennungen Zahlen und Daten.',
    noLegalAdvice: 'Diese Dateien hat ein Programm aus unseren Aufzeichnungen erstellt. Sie sind keine Rechtsberatung.',
  },
  es: {
    start: 'Empiece por la carta. Estos archivos se refieren solo a consentimientos y políticas de privacidad.',
    lost: '{file}: en lugar de un archivo que falta en nuestro sistema o que fue modificado',
    keys: 'log.vkey y tlog-policy: la clave con la que se firmaron los registros y, en su caso, los testigos que también firmaron',
    witnessed: 'witnessed: sellos de tiempo del punto de control (checkpoint) de estas pruebas',
    spreadsheet:
      'En los archivos CSV, un apóstrofo añadido precede a lo que una hoja de cálculo podría ejecutar como fórmula (=, +, -, @ …). Importe todas las columnas como texto: de lo contrario, la hoja de cálculo convierte los identificadores en números y fechas.',
    noLegalAdvice:
      'Un programa ha generado estos archivos a partir de nuestros registros. No constituyen asesoramiento jurídico.',
  },
  fr: {
    start:
      'Commencez par la lettre. Ces fichiers ne concernent que les consentements et les politiques de confidentialité.',
    lost: '{file} : à la place d’un fichier qui manque chez nous ou qui a été modifié',
    keys: 'log.vkey et tlog-policy : la clé qui a servi à signer les enregistrements et, le cas échéant, les témoins qui les ont aussi signés',
    witnessed: 'witnessed : horodatages du point de contrôle (checkpoint) de ces preuves',
    spreadsheet:
      'Dans les fichiers CSV, une apostrophe ajoutée précède ce qu’un tableur pourrait exécuter comme une formule (=, +, -, @ …). Importez toutes les colonnes au format texte : sinon, le tableur transforme les identifiants en nombres et en dates.',
    noLegalAdvice:
      'Un programme a produit ces fichiers à partir de nos enregistrements. Ils ne constituent pas un conseil juridique.',
  },
  it: {
    start: 'Inizi dalla lettera. Questi file riguardano solo i consensi e le informative sulla privacy.',
    lost: '{file}: al posto di un file che presso di noi manca o è stato modificato',
    keys: 'log.vkey e tlog-policy: la chiave con cui sono state firmate le registrazioni e gli eventuali testimoni che le hanno firmate a loro volta',
    witnessed: 'witnessed: marche temporali sul punto di controllo (checkpoint) di queste prove',
    spreadsheet:
      'Nei file CSV un apostrofo aggiunto precede ciò che un foglio di calcolo potrebbe eseguire come formula (=, +, -, @ …). Importi tutte le colonne come testo: altrimenti il foglio di calcolo trasforma gli identificativi in numeri e date.',
    noLegalAdvice:
      'Questi file sono stati generati da un programma in base alle nostre registrazioni. Non costituiscono consulenza legale.',
  },
  nl: {
    start: 'Begin met de brief. Deze bestanden gaan alleen over toestemmingen en privacyverklaringen.',
    lost: '{file}: in plaats van een bestand dat bij ons ontbreekt of is gewijzigd',
    keys: 'log.vkey en tlog-policy: de sleutel waarmee de gegevens zijn ondertekend, en eventuele getuigen die ze ook hebben ondertekend',
    witnessed: 'witnessed: tijdstempels bij het controlepunt (checkpoint) van deze bewijzen',
    spreadsheet:
      'In CSV-bestanden staat een extra apostrof voor alles wat een spreadsheet als formule zou kunnen uitvoeren (=, +, -, @ …). Importeer alle kolommen als tekst: anders maakt een spreadsheet getallen en datums van kenmerken.',
    noLegalAdvice: 'Een programma heeft deze bestanden uit onze gegevens gemaakt. Ze zijn geen juridisch advies.',
  },
  pl: {
    start: 'Prosimy zacząć od listu. Pliki dotyczą wyłącznie zgód i polityk prywatności.',
    lost: '{file}: zamiast pliku, którego u nas brakuje lub który został zmieniony',
    keys: 'log.vkey i tlog-policy: klucz, którym podpisano zapisy, oraz ewentualni świadkowie, którzy również je podpisali',
    witnessed: 'witnessed: znaczniki czasu punktu kontrolnego (checkpoint) tych dowodów',
    spreadsheet:
      'W plikach CSV dodatkowy apostrof poprzedza to, co arkusz kalkulacyjny mógłby wykonać jako formułę (=, +, -, @ …). Wszystkie kolumny należy importować jako tekst: w przeciwnym razie arkusz zamieni identyfikatory na liczby i daty.',
    noLegalAdvice: 'Pliki te utworzył program na podstawie naszych zapisów. Nie stanowią one porady prawnej.',
  },
  pt: {
    start: 'Comece pela carta. Estes ficheiros dizem respeito apenas a consentimentos e políticas de privacidade.',
    lost: '{file}: em vez de um ficheiro que falta no nosso sistema ou que foi alterado',
    keys: 'log.vkey e tlog-policy: a chave com que os registos foram assinados e, se for o caso, as testemunhas que também os assinaram',
    witnessed: 'witnessed: selos temporais do ponto de controlo (checkpoint) destas provas',
    spreadsheet:
      'Nos ficheiros CSV, um apóstrofo acrescentado precede o que uma folha de cálculo poderia executar como fórmula (=, +, -, @ …). Importe todas as colunas como texto: caso contrário, a folha de cálculo transforma os identificadores em números e datas.',
    noLegalAdvice:
      'Estes ficheiros foram gerados por um programa a partir dos nossos registos. Não constituem aconselhamento jurídico.',
  },
  'pt-BR': {
    start: 'Comece pela carta. Estes arquivos dizem respeito apenas a consentimentos e políticas de privacidade.',
    lost: '{file}: no lugar de um arquivo que está faltando em nosso sistema ou que foi alterado',
    keys: 'log.vkey e tlog-policy: a chave com que os registros foram assinados e, se for o caso, as testemunhas que também os assinaram',
    witnessed: 'witnessed: carimbos de tempo do ponto de controle (checkpoint) destas provas',
    spreadsheet:
      'Nos arquivos CSV, um apóstrofo adicional precede o que uma planilha poderia executar como fórmula (=, +, -, @ …). Importe todas as colunas como texto: caso contrário, a planilha transforma os identificadores em números e datas.',
    noLegalAdvice:
      'Estes arquivos foram gerados por um programa a partir dos nossos registros. Eles não constituem aconselhamento jurídico.',
  },
  sv: {
    start: 'Börja med brevet. Filerna gäller bara samtycken och integritetspolicyer.',
    lost: '{file}: i stället för en fil som saknas hos oss eller har ändrats',
    keys: 'log.vkey och tlog-policy: nyckeln som uppgifterna är signerade med, och eventuella vittnen som också har signerat dem',
    witnessed: 'witnessed: tidsstämplar för kontrollpunkten (checkpoint) till dessa bevis',
    spreadsheet:
      'I CSV-filer står en extra apostrof före det som ett kalkylprogram skulle kunna köra som en formel (=, +, -, @ …). Importera alla kolumner som text: annars gör kalkylprogrammet om id:n till tal och datum.',
    noLegalAdvice: 'Filerna har skapats av ett program utifrån våra uppgifter. De är inte juridisk rådgivning.',
  },
};
