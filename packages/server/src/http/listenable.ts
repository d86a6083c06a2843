import type { ServerEnv } from "../request/server-env.ts";

/** A server that `listen` can serve. */
export interface Listenable {
  /** Answers one request. Never rejects. */
  fetch(request: Request, env?: ServerEnv): Promise<Response>;
  /** True if callers must authenticate. */
  readonly hasAuthentication: boolean;
  /** The base path of all routes; empty for none. */
  readonly basePath: string;
}
