/** The words of verify.html in one language. Details that no pattern covers are shown in English. */
interface PageWords {
  readonly title: string;
  readonly heading: string;
  readonly lead: string;
  readonly pick: string;
  readonly key: string;
  readonly keyHelp: string;
  readonly noScript: string;
  /** `{what}`: the name of the file. */
  readonly working: string;
  /** `{n}`: how many, like below. */
  readonly several: string;
  readonly good: string;
  readonly badOne: string;
  readonly bad: string;
  readonly states: Readonly<Record<'ok' | 'bad' | 'note', string>>;
  readonly limits: string;
  /** What a line is about. */
  readonly names: Readonly<Record<'Verifier key' | 'Files' | 'Entry {n}', string>>;
  /** `{what}`: request, record, or nothing; `{state}`: one of the details. */
  readonly entry: string;
  readonly request: string;
  readonly record: string;
  /** One for each of {@link patterns}, with the groups as `$1`. */
  readonly details: readonly string[];
}

/** The details of verify.mjs that are translated, as regular expressions. */
export const patterns = [
  '(.+)\\. It came with the files\\. Compare it with the one that the controller publishes, or has told you in another way\\.',
  'matches the key you gave',
  'does not match the key you gave: (.+)',
  'was sealed as entry (\\d+) on (\\S+), under the checkpoint over (\\d+) entr(?:y|ies)',
  '(\\d+) of (\\d+) files are byte for byte those of the manifest(: .+)?',
  'unchanged since the checkpoint over (\\d+) entr(?:y|ies)',
  'place and time unchanged since the checkpoint over (\\d+) entr(?:y|ies); its content is withheld',
  'place and time unchanged since the checkpoint over (\\d+) entr(?:y|ies); its content was erased',
  'is missing',
  'was changed: its content does not match the manifest',
  'is not in the manifest: it was added later',
  'was damaged after it was packed \\(size or checksum\\)',
  'it was changed after it was sealed',
  'its content is not what was sealed \\(meta, body or salt was changed\\)',
  'its number, time, source, kind or commitment differs from what was sealed \\(the proof does not lead to the signed root\\)',
  'its proof is missing',
  'its content was removed',
  'the signature of its checkpoint is invalid',
  'its checkpoint is not signed with the verifier key',
  'it is not a complete ZIP archive',
  'is missing: without the verifier key no signature can be checked',
  'there is neither a manifest\\.json nor a proofs/<entry>\\.tlog-proof',
  'cannot be read',
  'its record of entry (\\d+) differs from the proven entry',
  'programs could show different files of it: (.+)\\. Unpack it and check the folder with verify\\.mjs',
  'it is in the ZIP64 format: unpack it and check the folder with verify\\.mjs',
  'was added by a file manager, and was not checked',
  'its checkpoint has a line that is not a signature',
  'says that it was received on (\\S+), but comes after entry (\\d+), received on (\\S+): its place is proven, its time is not',
] as const;

const en: PageWords = {
  title: 'Check a pack of consent-ledger',
  heading: 'Has this pack been changed?',
  lead: 'Drop the ZIP here as you received it. Everything is checked in this browser: nothing leaves it, and no network is used.',
  pick: 'ZIP, or single files of it together with manifest.json and log.vkey',
  key: 'Verifier key from the controller (optional)',
  keyHelp:
    'The pack holds its key. Someone who forges a whole pack can forge its key too, so get the key through a second channel: from the controller, or from the address /.well-known/consent-ledger/log.vkey of its server.',
  noScript: 'This page needs JavaScript. Without it: node verify.mjs PACK.zip',
  working: 'Checking {what} …',
  several: '{n} files',
  good: 'Nothing was changed.',
  badOne: 'Not as it was sealed: {n} fault.',
  bad: 'Not as it was sealed: {n} faults.',
  states: { ok: 'unchanged', bad: 'changed', note: 'note' },
  limits:
    'Green means: these bytes have not changed since the checkpoint was signed. It does not say who sent a record, that no record was left out, or that a time before the checkpoint became known to somebody else is right.',
  names: { 'Verifier key': 'Verifier key', Files: 'Files', 'Entry {n}': 'Entry {n}' },
  entry: '{what}{kind} of {source}, received {at}: {state}',
  request: 'request: ',
  record: 'record: ',
  // As they are.
  details: [],
};

