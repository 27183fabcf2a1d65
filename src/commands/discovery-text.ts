import pc from 'picocolors';
import type { Discovery, EventDiscovery } from '../../receivers/discover/discover.ts';
import { counted, printable, tableText } from './command-io.ts';

/** What was found in the payloads of a source, for people. Holds shapes, no values. */
export function discoveryText({ samples, notJson, events }: Discovery): string {
  if (samples === 0)
    return 'Nothing has arrived yet, neither deliveries nor rows: wait for some with --for 10m, or pull with `sync`.';
  return [
    ...(notJson > 0 ? [`${counted(notJson, 'body is', 'bodies are')} no JSON object, and not looked into.`] : []),
    ...events.map(eventText),
  ].join('\n\n');
}

function eventText({ event, samples, paths, understood, missing, unread, proposals }: EventDiscovery): string {
  const name = event === 'row' ? 'Rows of the consent log' : event === null ? 'Events that are not known' : event;
  return [
    pc.bold(`${printable(name)} (${samples})`),
    tableText(
      ['field', 'in', 'different', 'values look like'],
      paths.map(({ path, present, distinct, shapes }) => [path, present, distinct, shapes.join(' | ')]),
      'No field.',
    ),
    ...(understood.length > 0 ? [`${pc.green('✓')} understood: ${understood.join(', ')}`] : []),
    ...(missing.length > 0 ? [`· not in all of them: ${missing.join(', ')}`] : []),
    ...(unread.length > 0 ? [`· not read: ${unread.map(printable).join(', ')}`] : []),
    ...proposals.map(
      ({ what, field, path, because, foundBefore, foundAfter }) =>
        `${pc.yellow('→')} ${what} (${field}) seems to stand in ${printable(path)}: ${because.join(', ')}; found in ${foundAfter} instead of ${foundBefore} of ${samples}`,
    ),
  ].join('\n');
}
