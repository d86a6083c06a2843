export type { Authenticate, PageFile, Principal, ServerOptions } from "./server-options.ts";
