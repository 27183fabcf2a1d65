/*
 * What the name of a flag says of the record around it, word by word, for flags that are not a choice themselves (consent-dissent.ts). A flag
 * whose name has a word in none of these sets may mean anything: that the choice is provisional, somebody else's, or of a test.
 */

const setOf = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Circumstances, settings, devices, laws and the technical state of a record: whatever their value, the choice stays what it is. */
const harmless = setOf(
  `is has have had was were are be been do does did the a an of to by for in on at with from and or via per its it as
   id ids uuid uid guid key keys hash token number count counts counter index order position sort rank weight size length
   date dates time times timestamp datetime ts utc tz timezone zone offset dst created creation recorded logged logging updated update updates changed change modified edited edit
   version versions revision rev schema format model mode type kind method mechanism source channel platform medium scope category categories purpose purposes vendor vendors service services group groups
   user users visitor visitors customer customers client clients contact contacts person member members subscriber account accounts profile address login loggedin registered registration new returning repeat existing known anonymous anon identified authenticated
   email emails mail mails phone mobile sms whatsapp push telephone letter post name names newsletter verified verification
   device devices browser os ios android app apps webview native tablet desktop touch touchscreen javascript java js storage local session sessions sdk online ssl secure https http httponly samesite same site sites
   wildcard domain domains subdomain subdomains cross crossdomain iframe frame framed embedded host page pages url path referrer ip autodetect detect detected detection geo geolocation location
   eu eea outside inside europe european uk us usa california country countries region regions regional state states jurisdiction applies applicable subject law laws regulation regulations regulated legal framework gdpr dsgvo rgpd ccpa cpra lgpd vcdpa popia pipeda tcf iab gpp gpc dnt gcm amp usp nonus noneu
   banner banners bannershown popup modal dialog widget overlay layer layers notice notices button buttons ui shown display displayed displaying show shows seen viewed view views visible opened clicked click screen prompt expanded collapsed text texts title label labels description
   language lang locale currency theme color colour style css html logo link links image
   primary first second third party parties main only custom customised customized customise customize manipulation prevention specific granular global multiple values options option value answer answers response responses preference preferences choice choices decision
   cookie cookies cookieless privacy consent receipt receipts document documents policy policies terms tos agreement informativa presa visione kenntnis kenntnisnahme genommen letta letto gelesen leida leido lu lue read datenschutz datenschutzerklaerung
   server client side webhook webhooks async cached compressed encoded encrypted hashed sync synced exported export notification notifications notified sent mailed delivered marketing
   premium paid vip gold loyalty age adult over all any every both can may receive receives content proof before previous prior former last chosen prompted rfc
   use non standard stacks stack treatment one cmp loaded
   nowy nowa nowe klient klienci kunde neu neuer neukunde nutzer besucher nouveau nouvelle visiteur utilisateur nuevo nueva cliente usuario nuovo nuova utente visitatore nieuwe klant gebruiker bezoeker novo nova ny kund besokare`,
);

/** A yes says that the record is not final, not the visitor's own, not current or not meant; a no says nothing. */
const againstIfYes = setOf(
  `pending awaiting awaits waiting open unconfirmed unverified provisional preliminary temporary tentative draft incomplete partial partially partly
   test tests testing tested demo sandbox staging dry simulated simulation mock fake dummy sample debug preview synthetic
   deleted delete removed archived trashed anonymised anonymized erased expired lapsed obsolete outdated stale superseded replaced inactive cancelled canceled voided void invalid
   disputed contested challenged flagged suspicious suspected fraud fraudulent error errors failed failure duplicate conflict conflicting
   default defaults old reconsent bot robot crawler spider bypass bypassed override overridden overriden forced skipped suppressed ignored remind gpcoverride`,
);

/** A no says so; a yes says nothing. */
const againstIfNo = setOf(
  `valid active activated current final confirmed completed complete finished finalised finalized live livemode production genuine effective saved stored submitted persisted success successful succeeded ok latest signed enforced status action actions`,
);

/** With which value a flag says nothing against its record: any, `no`, `yes`; null: nobody knows. */
export type FlagMeaning = 'any' | 'no' | 'yes' | null;

/**
 * {@link FlagMeaning} of a name by its words in plain form. `isChoiceWord`: words of consent and purposes, which are judged by what they choose;
 * `isRefusing`: words of refusal and negation.
 */
export function flagMeaning(
  words: readonly string[],
  isChoiceWord: (word: string) => boolean,
  isRefusing: (word: string) => boolean,
): FlagMeaning {
  let meaning: FlagMeaning = 'any';
  if (words.length === 0) return null;
  for (const word of words) {
    if (againstIfYes.has(word) || isRefusing(word)) meaning = 'no';
    else if (againstIfNo.has(word)) meaning = meaning === 'no' ? 'no' : 'yes';
    else if (!harmless.has(word) && !isChoiceWord(word)) return null;
  }
  return meaning;
}
