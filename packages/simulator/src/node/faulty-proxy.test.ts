import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { type FaultyProxy, faultyProxy } from "./faulty-proxy.ts";
import type { Toxics } from "./toxics.ts";

/** A server that answers each piece with the same bytes, and what it has read. */
async function echo(): Promise<{ readonly port: number; readonly read: () => string }> {
  const received: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      received.push(chunk);
      socket.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, read: () => Buffer.concat(received).toString("latin1") };
}

async function through(toxics: Toxics, seed = 1) {
  const server = await echo();
  const proxy = await faultyProxy({ target: { port: server.port }, seed, toxics });
  onTestFinished(() => proxy.close());
  return { server, proxy };
}

async function dial(proxy: FaultyProxy): Promise<Socket> {
  const socket = connect(proxy.port, proxy.host);
  socket.on("error", () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, "connect");
  return socket;
}

/** Waits for the end of a line, however it ends. */
function closed(socket: Socket): Promise<void> {
  socket.on("error", () => {});
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

/** Everything that arrives until so many bytes have, or the line ends. */
async function receive(socket: Socket, bytes = Number.POSITIVE_INFINITY): Promise<string> {
  let received = "";
  return new Promise((resolve) => {
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (received.length >= bytes) resolve(received);
    });
    socket.on("close", () => resolve(received));
  });
}

describe("a line without faults", () => {
  it("hands on what is sent, both ways, and the end of it", async () => {
    const { proxy } = await through({});
    const socket = await dial(proxy);
    const long = "x".repeat(3_000_000);
    const received = receive(socket, long.length);
    socket.write(long);
    expect((await received).length).toBe(long.length);
    const gone = closed(socket);
    socket.end();
    await gone;
    expect(proxy.openCount).toBe(0);
  });
});

describe("a line with faults", () => {
  it("comes later and in order under latency and jitter", async () => {
    const { proxy } = await through({ toClient: { latencyMs: 20, jitterMs: 20, pieceBytes: 3 } });
    const socket = await dial(proxy);
    // Lower bounds alone: a busy machine may take its time.
    const started = performance.now();
    socket.write("abcdefghijklmnop");
    expect(await receive(socket, 16)).toBe("abcdefghijklmnop");
    expect(performance.now() - started).toBeGreaterThan(19);
  });

  it("has the width that was set, also when more is sent meanwhile", async () => {
    const { proxy } = await through({ toServer: { bytesPerSecond: 1_000, pieceBytes: 10 } });
    const socket = await dial(proxy);
    const received = receive(socket, 60);
    const started = performance.now();
    for (let at = 0; at < 6; at++) socket.write("0123456789");
    expect(await received).toBe("0123456789".repeat(6));
    expect(performance.now() - started).toBeGreaterThan(45);
  });

  it("is cut after so many bytes, in the middle of a word", async () => {
    const { proxy, server } = await through({ toServer: { cutAfterBytes: 4 } });
    const socket = await dial(proxy);
    socket.write("abcdefgh");
    await receive(socket);
    expect("abcd".startsWith(server.read())).toBe(true);
    expect(proxy.counts.cut).toBe(1);
  });

  it("swallows a reply: the server has read the request, the client sees only the end", async () => {
    const { proxy, server } = await through({ swallowChance: 1 });
    const socket = await dial(proxy);
    socket.write("work");
    expect(await receive(socket)).toBe("");
    expect(server.read()).toBe("work");
    expect(proxy.counts).toMatchObject({ swallowed: 1, cut: 1 });
  });

  it("swallows one reply and no more when asked to", async () => {
    const { proxy } = await through({});
    proxy.swallowNext();
    const [first, second] = [await dial(proxy), await dial(proxy)];
    first.write("a");
    expect(await receive(first)).toBe("");
    second.write("b");
    expect(await receive(second, 1)).toBe("b");
  });

  it("holds back what is sent towards the server, and delivers it when the line is good again", async () => {
    const { proxy, server } = await through({ toServer: { isHeld: true } });
    const socket = await dial(proxy);
    const received = receive(socket, 4);
    socket.write("late");
    const other = await dial(proxy);
    const gone = closed(other);
    other.destroy();
    await gone;
    expect(server.read()).toBe("");
    proxy.infect();
    expect(await received).toBe("late");
  });

  it("holds back replies alone: what was asked was done", async () => {
    const { proxy, server } = await through({ toClient: { isHeld: true } });
    const socket = await dial(proxy);
    const received = receive(socket, 4);
    socket.write("done");
    await expect.poll(() => server.read()).toBe("done");
    expect(socket.bytesRead).toBe(0);
    proxy.infect();
    expect(await received).toBe("done");
  });

  it("changes one byte of a garbled piece", async () => {
    const { proxy } = await through({ toClient: { garbleChance: 1 } });
    const socket = await dial(proxy);
    socket.write("abcdefgh");
    const received = await receive(socket, 8);
    expect([...received].filter((letter, at) => letter !== "abcdefgh"[at])).toHaveLength(1);
  });

  it("ends with a reset when set to", async () => {
    const { proxy } = await through({});
    const socket = connect(proxy.port, proxy.host);
    const failed = new Promise<unknown>((resolve) => socket.once("error", resolve));
    await once(socket, "connect");
    await expect.poll(() => proxy.openCount).toBe(1);
    proxy.cut("reset");
    expect(await failed).toMatchObject({ code: "ECONNRESET" });
  });

  it("refuses new connections while set to", async () => {
    const { proxy } = await through({ isRefusing: true });
    const socket = connect(proxy.port, proxy.host);
    await closed(socket);
    proxy.infect();
    const good = await dial(proxy);
    good.write("in");
    expect(await receive(good, 2)).toBe("in");
  });

  it("meets the same fate again from the same seed", async () => {
    const fates = async (seed: number): Promise<readonly string[]> => {
      const { proxy } = await through({ swallowChance: 0.5 }, seed);
      const received: string[] = [];
      for (let turn = 0; turn < 24; turn++) {
        const socket = await dial(proxy);
        socket.write("?");
        received.push(await receive(socket, 1));
        socket.destroy();
      }
      return received;
    };
    const first = await fates(7);
    expect(await fates(7)).toEqual(first);
    expect(await fates(8)).not.toEqual(first);
    expect(new Set(first).size).toBe(2);
  });

  it("ends its connections when it is closed", async () => {
    const { proxy } = await through({});
    const socket = await dial(proxy);
    const gone = closed(socket);
    await proxy.close();
    await gone;
  });
});
