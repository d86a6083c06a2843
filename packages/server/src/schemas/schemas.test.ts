import { memoryStore } from "@loopwright/core/memory";
import type { DurableEvent, SessionSnapshot, Usage } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { pickColour, scriptedAgent, testServer } from "../../test/test-server.ts";
import {
  durableEvent,
  ephemeralEvent,
  executeInput,
  problem,
  sessionHit,
  sessionSnapshot,
  sessionSummary,
  transportEvent,
} from "./index.ts";
import { exactly } from "./schema-of-type.ts";

const steps = [
  {
    thinking: "Hm.",
    text: "Let me ask.",
    calls: [{ name: "pick_colour", args: { hint: "warm" }, id: "c1" }],
    usage: { input: 3, output: 4 },
  },
  { text: "Red.", usage: { input: 9, output: 1 } },
];

/** Frames of a stream as their data. */
const dataOf = (text: string): readonly unknown[] =>
  [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data ?? "") as unknown);

describe("the schemas", () => {
  it("accept the answers of a server unchanged, and drop no field", async () => {
    const store = memoryStore();
    const { ask, send, refused } = testServer({ store, agents: [scriptedAgent(steps, { tools: [pickColour] })] });
    const stream = await send("/api/agent/execute", { json: { sessionId: "a", context: {}, input: "Which?" } });
    const events = dataOf(await stream.text());
    const result = { role: "tool_result", toolCallId: "c1", content: [{ type: "json", value: { colour: "red" } }] };
    const second = dataOf(await (await send("/api/agent/execute", { json: { sessionId: "a", input: [result] } })).text());
    const seen = new Set<unknown>();
    for (const event of [...events, ...second] as { type: string; seq?: number; lane?: number }[]) {
      seen.add(event.type);
      if (event.type === "execute_complete" || "sessionId" in event === "lane" in event) continue;
      const schema = event.seq !== undefined ? durableEvent : event.lane !== undefined ? ephemeralEvent : transportEvent;
      expect(schema.parse(event)).toEqual(event);
    }
    expect([...seen]).toEqual(
      expect.arrayContaining(["session_start", "message_end", "awaiting_tool_execution", "run_end", "execute_complete"]),
    );
    const { body } = await ask<SessionSnapshot>("/api/sessions/a");
    expect(sessionSnapshot.parse(body)).toEqual(body);
    const list = await ask<{ sessions: unknown[] }>("/api/sessions");
    expect(z.array(sessionSummary).parse(list.body.sessions)).toEqual(list.body.sessions);
    const found = await ask<{ hits: unknown[] }>("/api/sessions?search=red");
    expect(found.body.hits).toHaveLength(1);
    expect(z.array(sessionHit).parse(found.body.hits)).toEqual(found.body.hits);
    const { headers: _, ...refusal } = await refused("/api/sessions/b");
    expect(problem.parse(refusal)).toEqual(refusal);
    const durable = await ask<{ events: DurableEvent[] }>("/api/sessions/a/events", { headers: { Accept: "application/json" } });
    expect(z.array(durableEvent).parse(durable.body.events)).toEqual(durable.body.events);
  });

  it("drop unknown fields, and refuse fields of another type", () => {
    expect(executeInput.parse({ role: "user", content: "a", admin: true })).toEqual({ role: "user", content: "a" });
    expect(executeInput.safeParse({ role: "user", content: [{ type: "text", text: 1 }] }).success).toBe(false);
    expect(durableEvent.safeParse({ type: "run_end", status: "completed" }).success).toBe(false);
  });

  it("cannot give a field more or less than their type", () => {
    const count = z.number().exactOptional();
    const less = z.object({ input: count });
    // @ts-expect-error fields of `Usage` are missing
    exactly<Usage>()(less);
    const more = z.object({ totalUsd: z.number(), partial: z.boolean().exactOptional(), note: z.string().exactOptional() });
    // @ts-expect-error `Cost` has no note
    exactly<{ readonly totalUsd: number; readonly partial?: boolean }>()(more);
    const wider = z.object({ totalUsd: z.union([z.number(), z.string()]), partial: z.boolean().exactOptional() });
    // @ts-expect-error the total is a number
    exactly<{ readonly totalUsd: number; readonly partial?: boolean }>()(wider);
    const same = z.object({ totalUsd: z.number(), partial: z.boolean().exactOptional() });
    expect(exactly<{ readonly totalUsd: number; readonly partial?: boolean }>()(same)).toBe(same);
  });
});
