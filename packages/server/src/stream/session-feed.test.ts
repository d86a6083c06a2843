import type { AgentSession, SessionEvent } from "@loopwright/core";
import { manualClock, memoryStore, silentLogger } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { defaultServerLimits, type ServerLimits } from "../server-limits.ts";
import type { EventSink } from "./event-sink.ts";
import { createSessionFeed } from "./session-feed.ts";

const at = { runId: "r1", at: 1 };
const content = [{ type: "text" as const, text: "one two" }];
const ends = { ...at, type: "message_end", seq: 26, k: 0, message: { role: "assistant", content } } as unknown as SessionEvent;
const delta = { ...at, type: "text_delta", index: 0, delta: " two", lane: 25, n: 3 } as unknown as SessionEvent;

/** A process whose session has come to an answer that is written elsewhere, and one reader that received its beginning at another process. */
async function joined(
  lanes: readonly SessionEvent[] = [],
  limits: Partial<ServerLimits> = {},
): Promise<{
  notify(...events: readonly SessionEvent[]): void;
  readonly types: () => readonly string[];
  readonly text: () => string;
}> {
  let notify: (events: readonly SessionEvent[], runId: string) => void = () => {};
  const session = {
    id: "s1",
    lastSeq: 25,
    isResting: false,
    ready: async () => {},
    lanes: () => lanes,
    snapshot: () => ({ run: { answering: 25 } }),
    follow(listener: { readonly events: typeof notify }) {
      notify = listener.events;
      return () => {};
    },
  } as unknown as AgentSession;
  const clock = manualClock();
  const ref = { scope: "local", session: "s1" };
  const parts = {
    session,
    ref,
    use: () => () => {},
    store: memoryStore({ clock }),
    limits: { ...defaultServerLimits, ...limits },
    clock,
    logger: silentLogger,
  };
  const feed = createSessionFeed(parts);
  let text = "";
  const sink: EventSink = {
    write(bytes) {
      text += new TextDecoder().decode(bytes);
    },
    queuedBytes: 0,
    onDrain() {},
    onClose() {},
    end() {},
    destroy() {},
  };
  feed.subscribe({ sink, after: { seq: 25, k: Number.MAX_SAFE_INTEGER } });
  await new Promise((resolve) => setImmediate(resolve));
  return {
    notify: (...events) => notify(events, "r1"),
    text: () => text,
    types: () => [...text.matchAll(/"type":"(message_\w+|text_delta)"/g)].map(([, type]) => type ?? ""),
  };
}

it("a reader that got a part of an answer from another server gets a snapshot of it before its end, if this server has sent none of it", async () => {
  const reader = await joined();
  reader.notify(ends);
  expect(reader.types()).toEqual(["message_snapshot", "message_end"]);
});

it("a reader that got the answer so far from this server gets its end alone", async () => {
  const reader = await joined([{ type: "message_snapshot", content, lane: 25, n: 2 } as unknown as SessionEvent]);
  reader.notify(delta);
  reader.notify(ends);
  expect(reader.types()).toEqual(["message_snapshot", "text_delta", "message_end"]);
});

it("a reader that got a part of an answer from another server gets a snapshot of it also in a batch of more events than are kept", async () => {
  const reader = await joined([], { recentEvents: 2 });
  const input = (seq: number): SessionEvent => ({ ...at, type: "input_accepted", seq, k: 0 }) as unknown as SessionEvent;
  reader.notify(ends, ...[27, 28, 29, 30, 31].map(input));
  expect(reader.types()).toEqual(["message_snapshot", "message_end"]);
});

it("the first frame of a stream names the session, also where it is a delta or a snapshot that comes while the reader waits; later ones need not", async () => {
  const snapshot = { type: "message_snapshot", content, lane: 25, n: 2 } as unknown as SessionEvent;
  for (const first of [delta, snapshot]) {
    const reader = await joined();
    reader.notify(first);
    reader.notify(delta);
    const named = [...reader.text().matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => "sessionId" in JSON.parse(data));
    expect(named).toEqual([true, false]);
  }
});
