import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { resetSocket } from "./reset-socket.ts";

/** Both ends of one connection. */
async function openPair(): Promise<readonly [near: Socket, far: Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const near = connect({ host: "127.0.0.1", port: (server.address() as AddressInfo).port, allowHalfOpen: true });
  const [far] = (await once(server, "connection")) as [Socket];
  onTestFinished(() => {
    for (const socket of [near, far]) socket.on("error", () => {}).destroy();
    server.close();
  });
  return [near, far];
}

describe("a connection that is reset", () => {
  it("reaches the other end", async () => {
    const [near, far] = await openPair();
    far.resume();
    const failed = once(far, "error");
    resetSocket(near);
    expect(await failed).toMatchObject([{ code: "ECONNRESET" }]);
  });

  it("closes without an error where its end was sent before", async () => {
    const [near, far] = await openPair();
    far.end();
    near.resume();
    await once(near, "end");
    const errors: unknown[] = [];
    near.on("error", (error) => errors.push(error));
    near.end();
    resetSocket(near);
    await once(near, "close");
    expect(errors).toEqual([]);
  });
});
