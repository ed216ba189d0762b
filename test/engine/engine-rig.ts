import { onTestFinished } from 'vitest';
import { createEngine, type Engine, type EngineOptions } from '../../main/engine.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { ScriptedRelay, type ScriptedRelayOptions } from '../relays/scripted-relay.ts';

/** The machine's time in these tests, Unix seconds. */
export const NOW = 1_700_000_000;

/** An engine on `dataDirectory` with a clock that stands still; closed after the test. */
export async function startEngine(dataDirectory: string, options: Partial<EngineOptions> = {}): Promise<Engine> {
  const engine = await createEngine({
    dataDirectory,
    host: 'browser',
    version: '0.0.0-test',
    mode: 'owner',
    clock: new FakeClock(NOW * 1000),
    random: () => 0.5,
    verifierThreads: 1,
    ...options,
  });
  onTestFinished(() => engine.close());
  return engine;
}

/** A relay that is gone after the test. */
export async function startRelay(options: ScriptedRelayOptions = {}): Promise<ScriptedRelay> {
  const relay = await ScriptedRelay.start(options);
  onTestFinished(() => relay.stop());
  return relay;
}
