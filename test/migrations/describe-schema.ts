import type BetterSqlite3 from 'better-sqlite3';
import * as v from 'valibot';

export interface SchemaDescription {
  /** By table: `name TYPE`, `!` for not null, `=default`, `#n` for the place in the primary key, `-> table.column`. */
  columns: Record<string, string[]>;
  /** By table: the columns of every unique index that the table definition implies. */
  uniques: Record<string, string[]>;
  /** Statements of all indexes made by themselves, in one spelling. */
  indexes: string[];
}

const columnRow = v.object({
  name: v.string(),
  type: v.string(),
  notnull: v.number(),
  dflt_value: v.nullable(v.string()),
  pk: v.number(),
});
const referenceRow = v.object({ from: v.string(), table: v.string(), to: v.nullable(v.string()) });

/** What a database's tables are, in a form in which two schemas can be compared. */
export function describeSchema(connection: BetterSqlite3.Database): SchemaDescription {
  const description: SchemaDescription = { columns: {}, uniques: {}, indexes: [] };
  const tables = texts(
    connection,
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite!_%' escape '!' and name not like 'kysely!_%' escape '!'",
  );
  for (const table of tables.sort()) {
    const references = v.parse(v.array(referenceRow), connection.pragma(`foreign_key_list(${table})`));
    description.columns[table] = v
      .parse(v.array(columnRow), connection.pragma(`table_info(${table})`))
      .map((column) => {
        const reference = references.find(({ from }) => from === column.name);
        return [
          `${column.name} ${column.type.toUpperCase()}`,
          ...(column.notnull === 1 ? ['!'] : []),
          ...(column.dflt_value === null ? [] : [`=${column.dflt_value}`]),
          ...(column.pk === 0 ? [] : [`#${column.pk}`]),
          ...(reference === undefined ? [] : [`-> ${reference.table}.${reference.to ?? 'primary key'}`]),
        ].join(' ');
      });
    const implied = texts(
      connection,
      `select name from pragma_index_list('${table}') where origin <> 'c' order by seq`,
    );
    if (implied.length > 0) {
      description.uniques[table] = implied
        .map((index) => texts(connection, `select name from pragma_index_info('${index}') order by seqno`).join())
        .sort();
    }
  }
  description.indexes = texts(connection, "select sql from sqlite_schema where type = 'index' and sql is not null")
    .map((statement) => statement.replaceAll(/\s+/g, ' '))
    .sort();
  return description;
}

function texts(connection: BetterSqlite3.Database, statement: string): string[] {
  return connection.prepare(statement).pluck().all().map(String);
}
