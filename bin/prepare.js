// `prepare`: npm runs it after `npm ci`, and before it packs. Runs on whatever Node the machine has.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const pathOf = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

// The first `npx holdfast …` in a clone makes npm link the clone into its cache, for which it prepares it once more.
// That must not keep a command waiting, nor rewrite the files of a Holdfast that is running.
const isForCommand = process.env.npm_command === 'exec' && existsSync(pathOf('dist/main/headless.js'));

if (!isForCommand) {
  const builder = pathOf('node_modules/electron-vite/bin/electron-vite.js');
  const { status, error } = spawnSync(process.execPath, [builder, 'build', '--logLevel', 'warn'], {
    cwd: pathOf('.'),
    stdio: 'inherit',
  });
  if (error !== undefined) console.error(`Holdfast could not be built: ${error.message}`);
  process.exitCode = status ?? 1;
}
