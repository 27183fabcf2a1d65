import { expect, test } from 'vitest';
import { sniffMediaType } from '../../src/banners/evidence.ts';

const png = Buffer.from('89504e470d0a1a0a0000000d', 'hex');

test.each([
  ['a PNG', png, 'image/png'],
  ['a JPEG', Buffer.from('ffd8ffe000104a46', 'hex'), 'image/jpeg'],
  ['a WebP', Buffer.from('RIFF\x24\x00\x00\x00WEBPVP8 ', 'latin1'), 'image/webp'],
  ['a PDF', Buffer.from('%PDF-1.7\n%\xe2\xe3', 'latin1'), 'application/pdf'],
  ['a page', Buffer.from('\ufeff  <!-- saved -->\n<!DOCTYPE html><html><body>…'), 'text/html'],
  ['a fragment of a page', Buffer.from('<div class="banner">Accept?</div>'), 'text/html'],
  ['a text', Buffer.from('Wir verwenden Cookies.\r\nAnnehmen | Ablehnen'), 'text/plain'],
  ['an SVG, which is text here', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'text/plain'],
  ['a program', Buffer.from('7f454c4602010100', 'hex'), null],
  ['a ZIP', Buffer.from('504b030414000000', 'hex'), null],
  ['a text in Latin-1', Buffer.from('Datenschutzerkl\xe4rung', 'latin1'), null],
  ['a RIFF that is not WebP', Buffer.from('RIFF\x24\x00\x00\x00WAVEfmt ', 'latin1'), null],
  ['a PNG signature after something else', Buffer.concat([Buffer.from([0]), png]), null],
])('the media type %s is recognised by its bytes', (_, bytes, mediaType) => {
  expect(sniffMediaType(bytes)).toBe(mediaType);
});
