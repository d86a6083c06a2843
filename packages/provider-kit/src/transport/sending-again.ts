import { causesOf } from "../errors/error-from-fetch.ts";

/** Most connections that a transport takes for reusable. */
export const sparesMax = 256;
/** Most times that one request is sent again. */
export const sendAgainMax = 3;

/**
 * A transport that sends a request again, at once, when a reused connection was lost before an answer: a server closes a connection that has been
 * idle, just as the next request goes out on it. The request costs no attempt of the call then.
 *
 * `fetch` does not show which connection it used, so each answer adds one to the count of reusable connections, and each lost request takes one
 * off. A server that refuses every connection therefore gets no second request, and a server that dies gets no more of them than it gave answers.
 */
export function sendingAgain(transport: typeof fetch): typeof fetch {
  let spares = 0;
  return async (input, init) => {
    for (let again = 0; ; again++) {
      try {
        const response = await transport(input, init);
        spares = Math.min(spares + 1, sparesMax);
        return response;
      } catch (error) {
        if (again === sendAgainMax || spares === 0 || !mayGoAgain(input, init) || !isLost(error)) throw error;
        spares--;
      }
    }
  };
}

/** A body that can be read once is gone. */
function mayGoAgain(input: unknown, { body, signal }: RequestInit = {}): boolean {
  const isPlain = body === undefined || body === null || typeof body === "string" || body instanceof Uint8Array;
  return isPlain && !(input instanceof Request) && signal?.aborted !== true;
}

/** The codes of Node.js and Bun for a connection that the other side has closed. */
const lostCodes: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "ConnectionClosed"]);

function isLost(error: unknown): boolean {
  return causesOf(error).some((each) => "code" in each && lostCodes.has(each.code));
}
