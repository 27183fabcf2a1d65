/**
 * Possible names for the fields of a payload. The service documents one payload (policy.published, docs/service.md §6);
 * for the others these are plausible names, tried in this order. Case, `_` and `-` are ignored (`policy_id`,
 * `policyId`, `PolicyID`); a dot leads into an object; `^` marks a name next to an envelope (`{"id": …, "data": {…}}`)
 * instead of in it. A source can put its own names before these (docs/assumptions.md, Webhook payload fields).
 */
const names = {
  /** Any event. */
  every: {
    eventId: 'event_id delivery_id webhook_id message_id ^id ^uuid',
    occurredAt:
      'timestamp occurred_at event_time event_timestamp event_date time date datetime ts ^created_at ^created ' +
      'sent_at',
    language:
      'language lang locale language_code visitor.language visitor.lang visitor.locale requester.language ' +
      'requester.locale data_subject.language',
  },

  /** policy.*. */
  policy: {
    policyId: 'policy_id policy.id document_id id uuid uid policy',
    policyType: 'policy_type policy.type policy.policy_type document_type policy_slug slug type kind document doc',
    policyTitle: 'title policy_title policy.title policy_name policy.name name',
    brandName:
      'brand_name brand brand.name business_name business.name company_name company company.name ' +
      'organisation_name organization_name client_name client.name',
    policyJurisdiction: 'jurisdiction policy.jurisdiction jurisdictions jurisdiction_code country region',
    userId: 'user_id user.id owner_id account_id created_by updated_by user',
    policyVersion: 'version policy_version policy.version version_number revision rev',
    hostedUrl: 'hosted_url public_url policy_url live_url url policy.hosted_url policy.url link',
    policyPublishedAt: 'published_at publish_date policy.published_at',
    policyUpdatedAt: 'updated_at edited_at regenerated_at modified_at policy.updated_at',
    policyDeletedAt: 'deleted_at removed_at policy.deleted_at',
    policyCreatedAt: 'created_at generated_at policy.created_at',
  },

  /** consent.recorded and rows of the consent log. */
  decision: {
    recordId: 'record_id consent_record_id consent_id consent_log_id log_id consent.id record.id id uuid uid',
    subject:
      'visitor_hash visitor_id_hash hashed_visitor_id visitor_id visitor.hash visitor.hashed_id visitor.id ' +
      'subject_hash subject_id subject.hash subject.id hashed_subject identifier_hash hashed_identifier hashed_id ' +
      'user_hash user_id_hash hashed_user_id anonymous_id device_hash session_hash principal_id visitor subject ' +
      'identifier hash visitor_token visitor_uuid browser_id cookie_id pseudonym pseudonymous_id besucher_id ' +
      'besucher_hash besucher visiteur_id id_visiteur visiteur id_visitante visitante id_visitatore visitatore bezoeker_id bezoeker ' +
      'besokare_id besokare besogende odwiedzajacy',
    bannerId: 'banner_id consent_banner_id cookie_banner_id banner.id widget_id banner',
    bannerVersion:
      'banner_version banner.version banner_revision consent_banner_version widget_version banner_config_version',
    consentAction:
      'consent_action user_action action interaction consent_decision consent_choice decision choice consent.decision consent.action',
    consentMethod: 'consent_method collection_method capture_method consent_mechanism mechanism method interface',
    consentDomain: 'domain site_domain site.domain banner.domain hostname host website site_host site',
    consentPage: 'page_url page.url page_href page_uri page.href page href url site_url site.url source_url path',
    gpcSignal:
      'gpc global_privacy_control gpc_signal gpc_enabled sec_gpc headers.sec_gpc navigator.global_privacy_control signals.gpc privacy_signals.gpc signals.global_privacy_control',
    tcfSignal:
      'tc_string tcf_string tcstring iab_tcf_string euconsent euconsent_v2 iabtcf_tcstring ' +
      'tcf.tc_string tcf.tcstring tcf tc_data.tcstring signals.tcf signals.tc_string',
    gppSignal: 'gpp_string gpp iabgpp_hdr_gppstring gpp.string gpp.gpp_string signals.gpp signals.gpp_string',
    uspSignal: 'us_privacy us_privacy_string usp_string iabusprivacy_string signals.us_privacy',
    additionalConsentSignal:
      'addtl_consent addtl_consent_string additional_consent_string ac_string iabtcf_addtlconsent ' +
      'tcf.addtl_consent tc_data.addtl_consent google_additional_consent signals.addtl_consent',
    consentModeSignal:
      'consent_mode google_consent_mode gcm google_consent consent_mode_v2 signals.consent_mode signals.google_consent_mode',
    consentState:
      'consent_state consent_status consent_decision consent_choice user_choice user_decision decision choice state status new_status new_state ' +
      'consent_action user_action action consent consent_given has_consent opted_in opt_in accepted granted given agreed ' +
      'button_clicked clicked_button answer response result consent_type event_type event_name type value provision.type ' +
      'provision.decision subscription_state cookie_value tealium_event tracking_status tracking_authorization_status att_status att.status authorization_status',
    withdrawnFlag: 'withdrawn is_withdrawn revoked is_revoked',
    refusedFlag: 'rejected declined denied refused opted_out opt_out',
    purposeOfRecord:
      'purpose purpose_id purpose_name purpose_code consent_purpose data_use_purpose data_use_purpose_id data_use ' +
      'processing_purpose purpose.name purpose.id data_use_purpose.name cookie_name ' +
      'zweck finalite finalidad finalita doel doeleinde finalidade cel cel_przetwarzania andamal formal kayttotarkoitus ucel lista list_name newsletter_name topic_name',
    purposes:
      'purposes categories consent_categories cookie_categories consent_purposes choices preferences ' +
      'consent_preferences selections consents permissions services groups choice decision consent consent_state ' +
      'purpose.consents purpose_ids level subscription_statuses channels events tarteaucitron moove_gdpr_popup hs_cookie_cat_pref',
    grantedPurposes:
      'accepted_categories granted_categories allowed_categories consented_categories accepted_purposes ' +
      'granted_purposes allowed_purposes consented_purposes accepted granted allowed',
    deniedPurposes:
      'rejected_categories denied_categories declined_categories refused_categories rejected_purposes ' +
      'denied_purposes declined_purposes refused_purposes rejected denied declined',
    shownPolicyId: 'policy_id policy.id privacy_policy_id cookie_policy_id',
    shownPolicyVersion: 'policy_version policy.version privacy_policy_version cookie_policy_version',
    consentCountry: 'jurisdiction country_code country geo.country geo.country_code location.country visitor.country',
    consentRegion: 'region_code region geo.region location.region visitor.region',
    consentExpiresAt: 'expires_at expiry expires expiry_date expiration expiration_date valid_until',
    withdrawnAt: 'withdrawn_at revoked_at',
    consentedAt:
      'recorded_at consented_at consent_timestamp consent_date consent_time decided_at given_at logged_at datestamp utc consent_start_time rfc_cookie',
    changedAt: 'updated_at last_consent_timestamp fides_meta.updated_at meta.updated_at',
    consentCreatedAt: 'created_at created fides_meta.created_at meta.created_at',
  },

  /** dsar.*. */
  request: {
    requestId:
      'request_id dsar_id dsar_request_id request.id dsar.id subject_request_id privacy_request_id ' +
      'agent_request_id request_queue_ref_id request_queue_id reference reference_number ref ref_id ticket_id ' +
      'case_id external_id metadata.uid id uuid uid id_solicitud numero_solicitud numero_expediente referencia ' +
      'id_demande numero_demande numero_dossier anfrage_id antrags_id anfragenummer antragsnummer vorgangsnummer ' +
      'aktenzeichen id_richiesta numero_richiesta numero_protocollo protocollo riferimento kenmerk zaaknummer ' +
      'verzoek_id verzoeknummer id_wniosku numer_wniosku numer_sprawy sygnatura id_solicitacao numero_solicitacao ' +
      'id_pedido numero_pedido numero_protocolo protocolo arendenummer diarienummer begaran_id',
    requestKind:
      'request_type dsar_type request_kind request.type dsar.type request_types right rights right_type ' +
      'rights_type subject_request_type dsr_type dsa_request_type privacy_request_type privacy_right exercise ' +
      'requested_actions requested_rights operation policy_key policy.key policy_action action_type user_right_id ' +
      'user_right user_rights requested_right requested_action data_subject_right data_subject_rights gdpr_right ' +
      'type_of_request action_name post_name derecho derechos tipo_derecho tipo_de_derecho derecho_ejercido ' +
      'derecho_solicitado tipo_solicitud tipo_de_solicitud droit droits type_droit type_de_droit droit_exerce ' +
      'type_demande type_de_demande nature_demande nature_de_la_demande recht rechte betroffenenrecht ' +
      'betroffenenrechte anfrageart anfragetyp art_der_anfrage antragsart antragstyp art_des_antrags diritto ' +
      'diritti tipo_diritto diritto_esercitato tipo_richiesta tipo_di_richiesta tipologia_richiesta rechten ' +
      'type_verzoek verzoektype soort_verzoek verzoeksoort prawo prawa typ_wniosku rodzaj_wniosku typ_zadania ' +
      'rodzaj_zadania direito direitos tipo_direito direito_solicitado direito_exercido tipo_solicitacao ' +
      'tipo_de_solicitacao tipo_pedido tipo_de_pedido tipo_requisicao rattighet rattigheter typ_av_begaran ' +
      'begaran_typ begarans_typ derecho_que_ejerce derechos_ejercidos derechos_solicitados droits_exerces ' +
      'droit_demande droits_demandes ausgeubtes_recht geltend_gemachtes_recht diritti_esercitati diritto_richiesto ' +
      'uitgeoefend_recht direitos_exercidos utovad_rattighet',
    requestTopic:
      'request kind type types category action actions subject topic subject_line email_subject mail_subject ' +
      'solicitud asunto tipo demande objet anfrage antrag anliegen betreff typ richiesta oggetto verzoek onderwerp ' +
      'soort wniosek temat rodzaj pedido solicitacao assunto begaran arende amne',
    requesterName:
      'requester_name requester.name requester.full_name requestor_name requestor.name data_subject_name ' +
      'data_subject.name data_subject.full_name subject_name subject.name subject.full_name customer_name ' +
      'customer.name contact.name consumer.name person.name user.name full_name name requester requestor ' +
      'data_subject from nombre_completo nombre_y_apellidos nombre_apellidos nom_complet nom_et_prenom nom_prenom ' +
      'prenom_nom vor_und_nachname vollstandiger_name nome_e_cognome nome_cognome nominativo naam volledige_naam ' +
      'imie_i_nazwisko imie_nazwisko nome_completo namn fullstandigt_namn sender applicant interesado interesada ' +
      'solicitante afectado remitente demandeur demandeuse personne_concernee expediteur requerant ' +
      'betroffene_person betroffener antragsteller antragstellerin anfragender absender einsender interessato ' +
      'interessata richiedente mittente betrokkene verzoeker aanvrager afzender osoba wnioskodawca ' +
      'osoba_ktorej_dane_dotycza nadawca titular titular_dados titular_dos_dados requerente remetente ' +
      'den_registrerade registrerad sokande avsandare sender.name from.name',
    requesterFirstName:
      'first_name given_name requester.first_name requestor.first_name data_subject.first_name subject.first_name ' +
      'customer.first_name contact.first_name dsar_details.given_name prenom vorname nombre nombres nome voornaam ' +
      'imie fornamn',
    requesterLastName:
      'last_name family_name surname requester.last_name requestor.last_name data_subject.last_name ' +
      'subject.last_name customer.last_name contact.last_name dsar_details.family_name nom nom_de_famille nachname ' +
      'familienname apellidos apellido cognome achternaam nazwisko sobrenome apelido efternamn',
    requesterEmail:
      'requester_email requester.email requester.email_address requestor_email requestor.email data_subject_email ' +
      'data_subject.email subject_email subject.email customer_email customer.email contact_email contact.email ' +
      'consumer.email person.email user.email user_email dsar_details.email identity.email claims.email email ' +
      'email_address mail data_subject_identifier subject_identifier contact requester requestor from correo ' +
      'correo_electronico courriel adresse_email adresse_mail adresse_courriel adresse_electronique email_adresse ' +
      'mail_adresse indirizzo_email indirizzo_mail posta_elettronica indirizzo_di_posta_elettronica email_adres ' +
      'mail_adres adres_email adres_mail adres_e_mail poczta_elektroniczna endereco_email endereco_de_email ' +
      'endereco_eletronico correio_eletronico correio_electronico epost epostadress sender applicant interesado ' +
      'interesada solicitante afectado remitente demandeur demandeuse personne_concernee expediteur requerant ' +
      'betroffene_person betroffener antragsteller antragstellerin anfragender absender einsender interessato ' +
      'interessata richiedente mittente betrokkene verzoeker aanvrager afzender osoba wnioskodawca ' +
      'osoba_ktorej_dane_dotycza nadawca titular titular_dados titular_dos_dados requerente remetente ' +
      'den_registrerade registrerad sokande avsandare sender.email sender.address from.email from.address mel ' +
      'post_title',
    requesterIdentities:
      'subject_identities identities identity identifiers data_subject.identities data_subject.identifiers ' +
      'subject.identities subject.identifiers requester.identifiers customer.identifiers core_identifier profile ' +
      'profiles emails users user_ids data_subject_identifiers',
    requestSubject:
      'visitor_hash visitor_id_hash hashed_visitor_id visitor_id visitor.hash visitor.id subject_hash ' +
      'hashed_subject identifier_hash hashed_identifier hashed_id consent_subject anonymous_id ' +
      'requester.visitor_hash requester.visitor_id subject.hash subject.visitor_hash data_subject.hash ' +
      'data_subject.hashed_id data_subject.visitor_hash hash',
    requestJurisdiction:
      'jurisdiction jurisdiction_code country_code country requester.country requester.jurisdiction ' +
      'data_subject.country data_subject.residency subject.country_code subject.country address.country ' +
      'geo.country location.country residence country_of_residence residency location pais pais_residencia pays ' +
      'pays_de_residence land paese kraj',
    requestRegion:
      'region_code state_code region us_state province country_sub_division requester.state requester.region ' +
      'subject.state_region_code subject.state address.state geo.region state',
    requestRegulation: 'regime regulation legal_regime applicable_law legislation law',
    requestMessage:
      'message description request_details details request_message request_description comment comments notes text ' +
      'additional_information inquiry subject.description body message_text free_text plain_text content mensaje ' +
      'descripcion texto comentarios observaciones texte commentaire commentaires nachricht beschreibung anmerkung ' +
      'anmerkungen bemerkung freitext inhalt messaggio descrizione testo note bericht omschrijving toelichting ' +
      'opmerking opmerkingen wiadomosc tresc opis uwagi mensagem descricao observacoes meddelande beskrivning ' +
      'body_plain body_text text_body',
    requestedAt:
      'submitted_at requested_at request_date date_submitted received_at submission_date issued_at submitted_time ' +
      'submitted_timestamp submitted_date submitted_on submission_time requested_on request_time received_time ' +
      'received_on received_date date_received request_received_at received_date_time fecha_solicitud ' +
      'fecha_de_solicitud fecha_de_la_solicitud fecha_recepcion fecha_de_recepcion fecha_presentacion ' +
      'fecha_de_presentacion fecha_envio recibido_el recibida_el presentado_el presentada_el solicitado_el ' +
      'date_demande date_de_demande date_de_la_demande date_reception date_de_reception date_depot date_envoi ' +
      'recu_le recue_le demande_le demandee_le depose_le deposee_le soumis_le soumise_le eingegangen_am ' +
      'eingangsdatum eingangszeitpunkt eingang anfragedatum antragsdatum datum_der_anfrage datum_des_antrags ' +
      'eingereicht_am gestellt_am beantragt_am erhalten_am empfangen_am data_richiesta data_della_richiesta ' +
      'data_ricezione data_di_ricezione data_presentazione data_invio ricevuto_il ricevuta_il presentata_il ' +
      'inviata_il ontvangen_op ontvangstdatum datum_ontvangst datum_verzoek verzoekdatum ingediend_op ' +
      'datum_indiening data_wniosku data_zlozenia data_wplywu data_otrzymania otrzymano zlozono data_solicitacao ' +
      'data_da_solicitacao data_pedido data_do_pedido data_requisicao data_recebimento data_de_recebimento ' +
      'data_rececao data_envio recebido_em recebida_em solicitado_em solicitada_em mottagen mottaget ' +
      'mottagningsdatum ankomstdatum inkom inkommen datum_for_begaran begaransdatum data_zlozenia_wniosku ' +
      'data_abertura received',
    requestCreatedAt:
      'created_at created date_created created_date created_time created_date_time created_timestamp created_on ' +
      'creation_date request_queue_date_created post_date_gmt post_date fecha_creacion fecha_de_creacion creado_el ' +
      'creada_el date_creation date_de_creation cree_le creee_le erstellt_am erstellungsdatum angelegt_am ' +
      'data_creazione creato_il creata_il aangemaakt_op aanmaakdatum data_utworzenia utworzono data_criacao ' +
      'criado_em criada_em skapad skapat fecha fecha_hora datum horodatage',
  },

  /** cookie_scan.completed. */
  scan: {
    scanId: 'scan_id cookie_scan_id scan.id scan_uuid report_id id uuid uid',
    scanDomain:
      'domain site_domain site.domain domain.name domain_name scanned_domain hostname host website site_url site.url ' +
      'scanned_url scan_url target_url url site',
    scanStatus: 'scan_status scan.status status result outcome state',
    cookiesFound:
      'cookies_found cookie_count cookies_count total_cookies num_cookies number_of_cookies cookies_total ' +
      'cookies.total cookies.count total cookies',
    trackersFound:
      'trackers_found tracker_count trackers_count total_trackers number_of_trackers third_party_trackers ' +
      'trackers.total trackers.count cookies.trackers trackers',
    uncategorised:
      'uncategorised uncategorized uncategorised_cookies uncategorized_cookies uncategorised_count ' +
      'uncategorized_count unclassified unclassified_cookies unclassified_count unknown_cookies unknown ' +
      'cookies.uncategorised cookies.uncategorized cookies.unclassified',
    score: 'score compliance_score overall_score scan_score rating',
    trackersBeforeConsent:
      'trackers_before_consent pre_consent_trackers trackers_pre_consent trackers.before_consent trackers.pre_consent ' +
      'trackers_without_consent cookies_before_consent pre_consent_cookies cookies_pre_consent cookies.before_consent ' +
      'cookies.pre_consent cookies_without_consent cookies_before_consent.count cookies_before_consent.total ' +
      'before_consent pre_consent scripts_before_consent',
    scanCookies:
      'cookies.items cookies.list cookies.details cookies.found cookie_list cookies_list found_cookies detected_cookies ' +
      'cookie_inventory inventory cookies_found cookies items findings results',
    scanTrackers:
      'trackers.items trackers.list trackers.details trackers.found tracker_list trackers_list found_trackers ' +
      'detected_trackers trackers_found third_party_trackers trackers cookies.trackers scripts',
    scanGroups: 'categories cookie_categories cookies_by_category cookie_groups groups',
    foundBeforeConsent:
      'trackers_before_consent pre_consent_trackers trackers_pre_consent trackers.before_consent trackers.pre_consent ' +
      'trackers_without_consent cookies_before_consent pre_consent_cookies cookies_pre_consent cookies.before_consent ' +
      'cookies.pre_consent cookies_without_consent before_consent pre_consent scripts_before_consent',
    scannedAt:
      'completed_at finished_at scanned_at scan_date ended_at completed_date completed_on completion_date ' +
      'completion_time completed_time finished_on finish_date scan_completed_at scan_completed_date scan_end_date ' +
      'scan_end_time end_date end_time last_scanned_at last_scan_date completed finished',
    scanCreatedAt: 'created_at created started_at start_date created_date',
  },

  /** One cookie or tracker in a scan's list; looked up within it. */
  scanItem: {
    itemName:
      'name cookie_name tracker_name cookie tracker key title label id identifier script_url script src url host domain',
    itemKind: 'kind item_type is_tracker tracker type',
    itemCategory:
      'category cookie_category category.name category.slug category_name category_label category.label ' +
      'cookie_category_name purpose purpose.name purpose_name classification group group_name group.name ' +
      'consent_category category_id category.id type',
    itemDomain:
      'domain cookie_domain host hostname host_name set_by_domain source_domain provider_domain script_url src url ' +
      'provider.domain',
    itemProvider:
      'provider provider.name provider_name vendor vendor.name vendor_name company company.name company_name service ' +
      'service.name third_party_name set_by owner organisation organization',
    itemBeforeConsent:
      'before_consent set_before_consent loaded_before_consent fired_before_consent found_before_consent pre_consent ' +
      'is_pre_consent set_pre_consent prior_to_consent without_consent consent_phase phase timing',
    itemParty: 'party cookie_party third_party is_third_party first_party is_first_party party_type type',
  },

  /** integration.*. */
  integration: {
    integrationId: 'integration_id integration.id connection_id installation_id id uuid uid',
    integrationName:
      'integration_name integration.name integration_type integration.type integration provider provider.name ' +
      'platform app_name app service slug name type',
    integrationSite:
      'site site_domain site.domain domain site_url site.url shop_domain shop store_url store website hostname ' +
      'host url',
    connectedAt: 'connected_at installed_at linked_at',
    integrationStatus: 'integration_status integration.status connection_status status state',
    integrationError:
      'error.message error_message error disconnect_reason disconnection_reason reason failure_reason failure cause ' +
      'message details',
    disconnectedAt: 'disconnected_at uninstalled_at removed_at revoked_at',
  },
} as const satisfies Record<string, Record<string, string>>;