const de: PageWords = {
  title: 'Ein Antwortpaket prüfen (consent-ledger)',
  heading: 'Wurde dieses Antwortpaket verändert?',
  lead: 'Ziehen Sie die ZIP-Datei hierher, wie Sie sie erhalten haben. Alles wird in diesem Browser geprüft: Nichts verlässt ihn, und es wird kein Netz verwendet.',
  pick: 'ZIP-Datei, oder einzelne Dateien daraus zusammen mit manifest.json und log.vkey',
  key: 'Prüfschlüssel des Verantwortlichen (optional)',
  keyHelp:
    'Das Antwortpaket enthält seinen Schlüssel. Wer ein ganzes Antwortpaket fälscht, kann auch den Schlüssel fälschen. Besorgen Sie ihn deshalb auf einem zweiten Weg: vom Verantwortlichen oder unter der Adresse /.well-known/consent-ledger/log.vkey seines Servers.',
  noScript: 'Diese Seite benötigt JavaScript. Ohne JavaScript: node verify.mjs PACK.zip',
  working: '{what} wird geprüft …',
  several: 'Dateien: {n}',
  good: 'Nichts wurde verändert.',
  badOne: 'Nicht wie versiegelt: {n} Fehler.',
  bad: 'Nicht wie versiegelt: {n} Fehler.',
  states: { ok: 'unverändert', bad: 'verändert', note: 'Hinweis' },
  limits:
    'Grün bedeutet: Diese Bytes haben sich nicht verändert, seit der Prüfpunkt signiert wurde. Es sagt nicht, wer einen Eintrag gesendet hat, dass keiner weggelassen wurde oder dass eine Zeit stimmt, bevor jemand anderes den Prüfpunkt kannte.',
  names: { 'Verifier key': 'Prüfschlüssel', Files: 'Dateien', 'Entry {n}': 'Eintrag {n}' },
  entry: '{what}{kind} von {source}, eingegangen {at}: {state}',
  request: 'Anfrage: ',
  record: 'Datensatz: ',
  details: [
    '$1. Er lag bei den Dateien. Vergleichen Sie ihn mit dem, den der Verantwortliche veröffentlicht oder Ihnen auf anderem Weg mitgeteilt hat.',
    'stimmt mit dem eingegebenen Schlüssel überein',
    'stimmt nicht mit dem eingegebenen Schlüssel überein: $1',
    'wurde als Eintrag $1 am $2 versiegelt, unter dem Prüfpunkt mit Einträgen bis Nummer $3',
    '$1 von $2 Dateien sind Byte für Byte die des Verzeichnisses manifest.json$3',
    'unverändert seit dem Prüfpunkt mit Einträgen bis Nummer $1',
    'Ort und Zeit unverändert seit dem Prüfpunkt mit Einträgen bis Nummer $1; der Inhalt ist nicht beigefügt',
    'Ort und Zeit unverändert seit dem Prüfpunkt mit Einträgen bis Nummer $1; der Inhalt wurde gelöscht',
    'fehlt',
    'wurde verändert: Der Inhalt entspricht nicht dem Verzeichnis manifest.json',
    'steht nicht im Verzeichnis manifest.json: nachträglich hinzugefügt',
    'wurde nach dem Packen beschädigt (Größe oder Prüfsumme)',
    'wurde nach dem Versiegeln verändert',
    'der Inhalt ist nicht der versiegelte (meta, body oder salt wurde verändert)',
    'Nummer, Zeit, Quelle, Art oder Festlegung weicht vom Versiegelten ab (der Nachweis führt nicht zur signierten Wurzel)',
    'der Nachweis fehlt',
    'der Inhalt wurde entfernt',
    'die Signatur des Prüfpunkts ist ungültig',
    'der Prüfpunkt ist nicht mit dem Prüfschlüssel signiert',
    'keine vollständige ZIP-Datei',
    'fehlt: Ohne den Prüfschlüssel kann keine Signatur geprüft werden',
    'weder manifest.json noch proofs/<Eintrag>.tlog-proof ist vorhanden',
    'kann nicht gelesen werden',
    'der Datensatz zu Eintrag $1 weicht vom nachgewiesenen Eintrag ab',
    'Programme könnten daraus verschiedene Dateien anzeigen. Entpacken Sie die ZIP-Datei und prüfen Sie den Ordner mit verify.mjs. Technisch: $1',
    'im Format ZIP64: Entpacken Sie die Datei und prüfen Sie den Ordner mit verify.mjs',
    'wurde von einem Dateimanager hinzugefügt und nicht geprüft',
    'der Prüfpunkt hat eine Zeile, die keine Signatur ist',
    'wurde nach eigener Angabe am $1 empfangen, steht aber nach Eintrag $2, empfangen am $3: Der Platz ist nachgewiesen, die Zeit nicht',
  ],
};

