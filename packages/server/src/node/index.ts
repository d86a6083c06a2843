/** The server on Node.js: listening, event streams written straight to the sockets, the files of a page. */
export type { Listenable } from "../http/listenable.ts";
export { type ConnectionLimits, defaultConnectionLimits, type Listening, type ListenOptions, listen } from "./listen.ts";
export { requestListener } from "./request-listener.ts";
export { staticFiles } from "./static-files.ts";
