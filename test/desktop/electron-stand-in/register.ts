import { registerHooks } from 'node:module';

// Given to Node by `--import`: the built main process finds the stand-in where it asks for Electron.
const standIn = new URL('./electron.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron'
      ? { url: standIn, format: 'module-typescript', shortCircuit: true }
      : next(specifier, context),
});
