import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { bullQueue } from "../src/index.ts";

it("leaves no connection behind when it is closed while it connects", async () => {
  const taken: Promise<unknown>[] = [];
  const server = createServer((socket: Socket) => {
    socket.on("error", () => {}).resume();
    taken.push(once(socket, "close"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  // So long that only closing can end a connection here: the deadline of one that is idle comes later still.
  const queue = bullQueue({ url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, deadlineMs: 600_000 });
  const connected = once(server, "connection");
  void queue.offer({ scope: "local", session: "s" }).catch(() => {});
  await queue.close();
  await connected;
  await Promise.all(taken);
  expect(taken.length).toBeGreaterThan(0);
});
