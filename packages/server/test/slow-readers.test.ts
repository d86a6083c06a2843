import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { connect as connectSocket, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import { turnOfLoop, until } from "../../host/test/turn-of-loop.ts";
import { type Listening, listen } from "../src/node/listen.ts";
import { defaultServerLimits } from "../src/server-limits.ts";
import { flawsOf } from "./busy-cuts.ts";
import { type CommandedScene, openCommandedScene, quiet } from "./commanded-scene.ts";
import { connectOverPort } from "./connect-over-port.ts";
import type { Connection } from "./connection.ts";
import { type FloodTool, floodTool } from "./flood-tool.ts";
import { listenWithWebStreams } from "./listen-with-web-streams.ts";
import { createStrictReader, type StrictReader } from "./strict-reader.ts";
import { type SinkRecord, watchedSinks } from "./watched-sinks.ts";

const path = "/api/sessions/s/events";
const { streamQueueBytes, streamStallMs } = defaultServerLimits;
const deltaBytes = 64 * 1024;
/** What is written in one go: a delta with its frame, or a piece of history. */
const batchBytes = deltaBytes + 1024;

const closings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

interface FloodScene extends CommandedScene {
  readonly flood: FloodTool;
  readonly records: readonly SinkRecord[];
  /** Timers that the open session itself needs. */
  readonly timers: number;
}

/** The tool runs and emits nothing yet. */
async function openFloodScene(): Promise<FloodScene> {
  const flood = floodTool();
  const { records, spoil } = watchedSinks();
  const scene = await openCommandedScene({ tools: [flood.tool], spoil });
  closings.push(() => scene.door.close());
  await scene.say("Flood");
  scene.model.call("flood", {});
  scene.model.end();
  await until(async () => (await scene.history()).at(-1)?.type === "tool_execution_start", "the tool runs");
  await quiet();
  return { ...scene, flood, records, timers: scene.clock.pending };
}

async function dry({ flood, model, rests }: FloodScene): Promise<void> {
  flood.stop();
  model.say("It is over.");
  model.end();
  await rests();
}

/** A socket that asks for the events and then reads nothing. */
async function deafSocket(url: string, query = "?after="): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connectSocket({ host: hostname, port: Number(port) });
  socket.on("error", () => {});
  socket.pause();
  await new Promise<void>((resolve) => void socket.once("connect", resolve));
  socket.write(`GET ${path}${query} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
  return socket;
}

interface AcceptedSockets {
  readonly open: ReadonlySet<Socket>;
  readonly count: number;
}

/** The sockets that servers on this port accept from now on: other test files of the process have sockets of their own. */
function acceptedSockets(port: string): AcceptedSockets {
  const open = new Set<Socket>();
  let count = 0;
  const channel = "net.server.socket";
  const onSocket = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    if (socket.localPort !== Number(port)) return;
    count += 1;
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  };
  subscribe(channel, onSocket);
  closings.push(async () => void unsubscribe(channel, onSocket));
  return {
    open,
    get count() {
      return count;
    },
  };
}

/** Time goes by until the session, which is unused, is let go of. */
function letGo({ door, clock }: CommandedScene): Promise<void> {
  const isGone = (): boolean => {
    clock.advance(1_000);
    return door.context.host.loaded === 0;
  };
  return until(isGone, "the session is let go", 500);
}

/** Reads as long as something is there at once, whenever the test asks. */
function pullOn(connection: Connection, take: (bytes: Uint8Array) => unknown): () => Promise<number> {
  let pending: Promise<Uint8Array | undefined> | undefined;
  return async () => {
    for (let bytes = 0; ; ) {
      pending ??= connection.read();
      const next = await Promise.race([pending, quiet().then(() => "nothing" as const)]);
      if (next === "nothing") return bytes;
      pending = undefined;
      if (!next) return bytes;
      bytes += next.byteLength;
      take(next);
    }
  };
}

describe("a reader that never reads", () => {
  async function floodOverSocket(serve: (door: CommandedScene["door"]) => Promise<Listening>): Promise<void> {
    const scene = await openFloodScene();
    const { door, flood, records, clock } = scene;
    const listening = await serve(door);
    closings.push(() => listening.close());
    const healthy = await scene.watch({ path: `${path}?after=` });
    const socket = await deafSocket(listening.url);
    closings.push(async () => socket.destroy());
    await until(() => records.length === 2, "both streams are open");
    await door.use("s", ({ feed }) => expect(feed.watchers).toBe(2));
    // 64 MB with their frames, as much as one tool may give.
    for (let poured = 1; poured <= 976; poured++) {
      await flood.pour(deltaBytes);
      // A reader has it within a few turns, however long the other one's queue is.
      await until(() => healthy.reader.counts.ephemeral === poured, `delta ${poured} is read`, 50);
    }
    const deaf = records.find((record) => record.mostQueued > streamQueueBytes - 2 * batchBytes);
    expect(deaf?.mostQueued).toBeLessThanOrEqual(streamQueueBytes);
    expect(deaf?.written).toBeLessThan(32 * 1024 * 1024);
    expect(deaf?.isClosed).toBe(false);
    clock.advance(streamStallMs);
    await until(() => deaf?.isClosed === true, "the deaf one is cut");
    expect(door.context.streams.open).toBe(1);
    await door.use("s", ({ feed }) => expect(feed.watchers).toBe(1));
    await dry(scene);
    await healthy.got("rest");
    expect(flawsOf(healthy.reader, await scene.history())).toEqual([]);
  }

  it("has at most 1 MiB queued while 64 MB flow, delays no other reader, and is cut after 30 s", () => floodOverSocket(listen));

  it("neither holds more in the process where streams are web streams", async () => {
    const scene = await openFloodScene();
    const { flood, records, connect, clock } = scene;
    const connection = await connect({ path: `${path}?after=` });
    for (let poured = 0; poured < 200; poured++) await flood.pour(deltaBytes);
    expect(records[0]?.mostQueued).toBeGreaterThan(streamQueueBytes - 2 * batchBytes);
    expect(records[0]?.mostQueued).toBeLessThanOrEqual(streamQueueBytes);
    clock.advance(streamStallMs - 1);
    expect(records[0]?.isClosed).toBe(false);
    clock.advance(1);
    expect(records[0]?.isClosed).toBe(true);
    expect(await connection?.read()).toBeUndefined();
    expect(scene.door.context.streams.open).toBe(0);
  });

  it("does not hold its place for ever when its stream has ended", async () => {
    const scene = await openFloodScene();
    const { door, flood, records } = scene;
    const listening = await listen(door, { limits: { silentMs: 5_000 } });
    closings.push(() => listening.close());
    const socket = await deafSocket(listening.url, "");
    closings.push(async () => socket.destroy());
    await until(() => records.length === 1, "the stream is open");
    const waits = (): boolean => (records[0]?.sink.queuedBytes ?? 0) > 100_000;
    for (let poured = 1; poured <= 900 && !waits(); poured++) await flood.pour(8 * deltaBytes);
    expect(waits()).toBe(true);
    await dry(scene);
    await new Promise<void>((resolve) => records[0]?.sink.onClose(resolve));
    expect(door.context.streams.open).toBe(0);
    await door.use("s", ({ feed }) => expect(feed.watchers).toBe(0));
  });

  it("is cut in the middle of a long history too", async () => {
    const { records, spoil } = watchedSinks();
    const scene = await openCommandedScene({ spoil });
    closings.push(() => scene.door.close());
    for (let times = 0; times < 40; times++) await scene.exchange(`Message ${times}`, "x".repeat(50_000));
    const timers = scene.clock.pending;
    for (const limit of ["recent", "log"]) {
      if (limit === "log") {
        await letGo(scene);
      }
      const connection = await scene.connect({ path });
      await quiet();
      const record = records.at(-1);
      expect(record?.mostQueued, limit).toBeGreaterThan(streamQueueBytes - 2 * batchBytes);
      expect(record?.mostQueued, limit).toBeLessThanOrEqual(streamQueueBytes);
      scene.clock.advance(streamStallMs);
      await quiet();
      expect(record?.isClosed, limit).toBe(true);
      expect(await connection?.read(), limit).toBeUndefined();
      await scene.door.use("s", ({ feed }) => expect(feed.watchers).toBe(0));
    }
    expect(scene.clock.pending).toBeLessThanOrEqual(timers);
    expect(scene.door.context.streams.open).toBe(0);
  });
});

describe("a slow reader", () => {
  it("gets a snapshot in place of what it missed, and every durable event", async () => {
    const scene = await openFloodScene();
    const { flood, records, connect } = scene;
    const connection = (await connect({ path: `${path}?after=` })) as Connection;
    const reader = createStrictReader({ isSlow: true });
    const pull = pullOn(connection, reader.connection());
    for (let round = 0; round < 10; round++) {
      for (let poured = 0; poured < 40; poured++) await flood.pour(deltaBytes);
      await scene.door.use("s", ({ session }) => session.change({ title: `Round ${round}` }));
      await pull();
    }
    await dry(scene);
    await pull();
    await connection.cut();
    expect(records[0]?.mostQueued).toBeLessThanOrEqual(streamQueueBytes);
    expect(flawsOf(reader, await scene.history())).toEqual([]);
    expect(reader.counts.snapshots).toBeGreaterThanOrEqual(9);
    expect(reader.counts.ephemeral).toBeLessThan(250);
    expect(reader.plain.map(({ type }) => type)).toEqual(["rest"]);
  });

  it("of many durable events has never more than 1 MiB queued while it is caught up", async () => {
    const { records, spoil } = watchedSinks();
    const scene = await openCommandedScene({ spoil });
    closings.push(() => scene.door.close());
    const connection = (await scene.connect({ path: `${path}?after=` })) as Connection;
    const reader = createStrictReader({ isSlow: true });
    const take = reader.connection();
    for (let times = 0; times < 60; times++) await scene.exchange(`Message ${times}`, "語".repeat(20_000));
    let bytes = 0;
    for (let reads = 0; reads < 5; reads++) {
      const next = await connection.read();
      bytes += next?.byteLength ?? 0;
      if (next) take(next);
    }
    await scene.exchange("Meanwhile", "another");
    bytes += await pullOn(connection, take)();
    await connection.cut();
    expect(bytes).toBeGreaterThan(3 * streamQueueBytes);
    expect(records[0]?.mostQueued).toBeLessThanOrEqual(streamQueueBytes);
    expect(flawsOf(reader, await scene.history())).toEqual([]);
  });

  it("of an execution gets its end, however far it was behind", async () => {
    const flood = floodTool();
    const { records, spoil } = watchedSinks();
    const scene = await openCommandedScene({ tools: [flood.tool], spoil });
    closings.push(() => scene.door.close());
    const body = { sessionId: "s", input: "Flood" };
    const connection = (await scene.connect({ path: "/api/agent/execute", method: "POST", body })) as Connection;
    scene.model.call("flood", {});
    scene.model.end();
    await until(async () => (await scene.history()).at(-1)?.type === "tool_execution_start", "the tool runs");
    for (let poured = 0; poured < 40; poured++) await flood.pour(deltaBytes);
    await dry({ ...scene, flood, records, timers: 0 });
    const reader = createStrictReader({ isSlow: true });
    await pullOn(connection, reader.connection())();
    expect(reader.flaws).toEqual([]);
    const { runId } = (await scene.history()).at(-1) ?? {};
    expect(reader.durable).toEqual((await scene.history()).filter((event) => event.runId === runId));
    expect(reader.plain.map(({ type }) => type)).toEqual(["session_start", "session_end", "execute_complete"]);
    expect(scene.door.context.streams.open).toBe(0);
  });

  it("of notifications has never more than 1 MiB waiting, and gets what fits at once", async () => {
    const { records, spoil } = watchedSinks();
    const scene = await openCommandedScene({ spoil });
    closings.push(() => scene.door.close());
    const connection = (await scene.connect({ path: "/api/notifications" })) as Connection;
    const notify = (job: number, bytes: number): void =>
      scene.door.notify("local", { type: "job", data: { job, text: "x".repeat(bytes) } });
    for (let job = 0; job < 45; job++) {
      notify(job, 20_000);
      await turnOfLoop();
    }
    for (let title = 0; title < 50; title++) await scene.door.use("s", ({ session }) => session.change({ title: `T${title}` }));
    await quiet();
    const texts: string[] = [];
    const decoder = new TextDecoder();
    await pullOn(connection, (bytes) => texts.push(decoder.decode(bytes, { stream: true })))();
    const frames = texts
      .join("")
      .split("\n\n")
      .filter((frame) => frame.includes("data: "));
    expect(frames.filter((frame) => frame.includes("event: notification"))).toHaveLength(45);
    // Hints take the place of older ones.
    expect(frames.filter((frame) => frame.includes("event: session_hint"))).toHaveLength(1);
    expect(records[0]?.mostQueued).toBeLessThanOrEqual(streamQueueBytes);
    for (let job = 0; job < 200; job++) {
      notify(job, 20_000);
      await turnOfLoop();
    }
    expect(records[0]?.isClosed).toBe(true);
    expect(scene.door.context.streams.open).toBe(0);
    expect(scene.clock.pending).toBeLessThanOrEqual(4);
  });
});

describe("a reader that goes", () => {
  it("while its queue is to drain leaves no timer, listener or entry behind", async () => {
    const scene = await openFloodScene();
    const { flood, connect, clock, door, timers } = scene;
    for (let times = 0; times < 100; times++) {
      const connection = (await connect({ path: `${path}?after=` })) as Connection;
      if (times === 0) for (let poured = 0; poured < 20; poured++) await flood.pour(deltaBytes);
      else {
        await turnOfLoop();
        for (let poured = 0; poured < 17 && times < 10; poured++) await flood.pour(deltaBytes);
      }
      await connection.cut();
    }
    await quiet();
    expect(door.context.streams.open).toBe(0);
    await door.use("s", ({ feed }) => expect(feed.watchers).toBe(0));
    // One more: the ping of all streams, which ends by itself.
    expect(clock.pending).toBeLessThanOrEqual(timers + 1);
    clock.advance(defaultServerLimits.pingMs);
    expect(clock.pending).toBeLessThanOrEqual(timers);
    await dry(scene);
  });

  it("while its queue is to drain over a socket does so too", async () => {
    const scene = await openFloodScene();
    const { flood, clock, door, records, timers } = scene;
    const listening = await listen(door);
    closings.push(() => listening.close());
    const sockets = await Promise.all(Array.from({ length: 5 }, () => deafSocket(listening.url)));
    await until(() => records.length === 5, "all streams are open");
    const areFull = (): boolean => records.every((record) => record.mostQueued > streamQueueBytes - 2 * batchBytes);
    for (let poured = 0; poured < 1_000 && !areFull(); poured++) await flood.pour(deltaBytes);
    expect(areFull()).toBe(true);
    for (const socket of sockets) socket.destroy();
    await until(() => door.context.streams.open === 0, "the server has noticed");
    await door.use("s", ({ feed }) => expect(feed.watchers).toBe(0));
    clock.advance(defaultServerLimits.pingMs);
    expect(clock.pending).toBeLessThanOrEqual(timers);
    await dry(scene);
  });

  it("ten thousand times leaves nothing behind", async () => {
    const scene = await openCommandedScene();
    closings.push(() => scene.door.close());
    await scene.exchange("Hello", "Hi");
    const { door, clock } = scene;
    const queries = ["", "?after=", "?from=now", "?after=1.65535"];
    const cycle = async (times: number): Promise<void> => {
      const connection = await scene.connect({ path: `${path}${queries[times % queries.length]}` });
      if (times % 3 === 0) await connection?.read();
      await connection?.cut();
    };
    for (let times = 0; times < 500; times++) await cycle(times);
    const before = heapBytes();
    for (let times = 0; times < 10_000; times++) await cycle(times);
    expect(heapBytes() - before).toBeLessThan(10 * 1024 * 1024);
    await quiet();
    expect(door.context.streams.open).toBe(0);
    await door.use("s", ({ feed }) => expect(feed.watchers).toBe(0));
    await letGo(scene);
    await quiet();
    // The sweep to come.
    expect(clock.pending).toBe(1);
  });

  it.each([
    ["the Node.js adapter", listen],
    ["web streams", listenWithWebStreams],
  ] as const)("over sockets, through %s, leaves no handle behind", async (_, serve) => {
    const scene = await openCommandedScene();
    closings.push(() => scene.door.close());
    await scene.exchange("Hello", "Hi");
    const listening = await serve(scene.door);
    closings.push(() => listening.close());
    const connect = connectOverPort(listening.url);
    const accepted = acceptedSockets(new URL(listening.url).port);
    for (let times = 0; times < 200; times++) {
      const connection = await connect({ path: `${path}?after=`, cutAfter: 300 + times });
      const reader: StrictReader = createStrictReader();
      const take = reader.connection();
      for (let bytes = await connection?.read(); bytes; bytes = await connection?.read()) take(bytes);
      expect(reader.flaws).toEqual([]);
    }
    await until(() => scene.door.context.streams.open === 0, "the server has noticed");
    expect(accepted.count).toBe(200);
    await until(() => accepted.open.size === 0, "the sockets are gone");
    await scene.door.use("s", ({ feed }) => expect(feed.watchers).toBe(0));
  });
});

/** After everything that can be let go of was. */
function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
