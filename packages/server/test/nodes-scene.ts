import { createAgent, defineTool, type Tool } from "@loopwright/core";
import { type ManualClock, manualClock, memoryChannel, memoryQueue, memoryStore, seededIds } from "@loopwright/core/memory";
import type { EventChannel, Logger, RunQueue, RunQueueWorker, SessionStore } from "@loopwright/core/ports";
import type { DurableEvent } from "@loopwright/core/protocol";
import type { HostOptions } from "@loopwright/host";
import { onTestFinished } from "vitest";
import { runClock, until } from "../../host/test/turn-of-loop.ts";
import type { ServerLimits } from "../src/server-limits.ts";
import { historyOf } from "./busy-cuts.ts";
import { type CommandedModel, commandedModel } from "./commanded-model.ts";
import { type Watching, watchStream } from "./commanded-scene.ts";
import { type Ask, type Connect, connectInProcess, textOfAnswer } from "./connection.ts";
import { openStreamDoor, type StreamDoor } from "./stream-door.ts";

export interface NodeInTest {
  readonly door: StreamDoor;
  /** What the agent of this node answers: it names the node that runs. */
  readonly model: CommandedModel;
  readonly connect: Connect;
  readonly logged: readonly { readonly level: string; readonly message: string }[];
  /** Sends JSON; gives the status and what comes back. */
  ask<Body = Record<string, unknown>>(ask: Ask): Promise<{ readonly status: number; readonly headers: Headers; readonly body: Body }>;
  say(text: string, more?: object): Promise<{ readonly runId: string; readonly seq: number }>;
  watch(query?: string): Promise<Watching>;
  /** From now on nothing that this node does reaches the store, and nothing comes back: its process was killed. */
  kill(): void;
}

/** Several nodes over one store, one channel and one queue; the clock stands still, and the session `s` exists. */
export interface NodesScene {
  readonly nodes: readonly NodeInTest[];
  readonly clock: ManualClock;
  readonly store: SessionStore;
  readonly queue: RunQueue;
  history(): Promise<readonly DurableEvent[]>;
  /** The kinds of all facts, in order. */
  facts(): Promise<readonly string[]>;
  /** By the end of the test the clock goes so many milliseconds in a turn of the event loop. */
  run(stepMs: number): void;
}

export interface NodesSceneOptions {
  readonly roles: readonly NonNullable<HostOptions["role"]>[];
  readonly tools?: readonly Tool[];
  readonly limits?: Partial<ServerLimits>;
  readonly queue?: RunQueue;
  readonly channel?: EventChannel;
  /** The log notifies no subscriber of appends, as one of another process does. */
  readonly isSilent?: boolean;
}

export const pickTool: Tool = defineTool({ name: "pick", description: "Lets the user pick.", parameters: { type: "object" } });

export async function openNodes(options: NodesSceneOptions): Promise<NodesScene> {
  const { roles, tools = [], limits = {}, isSilent = false, channel = memoryChannel(), queue = memoryQueue() } = options;
  const clock = manualClock();
  const whole = memoryStore({ clock });
  const { subscribe: _, ...silent } = whole.log;
  const store = isSilent ? { ...whole, log: silent } : whole;
  const shared = { clock, channel, queue, limits };
  const nodes = roles.map((role, place) => openNode({ ...shared, store, role, tools, ids: seededIds(place + 1) }));
  await nodes[0]?.door.open("s");
  return {
    ...{ nodes, clock, store, queue },
    history: () => historyOf(store, "s"),
    facts: async () => (await store.log.read({ scope: "local", session: "s" })).map(({ type }) => type),
    run(stepMs) {
      onTestFinished(runClock(clock, stepMs));
    },
  };
}

type NodeParts = Omit<Parameters<typeof openStreamDoor>[0], "agents" | "queue"> & {
  readonly tools: readonly Tool[];
  readonly queue: RunQueue;
};

function openNode({ tools, store: whole, queue: all, ...shared }: NodeParts): NodeInTest {
  const model = commandedModel();
  const logged: { level: string; message: string }[] = [];
  const logger: Logger = { log: (level, message) => void logged.push({ level, message }) };
  let isDead = false;
  const store = mortalStore(whole, () => isDead);
  const takers: RunQueueWorker[] = [];
  const queue: RunQueue = {
    ...all,
    work(take, how) {
      const taker = all.work(take, how);
      takers.push(taker);
      return taker;
    },
  };
  const kill = (): void => {
    isDead = true;
    for (const taker of takers) void taker.stop();
  };
  const door = openStreamDoor({
    ...shared,
    store,
    queue,
    logger,
    agents: [createAgent({ name: "told", provider: model.provider, tools })],
  });
  onTestFinished(() => (isDead ? undefined : door.close()));
  const connect = connectInProcess(door.fetch);
  const ask = async <Body>(asked: Ask): Promise<{ readonly status: number; readonly headers: Headers; readonly body: Body }> => {
    const connection = await connect(asked);
    if (!connection) throw new Error("There was no answer.");
    const text = await textOfAnswer(connection);
    return { status: connection.status, headers: connection.headers, body: (text === "" ? {} : JSON.parse(text)) as Body };
  };
  return {
    ...{ door, model, connect, logged, ask, kill },
    async say(text, more = {}) {
      const { status, body } = await ask<{ readonly runId: string; readonly seq: number }>({
        ...{ path: "/api/sessions/s/messages", method: "POST" },
        body: { message: text, ...more },
      });
      if (status !== 202) throw new Error(`The message was answered with ${status}: ${JSON.stringify(body)}`);
      return body;
    },
    watch: (query = "?after=") => watchStream(connect, { path: `/api/sessions/s/events${query}` }),
  };
}

/** A store as one process sees it, until that dies. */
function mortalStore(store: SessionStore, isDead: () => boolean): SessionStore {
  const never = new Promise<never>(() => {});
  const mortal =
    <Args extends readonly unknown[], T>(act: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      isDead() ? never : act(...args).then((value) => (isDead() ? never : value));
  const { log } = store;
  return {
    ...store,
    log: {
      ...log,
      append: mortal((ref, request) => log.append(ref, request)),
      read: mortal((ref, options) => log.read(ref, options)),
      head: mortal((ref) => log.head(ref)),
      claim: mortal((ref, claim) => log.claim(ref, claim)),
      renew: mortal((ref, lease) => log.renew(ref, lease)),
      release: mortal((ref, epoch) => log.release(ref, epoch)),
      due: mortal((options) => log.due(options)),
      setDue: mortal((ref, how) => log.setDue(ref, how)),
    },
  };
}

/** The session rests, and this node knows all of it. */
export async function restsOn(node: NodeInTest | undefined, store: SessionStore): Promise<void> {
  await until(async () => {
    const { lastSeq } = await store.log.head({ scope: "local", session: "s" });
    return (await node?.door.use("s", ({ session }) => session.isResting && session.lastSeq === lastSeq)) ?? false;
  }, "the session rests");
}