const es: PageWords = {
  title: 'Comprobar una respuesta de consent-ledger',
  heading: '¿Se ha modificado este paquete?',
  lead: 'Arrastre aquí el ZIP tal como lo recibió. Todo se comprueba en este navegador: nada sale de él y no se usa la red.',
  pick: 'ZIP, o archivos sueltos de él junto con manifest.json y log.vkey',
  key: 'Clave de verificación del responsable (opcional)',
  keyHelp:
    'El paquete contiene su clave. Quien falsifique un paquete entero también puede falsificar la clave: obténgala por otra vía, del responsable o en la dirección /.well-known/consent-ledger/log.vkey de su servidor.',
  noScript: 'Esta página necesita JavaScript. Sin él: node verify.mjs PACK.zip',
  working: 'Comprobando {what} …',
  several: 'archivos: {n}',
  good: 'No se ha modificado nada.',
  badOne: 'No está como se selló. Fallos: {n}.',
  bad: 'No está como se selló. Fallos: {n}.',
  states: { ok: 'sin cambios', bad: 'modificado', note: 'nota' },
  limits:
    'El verde significa que estos bytes no han cambiado desde que se firmó el punto de control. No dice quién envió un registro, ni que no falte ninguno, ni que sea correcta una hora anterior al momento en que otra persona conoció el punto de control.',
  names: { 'Verifier key': 'Clave de verificación', Files: 'Archivos', 'Entry {n}': 'Entrada {n}' },
  entry: '{what}{kind} de {source}, recibido {at}: {state}',
  request: 'solicitud: ',
  record: 'registro: ',
  details: [
    '$1. Venía con los archivos. Compárela con la que publica el responsable o le ha comunicado por otra vía.',
    'coincide con la clave que indicó',
    'no coincide con la clave que indicó: $1',
    'se selló como entrada $1 el $2, bajo el punto de control hasta la entrada $3',
    '$1 de $2 archivos son byte por byte los de manifest.json$3',
    'sin cambios desde el punto de control hasta la entrada $1',
    'lugar y hora sin cambios desde el punto de control hasta la entrada $1; su contenido no se incluye',
    'lugar y hora sin cambios desde el punto de control hasta la entrada $1; su contenido se suprimió',
    'falta',
    'se modificó: su contenido no coincide con manifest.json',
    'no figura en manifest.json: se añadió después',
    'se dañó después de empaquetarse (tamaño o suma de comprobación)',
    'se modificó después de sellarse',
    'su contenido no es el que se selló (se modificó meta, body o salt)',
    'su número, hora, origen, tipo o compromiso difiere de lo sellado (la prueba no lleva a la raíz firmada)',
    'falta su prueba',
    'se ha eliminado su contenido',
    'la firma de su punto de control no es válida',
    'su punto de control no está firmado con la clave de verificación',
    'no es un archivo ZIP completo',
    'falta: sin la clave de verificación no se puede comprobar ninguna firma',
    'no hay manifest.json ni proofs/<entrada>.tlog-proof',
    'no se puede leer',
    'su registro de la entrada $1 difiere de la entrada probada',
    'distintos programas podrían mostrar archivos distintos de él. Descomprímalo y compruebe la carpeta con verify.mjs. Detalle técnico: $1',
    'está en el formato ZIP64: descomprímalo y compruebe la carpeta con verify.mjs',
    'lo añadió un gestor de archivos y no se ha comprobado',
    'su punto de control tiene una línea que no es una firma',
    'dice que se recibió el $1, pero viene después de la entrada $2, recibida el $3: su lugar está probado, su hora no',
  ],
};

