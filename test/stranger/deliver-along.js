// Sends one signed delivery after the other to a webhook address until its standard input ends, from a process of its own so that nothing
// else delays what is measured: node deliver-along.js URL SECRET. Prints {"sent","refused","slowestMs"}.
import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

const [url, secret] = process.argv.slice(2);
const seen = { sent: 0, refused: 0, slowestMs: 0 };
let going = true;
process.stdin.on('end', () => (going = false)).resume();
for (let nth = 0; going; nth += 1) {
  const body = JSON.stringify({ event: 'consent.recorded', id: `along-${nth}`, timestamp: new Date().toISOString() });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const before = performance.now();
  const answer = await fetch(url, { method: 'POST', body, headers: { 'x-service-signature': signature } }).then(
    async (response) => ({ isOk: response.status === 200, said: `${response.status} ${await response.text()}` }),
    (error) => ({ isOk: false, said: String(error.cause ?? error) }),
  );
  seen.sent += 1;
  if (!answer.isOk) {
    if (seen.refused === 0) console.error(`refused: ${answer.said}`);
    seen.refused += 1;
  }
  seen.slowestMs = Math.max(seen.slowestMs, Math.round(performance.now() - before));
  await delay(50);
}
console.log(JSON.stringify(seen));
