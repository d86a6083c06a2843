import { createAgent, type Tool } from "@loopwright/core";
import { type ManualClock, manualClock, memoryStore, seededIds } from "@loopwright/core/memory";
import type { EventChannel, SessionStore } from "@loopwright/core/ports";
import type { DurableEvent } from "@loopwright/core/protocol";
import { turnOfLoop, until } from "../../host/test/turn-of-loop.ts";
import type { ServerLimits } from "../src/server-limits.ts";
import type { OpenSink } from "../src/stream/event-sink.ts";
import type { StreamDialect } from "../src/stream-dialect.ts";
import { historyOf } from "./busy-cuts.ts";
import { type CommandedModel, commandedModel } from "./commanded-model.ts";
import { type Ask, type Connect, type Connection, connectInProcess } from "./connection.ts";
import type { Frame } from "./frame-parser.ts";
import { openStreamDoor, type StreamDoor } from "./stream-door.ts";
import { createStrictReader, type StrictReader, type StrictReaderOptions } from "./strict-reader.ts";

/** A door, a model that emits what the test asks for, and a clock that stands still. */
export interface CommandedScene {
  readonly door: StreamDoor;
  readonly model: CommandedModel;
  readonly clock: ManualClock;
  readonly store: SessionStore;
  readonly connect: Connect;
  /** Sends a message; resolves when it is durable. */
  say(text: string, more?: object): Promise<{ readonly runId: string; readonly seq: number }>;
  /** A whole exchange: message, answer, rest. */
  exchange(text: string, answer: string): Promise<void>;
  /** Nothing moves by itself any more. */
  rests(): Promise<void>;
  history(): Promise<readonly DurableEvent[]>;
  /** Reads a stream as it comes, until it is stopped. */
  watch(ask: Ask, options?: StrictReaderOptions): Promise<Watching>;
}

/** A connection that is read as fast as it comes. */
export interface Watching {
  readonly connection: Connection;
  readonly reader: StrictReader;
  readonly frames: readonly Frame[];
  readonly isOver: boolean;
  /** Resolves when a frame of this name has come, so many times. */
  got(event: string, times?: number): Promise<void>;
  ended(): Promise<void>;
}

export interface CommandedSceneOptions {
  readonly tools?: readonly Tool[];
  readonly limits?: Partial<ServerLimits>;
  readonly dialects?: readonly StreamDialect[];
  readonly store?: (store: SessionStore) => SessionStore;
  readonly spoil?: (openSink: OpenSink) => OpenSink;
  readonly channel?: EventChannel;
}

/** The session `s` exists. */
export async function openCommandedScene(options: CommandedSceneOptions = {}): Promise<CommandedScene> {
  const { tools = [], limits, dialects, spoil, channel, store: wrap = (store) => store } = options;
  const model = commandedModel();
  const clock = manualClock();
  const store = wrap(memoryStore({ clock }));
  const agent = createAgent({ name: "told", provider: model.provider, tools });
  const more = {
    ...(limits ? { limits } : {}),
    ...(dialects ? { dialects } : {}),
    ...(spoil ? { spoil } : {}),
    ...(channel ? { channel } : {}),
  };
  const door = openStreamDoor({ agents: [agent], store, clock, ids: seededIds(1), ...more });
  const connect = connectInProcess(door.fetch);
  await door.open("s");
  const rests = (): Promise<void> => until(() => door.use("s", ({ session }) => session.isResting), "the session rests");
  const say = async (text: string, more: object = {}): Promise<{ readonly runId: string; readonly seq: number }> => {
    const answer = await connect({ path: "/api/sessions/s/messages", method: "POST", body: { message: text, ...more } });
    if (answer?.status !== 202) throw new Error(`The message was answered with ${answer?.status}.`);
    return JSON.parse(new TextDecoder().decode(await answer.read())) as { readonly runId: string; readonly seq: number };
  };
  return {
    ...{ door, model, clock, store, connect, say, rests },
    async exchange(text, answer) {
      await say(text);
      model.say(answer);
      model.end();
      await rests();
    },
    history: () => historyOf(store, "s"),
    watch: (ask, options) => watchStream(connect, ask, options),
  };
}

/** Opens a stream and reads it. */
export async function watchStream(connect: Connect, ask: Ask, options: StrictReaderOptions = {}): Promise<Watching> {
  const connection = await connect(ask);
  if (connection?.status !== 200) throw new Error(`The stream was answered with ${connection?.status}.`);
  const reader = createStrictReader(options);
  const take = reader.connection();
  const frames: Frame[] = [];
  let isOver = false;
  const read = async (): Promise<void> => {
    for (let bytes = await connection.read(); bytes; bytes = await connection.read()) frames.push(...take(bytes));
    isOver = true;
  };
  void read();
  return {
    connection,
    reader,
    frames,
    get isOver() {
      return isOver;
    },
    got: (event, times = 1) => until(() => frames.filter((frame) => frame.event === event).length >= times, `${event} comes`),
    ended: () => until(() => isOver, "the stream ends"),
  };
}

/** Time for everything that is ready to have happened. */
export async function quiet(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turnOfLoop();
}
