import type { Command } from 'commander';
import { openDemoDirectory } from '../demo/demo-directory.ts';
import { prepareSampleAccount } from '../demo/sample-account.ts';
import type { Engine } from '../engine-api.ts';
import { Fault } from '../platform/fault.ts';
import { parsePort } from './argument-parsers.ts';
import { EXIT } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import { engineLog, interrupted } from './session.ts';
import type { Invocation, RunCommand } from './session.ts';

interface ServeOptions {
  port?: number;
}

/** Adds `serve` and `demo` to the program. */
export function addServeCommands(program: Command, run: RunCommand): void {
  program
    .command('serve')
    .description('serve the interface to a browser on this machine, until interrupted')
    .option('--port <n>', 'port on the loopback address (default: any that is free)', parsePort)
    .addHelpText(
      'after',
      '\nPrints the address to open. It holds a secret that is new with every start; only this machine can reach it.',
    )
    .action((options: ServeOptions) => run((call) => serve(call, options)));

  program
    .command('demo')
    .description('try everything without touching a public relay: three sample relays and a sample account')
    .option('--port <n>', 'port on the loopback address (default: any that is free)', parsePort)
    .addHelpText(
      'after',
      '\nThe archive of a demo is thrown away at the end, unless --data names a directory of its own for it; the same\n' +
        'directory goes on with the same account another time.\n',
    )
    .action((options: ServeOptions) => run((call) => demo(call, options)));
}

async function serve(call: Invocation, options: ServeOptions): Promise<ExitCode> {
  const engine = await openOwner(call, call.dataDirectory, false);
  try {
    return await serveUntilInterrupted(call, engine, options);
  } finally {
    await engine.close();
  }
}

async function demo(call: Invocation, options: ServeOptions): Promise<ExitCode> {
  const directory = openDemoDirectory(call.dataDirectoryChosen ? call.dataDirectory : null, call.host.clock.nowMs());
  try {
    const sample = await call.host.startDemo({ ports: directory.ports });
    try {
      const engine = await openOwner(call, directory.path, true);
      try {
        directory.rememberPorts(sample.relays.map(({ port }) => port));
        await prepareSampleAccount(engine, sample);
        return await serveUntilInterrupted(call, engine, options);
      } finally {
        await engine.close();
      }
    } finally {
      await sample.close();
    }
  } finally {
    directory.discard();
  }
}

async function openOwner(call: Invocation, dataDirectory: string, isDemo: boolean): Promise<Engine> {
  const { host, interruption } = call;
  const log = engineLog(call, dataDirectory);
  return host.createEngine({
    dataDirectory,
    host: 'browser',
    version: host.version,
    demo: isDemo,
    mode: 'owner',
    clock: host.clock,
    // What ends because everything is being stopped is no news.
    log: (line) => {
      if (!interruption.signal.aborted) log(line);
    },
  });
}

async function serveUntilInterrupted(call: Invocation, engine: Engine, options: ServeOptions): Promise<ExitCode> {
  if (call.interruption.signal.aborted) throw interrupted();
  const server = await call.host.startServer(engine, { port: options.port });
  try {
    if (call.json) await call.out.document({ url: server.url });
    else await call.out.lines([server.url]);
    await call.out.flush();
    if (!call.out.open) throw new Fault('storage', 'The address of the interface could not be printed.');
    call.messages.note('open this address in a browser; Ctrl-C stops');
    await call.interruption.wait();
  } finally {
    await server.close();
  }
  // A service manager ends a service by SIGTERM: that is how it is meant to end.
  return call.interruption.by === 'SIGTERM' ? EXIT.complete : EXIT.partial;
}
