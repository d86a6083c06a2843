import { describe, expect, it } from "vitest";
import { createAgent, createSession, defineTool, execute } from "../src/index.ts";
import { scripted, systemClock } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { Clock } from "../src/ports/index.ts";
import { calm } from "./harness.ts";

const tool = defineTool({ name: "look", description: "Looks", parameters: { type: "object" }, timeoutMs: 0, execute: () => "seen" });
const agent = (steps: Parameters<typeof scripted>[0]) => createAgent({ name: "tester", provider: scripted(steps), tools: [tool] });

describe("a session without a store of the caller's", () => {
  it("sets timers for its model calls alone", async () => {
    const waits: number[] = [];
    const clock: Clock = {
      ...systemClock,
      after(ms, run, options) {
        waits.push(ms);
        return systemClock.after(ms, run, options);
      },
    };
    const session = createSession({ agent: agent([{ calls: [{ name: "look", args: {} }] }, { text: "done" }]), clock });
    expect((await execute(session, "hi").result()).text).toBe("done");
    // The first byte of each call, and its connection once the answer is whole.
    expect(waits.sort((a, b) => a - b)).toEqual([5_000, 5_000, 60_000, 60_000]);
  });

  it("keeps its run however long the process stands still", async () => {
    const clock = manualClock();
    const session = createSession({ agent: agent([{ text: "never", hang: true }]), clock });
    const stream = execute(session, "hi");
    await calm();
    expect(session.isOwner).toBe(true);
    clock.advance(50_000);
    await calm();
    expect(session.isOwner).toBe(true);
    await session.abort();
    await calm();
    expect((await stream.result()).status).toBe("aborted");
  });
});
