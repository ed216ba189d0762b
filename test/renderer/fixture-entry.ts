import { startInterface } from '../../renderer/app/start.ts';
import { fixtureApi } from './fixture-api.ts';
import { legacyScenes } from './fixture-legacy.ts';

const parameters = new URLSearchParams(window.location.search);
const scene = parameters.get('scene');
const theme = parameters.get('theme');

startInterface(
  {
    api: fixtureApi({
      now: Math.floor(Date.now() / 1000),
      scene: scene === 'empty' || scene === 'syncing' || scene === 'idle' ? scene : 'rich',
      deliveries: Number(parameters.get('deliveries') ?? 2617),
      legacy: legacyScenes.find((each) => each === parameters.get('legacy')) ?? 'none',
      theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    }),
    onLink(listener) {
      listener(parameters.get('link') === 'lost' ? 'lost' : 'open');
      return () => undefined;
    },
  },
  window,
);
