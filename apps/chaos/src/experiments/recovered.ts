import { textOfJob } from "../world/job.ts";
import type { World } from "../world/world.ts";

/** True if within the time every node takes an input, in a session of its own, and shows that its run completed. */
export async function recovered(world: World, { id, withinMs }: { readonly id: string; readonly withinMs: number }): Promise<boolean> {
  const end = performance.now() + withinMs;
  const answers = world.nodes.map(async (node, index) => {
    const session = `${id}n${index}`;
    const ask = asker(`http://127.0.0.1:${node?.port}/api/sessions`, session);
    const job = { id: session, turns: [{ words: 2, gapMs: 0 }] };
    while (performance.now() < end) {
      try {
        await ask("POST", "", { id: session });
        const written = await ask("POST", `/${session}/messages`, { message: textOfJob(job) });
        while (written["runId"] !== undefined && performance.now() < end) {
          const { lastRun } = (await ask("GET", `/${session}`)) as {
            readonly lastRun?: { readonly runId: string; readonly status: string };
          };
          if (lastRun?.runId === written["runId"]) return lastRun.status === "completed";
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      } catch {
        // The node does not answer yet.
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return false;
  });
  return (await Promise.all(answers)).every(Boolean);
}

type Ask = (method: "GET" | "POST", path: string, body?: object) => Promise<{ readonly [field: string]: unknown }>;

/** Asks one node, under one key. */
function asker(base: string, key: string): Ask {
  return async (method, path, body) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { "content-type": "application/json", "idempotency-key": key },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(5_000),
    });
    return (await response.json()) as { readonly [field: string]: unknown };
  };
}
