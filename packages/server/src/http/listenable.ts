import type { ServerEnv } from "../request/server-env.ts";

/** What can be listened for. */
export interface Listenable {
  /** Answers one request. Never rejects. */
  fetch(request: Request, env?: ServerEnv): Promise<Response>;
  /** Whether callers must authenticate. */
  readonly hasAuthentication: boolean;
  /** In front of every route; empty for none. */
  readonly basePath: string;
}
