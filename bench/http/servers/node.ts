import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { deltaFrames } from "../frames.ts";
import { paceOf, type Serve } from "../served.ts";

const watchers = new Set<ServerResponse>();

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece;
  return text;
}

function watch(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.write("retry: 2000\n\n");
  watchers.add(response);
  response.on("close", () => watchers.delete(response));
}

async function play(text: string): Promise<void> {
  const { deltas, gapMs } = paceOf(text);
  for (const bytes of deltaFrames(deltas)) {
    await wait(gapMs);
    for (const response of watchers) response.write(bytes);
  }
}

/** Plain node:http: prepared bytes, written to every reader that watches. */
export const serve: Serve = async () => {
  const server = createServer(async (request, response) => {
    if (request.method === "GET") return watch(response);
    const text = await bodyOf(request);
    response.writeHead(202, { "content-type": "application/json" }).end("{}");
    await play(text);
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
