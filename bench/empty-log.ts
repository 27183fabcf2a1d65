import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A service in its own process with empty consent logs, answering as fast as possible. */
const server = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end('{"logs":[],"next_cursor":null}');
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
