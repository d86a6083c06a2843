/** The transport on `node:http`. */
export type { NodeHttpFetch, NodeHttpOptions } from "./node-http.ts";
export { nodeHttp } from "./node-http.ts";
export { trailersOf } from "./response-trailers.ts";
