import { sendingAgain } from "./sending-again.ts";

/**
 * The global `fetch` as it is at each call: the default transport where there is no `node:http`. A request that a reused connection lost before an
 * answer is sent again (`sendingAgain`). Make one per instance of a provider: it counts that instance's answers.
 */
export function defaultTransport(): typeof fetch {
  return sendingAgain((input, init) => globalThis.fetch(input, init));
}
