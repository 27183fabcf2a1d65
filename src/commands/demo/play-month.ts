import type { Context } from '../../context.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { arrivalOf, type DemoClock } from './demo-clock.ts';

/** Plays a month of the sandbox's traffic over HTTP, the clock following it; seals at each end of a day. */
export async function playMonth(
  sandbox: Sandbox,
  context: Context,
  clock: DemoClock,
  doing: { readonly onDelivery: (sent: number) => void; readonly everyThirdDay: () => Promise<void> },
): Promise<{ sent: number; accepted: number; refused: number }> {
  let sent = 0;
  let days = 0;
  let day = clock.now().toISOString().slice(0, 10);
  const traffic = await sandbox.playTraffic({
    async deliver(delivery) {
      // Spread from one to ten seconds, the same for the same delivery.
      const arrival = arrivalOf(delivery.body, sandbox.window.end, 1000 + (delivery.body.length % 10) * 1000);
      if (arrival !== null) clock.advanceTo(arrival);
      const today = clock.now().toISOString().slice(0, 10);
      if (today !== day) {
        day = today;
        await context.seal();
        days += 1;
        if (days % 3 === 1) await doing.everyThirdDay();
      }
      return sandbox.outbox.deliver(delivery);
    },
    onDelivery: () => {
      sent += 1;
      doing.onDelivery(sent);
    },
  });
  const sum = (count: (one: (typeof traffic)[number]) => number) =>
    traffic.reduce((total, one) => total + count(one), 0);
  return { sent, accepted: sum((one) => one.accepted), refused: sum((one) => one.refused) };
}