const fr: PageWords = {
  title: 'Vérifier une réponse de consent-ledger',
  heading: 'Ce dossier a-t-il été modifié ?',
  lead: 'Déposez ici le fichier ZIP tel que vous l’avez reçu. Tout est vérifié dans ce navigateur : rien n’en sort et le réseau n’est pas utilisé.',
  pick: 'Fichier ZIP, ou certains de ses fichiers avec manifest.json et log.vkey',
  key: 'Clé de vérification du responsable (facultatif)',
  keyHelp:
    'Le dossier contient sa clé. Qui falsifie un dossier entier peut aussi falsifier sa clé : obtenez-la par une autre voie, auprès du responsable ou à l’adresse /.well-known/consent-ledger/log.vkey de son serveur.',
  noScript: 'Cette page nécessite JavaScript. Sans JavaScript : node verify.mjs PACK.zip',
  working: 'Vérification de {what} …',
  several: 'fichiers : {n}',
  good: 'Rien n’a été modifié.',
  badOne: 'Différent de ce qui a été scellé. Anomalies : {n}.',
  bad: 'Différent de ce qui a été scellé. Anomalies : {n}.',
  states: { ok: 'inchangé', bad: 'modifié', note: 'remarque' },
  limits:
    'Vert signifie : ces octets n’ont pas changé depuis la signature du point de contrôle. Cela ne dit ni qui a envoyé un enregistrement, ni qu’aucun ne manque, ni qu’une heure antérieure au moment où quelqu’un d’autre a connu le point de contrôle est exacte.',
  names: { 'Verifier key': 'Clé de vérification', Files: 'Fichiers', 'Entry {n}': 'Entrée {n}' },
  entry: '{what}{kind} de {source}, reçu {at} : {state}',
  request: 'demande : ',
  record: 'enregistrement : ',
  details: [
    '$1. Elle était jointe aux fichiers. Comparez-la à celle que le responsable publie ou vous a communiquée par une autre voie.',
    'correspond à la clé saisie',
    'ne correspond pas à la clé saisie : $1',
    'a été scellé comme entrée $1 le $2, sous le point de contrôle jusqu’à l’entrée $3',
    '$1 fichiers sur $2 sont octet pour octet ceux de manifest.json$3',
    'inchangé depuis le point de contrôle jusqu’à l’entrée $1',
    'place et heure inchangées depuis le point de contrôle jusqu’à l’entrée $1 ; le contenu n’est pas joint',
    'place et heure inchangées depuis le point de contrôle jusqu’à l’entrée $1 ; le contenu a été effacé',
    'manque',
    'a été modifié : le contenu ne correspond pas à manifest.json',
    'ne figure pas dans manifest.json : ajouté par la suite',
    'a été endommagé après la création du fichier ZIP (taille ou somme de contrôle)',
    'a été modifié après avoir été scellé',
    'le contenu n’est pas celui qui a été scellé (meta, body ou salt a été modifié)',
    'le numéro, l’heure, la source, le type ou l’engagement diffère de ce qui a été scellé (la preuve ne mène pas à la racine signée)',
    'la preuve manque',
    'le contenu a été retiré',
    'la signature du point de contrôle n’est pas valide',
    'le point de contrôle n’est pas signé avec la clé de vérification',
    'ce n’est pas un fichier ZIP complet',
    'manque : sans la clé de vérification, aucune signature ne peut être vérifiée',
    'il n’y a ni manifest.json ni proofs/<entrée>.tlog-proof',
    'ne peut pas être lu',
    'l’enregistrement de l’entrée $1 diffère de l’entrée prouvée',
    'des programmes pourraient en montrer des fichiers différents. Décompressez-le et vérifiez le dossier avec verify.mjs. Détail technique : $1',
    'au format ZIP64 : décompressez-le et vérifiez le dossier avec verify.mjs',
    'a été ajouté par un gestionnaire de fichiers et n’a pas été vérifié',
    'son point de contrôle contient une ligne qui n’est pas une signature',
    'indique une réception le $1, mais suit l’entrée $2, reçue le $3 : sa place est prouvée, son heure ne l’est pas',
  ],
};

const it: PageWords = {
  title: 'Verificare una risposta di consent-ledger',
  heading: 'Questo pacchetto è stato modificato?',
  lead: 'Trascini qui il file ZIP così come l’ha ricevuto. Tutto viene verificato in questo browser: nulla ne esce e la rete non viene usata.',
  pick: 'File ZIP, o singoli file insieme a manifest.json e log.vkey',
  key: 'Chiave di verifica del titolare (facoltativa)',
  keyHelp:
    'Il pacchetto contiene la propria chiave. Chi falsifica un intero pacchetto può falsificare anche la chiave: la ottenga per un’altra via, dal titolare o all’indirizzo /.well-known/consent-ledger/log.vkey del suo server.',
  noScript: 'Questa pagina richiede JavaScript. Senza: node verify.mjs PACK.zip',
  working: 'Verifica di {what} …',
  several: 'file: {n}',
  good: 'Nulla è stato modificato.',
  badOne: 'Diverso da ciò che è stato sigillato. Errori: {n}.',
  bad: 'Diverso da ciò che è stato sigillato. Errori: {n}.',
  states: { ok: 'invariato', bad: 'modificato', note: 'nota' },
  limits:
    'Verde significa: questi byte non sono cambiati da quando è stato firmato il punto di controllo. Non dice chi ha inviato una registrazione, né che nessuna sia stata omessa, né che sia esatta un’ora anteriore al momento in cui altri hanno conosciuto il punto di controllo.',
  names: { 'Verifier key': 'Chiave di verifica', Files: 'File', 'Entry {n}': 'Voce {n}' },
  entry: '{what}{kind} di {source}, ricevuto {at}: {state}',
  request: 'richiesta: ',
  record: 'registrazione: ',
  details: [
    '$1. Era insieme ai file. La confronti con quella che il titolare pubblica o Le ha comunicato per un’altra via.',
    'corrisponde alla chiave indicata',
    'non corrisponde alla chiave indicata: $1',
    'è stato sigillato come voce $1 il $2, sotto il punto di controllo fino alla voce $3',
    '$1 di $2 file sono byte per byte quelli di manifest.json$3',
    'invariato dal punto di controllo fino alla voce $1',
    'posto e ora invariati dal punto di controllo fino alla voce $1; il contenuto non è allegato',
    'posto e ora invariati dal punto di controllo fino alla voce $1; il contenuto è stato cancellato',
    'manca',
    'è stato modificato: il contenuto non corrisponde a manifest.json',
    'non è in manifest.json: è stato aggiunto in seguito',
    'è stato danneggiato dopo la creazione dello ZIP (dimensione o checksum)',
    'è stato modificato dopo essere stato sigillato',
    'il contenuto non è quello sigillato (meta, body o salt è stato modificato)',
    'numero, ora, fonte, tipo o impegno differiscono da ciò che è stato sigillato (la prova non conduce alla radice firmata)',
    'manca la prova',
    'il contenuto è stato rimosso',
    'la firma del punto di controllo non è valida',
    'il punto di controllo non è firmato con la chiave di verifica',
    'non è un file ZIP completo',
    'manca: senza la chiave di verifica nessuna firma può essere verificata',
    'non c’è né manifest.json né proofs/<voce>.tlog-proof',
    'non può essere letto',
    'la registrazione della voce $1 differisce dalla voce provata',
    'programmi diversi potrebbero mostrarne file diversi. Lo decomprima e verifichi la cartella con verify.mjs. Dettaglio tecnico: $1',
    'è nel formato ZIP64: lo decomprima e verifichi la cartella con verify.mjs',
    'è stato aggiunto da un gestore di file e non è stato verificato',
    'il suo punto di controllo contiene una riga che non è una firma',
    'indica di essere stata ricevuta il $1, ma segue la voce $2, ricevuta il $3: il suo posto è provato, l’ora no',
  ],
};

