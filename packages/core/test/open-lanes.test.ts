import { describe, expect, it } from "vitest";
import { createAgent, createSession, defineTool } from "../src/index.ts";
import { scripted } from "../src/memory/index.ts";

const echo = defineTool({
  name: "echo",
  description: "Says it again.",
  parameters: { type: "object" },
  async *execute() {
    yield { type: "delta", delta: "again" };
  },
});

describe("the open lanes of a session", () => {
  it("never hold a lane whose end was published", async () => {
    const provider = scripted([{ text: "Let me see.", calls: [{ name: "echo" }, { name: "echo" }] }, { text: "Done." }], { chunkSize: 2 });
    const session = createSession({ agent: createAgent({ name: "a", provider, tools: [echo] }) });
    const opened = new Map<string, number>();
    const ended = new Set<number>();
    const stale: number[] = [];
    let looks = 0;
    const look = (): void => {
      looks += 1;
      for (const { lane } of session.lanes()) if (ended.has(lane)) stale.push(lane);
    };
    const rested = new Promise<void>((resolve) => {
      session.follow({
        events(events) {
          for (const event of events) {
            if (event.type === "message_start" && event.role === "assistant") opened.set("answer", event.seq);
            if (event.type === "tool_execution_start") opened.set(event.callKey, event.seq);
            if (event.type === "message_end" && event.message.role === "assistant") ended.add(opened.get("answer") ?? 0);
            if (event.type === "tool_execution_end") ended.add(opened.get(event.callKey) ?? 0);
          }
          look();
          void (async () => {
            for (let moment = 0; moment < 10; moment++) {
              await undefined;
              look();
            }
          })();
        },
        rested: () => ended.size === 4 && resolve(),
      });
    });
    await session.submit("Go");
    await rested;
    expect(looks).toBeGreaterThan(50);
    expect(stale).toEqual([]);
  });
});