type Family = keyof typeof names;

/** A field of a family of events; `scanItem` is one cookie or tracker of a scan. */
export type FieldOf<F extends Family> = F extends unknown ? keyof (typeof names)[F] : never;

export type FieldName = FieldOf<Family>;

/** The fields of these families in the order of the table. */
export function fieldsOfFamilies<F extends Family>(...families: readonly F[]): readonly FieldOf<F>[] {
  return families.flatMap((family) => Object.keys(names[family]) as FieldOf<F>[]);
}

/** The table: each field with its names. */
export const fieldNames = Object.fromEntries(
  Object.values(names).flatMap((family) => Object.entries(family).map(([field, listed]) => [field, listed.split(' ')])),
) as unknown as Readonly<Record<FieldName, readonly string[]>>;

/** Names of purposes that may appear in a consent record as separate fields (`{"analytics": true}`). */
export const purposeFlags: readonly string[] = (
  'necessary strictly_necessary essential functional functionality preferences analytics statistics performance other others uncategorized ' +
  'marketing advertising advertisement targeting personalization personalisation social_media social unclassified ad_storage ' +
  'ad_user_data ad_personalization analytics_storage functionality_storage personalization_storage ' +
  'security_storage'
).split(' ');

/**
 * Fields of Google's consent mode: what a site tells Google, which is a statement about a choice and not one of the
 * controller's purposes.
 */
export const consentModeFields: readonly string[] = (
  'ad_storage ad_user_data ad_personalization analytics_storage functionality_storage personalization_storage ' +
  'security_storage'
).split(' ');

/** Fields that may contain the event's name (docs/service.md §6: `event`), tried in this order. */
export const eventNames: readonly string[] =
  'event event_type event_name type topic event.type event.name meta.event name action'.split(' ');

/** Objects that may wrap the content of an event; they are read as if unwrapped. */
export const envelopes: readonly string[] = 'data payload object attributes resource body event_data detail'.split(' ');

/**
 * Names in `overrides` (a source's `fieldNames`) that are not in the table and probably misspelt. `event` is the field
 * with the event's name.
 */
export function unknownFieldNames(overrides: Readonly<Record<string, readonly string[]>>): readonly string[] {
  return Object.keys(overrides).filter((name) => name !== 'event' && !Object.hasOwn(fieldNames, name));
}
