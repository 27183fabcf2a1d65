// A process of its own: node flood.js <port> <seconds> <per second>. Sends unsigned deliveries on 32 connections, and prints how many were answered.
import { connect } from 'node:net';

const [port, seconds, perSecond] = process.argv.slice(2).map(Number);
const started = performance.now();
const until = started + seconds * 1000;
const BATCH = 16;
let sent = 0;
let answered = 0;
let open = 32;

for (let sender = 0; sender < 32; sender += 1) {
  const socket = connect(port, '127.0.0.1');
  let waiting = 0;
  let round = 0;
  const send = () => {
    if (performance.now() > until) return socket.destroy();
    if (sent / (performance.now() - started) > perSecond / 1000) return setTimeout(send, 5);
    sent += BATCH;
    round += 1;
    waiting = BATCH;
    let requests = '';
    for (let n = 0; n < BATCH; n += 1) {
      const body = `{"event":"consent.recorded","n":"${sender}-${round}-${n}"}`;
      requests += `POST /webhooks/default HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\nX-Service-Signature: ${'0'.repeat(64)}\r\n\r\n${body}`;
    }
    socket.write(requests);
  };
  socket.on('connect', send);
  socket.on('data', (chunk) => {
    const found = chunk.toString('latin1').split('HTTP/1.1 401').length - 1;
    answered += found;
    waiting -= found;
    if (waiting <= 0) send();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    open -= 1;
    if (open === 0) process.stdout.write(`${answered}\n`);
  });
}
