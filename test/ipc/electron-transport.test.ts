import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Dispatcher } from '../../main/ipc/dispatcher.ts';
import { serveElectron } from '../../main/ipc/electron-transport.ts';
import { createBridgeApi } from '../../preload/bridge-api.ts';
import { FakeClock, settle } from '../fixtures/fake-clock.ts';
import { FakeElectronIpc, type FakePage } from './fake-electron-ipc.ts';
import { fakeMethods, fakeTopics, type FakeTopic } from './fake-services.ts';

const OWN_PAGE = 'holdfast://application/index.html';

describe('the Electron transport', () => {
  let ipc: FakeElectronIpc;
  let activity: FakeTopic;
  let stop: () => void;
  const list = vi.fn(async () => []);

  beforeEach(() => {
    list.mockClear();
    ipc = new FakeElectronIpc();
    const { topics, fed } = fakeTopics();
    ({ activity } = fed);
    const methods = fakeMethods({ 'accounts.list': list });
    const dispatcher = new Dispatcher({ methods, topics, clock: new FakeClock() });
    stop = serveElectron({ ipc: ipc.port, dispatcher, isOwnPage: (url) => url === OWN_PAGE });
  });

  it.each<[string, (page: FakePage) => void]>([
    ['a frame inside the page', (page) => (page.frame = { url: OWN_PAGE })],
    ['a page from elsewhere', (page) => (page.mainFrame.url = 'https://example.com/')],
    ['a frame that is gone', (page) => (page.frame = null)],
  ])('answers nothing to %s', async (_case, spoil) => {
    const page = ipc.openPage(OWN_PAGE);
    spoil(page);
    const api = createBridgeApi(page.renderer);
    await expect(api.call('accounts.list', {})).rejects.toMatchObject({ code: 'unknown-method' });
    api.subscribe('activity', {}, () => undefined);
    await settle();
    expect(list).not.toHaveBeenCalled();
    expect(activity.listeners).toBe(0);
  });

  it('ends what a page held when it is left, and serves the next page from the start', async () => {
    const page = ipc.openPage(OWN_PAGE);
    createBridgeApi(page.renderer).subscribe('activity', {}, () => undefined);
    await settle();
    page.contents.emit('did-start-navigation', { isMainFrame: true, isSameDocument: false });
    expect(activity.listeners).toBe(0);

    const snapshots: unknown[] = [];
    activity.next = () => 'again';
    // A page that was loaded anew counts its subscriptions from one again.
    createBridgeApi(page.renderer).subscribe('activity', {}, (snapshot) => snapshots.push(snapshot));
    await settle();
    expect(snapshots).toEqual(['again']);
  });

  it.each([
    ['a change of the fragment', { isMainFrame: true, isSameDocument: true }],
    ['a frame inside the page', { isMainFrame: false, isSameDocument: false }],
  ])('keeps subscriptions over a navigation that is only %s', async (_case, navigation) => {
    const page = ipc.openPage(OWN_PAGE);
    createBridgeApi(page.renderer).subscribe('activity', {}, () => undefined);
    await settle();
    page.contents.emit('did-start-navigation', navigation);
    expect(activity.listeners).toBe(1);
  });

  it('ends what a page held when its process crashes', async () => {
    const page = ipc.openPage(OWN_PAGE);
    createBridgeApi(page.renderer).subscribe('activity', {}, () => undefined);
    await settle();
    page.contents.emit('render-process-gone');
    expect(activity.listeners).toBe(0);
  });

  it('sends nothing to a window that is destroyed while a snapshot is on its way', async () => {
    const page = ipc.openPage(OWN_PAGE);
    let finish: (value: unknown) => void = () => undefined;
    activity.next = () => new Promise((resolve) => (finish = resolve));
    createBridgeApi(page.renderer).subscribe('activity', {}, () => undefined);
    await settle();
    page.destroyed = true;
    finish('late');
    // Electron throws when a destroyed window is sent to; that would be an unhandled rejection here.
    await settle();
    expect(activity.listeners).toBe(1);
  });

  it('leaves nothing behind when it stops', async () => {
    const page = ipc.openPage(OWN_PAGE);
    const api = createBridgeApi(page.renderer);
    api.subscribe('activity', {}, () => undefined);
    await settle();
    stop();
    expect(activity.listeners).toBe(0);
    expect(ipc.handlers.size).toBe(0);
    api.subscribe('activity', {}, () => undefined);
    await settle();
    expect(activity.listeners).toBe(0);
  });
});
