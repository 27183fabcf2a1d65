import pg from 'pg';
import { openConnection } from '../../src/store/sqlite/driver.ts';
import { readModelsPath } from '../../src/store/sqlite/open.ts';

/**
 * Turns a closed database back into one of the version before: without the tables, columns and indexes that are newer,
 * and with what is in the others. `url`: as in DATABASE_URL.
 */
export async function makeVersionBefore(url: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const path = url.slice('sqlite:'.length);
    await makeReadModelsBefore(readModelsPath(path));
    const ledger = await openConnection(path);
    await ledger.script("delete from settings where name = 'reading'; pragma user_version = 8");
    await ledger.close();
    return;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`
      ${['policy_history', 'decision_history', 'case_history', 'scan_history', 'integration_history']
        .map((table) => `alter table ${table} drop column part; alter table ${table} add primary key (seq);`)
        .join('\n')}
      alter table delivery_history drop column events;
      alter table decision_history drop column doubts;
      drop table set_aside;
      drop table settled_findings;
      delete from settings where name = 'reading';
      delete from schema_version;
      insert into schema_version values (8);`);
  } finally {
    await client.end();
  }
}

/** The file of SQLite's read models as the version before had made it. */
export async function makeReadModelsBefore(path: string): Promise<void> {
  const connection = await openConnection(path);
  const tablesThen = await connection.all(
    "select name, sql from sqlite_schema where type = 'table' and sql like '%part integer%'",
  );
  for (const { name, sql } of tablesThen) {
    const indexes = await connection.all(
      `select name, sql from sqlite_schema where tbl_name = '${String(name)}' and type = 'index' and sql is not null`,
    );
    for (const index of indexes) await connection.script(`drop index "${String(index['name'])}"`);
    const then = String(sql)
      .replace(/part integer not null default 0, /, '')
      .replace(/doubts text, /, '')
      .replace('primary key (seq, part)', 'primary key (seq)');
    await connection.script(`alter table ${String(name)} rename to newer; ${then}`);
    const columns = await connection.all(`select name from pragma_table_info('${String(name)}')`);
    const list = columns.map((column) => String(column['name'])).join(', ');
    await connection.script(`insert into ${String(name)} (${list}) select ${list} from newer; drop table newer`);
    for (const index of indexes)
      if (index['name'] !== 'decision_history_unknown') await connection.script(String(index['sql']));
  }
  await connection.script('drop table set_aside; drop table settled_findings; pragma user_version = 496903792');
  await connection.close();
}
