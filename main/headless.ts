import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CommandLineHost } from './command-line/command-line-host.ts';
import { runCommandLine } from './command-line/program.ts';
import { systemClock } from './platform/clock.ts';
import { keepFilesPrivate } from './platform/private-files.ts';
import { VERSION } from './platform/version.ts';

/**
 * The headless host: the command line, and the interface for browsers. The parts that a command may not need are loaded
 * when it does.
 */
const host: CommandLineHost = {
  async createEngine(options) {
    const { createEngine } = await import('./engine.ts');
    return createEngine(options);
  },
  async startServer(engine, { port }) {
    const { startBrowserHost } = await import('./browser-host/browser-host.ts');
    const { Dispatcher } = await import('./ipc/dispatcher.ts');
    return startBrowserHost({
      dispatcher: new Dispatcher({
        methods: engine.methods,
        topics: engine.topics,
        clock: systemClock,
        onDefect: (thrown) => process.stderr.write(`${thrown instanceof Error ? thrown.stack : String(thrown)}\n`),
      }),
      rendererDirectory: rendererDirectory(),
      ...(port === undefined ? {} : { port }),
    });
  },
  async startDemo(options) {
    const { startDemo } = await import('./demo/demo.ts');
    return startDemo(options);
  },
  stdout: process.stdout,
  stderr: process.stderr,
  // Touching standard input opens it; most commands have no use for it.
  get stdin() {
    return process.stdin;
  },
  signals: process,
  surroundings: { platform: process.platform, environment: process.env, home: homedir() },
  version: VERSION,
  clock: systemClock,
  quit: (code) => process.exit(code),
};

/** The built interface: beside the built host, or in the build directory when the sources run. */
function rendererDirectory(): string {
  const isBuilt = import.meta.filename.endsWith('.js');
  return isBuilt ? join(import.meta.dirname, '..', 'renderer') : join(import.meta.dirname, '..', 'dist', 'renderer');
}

keepFilesPrivate();
// Whatever is still open, such as a half-read standard input, must not keep a command that has ended.
process.exit(await runCommandLine(process.argv.slice(2), host));
