/** The transport on `node:http`. */
export type { NodeHttpFetch } from "./node-http.ts";
export { nodeHttp } from "./node-http.ts";
export type { NodeHttpOptions } from "./node-http-options.ts";
export { trailersOf } from "./response-trailers.ts";
