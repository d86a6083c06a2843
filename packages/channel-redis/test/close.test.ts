import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { redisChannel } from "../src/index.ts";

it("leaves no connection behind when it is closed while it connects", async () => {
  const taken: Promise<unknown>[] = [];
  const server = createServer((socket: Socket) => {
    socket.on("error", () => {}).resume();
    taken.push(once(socket, "close"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const channel = redisChannel({ url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}` });
  channel.subscribeScope("local", { notification: () => {} });
  const connected = once(server, "connection");
  await channel.close();
  await connected;
  // A connection that stays would keep the process alive for ever.
  await Promise.all(taken);
  expect(taken.length).toBeGreaterThan(0);
});
