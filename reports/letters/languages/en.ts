import type { LetterTexts } from '../texts.ts';

/** English. The other languages are translated from this file. */
export const en: LetterTexts = {
  name: 'English',
  locale: 'en-GB',
  regions: ['US', 'CA', 'PH'],
  lawNames: {
    'eu-gdpr': { name: 'General Data Protection Regulation (EU) 2016/679 (GDPR)', short: 'GDPR' },
    'uk-gdpr': { name: 'UK General Data Protection Regulation (UK GDPR)', short: 'UK GDPR' },
  },
  frame: {
    reference: 'Our reference: {reference}',
    theirReference: 'Your reference: {reference}',
    applicableLaw: 'Applicable law: {law}',
    unnamedRecipient: 'To the person who made the request',
    dearNamed: 'Dear {name},',
    dearUnnamed: 'Dear Sir or Madam,',
    closingNamed: 'Yours sincerely',
    closingUnnamed: 'Yours faithfully',
    page: 'Page {page} of {pages}',
    document: 'Document {document}',
    attached: 'Our letter is attached to this e-mail.',
    draft: 'DRAFT',
    stillToWrite: 'Still to be written or completed before this letter is sent',
    dataProtectionOfficer: 'Data protection officer: {contact}',
    jointContact: 'Contact point of the joint controllers: {contact}',
    questions: 'If you have any questions, please contact {contact} and quote our reference {reference}.',
    agentFor: 'You act on behalf of {represented}. In this letter, “you” and “your” refer to {represented}.',
    agentForUnnamed: 'You act on behalf of another person. In this letter, “you” and “your” refer to that person.',
    late: 'This answer is late: it was due on {limit}. We apologise for the delay.',
  },
  titles: {
    acknowledgement: 'We have received your request',
    identity: 'We need to confirm your identity',
    clarification: 'A question about your request',
    extension: 'We need more time for your request',
    answer: 'Answer to your request of {received}',
    partial: 'Answer to your request of {received}: granted in part',
    refusal: 'Answer to your request of {received}: refusal',
    'no-match': 'Answer to your request of {received}',
    notice: 'Notice to recipients of personal data: {kind}',
    appeal: 'Decision on your appeal',
  },
  kinds: {
    access: {
      name: 'access to personal data',
      opening: 'On {received} you asked us for access to your personal data.',
    },
    portability: {
      name: 'a portable copy of personal data',
      opening: 'On {received} you asked us for a copy of your personal data in a machine-readable format.',
    },
    erasure: {
      name: 'erasure of personal data',
      opening: 'On {received} you asked us to erase your personal data.',
    },
    rectification: {
      name: 'correction of personal data',
      opening: 'On {received} you asked us to correct your personal data.',
    },
    restriction: {
      name: 'restriction of processing',
      opening: 'On {received} you asked us to restrict the processing of your personal data.',
    },
    objection: {
      name: 'objection to processing',
      opening: 'On {received} you objected to the processing of your personal data.',
    },
    'opt-out': {
      name: 'opt-out of the sale and sharing of personal data',
      opening: 'On {received} you opted out of the sale and sharing of your personal data.',
    },
    limit: {
      name: 'limiting the use of sensitive personal data',
      opening: 'On {received} you asked us to limit the use of your sensitive personal data.',
    },
    'withdraw-consent': {
      name: 'withdrawal of consent',
      opening: 'On {received} you withdrew your consent.',
    },
    unknown: {
      name: 'request about personal data',
      opening: 'On {received} you sent us a request about your personal data.',
    },
  },
  openingOfAgent: 'On {received} you sent us a request on behalf of another person ({kind}).',
  acknowledgement: {
    received: 'This letter confirms that we have received your request.',
    due: 'Our answer is due by {limit} at the latest.',
    notYou: 'If you did not make this request, please let us know.',
  },
  identity: {
    lead: 'Before we can act on your request, we need to confirm that it comes from you or from someone who is authorised to act for you.',
    use: 'Please do not send originals, and cover everything on a copy that we did not ask for. We record how your identity is confirmed.',
    reply: 'Please reply to {contact} and quote our reference {reference}.',
    clockStarts: 'The time limit for our answer runs from the day on which we receive what we ask you for here.',
  },
  clarification: {
    lead: 'To answer your request properly, we need to know more about what you are asking for:',
    clockStops: 'The time limit for our answer is paused from today until we receive your reply.',
    reply: 'Please reply to {contact} and quote our reference {reference}.',
    noReply: 'Until you reply, we can go only by what we know.',
  },
  extension: {
    lead: 'We cannot complete our answer by {firstLimit}, when it would be due. The reason is:',
    newLimit: 'Our answer is now due by {limit} at the latest.',
    complaint: 'You may complain about this extension to this authority: {authority}',
  },
  answer: {
    records:
      'The consent records that we could link to you cover the period from {from} to {to}; number of decisions: {count}. We found them by {found}.',
    recordsOfOneDay:
      'The consent records that we could link to you are dated {from}; number of decisions: {count}. We found them by {found}.',
    foundFromDevice: 'the visitor identifier that you sent us from your device',
    foundComputed: 'an identifier computed from the e-mail address that you gave us',
    identityChecked: 'Before disclosing anything, we confirmed your identity.',
    enclosed: 'A copy of all these records is enclosed:',
    files: {
      history: '{file}: your decisions to read, in any browser',
      decisions: 'decisions.csv and decisions.json: the same for a spreadsheet or a program',
      policies: 'policies.json: the policies that were in force at the time',
      policyTexts: '{file}: the texts of these policies as we fetched them',
      evidence: 'banner-evidence: what the consent banner showed at the time',
      records27560: 'records-27560.json: the same as consent records (ISO/IEC TS 27560)',
      about: 'case.json, README.txt and manifest.json: your request, and a list of all files with their checksums',
      records: 'records.jsonl: the records exactly as we received them',
    },
    verify:
      'You can check for yourself that these records have not been changed: open the enclosed verify.html in a browser and choose the file that you received from us; no internet connection is needed. It compares every record with our signed log, whose last checkpoint before this letter covers {entries} entries. Please compare the key of this log with one that you received from us separately:',
    unverified:
      'Your identity has not been confirmed. To protect the person whose data this concerns, we do not disclose individual records. We therefore answer in general terms only.',
    categories:
      'This answer describes in general terms how we process personal data. It does not contain individual records.',
    unmatched:
      'From the details in your request we cannot tell in which browser or on which device your earlier choice was recorded.',
    unmatchedHowTo:
      'So that your choice takes effect there as well, please make it there, too. Withdrawing consent: {withdrawalMethod}',
    parts: 'What we have done',
    part: { done: 'done', partly: 'done in part', refused: 'refused' },
    partGround: '{outcome}; reason: {ground}',
    withheld:
      'We hold the following about you. The law does not allow us to disclose it, so we have left it out of the copy ({source}): {types}.',
    withheldTypes: {
      socialSecurity: 'a number that has the form of a Social Security number',
      longNumber: 'a long number that may be a financial account, payment card or identification number',
    },
    neverDisclosed:
      'Whether or not such data are held, the law forbids disclosing in an answer Social Security, driver’s license or other government identification numbers, financial account numbers, health insurance or medical identification numbers, passwords, security questions and answers, or biometric data ({source}).',
    proofPeriod:
      'The retention period set for it is {period}, counted from your last decision or, if later, from the expiry of the consent.',
  },
  partial: {
    lead: 'We have granted part of your request. What we have done, what we have not done, and our reasons:',
  },
  refusal: {
    lead: 'We have examined your request and cannot grant it. Our reasons:',
    ground: 'Legal basis of the refusal: {ground}',
    healthStatement:
      'If the data concern your health, you may send us a written statement of up to 250 words about each piece of data that you consider inaccurate, and ask us to make it part of your record (11 CCR § 7023).',
    optOut:
      'You have the right to direct us not to sell or share your personal information. If you would like to use it, write to {contact} and quote our reference {reference}; you do not need to verify your identity (11 CCR §§ 7013, 7022(g)).',
  },
  noMatch: {
    why: 'We find consent records by a visitor identifier, not by name. What your request contains does not allow us to tell which of them, if any, relate to you.',
    notNone: 'This does not mean that there are none.',
    help: 'This is how you can help us find them:',
    steps: [
      'Open our website on the device and in the browser in which you made your choice. Copy the visitor identifier that the consent banner has stored there (in its cookie or in its settings).',
      'Tell us on which website, and roughly when, you made or changed your choice.',
      'Send both to {contact} and quote our reference {reference}. We can then search again.',
    ],
  },
  notice: {
    dear: 'Dear Sir or Madam,',
    lead: 'We disclosed personal data to you. The person concerned has made a request to us ({kind}).',
    done: 'We have granted the request for the following data:',
    ask: 'Please take the corresponding steps in your own systems and confirm them to {contact}, quoting our reference {reference}.',
  },
  appeal: {
    lead: 'You appealed against our decision on your request of {received}. We have reviewed it. Our decision and our reasons:',
    complaint: 'If you do not agree with this decision, you may submit a complaint to this authority: {authority}',
  },
  processing: {
    heading: 'How we process personal data',
    purposes: 'Purposes',
    purpose: '{purpose} (kept: {retention})',
    purposeWithBasis: '{purpose} (legal basis: {basis}; kept: {retention})',
    dataCategories: 'Categories of data',
    recipients: 'Recipients',
    dataSources: 'Sources of the data',
    transfers: 'Transfers to third countries',
    noTransfers: 'none',
    automatedDecisions: 'Automated decisions',
    withdrawalMethod: 'Withdrawing consent',
    notStated: 'Not stated in this answer: {parts}',
    soldOrShared:
      'which categories of data we sold, shared or disclosed for a business purpose in the 12 months before your request, to which third parties and for what purposes',
    parts: {
      address: 'postal address',
      email: 'contact e-mail',
      country: 'country of establishment',
      purposes: 'purposes, legal bases and storage periods',
      dataCategories: 'categories of data',
      dataSources: 'sources of the data',
      recipients: 'recipients',
      transfers: 'transfers to third countries and their safeguards',
      automatedDecisions: 'automated decisions',
      supervisoryAuthority: 'supervisory authority',
      withdrawalMethod: 'how to withdraw consent',
      controller: 'the controller',
      jointContact: 'contact point of the joint controllers',
    },
    criteria: 'the criteria used in the processing (LGPD, Art. 19, II)',
  },
  scope: {
    heading: 'What this answer covers',
    consentOnly: 'This answer covers records of consent and of policies.',
    otherSystems: 'Our other systems:',
    results: {
      'nothing-found': 'searched, nothing found',
      found: 'searched, data found',
      attached: 'searched, what we found is enclosed separately',
      searched: 'searched',
      'not-applicable': 'not relevant to this request',
      open: 'not yet searched',
    },
    others: 'It does not cover other systems.',
    searched: 'For this answer we searched our consent records.',
    notSearched: 'Your request contains nothing by which we could search our consent records.',
  },
  rights: { heading: 'Your rights', remedies: 'What you can do' },
  families: {
    gdpr: {
      identity:
        'Where we have reasonable doubts about the identity of the person making a request, we may ask for further information (Art. 12(6) {gdpr}). Our reason, and what we ask you for:',
      extension:
        'We may extend the time where the complexity and number of requests make it necessary (Art. 12(3) {gdpr}).',
      access: 'Yes, we process personal data about you (Art. 15 {gdpr}).',
      portability: 'With this letter you receive your consent records in a machine-readable format (Art. 20 {gdpr}).',
      noMatch: 'We cannot link you to a consent record (Art. 11(2) {gdpr}).',
      notes: {
        erasure: ['You may ask us which recipients of your data were informed (Art. 19 {gdpr}).'],
        rectification: ['You may ask us which recipients of your data were informed (Art. 19 {gdpr}).'],
        restriction: [
          'Apart from being stored, restricted data may be processed only with your consent, for the establishment, exercise or defence of legal claims, for the protection of the rights of another natural or legal person, or for reasons of important public interest of the Union or of a Member State (Art. 18(2) {gdpr}).',
          'You must be informed before the restriction is lifted (Art. 18(3) {gdpr}).',
          'You may ask us which recipients of your data were informed (Art. 19 {gdpr}).',
        ],
        'withdraw-consent': [
          'The withdrawal does not affect the lawfulness of processing before it (Art. 7(3) {gdpr}).',
        ],
      },
      proof:
        'We keep the proof that you gave, refused or withdrew consent, because we must be able to show it and for legal claims (Art. 17(3)(b) and (e) {gdpr}).',
      rights: [
        'You may ask us to correct or erase your personal data or to restrict its processing (Art. 16, 17 and 18 {gdpr}).',
        'You may object to processing that is based on a public task or on legitimate interests (Art. 21 {gdpr}).',
        'You may withdraw your consent at any time. This does not affect the lawfulness of processing before the withdrawal (Art. 7(3) {gdpr}).',
        'You may receive the data that you gave us in a machine-readable format (Art. 20 {gdpr}).',
      ],
      notice: 'We inform you of this under Art. 19 {gdpr}.',
    },
    uk: {
      extension:
        'We may extend the time where that is necessary because of the complexity of your requests or their number (Art. 12A(3) {gdpr}).',
      notes: {
        restriction: [
          'Apart from being stored, restricted data may be processed only with your consent, for the establishment, exercise or defence of legal claims, for the protection of the rights of another natural or legal person, or for reasons of important public interest (Art. 18(2) {gdpr}).',
          'You must be informed before the restriction is lifted (Art. 18(3) {gdpr}).',
          'You may ask us which recipients of your data were informed (Art. 19 {gdpr}).',
        ],
      },
    },
    similar: {
      rights: [
        'You may ask us to correct or erase your personal data or to restrict its processing.',
        'You may object to processing that is based on a public task or on legitimate interests.',
        'You may withdraw your consent at any time. This does not affect the lawfulness of processing before the withdrawal.',
        'You may receive the data that you gave us in a machine-readable format.',
      ],
    },
    swiss: {
      rights: [
        'You may ask us to correct your personal data (FADP Art. 32(1)).',
        'You may expressly forbid us to process your personal data (FADP Art. 30(2)(b)).',
        'You may ask a court to prohibit a particular processing or disclosure to third parties, or to order that data be erased or destroyed (FADP Art. 32(2)).',
        'You may receive the data that you gave us in a common electronic format (FADP Art. 28).',
      ],
    },
    california: {
      acknowledgement: {
        checked: [
          'The law requires us to verify your identity before we disclose, correct or delete personal information, where feasible by comparing details that you give us with details that we hold (11 CCR § 7060). If they do not suffice, we may ask you for more.',
        ],
        unchecked: ['You do not need to verify your identity for this request.'],
      },
      identity:
        'The law requires us to verify your identity before we comply with this request (11 CCR § 7060). The check does not extend the time for our answer. What we ask you for:',
      extension:
        'The law allows us up to 90 calendar days in total from the day on which we received your request (11 CCR § 7021).',
      access: 'Yes, we have collected personal information about you (Cal. Civ. Code § 1798.110).',
      portability:
        'With this letter you receive your consent records in a portable, readily usable format (Cal. Civ. Code § 1798.130).',
      notes: {
        erasure: ['We keep a record of this request, as the law requires (11 CCR § 7101).'],
        'opt-out': [
          'You did not have to verify your identity for this. The law does not allow us to ask you to reverse this choice for at least 12 months.',
        ],
        limit: [
          'You did not have to verify your identity for this. The law does not allow us to ask you to reverse this choice for at least 12 months.',
        ],
      },
      proof:
        'We keep the proof that you gave, refused or withdrew consent, as the law permits (Cal. Civ. Code § 1798.105(d)).',
      rights: [
        'You may ask us to delete or correct personal information that we have collected about you.',
        'You may opt out of the sale and sharing of your personal information and limit the use of sensitive personal information. You do not need to verify your identity for that.',
        'The law forbids us to treat you worse because you use these rights.',
      ],
      notice: 'We inform you of this because California law requires us to notify those who received the data.',
    },
    us: {
      identity:
        'Where a request cannot be authenticated with commercially reasonable efforts, the law allows us to ask for further information. What we ask you for:',
      extension: 'The law allows one such extension where it is reasonably necessary.',
      rights: [
        'The law gives you further rights over your personal data, such as deletion and opting out of its sale. Please tell us if you wish to use them.',
        'The law forbids us to treat you worse because you use these rights.',
      ],
    },
    brazil: {
      identity: 'We may answer only the person concerned or their representative. What we ask you for:',
      access: 'Yes, we process personal data about you (LGPD, Art. 18 and 19).',
      portability: 'With this letter you receive your consent records in a machine-readable format (LGPD, Art. 18, V).',
      notes: {
        'withdraw-consent': [
          'The withdrawal does not affect processing that took place before it (LGPD, Art. 8, § 5).',
        ],
      },
      proof:
        'We keep the proof that you gave, refused or withdrew consent in order to comply with a legal obligation (LGPD, Art. 16, I).',
      rights: [
        'You may ask for confirmation, access, correction, anonymisation, portability and deletion, and withdraw your consent (LGPD, Art. 18).',
      ],
      notice: 'We inform you of this under LGPD, Art. 18, § 6.',
    },
    general: {
      acknowledgement: { checked: [], unchecked: [] },
      identity: 'We may disclose or change personal data only if we know who is asking. What we ask you for:',
      access: 'Yes, we process personal data about you.',
      portability: 'With this letter you receive your consent records in a machine-readable format.',
      noMatch: 'We cannot link you to a consent record.',
      notes: {
        erasure: ['We keep a record of this request.'],
      },
      proof: 'We keep the proof that you gave, refused or withdrew consent.',
      rights: ['You may ask us to correct your personal data.', 'You may withdraw a consent that you have given.'],
      notice: 'We inform you of this because you received data from us.',
    },
  },
  remedies: {
    eu: [
      'You may lodge a complaint with a supervisory authority, in particular in the Member State where you live or work or where you believe the infringement took place (Art. 77 GDPR).',
      'You also have the right to an effective judicial remedy (Art. 79 GDPR).',
    ],
    uk: [
      'You may complain to us (Data Protection Act 2018, s. 164A): please write to {contact}.',
      'You may complain to the Information Commissioner (Data Protection Act 2018, s. 165): {authority}',
      'You may also apply to a court (Art. 79 UK GDPR).',
    ],
    california: ['You may complain to these authorities: {authority}'],
    quebec: [
      'Within 30 days of this answer you may ask this authority to examine a disagreement about it: {authority}',
    ],
    authority: ['You may complain to this authority: {authority}'],
    authorityAndCourt: ['You may complain to this authority: {authority}', 'You may also apply to a court.'],
    unnamed: ['You may complain to the authority that is responsible for data protection.'],
  },
  packFiles: { letter: 'letter', history: 'history', policyTexts: 'policy-texts' },
  handOver: {
    title: 'Our answer to your request',
    enterCode: 'Enter the 8-digit code that we sent you separately from this link.',
    code: 'Code',
    open: 'Open',
    wrongCode: 'This code is wrong. Attempts left: {left}.',
    invalidTitle: 'This link does not work',
    invalid: 'It is incomplete, has expired or was withdrawn. Please ask the sender for a new one.',
    until: 'You can open this page until {until}.',
    received: 'Received on {received}: {kind}',
    contents: 'What you receive',
    letter: '{file}: our answer to your request',
    proofs: 'verify.html, verify.mjs and proofs: with these you can check that nothing was changed',
    download: 'Download as a ZIP file ({size})',
    files: 'Further files',
    fileChecksum: 'SHA-256 checksum:',
    check: 'How to check the file',
    checksum: 'SHA-256 checksum of the ZIP file:',
    checkSteps: [
      'Unpack the ZIP file and open verify.html in a browser. No internet connection is needed.',
      'There, choose the ZIP file you downloaded. The page checks every record in it.',
      'Enter the key published at {key} there as well: it shows that the records come from us.',
    ],
    write: 'Questions and objections',
    writeLead: 'Is something unclear, missing or wrong? Your message reaches the people who handle your request.',
    question: 'I have a question',
    objection: 'I object to this answer',
    message: 'Your message',
    send: 'Send',
    sent: 'We received your message on {at}.',
    empty: 'Write a message of up to 4,000 characters first.',
    tooMany: 'No more messages can be sent here. Please contact us directly.',
    leave: 'Close this page',
    formExpired: 'The form had expired and was not sent. Please try again.',
    wait: 'Too many requests. Please wait a minute and try again.',
    unavailable: 'This page is temporarily unavailable. Please try again in a few minutes.',
    languages: 'Language',
  },
  messages: {
    replied: 'Reply from {controller} on {at}',
    answering: 'I am replying to your message',
    mailTitle: 'A reply to your message',
    mailLead:
      '{controller} has replied to your message about your request. To protect your data, this e-mail does not contain the reply.',
    mailLink:
      'To read it and to answer, open the link that we sent you and enter the code. The link is valid until {until}.',
    mailNoLink: 'The link that we sent you can no longer be opened. Please contact us and ask for a new one.',
  },
  task: {
    title: 'A task for you',
    lead: '{controller} asks you to do the following for a request about personal data.',
    due: 'Please do it by {due}.',
    outcome: 'What was the outcome?',
    done: 'It is done',
    notDone: 'It was not done',
    note: 'Note',
    noteHint: 'Say what you did, or why it was not done. Please leave out personal data.',
    noteMissing: 'Say in up to 2,000 characters why it was not done.',
    reportedDone: 'Thank you. You reported on {at} that it is done.',
    reportedNotDone: 'You reported on {at} that it was not done. If it has been done since, report it here.',
    mailLink: 'Report the outcome here. You do not need an account; the link is valid until {until}:',
  },
  requestForm: {
    title: 'Your personal data: send us a request',
    lead: 'Use this form to exercise your rights over your personal data.',
    kind: 'What do you want?',
    kinds: {
      access: 'See which data you hold about me',
      portability: 'Get a copy of my data that other services can read',
      erasure: 'Have my data erased',
      rectification: 'Have my data corrected',
      restriction: 'Have the use of my data restricted',
      objection: 'Object to the use of my data',
      'opt-out': 'Opt out of the sale and sharing of my data',
      limit: 'Limit the use of my sensitive data',
      'withdraw-consent': 'Withdraw my consent',
      unknown: 'Something else about my data',
    },
    name: 'Your name',
    email: 'Your e-mail address',
    emailHint: 'We send a confirmation and a code to this address.',
    place: 'Where you live',
    placeHint: 'This determines which law applies.',
    placeOpen: 'I would rather not say',
    message: 'Your message',
    messageHint: 'For example, what exactly this is about. If you write for somebody else, please say for whom.',
    subject: 'Consent ID',
    subjectHint: 'If our website shows you one.',
    optional: 'optional',
    use: 'We use what you enter here to handle your request, and keep it as proof that we did.',
    send: 'Send the request',
    trap: 'Leave this field empty',
    wrong: {
      kind: 'Choose what you want.',
      name: 'Enter your name (up to 300 characters).',
      email: 'Enter an e-mail address, such as name@example.com.',
      place: 'Choose a place from the list.',
      message: 'Your message may have up to 4,000 characters.',
      subject: 'The consent ID may have up to 300 characters.',
    },
    again: 'The form could not be sent yet. Please check it and send it again.',
    tooMany: 'Too many requests are arriving at the moment. Please try again in an hour, or write to us directly.',
    receivedTitle: 'We have received your request',
    received: 'Received on {at}. Reference: {reference}',
    keep: 'Please keep the reference.',
    codeLead:
      'We are sending a code to the e-mail address you entered. Enter it here to confirm that the address is yours: we may ask for less later. The code is valid until {until}.',
    noMail: 'Your request is being handled, whether or not you enter the code.',
    confirm: 'Confirm',
    confirmed: 'Thank you: your e-mail address is confirmed. There is nothing more for you to do now.',
    locked: 'No more codes can be entered here. Your request is being handled anyway.',
    closed: 'Your request has been settled.',
    mailCode:
      'Your code to confirm this e-mail address: {code} (valid until {until}). Enter it on the page on which you sent the request:',
  },
  appealTo:
    'Within a reasonable time you may appeal against this decision: write to {contact}, with the word “Appeal” and our reference {reference}. We must tell you in writing within {days} days of receiving the appeal what we have decided and why. If the appeal is denied, you may submit a complaint to this authority: {authority}',
  authorityIs: 'The authority responsible for us: {authority}',
  proposals: {
    identity: [
      '[Why you doubt who is asking.]\n\nPlease reply from the e-mail address that we hold for you, or tell us [something that only this person can know].',
      'Please send us an authorisation, signed by the person concerned, that allows this request to be made on their behalf.',
    ],
    clarification: [
      'Please tell us [which data, which period or which of our services your request is about].',
      'Please tell us [what should be corrected, and what would be right].',
    ],
    extension: ['Your request is complex: [say why].', 'We have to examine several requests from you: [say which].'],
    partial: [
      'We have done the following:\n- [what you have done]\n\nWe have not done the following:\n- [what you have not done, why, and the article or section that allows it]',
    ],
    refusal: [
      '[Your reasons.]\n\nLegal basis of the refusal: [article or section]',
      'We could not confirm your identity: [what you asked for, and what was missing]. We therefore cannot disclose or change any data.',
    ],
    notice: ['- [which data, under which identifier, so that the recipient can find them]'],
    appeal: ['We have changed our decision: [what you have now done].', 'We uphold our decision: [your reasons].'],
    know: [
      'In the 12 months before your request:\n- we collected these categories of personal information about you: [categories]\n- we sold or shared: [each category, to which categories of third parties and for what purpose; or that we sold and shared none]\n- we disclosed for a business purpose: [each category, to which categories of recipients and for what purpose; or that we disclosed none]\n- we also hold, but may not disclose: [the kind of data, such as your Social Security number; or nothing of this kind]',
    ],
    criteria: ['Criteria used in the processing of your data: [criteria]'],
    answer: {
      erasure: ['We have erased the following personal data about you:\n- [which data, in which system]'],
      rectification: ['We have corrected the following:\n- [what was recorded] to [what is recorded now]'],
      restriction: ['We have restricted the processing of the following data:\n- [which data]'],
      objection: [
        'Since [date] we have not processed your personal data for this purpose: [purpose].',
        'Since [date] we have not used your personal data for direct marketing.',
      ],
      'opt-out': [
        'We have applied your opt-out: since [date] we have not sold your personal data or shared it for advertising across different websites.',
        '[If this is so:] We do not sell personal data, and we do not share it for advertising across different websites. We have nevertheless recorded your opt-out.',
      ],
      limit: [
        'We have applied your request: since [date] we have used your sensitive personal data only for what is necessary to provide our services, and for the other purposes that the law permits.',
      ],
      'withdraw-consent': [
        'We have recorded that you withdrew your consent. Since [date] we have not processed personal data on the basis of it.',
      ],
      unknown: ['[What you have done.]'],
    },
    unmatched: {
      objection: ['We have recorded your objection. [What you have done about it, and where.]'],
      'opt-out': ['We have recorded your opt-out. [What you have done about it, and where.]'],
      limit: ['We have recorded your request. [What you have done about it, and where.]'],
      'withdraw-consent': [
        'We have recorded that you withdrew your consent. [What you have done about it, and where.]',
      ],
    },
  },
};
