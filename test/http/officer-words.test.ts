import { expect, it } from 'vitest';
import { variableNames } from '../../src/config/variables.ts';
import { rules } from '../../src/http/auth/route-permissions.ts';
import { createOfficeWorld, signedInAs } from './office-world.ts';

/** Pages for programs, or about their own addresses. */
const forPrograms = ['GET /mcp', 'GET /openapi.json', 'GET /api', 'GET /metrics', 'GET /healthz', 'GET /readyz'];

it('no page names an environment variable to an officer, and tasks for admins are sent to one', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  await world.context.sources.rotateSecret('default', 'another-secret-of-the-source', 'test', {
    retireOthersAt: new Date().toISOString(),
  });
  await fetch(`${world.url}/webhooks/default`, { method: 'POST', body: '{}' });
  await signedInAs(world, 'admin', { name: 'Ada' });
  const officer = await signedInAs(world, 'officer');
  const pages = Object.keys(rules).flatMap((route) =>
    route.startsWith('GET /') && !/[:*]/.test(route) && !forPrograms.includes(route) ? [route.slice(4)] : [],
  );
  const names = variableNames.filter((name) => name.includes('_') || name === 'WITNESSES');
  const telling: string[] = [];
  const asking: string[] = [];
  for (const page of [...pages, '/sources/default', '/sources/default/fields']) {
    const { status, text } = await officer.get(page);
    if (status !== 200) continue;
    const words = text.replace(/<[^>]*>/g, ' ');
    for (const name of names) if (words.includes(name)) telling.push(`${page}: ${name}`);
    if (text.includes('href="mailto:')) asking.push(page);
  }
  expect(telling).toEqual([]);
  expect(asking).toEqual(
    expect.arrayContaining([
      '/deliveries/refused',
      '/documents/schedules',
      '/evidence',
      '/settings/notifications',
      '/sources/default',
    ]),
  );
});
