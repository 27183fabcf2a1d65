import { type Figure, median, withFolder } from './figures.ts';
import { measureReceive } from './receive-client.ts';

const ROUNDS = 3;

/** The projector beside the receive rate: alone over a full ledger, and in one process with the load. */
export function benchProject(scale: number): Promise<Figure[]> {
  return withFolder(async (folder) => {
    const count = Math.round(40_000 * scale);
    const received: number[] = [];
    const projected: number[] = [];
    const together: number[] = [];
    const behind: number[] = [];
    const catchUp: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const apart = await measureReceive('durable', `${folder}/${round}-a.sqlite`, count);
      received.push(apart.answered / apart.seconds);
      if (apart.caughtUp) projected.push(apart.caughtUp.behind / apart.caughtUp.seconds);
      const beside = await measureReceive('projected', `${folder}/${round}-b.sqlite`, count);
      together.push(beside.answered / beside.seconds);
      behind.push(beside.caughtUp?.behind ?? 0);
      catchUp.push(beside.caughtUp?.seconds ?? 0);
    }
    const ratio = median(projected) / median(received);
    return [
      {
        name: 'project, alone over a full ledger',
        value: `${Math.round(median(projected))}/s`,
        baseline: `receive ${Math.round(median(received))}/s`,
        ratio,
        wanted: '≥ 1',
        reached: ratio >= 1,
      },
      {
        name: 'receive with the projector in the same process',
        value: `${Math.round(median(together))}/s`,
        baseline: `receive without ${Math.round(median(received))}/s`,
        ratio: median(together) / median(received),
        wanted: '',
        reached: null,
      },
      {
        name: 'entries not projected yet when that load ends',
        value: `${median(behind)}, done ${median(catchUp).toFixed(2)} s later`,
        baseline: `${Math.round(count * 1.25)} received`,
        ratio: median(behind) / (count * 1.25),
        wanted: '',
        reached: null,
      },
    ];
  });
}
