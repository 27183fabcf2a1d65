import pc from 'picocolors';
import type { Discovery, EventDiscovery } from '../../receivers/discover/discover.ts';
import { counted, printable, tableText } from './command-io.ts';

/** What was found in the payloads of a source, for people. Holds shapes, no values. */
export function discoveryText({ samples, notJson, events }: Discovery): string {
  if (samples === 0) return 'No deliveries and no rows yet: wait for some with --for 10m, or pull rows with `sync`.';
  return [
    ...(notJson > 0
      ? [`${counted(notJson, 'body is', 'bodies are')} not a JSON object and could not be examined.`]
      : []),
    ...events.map(eventText),
  ].join('\n\n');
}

function eventText({ event, samples, paths, understood, missing, unread, proposals }: EventDiscovery): string {
  const name = event === 'row' ? 'Rows of the consent log' : event === null ? 'Unknown events' : event;
  return [
    pc.bold(`${printable(name)} (${samples})`),
    tableText(
      ['field', 'in', 'different', 'values look like'],
      paths.map(({ path, present, distinct, shapes }) => [path, present, distinct, shapes.join(' | ')]),
      'No fields.',
    ),
    ...(understood.length > 0 ? [`${pc.green('✓')} understood: ${understood.join(', ')}`] : []),
    ...(missing.length > 0 ? [`· not in all of them: ${missing.join(', ')}`] : []),
    ...(unread.length > 0 ? [`· not read: ${unread.map(printable).join(', ')}`] : []),
    ...proposals.map(
      ({ what, field, path, because, foundBefore, foundAfter }) =>
        `${pc.yellow('→')} ${what} (${field}) seems to be in ${printable(path)}: ${because.join(', ')}; found in ${foundAfter} of ${samples} instead of ${foundBefore}`,
    ),
  ].join('\n');
}
