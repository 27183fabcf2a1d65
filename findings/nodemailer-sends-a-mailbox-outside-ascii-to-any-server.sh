#!/usr/bin/env bash
# nodemailer 10.6.1, with smtp-server 3.21.6 as a server that does not offer SMTPUTF8. Expected: an error for jörg@example.com, since RFC 6531 section 3.2 forbids sending such an address to a server that
# does not offer the extension. Seen: the address goes out as raw UTF-8, without the parameter SMTPUTF8, and sendMail() says "accepted" if the server takes it. What becomes of the mail is then up to every
# later server, and the sender hears nothing. Only the domain is converted (to punycode).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund --no-package-lock nodemailer@10.6.1 smtp-server@3.21.6
cat >check.mjs <<'JS'
import assert from 'node:assert/strict';
import { createServer, connect } from 'node:net';
import nodemailer from 'nodemailer';
import { SMTPServer } from 'smtp-server';
const server = new SMTPServer({
  authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'], hideSMTPUTF8: true,
  onData(stream, _session, done) { stream.resume(); stream.on('end', done); },
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const { port } = server.server.address();
// Between the two, so that the bytes can be read.
const sent = [];
const between = createServer((socket) => {
  const onwards = connect(port, '127.0.0.1');
  socket.on('data', (data) => sent.push(data.toString('utf8')));
  socket.pipe(onwards).pipe(socket);
});
await new Promise((ready) => between.listen(0, '127.0.0.1', ready));
const transport = nodemailer.createTransport({ host: '127.0.0.1', port: between.address().port, ignoreTLS: true });
const mail = { from: 'shop@example.com', subject: 'Your request', text: 'Hello' };
const first = await transport.sendMail({ ...mail, to: 'jörg@example.com' });
const second = await transport.sendMail({ ...mail, to: 'joerg@bücher.example' });
const commands = sent.join('').split('\r\n').filter((line) => /^(?:MAIL|RCPT) /.test(line));
console.log('the server offers', first.ehlo, '\ncommands', commands, '\naccepted', first.accepted, second.accepted);
assert.ok(!first.ehlo.includes('SMTPUTF8'));
assert.deepEqual(first.accepted, ['jörg@example.com']);
assert.ok(commands.includes('RCPT TO:<jörg@example.com>'));
assert.ok(!commands.some((line) => line.includes('SMTPUTF8')));
assert.ok(commands.includes('RCPT TO:<joerg@xn--bcher-kva.example>'));
between.close();
server.close();
JS
node check.mjs
