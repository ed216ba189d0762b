import { ItemSetBuilder } from '../../main/negentropy/item-set-builder.ts';
import { payloadFromHex, payloadToHex } from '../../main/negentropy/payload-hex.ts';
import { Responder } from '../../main/negentropy/responder.ts';
import type { NegentropyResponder } from './negentropy-responder.ts';

/** The relay's side of NIP-77 by our own module. `frameLimit` in bytes, as some relays keep their messages short. */
export function ownResponder(frameLimit = 0): NegentropyResponder {
  return {
    open(items) {
      const builder = new ItemSetBuilder();
      for (const { createdAt, id } of items) builder.addHex(createdAt, id);
      const responder = new Responder(builder.build(), { frameLimit });
      return { respond: (message) => payloadToHex(responder.respond(payloadFromHex(message))) };
    },
  };
}
