import { type ControllerProfile, profileSchema } from '../../src/law/profile.ts';

export const profile: ControllerProfile = profileSchema.parse({
  name: 'Förster & Söhne GmbH',
  address: ['Lindenstraße 12', '80331 München'],
  country: 'DE',
  region: 'BY',
  email: 'datenschutz@foerster.example',
  purposes: [
    { purpose: 'Measuring how the shop is used', lawfulBasis: 'consent, GDPR Art. 6(1)(a)', retention: '14 months' },
    {
      purpose: 'Advertising',
      lawfulBasis: 'consent, GDPR Art. 6(1)(a)',
      retention: 'until withdrawn, at most 13 months',
    },
  ],
  dataCategories: ['hashed visitor identifier', 'consent choices with time and region'],
  dataSources: ['the consent banner of our web shop'],
  recipients: [{ name: 'Policy Service Ltd', purpose: 'operates the consent banner', country: 'GB' }],
  transfers: [{ recipient: 'Policy Service Ltd', country: 'GB', safeguard: 'adequacy decision (EU) 2021/1772' }],
  automatedDecisions: 'none',
  supervisoryAuthority: {
    name: 'Bayerisches Landesamt für Datenschutzaufsicht',
    address: 'Promenade 18, 91522 Ansbach',
    website: 'https://www.lda.bayern.de',
  },
  withdrawalMethod: 'the link “Cookie settings” at the foot of every page',
  dataProtectionOfficer: 'Dr. Jana Weiß, dsb@foerster.example',
  signatory: 'Jana Weiß, data protection officer',
});
