// A thread that fails in the way it is asked for.
import { Fault } from '../../main/platform/fault.ts';
import { serveRequests } from '../../main/platform/serve-requests.ts';

export type FailureRequest = 'fault' | 'error' | 'text' | 'nothing';

serveRequests((request: FailureRequest): string => {
  switch (request) {
    case 'fault':
      throw new Fault('database-damaged', 'The pages make no sense.', { path: '/data/holdfast.db', pages: [3, 7] });
    case 'error':
      throw new Error('a defect');
    case 'text':
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- libraries do such things
      throw 'words';
    case 'nothing':
      return 'done';
  }
});
