import { defaultTransport as globalTransport } from "../transport/global-transport.ts";

/** As it was when this module was loaded. */
const ownFetch = globalThis.fetch;

/** One pool of connections for all providers of the process. Loaded at the first call: a process that calls no model pays nothing. */
let pool: Promise<typeof fetch> | undefined;

/**
 * The default transport on Node.js: keep-alive `node:http` (`nodeHttp()`), which takes about half the CPU time of the global `fetch` for each streamed
 * answer. A program that puts another function in the place of the global `fetch`, for example in its tests, is served by that one.
 */
export function defaultTransport(): typeof fetch {
  const replaced = globalTransport();
  return async (input, init) => {
    if (globalThis.fetch !== ownFetch) return replaced(input, init);
    pool ??= import("./node-http.ts").then(({ nodeHttp }) => nodeHttp());
    return (await pool)(input, init);
  };
}
