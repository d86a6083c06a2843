/* A model server in a process of its own: chat completions on the wire, prepared bytes, no thinking. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Playback, playbackFor } from "./streams.ts";

const route = /^(\/.+)\/v1\/chat\/completions$/;

function countOf(body: Buffer, needle: string): number {
  let count = 0;
  for (let at = body.indexOf(needle); at >= 0; at = body.indexOf(needle, at + needle.length)) count++;
  return count;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** Lets the socket send what was written: writes of one turn of the event loop would go out as one. */
const pause = (gapMs: number): Promise<void> => new Promise((resolve) => (gapMs > 0 ? setTimeout(resolve, gapMs) : setImmediate(resolve)));

async function play(response: ServerResponse, { writes, gapMs, delayMs }: Playback): Promise<void> {
  if (delayMs > 0) await pause(delayMs);
  for (const bytes of writes) {
    if (!response.write(bytes)) await new Promise((resolve) => response.once("drain", resolve));
    if (response.destroyed) return;
    await pause(gapMs);
  }
  response.end();
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request);
  const seen = { messages: countOf(body, '"role":"'), toolResults: countOf(body, '"role":"tool"') };
  const playback = playbackFor(route.exec(request.url ?? "")?.[1] ?? "", seen);
  if (!playback) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  await play(response, playback);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(error);
    response.destroy();
  });
});
server.keepAliveTimeout = 60_000;
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on("disconnect", () => process.exit(0));
