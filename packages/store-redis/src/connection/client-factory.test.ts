import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { silentLogger } from "@loopwright/core/memory";
import { expect, it, onTestFinished } from "vitest";
import { clientFactory, dispose } from "./client-factory.ts";

it("leaves no connection behind when a client is disposed of while it connects", async () => {
  const taken: Promise<unknown>[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {}).resume();
    taken.push(once(socket, "close"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const factory = clientFactory({ url, durability: "aof", deadlineMs: 600_000, logger: silentLogger });
  const client = factory.make();
  const connected = once(server, "connection");
  const opened = client.connect().catch((error: unknown) => error);
  dispose(client);
  await connected;
  // A connection that stays would keep the process alive.
  await Promise.all(taken);
  expect(taken.length).toBeGreaterThan(0);
  expect(await opened).toBeInstanceOf(Error);
});
