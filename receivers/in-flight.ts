import type { Readable } from 'node:stream';
import { addressGroup } from '../src/core/address.ts';

/** Limits in bytes for bodies in memory that have not fully arrived. */
export interface InFlightLimits {
  /** Of all senders together. */
  readonly bytes: number;
  /** Per IPv4 address, or per /64 of IPv6. */
  readonly bytesPerAddress: number;
}

/** Why a body was not read to its end. */
type BodyRefusal = 'too-large' | 'crowded-out' | 'cut-off';

type BodyReading = { readonly outcome: 'read'; readonly body: Buffer } | { readonly outcome: BodyRefusal };

interface Flight {
  readonly sender: Sender;
  bytes: number;
  readonly drop: () => void;
}
interface Sender {
  readonly group: string;
  bytes: number;
  readonly flights: Set<Flight>;
}

const EMPTY = Buffer.alloc(0);

/**
 * Reads bodies within limits for what is in flight. If a limit is reached, the oldest bodies are dropped: an honest
 * sender has finished long before that, and one that sends slowly cannot block others.
 */
export function createBodyReader(limits: InFlightLimits) {
  let bytes = 0;
  // Sets keep insertion order: the oldest comes first.
  const flights = new Set<Flight>();
  const senders = new Map<string, Sender>();

  function begin(address: string, drop: () => void): Flight {
    const group = addressGroup(address);
    let sender = senders.get(group);
    if (sender === undefined) senders.set(group, (sender = { group, bytes: 0, flights: new Set() }));
    const flight = { sender, bytes: 0, drop };
    flights.add(flight);
    sender.flights.add(flight);
    return flight;
  }

  function end(flight: Flight): void {
    if (!flights.delete(flight)) return;
    const { sender } = flight;
    bytes -= flight.bytes;
    sender.bytes -= flight.bytes;
    sender.flights.delete(flight);
    if (sender.flights.size === 0) senders.delete(sender.group);
  }

  function grow(flight: Flight, by: number): void {
    flight.bytes += by;
    flight.sender.bytes += by;
    bytes += by;
    while (flight.sender.bytes > limits.bytesPerAddress) if (!dropOldest(flight.sender.flights)) return;
    while (bytes > limits.bytes) if (!dropOldest(flights)) return;
  }

  function dropOldest(among: ReadonlySet<Flight>): boolean {
    for (const flight of among) {
      end(flight);
      flight.drop();
      return true;
    }
    return false;
  }

  return {
    /** Reads a body of at most `limit` bytes. `length`: its Content-Length, or NaN. `done` is called once. */
    read(
      stream: Readable,
      { limit, length, address }: { readonly limit: number; readonly length: number; readonly address: string },
      done: (reading: BodyReading) => void,
    ): void {
      if (length > limit) {
        done({ outcome: 'too-large' });
        return;
      }
      let chunks: Buffer[] = [];
      let received = 0;
      let flight: Flight | null = null;

      const finish = (reading: BodyReading) => {
        stream.off('data', onData);
        stream.off('end', onEnd);
        stream.off('error', onCut);
        stream.off('close', onCut);
        if (flight !== null) end(flight);
        chunks = [];
        done(reading);
      };
      const onData = (chunk: Buffer) => {
        received += chunk.length;
        if (received > limit) return finish({ outcome: 'too-large' });
        chunks.push(chunk);
        // Usually the first chunk is the whole body, which is then no longer in flight.
        if (flight === null && received === length) return;
        flight ??= begin(address, () => finish({ outcome: 'crowded-out' }));
        grow(flight, chunk.length);
      };
      const onEnd = () => {
        // Always a copy: a chunk is a view into the connection's buffer.
        finish({ outcome: 'read', body: received === 0 ? EMPTY : Buffer.concat(chunks, received) });
      };
      const onCut = () => finish({ outcome: 'cut-off' });
      stream.on('data', onData);
      stream.on('end', onEnd);
      stream.on('error', onCut);
      stream.on('close', onCut);
      stream.resume();
    },
  };
}
