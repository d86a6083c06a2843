import type { AgentServer } from "@loopwright/server";

interface Door {
  readonly url: string;
  readonly token: string | undefined;
}

/** How many sessions of the server move, as its metrics say. */
export async function countOpenRuns(server: AgentServer, { url, token }: Door): Promise<number> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const response = await server.fetch(new Request(new URL("metrics", url), { headers }));
  return Number(/^loopwright_runs_active (\d+)$/m.exec(await response.text())?.[1] ?? 0);
}
