/** What the product does; a folder each. What two of them need belongs into a layer below. */
const SERVICES = '^main/(fetch|sync|repositories|legacy|local-relay)/';

/**
 * The layers of the application, from the top. A module may import from its own layer and from those below it, never
 * from one above: every rule that follows is made from this list.
 */
const layers = [
  { name: 'hosts', path: '^main/(desktop|headless)\\.ts$' },
  { name: 'host services', path: '^main/(command-line|browser-host|demo)/' },
  { name: 'contract border', path: '^main/ipc/(?!service-table\\.ts$)' },
  { name: 'engine', path: '^main/engine([^/]*\\.ts$|/)' },
  { name: 'product services', path: SERVICES },
  { name: 'knowledge', path: '^main/(coverage|accounts|settings)/' },
  { name: 'events and relays', path: '^main/(archive|relays|negentropy)/' },
  { name: 'database', path: '^main/database/' },
  { name: 'migrations', path: '^migrations/' },
  { name: 'event rules', path: '^main/nostr/' },
  { name: 'platform', path: '^main/(platform/|ipc/service-table\\.ts$)' },
  { name: 'contract', path: '^preload/contract(\\.ts$|/)' },
];

const downwards = layers.slice(1).map((layer, index) => ({
  name: `${layer.name.replaceAll(' ', '-')}-import-downwards`,
  comment: `The layer “${layer.name}” may not import from a layer above it.`,
  severity: 'error',
  from: { path: layer.path },
  to: {
    path: layers.slice(0, index + 1).map(({ path }) => path),
    // A layer above can be a wider pattern than a file below.
    pathNot: layers.slice(index + 1).map(({ path }) => path),
  },
}));

const known = layers.map(({ path }) => path);

export default {
  forbidden: [
    ...downwards,
    {
      name: 'services-do-not-import-each-other',
      comment: 'The engine brings services together; what two of them share belongs into a layer below.',
      severity: 'error',
      from: { path: SERVICES },
      to: { path: SERVICES, pathNot: '^main/$1/' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'every-module-has-a-layer',
      comment: 'A new folder under main/ belongs into the list of layers.',
      severity: 'error',
      from: { path: '^main/', pathNot: known },
      to: {},
    },
    {
      name: 'electron-only-in-the-desktop-host',
      severity: 'error',
      from: { pathNot: '^(main/desktop\\.ts|preload/bridge\\.ts)$' },
      to: { path: '^(electron$|node_modules/electron/)' },
    },
    {
      name: 'renderer-knows-only-the-contract',
      severity: 'error',
      from: { path: '^renderer/' },
      to: { path: '^(main|migrations|test|preload)/', pathNot: '^preload/contract\\.ts$' },
    },
    {
      name: 'renderer-has-no-node',
      severity: 'error',
      from: { path: '^renderer/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'preload-knows-only-itself',
      severity: 'error',
      from: { path: '^preload/' },
      to: { path: '^(main|migrations|renderer|test)/' },
    },
    {
      name: 'main-does-not-know-interfaces',
      severity: 'error',
      from: { path: '^(main|migrations)/' },
      to: { path: '^(renderer|test|preload)/', pathNot: '^preload/contract\\.ts$' },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      // Types without a module.
      to: { couldNotResolve: true, pathNot: '^vite/client$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'svelte', 'default'],
    },
  },
};
