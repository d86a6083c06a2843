import { applyEvents, type FollowedEvent, type SessionView, viewOf } from "@loopwright/client";
import { defineTool } from "@loopwright/core";
import type { AgentEvent, Message, SessionEvent } from "@loopwright/core/protocol";
import { assertEventStream } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { clientScene } from "./client-scene.ts";

const clock = defineTool({
  name: "clock",
  description: "Tells the time.",
  parameters: { type: "object" },
  async *execute() {
    for (const delta of ["It ", "is ", "nöön. "]) yield { type: "delta", delta } as const;
  },
});

const pickDeclared = { name: "pick", description: "Lets the user pick.", parameters: { type: "object" } } as const;
const pick = defineTool({ ...pickDeclared, execute: () => "red" });

const script = [
  { thinking: "Hm, hm, hm.", text: "Let me look at the clock. 🚀", calls: [{ name: "clock" }, { name: "clock" }] },
  { text: "And you choose.", calls: [{ name: "pick" }, { name: "clock" }] },
  { text: "So it is noon, and red: grüßend, 世界. That is all there is to say about it." },
];

const isEvent = (event: { readonly type: string }): event is SessionEvent => "seq" in event || "lane" in event;
const durable = (events: readonly AgentEvent[]): readonly AgentEvent[] => events.filter((event) => "seq" in event);

describe("executions whose connections are cut at any byte, in either direction", () => {
  it("are recorded once, delivered once and in order, and end as the others do", async () => {
    let connections = 0;
    for (let seed = 1; seed <= 60; seed++) {
      await using scene = clientScene({ script, cuts: seed, tools: [clock] });
      const stream = scene.client.execute("What now?", { agent: "tester", tools: [pick] });
      const events: AgentEvent[] = [];
      for await (const event of stream) events.push(event);
      const result = await stream.result();
      assertEventStream(events, { mayLoseDeltas: true });
      expect([result.status, result.text]).toEqual(["completed", script[2]?.text]);
      expect(result.messages.map(({ role }) => role).join()).toBe(
        "user,assistant,tool_result,tool_result,assistant,tool_result,tool_result,assistant",
      );
      expect(scene.model.requests.length).toBe(3);
      const notified = await untilItGetsThrough(() => scene.client.sessions.events(stream.sessionId));
      expect(durable(events)).toEqual(notified.events);
      connections += scene.asked.filter((asked) => asked.endsWith("/execute")).length;
    }
    expect(connections).toBeGreaterThan(200);
  });

  it("show the same view to every follower, over cuts of their own", async () => {
    for (let seed = 1; seed <= 30; seed++) {
      await using scene = clientScene({ script, cuts: seed + 1_000, tools: [clock] });
      await untilItGetsThrough(() => scene.client.sessions.create({ id: "s1", context: { tools: [pickDeclared] } }).catch(takeForDone));
      const stop = new AbortController();
      let view: SessionView | undefined;
      const following = (async () => {
        for await (const batch of scene.client.follow("s1", { signal: stop.signal })) {
          view = batch.reduce(shownAfter, view);
          if (batch.some(({ type }) => type === "rest") && view?.lastRun) stop.abort();
        }
      })();
      const { messages } = await scene.client.execute("What now?", { sessionId: "s1", tools: [pick] }).result();
      await following;
      expect(view?.path.map(({ message }) => message)).toEqual(inCallOrder(messages));
      expect([view?.status, view?.answer, view?.lastRun?.status]).toEqual(["idle", undefined, "completed"]);
    }
  });
});

function shownAfter(view: SessionView | undefined, event: FollowedEvent): SessionView | undefined {
  if (event.type === "session_snapshot") return viewOf(event.snapshot);
  return view && isEvent(event) ? applyEvents(view, [event]) : view;
}

/** An execution gives results as they came; a view puts those of one turn in the order of their calls. */
function inCallOrder(messages: readonly Message[]): readonly Message[] {
  const keyOf = (message: Message): string | undefined => (message.role === "tool_result" ? message.callKey : undefined);
  return [...messages].sort((a, b) => {
    const [first, second] = [keyOf(a), keyOf(b)];
    const isOneTurn = first?.replace(/\.\d+$/, "") === second?.replace(/\.\d+$/, "");
    return first !== undefined && second !== undefined && isOneTurn ? first.localeCompare(second) : 0;
  });
}

const takeForDone = (error: { readonly code?: string }): unknown => {
  if (error.code === "SESSION_EXISTS") return undefined;
  throw error;
};

async function untilItGetsThrough<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if ((error as { readonly code?: string }).code !== "SERVER_UNREACHABLE") throw error;
    }
  }
}
