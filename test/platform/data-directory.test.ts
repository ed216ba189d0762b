import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { dataDirectory, type Surroundings } from '../../main/platform/data-directory.ts';

const linux: Surroundings = { platform: 'linux', environment: {}, home: '/home/alice' };

it('is what --data says, before anything else', () => {
  const surroundings = { ...linux, environment: { HOLDFAST_DATA: '/elsewhere', XDG_DATA_HOME: '/xdg' } };
  expect(dataDirectory('/chosen', surroundings)).toBe(resolve('/chosen'));
  expect(dataDirectory('chosen', surroundings)).toBe(resolve('chosen'));
});

it('is what HOLDFAST_DATA says, when --data is not given', () => {
  expect(dataDirectory(undefined, { ...linux, environment: { HOLDFAST_DATA: '/elsewhere' } })).toBe(
    resolve('/elsewhere'),
  );
});

it.each<[string, Surroundings, string]>([
  ['Linux', linux, join('/home/alice', '.local', 'share', 'holdfast')],
  ['Linux with XDG_DATA_HOME', { ...linux, environment: { XDG_DATA_HOME: '/xdg' } }, join('/xdg', 'holdfast')],
  [
    'Linux with an XDG_DATA_HOME that is not a full path',
    { ...linux, environment: { XDG_DATA_HOME: 'xdg' } },
    join('/home/alice', '.local', 'share', 'holdfast'),
  ],
  [
    'Linux with an empty HOLDFAST_DATA',
    { ...linux, environment: { HOLDFAST_DATA: '' } },
    join('/home/alice', '.local', 'share', 'holdfast'),
  ],
  ['macOS', { ...linux, platform: 'darwin' }, join('/home/alice', 'Library', 'Application Support', 'Holdfast')],
  [
    'Windows',
    { platform: 'win32', environment: { LOCALAPPDATA: '/users/alice/local' }, home: '/users/alice' },
    join('/users/alice/local', 'Holdfast'),
  ],
])('is where the platform keeps data: %s', (_case, surroundings, expected) => {
  expect(dataDirectory(undefined, surroundings)).toBe(expected);
});
