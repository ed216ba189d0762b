import { mount } from 'svelte';
import '../styles/tokens.css';
import '../styles/base.css';
import '../styles/overlays.css';
import { recallTheme } from '../state/theme.ts';
import type { Connection } from '../transport/connection.ts';
import App from './App.svelte';

/** Shows the interface in the page's `#app` element, over any connection that carries the contract. */
export function startInterface(connection: Connection, view: Window): void {
  recallTheme(view);
  const target = view.document.getElementById('app');
  if (target === null) throw new Error('The page has no element to show the interface in.');
  mount(App, { target, props: { connection, view } });
}
