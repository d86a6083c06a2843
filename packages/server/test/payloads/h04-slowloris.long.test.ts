import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, it } from "vitest";
import { payloadScene } from "./payload-scene.ts";
import { json, rawExchange, requestText } from "./raw-exchange.ts";

const slow = 2_000;

it("H04: two thousand connections whose headers never end are closed by the server, and all others are served meanwhile", async () => {
  const { port, writes } = await payloadScene({}, { limits: { headersMs: 3_000, requestMs: 4_000, checkMs: 100 } });
  const sockets = await Promise.all(
    Array.from({ length: slow }, async (): Promise<Socket> => {
      const socket = connect({ port, host: "127.0.0.1" });
      socket.on("error", () => {}).resume();
      await once(socket, "connect");
      socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
      return socket;
    }),
  );
  const closed = Promise.all(sockets.map((socket) => (socket.closed ? undefined : once(socket, "close"))));
  const drip = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write("a");
  }, 250);
  for (let count = 0; count < 50; count++)
    expect(await rawExchange({ port, bytes: requestText("POST /api/sessions", json, "{}") })).toMatch(/^HTTP\/1\.1 201 /);
  await closed;
  clearInterval(drip);
  expect(writes.filter((write) => write.endsWith("session.opened"))).toHaveLength(50);
  expect(await rawExchange({ port, bytes: requestText("GET /healthz") })).toMatch(/^HTTP\/1\.1 200 /);
}, 120_000);
