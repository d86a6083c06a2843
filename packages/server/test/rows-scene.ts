import { createAgent, defineTool, type Fact, type Tool } from "@loopwright/core";
import {
  type ManualClock,
  manualClock,
  memoryChannel,
  memoryQueue,
  memoryStore,
  type ScriptedTurn,
  scripted,
  seededIds,
} from "@loopwright/core/memory";
import type { ModelRequest, RunQueue, SessionStore } from "@loopwright/core/ports";
import type { DurableEvent } from "@loopwright/core/protocol";
import type { HostOptions } from "@loopwright/host";
import { listen } from "@loopwright/server/node";
import { onTestFinished } from "vitest";
import { runClock, until } from "../../host/test/turn-of-loop.ts";
import { historyOf } from "./busy-cuts.ts";
import { type Watching, watchStream } from "./commanded-scene.ts";
import { connectOverPort } from "./connect-over-port.ts";
import { type Ask, textOfAnswer } from "./connection.ts";
import { openStreamDoor } from "./stream-door.ts";

/** At the append of the first fact of this type: before the log has it, or after, and no subscriber is notified. */
export interface DeathAt {
  readonly fact: Fact["type"];
  readonly when: "before" | "after";
}

/** A server behind a port, that may die. */
export interface MortalServer {
  /** How often its model was asked. */
  readonly modelCalls: number;
  /** Sends over a socket of its own; `undefined` when that was cut before there was an answer. */
  ask(ask: Ask): Promise<{ readonly status: number; readonly body: Record<string, unknown> } | undefined>;
  post(path: string, body: object, headers?: Ask["headers"]): ReturnType<MortalServer["ask"]>;
  watch(query?: string): Promise<Watching>;
  dieAt(death: DeathAt): void;
  /** From now on nothing that it does reaches the store, nothing comes back, and its sockets are cut. */
  kill(): void;
  readonly isDead: boolean;
}

/** Servers over one store, channel and queue; the clock stands still, and the session `s` exists. */
export interface RowScene {
  readonly clock: ManualClock;
  readonly store: SessionStore;
  /** The call keys of tools that were started, by whichever server. */
  readonly starts: readonly string[];
  start(role: NonNullable<HostOptions["role"]>, options?: { readonly notifiesNone?: boolean }): Promise<MortalServer>;
  history(): Promise<readonly DurableEvent[]>;
  count(type: Fact["type"]): Promise<number>;
  /** By the end of the test the clock goes so many milliseconds in a turn of the event loop. */
  run(stepMs: number): void;
  /** The last fact is of this type. */
  ends(type: Fact["type"]): Promise<void>;
}

export interface RowSceneOptions {
  /** What the model of a server states, and how often that one was asked before. */
  readonly answer?: (request: ModelRequest, scene: { readonly server: number; readonly call: number }) => ScriptedTurn;
  /** Of what waits for a client or for approval. */
  readonly timeoutMs?: number;
}

const parameters = { type: "object" } as const;
export const path = "/api/sessions/s";

export async function openRows(options: RowSceneOptions = {}): Promise<RowScene> {
  const { answer = () => ({ text: "Hello." }), timeoutMs } = options;
  const clock = manualClock();
  const store = memoryStore({ clock });
  const shared = { clock, channel: memoryChannel(), queue: memoryQueue() };
  const starts: string[] = [];
  const timeout = timeoutMs === undefined ? {} : { timeoutMs };
  const danger = defineTool({
    ...{ name: "danger", description: "Is dangerous.", parameters },
    execute(_, { callKey }) {
      starts.push(callKey);
      return "done";
    },
  });
  const tools: readonly Tool[] = [danger, defineTool({ name: "pick", description: "Asks the user.", parameters, ...timeout })];
  const gate = ({ call }: { readonly call: { readonly name: string } }) =>
    call.name === "danger" ? ({ action: "ask", ...timeout } as const) : undefined;
  let count = 0;
  const typesNow = async (): Promise<readonly string[]> => (await store.log.read({ scope: "local", session: "s" })).map(({ type }) => type);
  const start: RowScene["start"] = async (role, { notifiesNone = false } = {}) => {
    const server = ++count;
    const provider = scripted((request, call) => answer(request, { server, call }), { chunkSize: 4 });
    const agents = [createAgent({ name: "told", provider, tools, hooks: [{ name: "approve", gate }] })];
    const life = mortal(store, notifiesNone ? { ...shared.queue, offer: async () => {} } : shared.queue);
    const door = openStreamDoor({ ...shared, ...life.ports, agents, ids: seededIds(server), role });
    if (server === 1) await door.open("s");
    const listening = await listen(door, { limits: { graceMs: 0 } });
    life.onDeath(() => void listening.close());
    onTestFinished(async () => {
      if (!life.isDead()) await door.close();
      await listening.close();
    });
    const connect = connectOverPort(listening.url);
    const ask: MortalServer["ask"] = async (asked) => {
      const connection = await connect(asked);
      const text = connection && (await textOfAnswer(connection));
      return connection && { status: connection.status, body: text ? JSON.parse(text) : {} };
    };
    return {
      ask,
      post: (to, body, headers = {}) => ask({ path: `${path}${to}`, method: "POST", headers, body }),
      watch: (query = "?after=") => watchStream(connect, { path: `${path}/events${query}` }),
      dieAt: life.dieAt,
      kill: life.kill,
      get modelCalls() {
        return provider.requests.length;
      },
      get isDead() {
        return life.isDead();
      },
    };
  };
  return {
    ...{ clock, store, starts, start },
    history: () => historyOf(store, "s"),
    count: async (type) => (await typesNow()).filter((one) => one === type).length,
    run: (stepMs) => onTestFinished(runClock(clock, stepMs)),
    ends: (type) => until(async () => (await typesNow()).at(-1) === type, `${type} is the last fact`),
  };
}

/** Store and queue as one process sees them, until it dies. */
function mortal({ log, ...store }: SessionStore, queue: RunQueue) {
  const never = new Promise<never>(() => {});
  let isOver = false;
  let death: DeathAt | undefined;
  const ends: (() => void)[] = [];
  const kill = (): void => {
    isOver = true;
    for (const end of ends.splice(0)) end();
  };
  const living =
    <Args extends readonly unknown[], T>(act: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      isOver ? never : act(...args).then((value) => (isOver ? never : value));
  const append: SessionStore["log"]["append"] = async (ref, request) => {
    const dies = request.facts.some(({ type }) => type === death?.fact);
    if (dies && death?.when === "before") kill();
    if (isOver) return never;
    const outcome = await log.append(ref, request);
    if (dies) kill();
    return isOver ? never : outcome;
  };
  const mortalLog: SessionStore["log"] = {
    ...log,
    append,
    read: living(log.read),
    head: living(log.head),
    claim: living(log.claim),
    renew: living(log.renew),
    release: living(log.release),
    due: living(log.due),
    setDue: living(log.setDue),
  };
  const work: RunQueue["work"] = (take, how) => {
    const worker = queue.work(take, how);
    ends.push(() => void worker.stop());
    return worker;
  };
  return {
    ports: { store: { ...store, log: mortalLog }, queue: { ...queue, work } },
    kill,
    isDead: () => isOver,
    dieAt: (at: DeathAt) => {
      death = at;
    },
    onDeath: (end: () => void) => void ends.push(end),
  };
}
