/** One of many processes that open the same store at once (test/store/sqlite.test.ts). */
import { openSqliteStore } from '../../src/store/sqlite/open.ts';

const store = await openSqliteStore({ path: process.argv[2] as string });
await store.transaction((tx) => tx.insertMany('settings', [{ name: `process ${process.pid}`, value: '' }]));
await store.close();
process.disconnect?.();
