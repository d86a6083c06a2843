import type { IncomingMessage } from "node:http";

const messages = new WeakMap<Response, IncomingMessage>();

/** Keeps the message that a response was made of. */
export function keepTrailers(response: Response, message: IncomingMessage): void {
  messages.set(response, message);
}

/**
 * The trailers of an answer: the fields behind its body, empty where there were none. `undefined` before the body was read to its end, and for a
 * response of another transport than `nodeHttp`: `fetch` drops them.
 */
export function trailersOf(response: Response): Headers | undefined {
  const message = messages.get(response);
  if (!message?.complete) return undefined;
  const trailers = new Headers();
  for (let at = 0; at + 1 < message.rawTrailers.length; at += 2) {
    trailers.append(message.rawTrailers[at] as string, message.rawTrailers[at + 1] as string);
  }
  return trailers;
}
