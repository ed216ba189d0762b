import { CHANNELS, type CallOutcome, type HoldfastApi, type SubscriptionUpdate } from './contract.ts';

/** The part of Electron's `ipcRenderer` that the bridge uses. */
export interface IpcRendererPort {
  invoke(channel: string, ...args: unknown[]): Promise<CallOutcome>;
  send(channel: string, ...args: unknown[]): void;
  on(channel: string, listener: (event: unknown, update: SubscriptionUpdate) => void): unknown;
}

interface Listener {
  onSnapshot: (snapshot: never) => void;
  onError: ((error: NonNullable<SubscriptionUpdate['error']>) => void) | undefined;
}

/** The contract as a page sees it, over Electron's IPC. One listener of the channel serves all subscriptions. */
export function createBridgeApi(ipc: IpcRendererPort): HoldfastApi {
  const listeners = new Map<number, Listener>();
  let lastSubscription = 0;

  ipc.on(CHANNELS.update, (_event, update) => {
    const listener = listeners.get(update.subscription);
    if (update.error !== undefined) listener?.onError?.(update.error);
    else listener?.onSnapshot(update.snapshot as never);
  });

  return {
    async call(method, args) {
      const outcome = await ipc.invoke(CHANNELS.call, method, args);
      // The contract crosses as data: a page catches a ContractError, not an exception of the transport.
      if (!outcome.ok) throw outcome.error;
      return outcome.result as never;
    },
    subscribe(topic, args, onSnapshot, onError) {
      const subscription = ++lastSubscription;
      listeners.set(subscription, { onSnapshot, onError });
      ipc.send(CHANNELS.subscribe, subscription, topic, args);
      return () => {
        if (listeners.delete(subscription)) ipc.send(CHANNELS.unsubscribe, subscription);
      };
    },
  };
}
