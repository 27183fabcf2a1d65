import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';

/** One delivery as the sender knows it: its bytes, and the endpoint's response that accepted them. */
export interface Acknowledged {
  readonly body: string;
  readonly seq: number;
}

export interface Load {
  /**
   * Every body that got a 200, in the order of the responses; the response to a repeat has the seq of the first
   * delivery.
   */
  readonly acknowledged: readonly Acknowledged[];
  /** Repeats whose response had a different seq from the first; must stay empty. */
  readonly contradictions: readonly string[];
  /** Responses by status; 0: no response. */
  readonly answers: ReadonlyMap<number, number>;
  /** Longest time between two acknowledgements, in milliseconds. */
  longestSilence(): number;
  /** Resolves when every body that was sent is acknowledged. Rejects if that takes longer than `limit` milliseconds. */
  finish(limit: number): Promise<void>;
}

export interface LoadOptions {
  readonly urls: readonly string[];
  readonly secret: string;
  /** A banner that the service knows; otherwise a pull would be refused. */
  readonly bannerId: string;
  readonly senders: number;
  /** Milliseconds that a sender pauses after each delivery. */
  readonly rest: number;
  readonly random: () => number;
}

/**
 * Senders that deliver like the service: each repeats a body, to any receiver, until one acknowledges it, and now and
 * then repeats an acknowledged one.
 */
export function startLoad({ urls, secret, bannerId, senders, rest, random }: LoadOptions): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: senders * urls.length });
  const acknowledged: Acknowledged[] = [];
  const contradictions: string[] = [];
  const answers = new Map<number, number>();
  let stopping = false;
  let number = 0;
  let lastAt = performance.now();
  let longest = 0;

  async function deliverUntilTaken(body: string): Promise<number> {
    for (;;) {
      const url = urls[Math.floor(random() * urls.length)] as string;
      const { status, seq } = await send(agent, url, secret, body);
      answers.set(status, (answers.get(status) ?? 0) + 1);
      if (status === 200) {
        longest = Math.max(longest, performance.now() - lastAt);
        lastAt = performance.now();
        return seq;
      }
      await sleep(50);
    }
  }

  async function sender(): Promise<void> {
    while (!stopping) {
      const body = newBody((number += 1), bannerId);
      acknowledged.push({ body, seq: await deliverUntilTaken(body) });
      if (random() < 0.1) {
        const earlier = acknowledged[Math.floor(random() * acknowledged.length)] as Acknowledged;
        const seq = await deliverUntilTaken(earlier.body);
        if (seq !== earlier.seq) contradictions.push(`${earlier.body}: ${earlier.seq}, then ${seq}`);
      }
      await sleep(rest);
    }
  }

  const all = Promise.all(Array.from({ length: senders }, sender));
  return {
    acknowledged,
    contradictions,
    answers,
    longestSilence: () => longest,
    async finish(limit) {
      stopping = true;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error('deliveries are still refused')), limit);
      });
      await Promise.race([all, late]).finally(() => clearTimeout(timer));
      agent.destroy();
    },
  };
}

function newBody(n: number, bannerId: string): string {
  const data = {
    consent_id: `c-${n}`,
    banner_id: bannerId,
    visitor_hash: `visitor-${n % 300}`,
    consent: { analytics: n % 3 === 0, marketing: n % 7 === 0 },
    recorded_at: new Date(Date.now() - 1000).toISOString(),
  };
  return JSON.stringify({ event: 'consent.recorded', data });
}

function send(agent: Agent, url: string, secret: string, body: string): Promise<{ status: number; seq: number }> {
  const digest = createHmac('sha256', secret).update(body).digest('hex');
  return new Promise((resolve) => {
    const failed = () => resolve({ status: 0, seq: 0 });
    const options = { method: 'POST', agent, timeout: 10_000, headers: { 'x-service-signature': digest } };
    const sent = request(`${url}/webhooks/default`, options, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('error', failed);
      response.on('aborted', failed);
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        resolve({ status, seq: status === 200 ? (JSON.parse(text) as { seq: number }).seq : 0 });
      });
    });
    sent.on('error', failed);
    sent.on('timeout', () => sent.destroy());
    sent.end(body);
  });
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
