import { AgentError } from "@loopwright/core";
import { z } from "zod";
import type { Route } from "../../request/route.ts";

const ok = z.object({ status: z.literal("ok") });

export const healthRoute: Route = {
  method: "GET",
  path: "/healthz",
  id: "health",
  summary: "Whether the process answers.",
  access: "public",
  responses: { 200: { description: "It does.", schema: ok } },
  handle: () => Response.json({ status: "ok" }),
};

/** The longest time for an answer of the store; a slower store counts as not ready. */
const storeAnswerMs = 2_000;

export const readyRoute: Route = {
  method: "GET",
  path: "/readyz",
  id: "ready",
  summary: "Whether the server takes work: it is not shutting down, and its store answers and is fit for use.",
  access: "public",
  responses: { 200: { description: "It does.", schema: ok }, 503: { description: "It does not." } },
  async handle({ server }) {
    if (!server.isReady()) throw new AgentError("NOT_READY", { message: "The server is shutting down.", retryAfterMs: 2_000 });
    const { flaw } = server.watched;
    if (flaw) throw new AgentError("NOT_READY", { message: "The store cannot be used now.", retryAfterMs: 2_000, cause: flaw });
    let cancel = (): void => {};
    const late = new Promise<never>((_, reject) => {
      cancel = server.clock.after(storeAnswerMs, () => reject(new Error(`It took more than ${storeAnswerMs} ms.`)));
    });
    try {
      await Promise.race([server.options.store.log.head({ scope: "ready", session: "ready" }), late]);
    } catch (cause) {
      throw new AgentError("NOT_READY", { message: "The store does not answer.", retryAfterMs: 2_000, cause });
    } finally {
      cancel();
    }
    return Response.json({ status: "ok" });
  },
};