const nl: PageWords = {
  title: 'Een antwoord van consent-ledger controleren',
  heading: 'Is dit pakket gewijzigd?',
  lead: 'Sleep het ZIP-bestand hierheen zoals u het hebt ontvangen. Alles wordt in deze browser gecontroleerd: niets verlaat hem en er wordt geen netwerk gebruikt.',
  pick: 'ZIP-bestand, of losse bestanden daaruit samen met manifest.json en log.vkey',
  key: 'Controlesleutel van de verwerkingsverantwoordelijke (optioneel)',
  keyHelp:
    'Het pakket bevat zijn sleutel. Wie een heel pakket vervalst, kan ook de sleutel vervalsen. Verkrijg hem daarom langs een tweede weg: van de verwerkingsverantwoordelijke, of op het adres /.well-known/consent-ledger/log.vkey van diens server.',
  noScript: 'Deze pagina heeft JavaScript nodig. Zonder JavaScript: node verify.mjs PACK.zip',
  working: '{what} wordt gecontroleerd …',
  several: 'bestanden: {n}',
  good: 'Er is niets gewijzigd.',
  badOne: 'Niet zoals verzegeld. Fouten: {n}.',
  bad: 'Niet zoals verzegeld. Fouten: {n}.',
  states: { ok: 'ongewijzigd', bad: 'gewijzigd', note: 'opmerking' },
  limits:
    'Groen betekent: deze bytes zijn niet gewijzigd sinds het controlepunt is ondertekend. Het zegt niet wie een gegeven heeft verzonden, dat er niets is weggelaten, of dat een tijd klopt van voordat iemand anders het controlepunt kende.',
  names: { 'Verifier key': 'Controlesleutel', Files: 'Bestanden', 'Entry {n}': 'Regel {n}' },
  entry: '{what}{kind} van {source}, ontvangen {at}: {state}',
  request: 'verzoek: ',
  record: 'gegeven: ',
  details: [
    '$1. Hij zat bij de bestanden. Vergelijk hem met de sleutel die de verwerkingsverantwoordelijke publiceert of u langs een andere weg heeft meegedeeld.',
    'komt overeen met de opgegeven sleutel',
    'komt niet overeen met de opgegeven sleutel: $1',
    'is verzegeld als regel $1 op $2, onder het controlepunt tot en met regel $3',
    '$1 van $2 bestanden zijn byte voor byte die van manifest.json$3',
    'ongewijzigd sinds het controlepunt tot en met regel $1',
    'plaats en tijd ongewijzigd sinds het controlepunt tot en met regel $1; de inhoud is niet bijgevoegd',
    'plaats en tijd ongewijzigd sinds het controlepunt tot en met regel $1; de inhoud is gewist',
    'ontbreekt',
    'is gewijzigd: de inhoud komt niet overeen met manifest.json',
    'staat niet in manifest.json: later toegevoegd',
    'is na het inpakken beschadigd (grootte of controlegetal)',
    'is na het verzegelen gewijzigd',
    'de inhoud is niet wat is verzegeld (meta, body of salt is gewijzigd)',
    'nummer, tijd, bron, soort of vastlegging wijkt af van wat is verzegeld (het bewijs leidt niet naar de ondertekende wortel)',
    'het bewijs ontbreekt',
    'de inhoud is verwijderd',
    'de handtekening van het controlepunt is ongeldig',
    'het controlepunt is niet met de controlesleutel ondertekend',
    'geen volledig ZIP-bestand',
    'ontbreekt: zonder de controlesleutel kan geen handtekening worden gecontroleerd',
    'er is geen manifest.json en geen proofs/<regel>.tlog-proof',
    'kan niet worden gelezen',
    'het gegeven van regel $1 wijkt af van de bewezen regel',
    'programma’s kunnen er verschillende bestanden uit tonen. Pak het uit en controleer de map met verify.mjs. Technisch: $1',
    'in het formaat ZIP64: pak het uit en controleer de map met verify.mjs',
    'is toegevoegd door een bestandsbeheerder en niet gecontroleerd',
    'het controlepunt bevat een regel die geen handtekening is',
    'zegt dat het op $1 is ontvangen, maar komt na regel $2, ontvangen op $3: de plaats is bewezen, de tijd niet',
  ],
};

