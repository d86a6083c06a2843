import { withShortBody } from "../body/read-whole.ts";
import { sendingAgain } from "./sending-again.ts";
import { type RedirectContext, withoutRedirects } from "./without-redirects.ts";

/**
 * The transport of a provider's calls: `given`, or the global `fetch` as it is at each call. It never follows a redirect (`withoutRedirects`). Of an
 * error's body it reads at most `bodyLimits.errorBytes`. Where nothing is given it sends once more what a reused connection lost before an answer
 * (`sendingAgain`). Make one per instance of a provider: it counts that instance's answers.
 */
export function modelTransport(given: typeof fetch | undefined, context: RedirectContext): typeof fetch {
  const send = withoutRedirects(given ?? sendingAgain((input, init) => globalThis.fetch(input, init)), context);
  return async (input, init) => {
    const response = await send(input, init);
    return response.ok ? response : withShortBody(response, init?.signal ?? (input instanceof Request ? input.signal : undefined));
  };
}
