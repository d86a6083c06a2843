import { defaultTransport } from "#default-transport";
import { withShortBody } from "../body/read-whole.ts";
import { type RedirectContext, withoutRedirects } from "./without-redirects.ts";

/**
 * The transport of a provider's calls: `given`, or the default one: `nodeHttp()` on Node.js, elsewhere the global `fetch` as it is at each call. It never
 * follows a redirect (`withoutRedirects`). Of an error's body it reads at most `bodyLimits.errorBytes`. The default one sends a request again that a
 * reused connection lost before an answer. Make one per instance of a provider.
 */
export function modelTransport(given: typeof fetch | undefined, context: RedirectContext): typeof fetch {
  const send = withoutRedirects(given ?? defaultTransport(), context);
  return async (input, init) => {
    const response = await send(input, init);
    return response.ok ? response : withShortBody(response, init?.signal ?? (input instanceof Request ? input.signal : undefined));
  };
}