const pl: PageWords = {
  title: 'Sprawdzenie odpowiedzi z consent-ledger',
  heading: 'Czy ten pakiet został zmieniony?',
  lead: 'Przeciągnij tutaj plik ZIP w postaci, w jakiej został otrzymany. Wszystko jest sprawdzane w tej przeglądarce: nic jej nie opuszcza, a sieć nie jest używana.',
  pick: 'Plik ZIP albo pojedyncze pliki z niego razem z manifest.json i log.vkey',
  key: 'Klucz weryfikujący od administratora (opcjonalnie)',
  keyHelp:
    'Pakiet zawiera swój klucz. Kto sfałszuje cały pakiet, może też sfałszować klucz. Dlatego należy uzyskać go inną drogą: od administratora albo pod adresem /.well-known/consent-ledger/log.vkey jego serwera.',
  noScript: 'Ta strona wymaga JavaScriptu. Bez niego: node verify.mjs PACK.zip',
  working: 'Sprawdzanie: {what} …',
  several: 'liczba plików: {n}',
  good: 'Niczego nie zmieniono.',
  badOne: 'Niezgodne z tym, co zapieczętowano. Liczba błędów: {n}.',
  bad: 'Niezgodne z tym, co zapieczętowano. Liczba błędów: {n}.',
  states: { ok: 'bez zmian', bad: 'zmieniono', note: 'uwaga' },
  limits:
    'Zielony oznacza: te bajty nie zmieniły się od podpisania punktu kontrolnego. Nie mówi, kto wysłał zapis, czy żadnego nie pominięto ani czy poprawny jest czas sprzed chwili, w której punkt kontrolny poznał ktoś inny.',
  names: { 'Verifier key': 'Klucz weryfikujący', Files: 'Pliki', 'Entry {n}': 'Wpis {n}' },
  entry: '{what}{kind}, źródło {source}, otrzymano {at}: {state}',
  request: 'żądanie: ',
  record: 'zapis: ',
  details: [
    '$1. Był dołączony do plików. Należy porównać go z kluczem, który administrator publikuje lub podał inną drogą.',
    'zgodny z podanym kluczem',
    'niezgodny z podanym kluczem: $1',
    'zapieczętowano jako wpis $1 dnia $2, pod punktem kontrolnym do wpisu $3',
    'pliki zgodne bajt po bajcie z manifest.json: $1 z $2$3',
    'bez zmian od punktu kontrolnego do wpisu $1',
    'miejsce i czas bez zmian od punktu kontrolnego do wpisu $1; treści nie dołączono',
    'miejsce i czas bez zmian od punktu kontrolnego do wpisu $1; treść usunięto',
    'brak',
    'zmieniono: treść nie zgadza się z manifest.json',
    'nie ma go w manifest.json: dodano później',
    'uszkodzono po spakowaniu (rozmiar lub suma kontrolna)',
    'zmieniono po zapieczętowaniu',
    'treść nie jest tą, którą zapieczętowano (zmieniono meta, body lub salt)',
    'numer, czas, źródło, rodzaj lub zobowiązanie różni się od tego, co zapieczętowano (dowód nie prowadzi do podpisanego korzenia)',
    'brak dowodu',
    'treść usunięto z pakietu',
    'podpis punktu kontrolnego jest nieprawidłowy',
    'punkt kontrolny nie jest podpisany kluczem weryfikującym',
    'to nie jest kompletny plik ZIP',
    'brak: bez klucza weryfikującego nie można sprawdzić żadnego podpisu',
    'brak zarówno manifest.json, jak i proofs/<wpis>.tlog-proof',
    'nie można odczytać',
    'zapis wpisu $1 różni się od wpisu udowodnionego',
    'różne programy mogą pokazać różne pliki z niego. Rozpakuj go i sprawdź folder za pomocą verify.mjs. Szczegół techniczny: $1',
    'jest w formacie ZIP64: rozpakuj go i sprawdź folder za pomocą verify.mjs',
    'dodał go menedżer plików i nie został sprawdzony',
    'jego punkt kontrolny zawiera wiersz, który nie jest podpisem',
    'podaje datę otrzymania $1, ale następuje po wpisie $2, otrzymanym $3: miejsce jest udowodnione, czas nie',
  ],
};

