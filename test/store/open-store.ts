/** One of many processes that open the same store at once (test/store/sqlite.sqlite.test.ts). */
import process from 'node:process';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';

const store = await openSqliteStore({ path: process.argv[2] ?? '' });
await store.transaction((tx) => tx.insertMany('settings', [{ name: `process ${process.pid}`, value: '' }]));
await store.close();
process.disconnect?.();
