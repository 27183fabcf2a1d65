/** One of many processes that open the same store at once (test/store/sqlite.sqlite.test.ts). Takes the built store, which starts faster. */
import process from 'node:process';
import { openSqliteStore } from '../../dist/src/store/sqlite/open.js';

const store = await openSqliteStore({ path: process.argv[2] });
await store.transaction((tx) => tx.insertMany('settings', [{ name: `process ${process.pid}`, value: '' }]));
await store.close();
process.disconnect?.();