const pt: PageWords = {
  title: 'Verificar uma resposta do consent-ledger',
  heading: 'Este pacote foi alterado?',
  lead: 'Arraste para aqui o ficheiro ZIP tal como o recebeu. Tudo é verificado neste navegador: nada sai dele e a rede não é usada.',
  pick: 'Ficheiro ZIP, ou ficheiros isolados juntamente com manifest.json e log.vkey',
  key: 'Chave de verificação do responsável (opcional)',
  keyHelp:
    'O pacote contém a sua chave. Quem falsifica um pacote inteiro também pode falsificar a chave: obtenha-a por outra via, junto do responsável ou no endereço /.well-known/consent-ledger/log.vkey do seu servidor.',
  noScript: 'Esta página precisa de JavaScript. Sem ele: node verify.mjs PACK.zip',
  working: 'A verificar {what} …',
  several: 'ficheiros: {n}',
  good: 'Nada foi alterado.',
  badOne: 'Diferente do que foi selado. Falhas: {n}.',
  bad: 'Diferente do que foi selado. Falhas: {n}.',
  states: { ok: 'inalterado', bad: 'alterado', note: 'nota' },
  limits:
    'Verde significa: estes bytes não mudaram desde que o ponto de controlo foi assinado. Não diz quem enviou um registo, nem que nenhum foi omitido, nem que está certa uma hora anterior ao momento em que outra pessoa conheceu o ponto de controlo.',
  names: { 'Verifier key': 'Chave de verificação', Files: 'Ficheiros', 'Entry {n}': 'Entrada {n}' },
  entry: '{what}{kind} de {source}, recebido {at}: {state}',
  request: 'pedido: ',
  record: 'registo: ',
  details: [
    '$1. Veio com os ficheiros. Compare-a com a que o responsável publica ou lhe comunicou por outra via.',
    'corresponde à chave indicada',
    'não corresponde à chave indicada: $1',
    'foi selado como entrada $1 em $2, sob o ponto de controlo até à entrada $3',
    '$1 de $2 ficheiros são byte a byte os de manifest.json$3',
    'inalterado desde o ponto de controlo até à entrada $1',
    'lugar e hora inalterados desde o ponto de controlo até à entrada $1; o conteúdo não está incluído',
    'lugar e hora inalterados desde o ponto de controlo até à entrada $1; o conteúdo foi apagado',
    'falta',
    'foi alterado: o conteúdo não corresponde a manifest.json',
    'não consta de manifest.json: foi acrescentado depois',
    'foi danificado depois de criado o ZIP (tamanho ou soma de verificação)',
    'foi alterado depois de selado',
    'o conteúdo não é o que foi selado (meta, body ou salt foi alterado)',
    'o número, a hora, a origem, o tipo ou o compromisso difere do que foi selado (a prova não conduz à raiz assinada)',
    'falta a prova',
    'o conteúdo foi removido',
    'a assinatura do ponto de controlo não é válida',
    'o ponto de controlo não está assinado com a chave de verificação',
    'não é um ficheiro ZIP completo',
    'falta: sem a chave de verificação não se pode verificar nenhuma assinatura',
    'não há manifest.json nem proofs/<entrada>.tlog-proof',
    'não pode ser lido',
    'o registo da entrada $1 difere da entrada provada',
    'programas diferentes poderiam mostrar ficheiros diferentes dele. Descomprima-o e verifique a pasta com verify.mjs. Pormenor técnico: $1',
    'está no formato ZIP64: descomprima-o e verifique a pasta com verify.mjs',
    'foi acrescentado por um gestor de ficheiros e não foi verificado',
    'o seu ponto de controlo contém uma linha que não é uma assinatura',
    'diz que foi recebida em $1, mas vem depois da entrada $2, recebida em $3: o seu lugar está provado, a hora não',
  ],
};

