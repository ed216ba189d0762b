import BetterSqlite3 from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { StatementCache } from '../../main/database/statement-cache.ts';

function open(): { connection: BetterSqlite3.Database; cache: StatementCache } {
  const connection = new BetterSqlite3(':memory:');
  onTestFinished(() => void connection.close());
  return { connection, cache: new StatementCache(connection) };
}

test('the same text is prepared once', () => {
  const { connection, cache } = open();
  const prepare = vi.spyOn(connection, 'prepare');

  expect(cache.prepare('select ? as n').all([1])).toEqual([{ n: 1 }]);
  expect(cache.prepare('select ? as n').all([2])).toEqual([{ n: 2 }]);

  expect(prepare).toHaveBeenCalledTimes(1);
});

test('a statement that is being read from serves no second reader', () => {
  const { cache } = open();
  const numbers = 'select value from json_each(?)';

  const first = cache.prepare(numbers).iterate(['[1,2,3]']);
  expect(first.next().value).toEqual({ value: 1 });
  expect([...cache.prepare(numbers).iterate(['[7,8]'])]).toEqual([{ value: 7 }, { value: 8 }]);
  expect([...first]).toEqual([{ value: 2 }, { value: 3 }]);
});

test('statements that were not used for long make room', () => {
  const { connection, cache } = open();
  cache.prepare('select 0 as n');
  for (let n = 1; n <= 400; n += 1) {
    cache.prepare('select 1 as kept');
    cache.prepare(`select ${n} as n`);
  }
  const prepare = vi.spyOn(connection, 'prepare');

  cache.prepare('select 1 as kept');
  expect(prepare).not.toHaveBeenCalled();
  cache.prepare('select 0 as n');
  expect(prepare).toHaveBeenCalledTimes(1);
});
