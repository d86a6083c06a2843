import type { LoopwrightClient } from "@loopwright/client";
import { AgentError } from "@loopwright/core/protocol";

const known = new WeakMap<LoopwrightClient, Promise<readonly string[]>>();

/** Asks only a server that has the route: each request to another one would be an error on the console. @throws AgentError ROUTE_NOT_FOUND, and what `ask` throws */
export async function offered<T>(client: LoopwrightClient, path: string, ask: () => Promise<T>): Promise<T> {
  const asked = known.get(client) ?? client.paths();
  known.set(client, asked);
  const paths = await asked.catch((error: unknown) => {
    known.delete(client);
    throw error;
  });
  if (paths.includes(path)) return ask();
  throw new AgentError("ROUTE_NOT_FOUND", { message: `This server has no \`${path}\`.` });
}