const sv: PageWords = {
  title: 'Kontrollera ett svar från consent-ledger',
  heading: 'Har detta paket ändrats?',
  lead: 'Släpp ZIP-filen här så som du fick den. Allt kontrolleras i den här webbläsaren: inget lämnar den och inget nätverk används.',
  pick: 'ZIP-fil, eller enskilda filer ur den tillsammans med manifest.json och log.vkey',
  key: 'Kontrollnyckel från den personuppgiftsansvarige (valfritt)',
  keyHelp:
    'Paketet innehåller sin nyckel. Den som förfalskar ett helt paket kan också förfalska nyckeln. Skaffa den därför på ett andra sätt: från den personuppgiftsansvarige, eller på adressen /.well-known/consent-ledger/log.vkey på dennes server.',
  noScript: 'Sidan kräver JavaScript. Utan JavaScript: node verify.mjs PACK.zip',
  working: 'Kontrollerar {what} …',
  several: 'filer: {n}',
  good: 'Inget har ändrats.',
  badOne: 'Inte som det förseglades. Fel: {n}.',
  bad: 'Inte som det förseglades. Fel: {n}.',
  states: { ok: 'oförändrat', bad: 'ändrat', note: 'notering' },
  limits:
    'Grönt betyder: dessa byte har inte ändrats sedan kontrollpunkten signerades. Det säger inte vem som skickade en uppgift, att ingen har utelämnats eller att en tid stämmer från innan någon annan kände till kontrollpunkten.',
  names: { 'Verifier key': 'Kontrollnyckel', Files: 'Filer', 'Entry {n}': 'Post {n}' },
  entry: '{what}{kind} från {source}, mottagen {at}: {state}',
  request: 'begäran: ',
  record: 'uppgift: ',
  details: [
    '$1. Den låg bland filerna. Jämför den med den som den personuppgiftsansvarige publicerar eller har meddelat dig på annat sätt.',
    'stämmer med den angivna nyckeln',
    'stämmer inte med den angivna nyckeln: $1',
    'förseglades som post $1 den $2, under kontrollpunkten till och med post $3',
    '$1 av $2 filer är byte för byte de i manifest.json$3',
    'oförändrat sedan kontrollpunkten till och med post $1',
    'plats och tid oförändrade sedan kontrollpunkten till och med post $1; innehållet är inte bifogat',
    'plats och tid oförändrade sedan kontrollpunkten till och med post $1; innehållet har raderats',
    'saknas',
    'har ändrats: innehållet stämmer inte med manifest.json',
    'finns inte i manifest.json: tillagd i efterhand',
    'skadades efter packningen (storlek eller kontrollsumma)',
    'ändrades efter förseglingen',
    'innehållet är inte det som förseglades (meta, body eller salt har ändrats)',
    'nummer, tid, källa, slag eller åtagande skiljer sig från det förseglade (beviset leder inte till den signerade roten)',
    'beviset saknas',
    'innehållet har tagits bort',
    'kontrollpunktens signatur är ogiltig',
    'kontrollpunkten är inte signerad med kontrollnyckeln',
    'inte en fullständig ZIP-fil',
    'saknas: utan kontrollnyckeln kan ingen signatur kontrolleras',
    'det finns varken manifest.json eller proofs/<post>.tlog-proof',
    'kan inte läsas',
    'uppgiften för post $1 skiljer sig från den bevisade posten',
    'olika program kan visa olika filer ur den. Packa upp den och kontrollera mappen med verify.mjs. Tekniskt: $1',
    'i formatet ZIP64: packa upp den och kontrollera mappen med verify.mjs',
    'lades till av en filhanterare och har inte kontrollerats',
    'kontrollpunkten har en rad som inte är en signatur',
    'anger att den mottogs $1 men kommer efter post $2, mottagen $3: platsen är bevisad, tiden inte',
  ],
};

/** The languages of the letters. */
const pageLanguages: Readonly<Record<string, PageWords>> = { en, de, es, fr, it, nl, pl, pt, sv };

/**
 * The page verify.html in a language, given its frame, in which `{{name}}` stands for a text; the words that its script
 * needs are in it as JSON. English if the language is not supported.
 */
export function pageIn(frame: string, language: string): string {
  const tag = Object.hasOwn(pageLanguages, language) ? language : 'en';
  const words = pageLanguages[tag] ?? en;
  const { details, ...texts } = words;
  const forScript = { ...texts, details: details.map((text, place) => [patterns[place], text]) };
  // Text of a script element must not contain its end tag.
  const json = JSON.stringify(forScript).replaceAll('<', '\\u003c');
  return frame.replaceAll(/\{\{(\w+)\}\}/g, (_all, name: string) => {
    if (name === 'language') return tag;
    if (name === 'words') return json;
    const text = (texts as Readonly<Record<string, unknown>>)[name];
    if (typeof text !== 'string') throw new Error(`verify.html has no text for ${name}`);
    return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  });
}
