import { formatRoute, parseRoute, type Route } from './route.ts';

/** The page that is shown, kept in step with the address fragment. */
export class Navigation {
  #route = $state.raw<Route>({ page: 'home' });
  readonly #window: Window;

  constructor(view: Window) {
    this.#window = view;
    this.#route = parseRoute(view.location.hash);
    view.addEventListener('hashchange', () => {
      this.#route = parseRoute(view.location.hash);
    });
  }

  get route(): Route {
    return this.#route;
  }

  /** Opens a page; with `replace` the page that is left does not stay in the history. */
  go(route: Route, replace = false): void {
    const hash = formatRoute(route);
    if (hash === this.#window.location.hash) return;
    if (replace) {
      this.#window.history.replaceState(null, '', hash);
      this.#route = route;
    } else this.#window.location.hash = hash;
  }
}
