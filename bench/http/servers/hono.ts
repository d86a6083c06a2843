import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { deltaData } from "../frames.ts";
import { paceOf, type Serve } from "../served.ts";

const watchers = new Set<SSEStreamingApi>();

async function play(text: string): Promise<void> {
  const { deltas, gapMs } = paceOf(text);
  for (const data of deltaData(deltas)) {
    await wait(gapMs);
    for (const stream of watchers) void stream.writeSSE({ event: "text_delta", data });
  }
}

const watched = (stream: SSEStreamingApi): Promise<void> =>
  new Promise((resolve) => {
    watchers.add(stream);
    stream.onAbort(() => {
      watchers.delete(stream);
      resolve();
    });
    void stream.write("retry: 2000\n\n");
  });

/** Hono with its own streaming helper and node adapter. */
export const serve: Serve = async () => {
  const app = new Hono();
  app.get("*", (context) => streamSSE(context, watched));
  app.post("*", async (context) => {
    void play(await context.req.text());
    return context.json({}, 202);
  });
  const server = createServer(getRequestListener(app.fetch));
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
