import type { Behaviour } from '../relay-behaviour.ts';

/** NIP-11 documents that are not what the NIP says, each in its own way (row 20). */
export const BROKEN_INFORMATION: readonly string[] = [
  '', '{', 'null', '[]', '"relay"', '<!doctype html><title>Welcome</title>', '{"supported_nips":"1, 11"}',
  '{"supported_nips":[1,"11",null,77.5],"name":7,"limitation":[]}', '{"limitation":{"max_limit":"500","max_subscriptions":-1}}',
  '{"name":"half","limitation":null,"software":{"url":"x"}}',
]; // prettier-ignore

/** Answers the NIP-11 request with exactly this text. */
export function informationText(text: string, status = 200, contentType = 'application/nostr+json'): Behaviour {
  return {
    name: 'gives a NIP-11 text',
    answerHttp(_request, response) {
      response.writeHead(status, { 'content-type': contentType }).end(text);
      return true;
    },
  };
}

/** Gives this NIP-11 document, for example a `max_limit` that the relay does not apply (row 3). */
export function informationDocument(document: Record<string, unknown>): Behaviour {
  return informationText(JSON.stringify(document));
}

/** Has no NIP-11 document. */
export function noInformation(): Behaviour {
  return informationText('Not found', 404, 'text/plain');
}

/** Takes the NIP-11 request and never answers it. */
export function silentInformation(): Behaviour {
  return { name: 'never answers NIP-11', answerHttp: () => true };
}

/** Begins a NIP-11 document of so many bytes. */
export function giantInformation(bytes: number): Behaviour {
  return informationText(JSON.stringify({ name: 'large', description: 'x'.repeat(bytes) }));
}

/** Sends the NIP-11 request elsewhere. */
export function redirectInformation(location: string): Behaviour {
  return {
    name: 'redirects NIP-11',
    answerHttp(_request, response) {
      response.writeHead(302, { location }).end();
      return true;
    },
  };
}
