import { startInterface } from '../../renderer/app/start.ts';
import { fixtureApi } from './fixture-api.ts';

const parameters = new URLSearchParams(window.location.search);
const theme = parameters.get('theme');

startInterface(
  {
    api: fixtureApi({
      now: Math.floor(Date.now() / 1000),
      scene: parameters.get('scene') === 'empty' ? 'empty' : 'rich',
      theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    }),
    onLink(listener) {
      listener(parameters.get('link') === 'lost' ? 'lost' : 'open');
      return () => undefined;
    },
  },
  window,
);
