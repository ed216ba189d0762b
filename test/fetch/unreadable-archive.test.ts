import { expect, onTestFinished, test } from 'vitest';
import { RelayFetchProgress } from '../../main/coverage/fetch-progress.ts';
import { Reconciler, type ReconcileSession } from '../../main/fetch/reconciler.ts';
import { fetchFromRelay } from '../../main/fetch/relay-fetch.ts';
import { Fault } from '../../main/platform/fault.ts';
import { RelayDirectory } from '../../main/relays/relay-directory.ts';
import { CoverageRig, START } from '../coverage/coverage-rig.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { pureVerifier } from '../fixtures/pure-verifier.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';

const URL = 'wss://write.example';

class OverUnreadableArchive extends Reconciler {
  override open(): Promise<ReconcileSession> {
    return Promise.reject(new Fault('storage', 'The disk cannot be read.', { path: '/data/holdfast.db' }));
  }
}

test("an archive that cannot be read for a comparison ends the relay's share with that fault: the relay is not paged instead", async () => {
  const rig = await CoverageRig.open();
  const clock = new FakeClock(START * 1000);
  const relays = new RelayDirectory({ clock, userAgent: 'test', log: () => undefined });
  const reconciler = new OverUnreadableArchive('/data/holdfast.db');
  onTestFinished(async () => {
    relays.close();
    await reconciler.close();
  });
  const context = {
    db: rig.db,
    verifier: pureVerifier,
    clock,
    connection: relays.connection(URL),
    relayId: rig.relay('write'),
    progress: new RelayFetchProgress(URL, clock, () => undefined),
    signal: new AbortController().signal,
    idleTimeoutMs: 30_000,
    reconciler,
    account: rig.account.pubkey,
  };

  const fault = await thrownFault(async () =>
    fetchFromRelay(context, {
      runId: await rig.run(),
      type: 'fetch',
      account: rig.account,
      boundary: START,
      pageLimit: 100,
      strategy: 'auto',
      ranges: [],
      planned: true,
    }),
  );

  expect(fault).toMatchObject({ code: 'storage', message: 'The disk cannot be read.' });
  const attempts = await rig.db.selectFrom('attempts').select('strategy').execute();
  expect(attempts).toEqual([{ strategy: 'negentropy' }]);
});
