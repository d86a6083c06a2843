import { connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { listen } from "../src/node/listen.ts";
import { testServer } from "./test-server.ts";

/** A server that pings often, and a connection that asks for an event stream of much and reads none of it. */
async function unreadStream(silentMs: number): Promise<{ readonly streams: () => Promise<string | undefined>; readonly socket: Socket }> {
  const { server, ask, send } = testServer({ limits: { pingMs: 20, streamStallMs: 600_000, streamAgeMs: 3_600_000 } });
  const listening = await listen(server, { limits: { silentMs } });
  onTestFinished(async () => {
    await server.close();
    await listening.close();
  });
  await ask("/api/sessions", { json: { id: "a", title: "t", metadata: { text: "x".repeat(700_000) } } });
  const { hostname, port } = new URL(listening.url);
  const socket = connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.pause();
  socket.write(`GET /api/sessions/a/events?from=now HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
  const streams = async () => /loopwright_sse_clients (\d+)/.exec(await (await send("/metrics")).text())?.[1];
  await expect.poll(streams).toBe("1");
  return { streams, socket };
}

// Only Linux shows what was acknowledged.
it.runIf(process.platform === "linux")(
  "a stream whose bytes are with the kernel, pings included, is cut when none of them is acknowledged",
  async () => {
    const { streams } = await unreadStream(1_000);
    await expect.poll(streams).toBe("0");
  },
);

it.runIf(process.platform === "linux")("a stream that is read stays, however long nothing but pings is sent", async () => {
  const { streams, socket } = await unreadStream(1_000);
  let bytes = 0;
  const began = performance.now();
  await new Promise<void>((resolve) => {
    socket.on("data", (piece) => {
      bytes += piece.byteLength;
      if (bytes > 700_000 && performance.now() - began > 3_000) resolve();
    });
    socket.resume();
  });
  expect(await streams()).toBe("1");
});
