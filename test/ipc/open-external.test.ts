import { expect, it, vi } from 'vitest';
import { withOpenExternal } from '../../main/ipc/open-external.ts';
import { fakeMethods } from './fake-services.ts';

it('opens an https: address as it is written', async () => {
  const open = vi.fn(async () => undefined);
  const methods = withOpenExternal(fakeMethods(), open);
  await expect(methods['application.openExternal']({ url: 'https://example.com/a?b=c#d' })).resolves.toEqual({
    opened: true,
  });
  expect(open).toHaveBeenCalledWith('https://example.com/a?b=c#d');
});

it.each([
  'http://example.com/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'smb://server/share',
  'https://user:secret@example.com/',
  '//example.com/',
  'example.com',
  '',
  `https://example.com/${'a'.repeat(3000)}`,
])('opens nothing for %s', async (url) => {
  const open = vi.fn(async () => undefined);
  const methods = withOpenExternal(fakeMethods(), open);
  await expect(methods['application.openExternal']({ url })).rejects.toMatchObject({ code: 'invalid-argument' });
  expect(open).not.toHaveBeenCalled();
});
