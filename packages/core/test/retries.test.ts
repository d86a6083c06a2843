import { describe, expect, it } from "vitest";
import { AgentError, execute } from "../src/index.ts";
import { calm, eventsOf, ofType, world } from "./harness.ts";

async function past(clock: { advance(ms: number): void }): Promise<void> {
  for (let round = 0; round < 20; round++) {
    await calm();
    clock.advance(10_000);
  }
  await calm();
}

describe("a model call that fails", () => {
  it("in passing is made again after a wait, and the thrown away text is withdrawn", async () => {
    const { session, clock, facts } = world([{ text: "half", error: "MODEL_OVERLOADED" }, { text: "whole" }]);
    const stream = execute(session, "x");
    await past(clock);
    const result = await stream.result();
    expect(result.text).toBe("whole");
    const events = await eventsOf(stream);
    expect(ofType(events, "attempt_discarded")).toEqual([expect.objectContaining({ code: "MODEL_OVERLOADED", willRetry: true })]);
    const wait = (await facts()).find((fact) => fact.type === "wait.scheduled");
    expect(ofType(events, "retry_scheduled")).toEqual([expect.objectContaining({ until: wait?.type === "wait.scheduled" && wait.until })]);
  });

  it("is tried up to the limit, then the run fails with the cause", async () => {
    const { session, clock, provider } = world((() => ({ error: "MODEL_RATE_LIMITED" })) as never, { limits: { attemptsMax: 3 } });
    const stream = execute(session, "x");
    await past(clock);
    expect((await stream.result()).error).toMatchObject({ code: "MODEL_RATE_LIMITED" });
    expect(provider.requests).toHaveLength(3);
  });

  it.each(["MODEL_AUTH", "MODEL_QUOTA_EXHAUSTED", "MODEL_BAD_REQUEST", "MODEL_NOT_FOUND"] as const)(
    "with %s is not tried again",
    async (code) => {
      const { session, provider } = world([{ error: code }, { text: "never" }]);
      expect((await execute(session, "x").result()).error).toMatchObject({ code });
      expect(provider.requests).toHaveLength(1);
    },
  );

  it("waits at least as long as the vendor asks, and not at all for more than a minute", async () => {
    const limited = (retryAfterMs: number) => new AgentError("MODEL_RATE_LIMITED", { message: "Slow down.", retryAfterMs });
    const patient = world([{ error: limited(20_000) }, { text: "ok" }]);
    const stream = execute(patient.session, "x");
    await calm();
    patient.clock.advance(19_000);
    await calm();
    expect(patient.provider.requests).toHaveLength(1);
    await past(patient.clock);
    expect((await stream.result()).text).toBe("ok");
    const hopeless = world([{ error: limited(3_600_000) }, { text: "never" }]);
    expect((await execute(hopeless.session, "x").result()).status).toBe("error");
  });

  it("F1: because its stream broke off never leaves half a message", async () => {
    const { session, clock } = world([{ text: "half an ans", breaksOff: true }, { text: "whole" }]);
    const stream = execute(session, "x");
    await past(clock);
    const { messages, text } = await stream.result();
    expect(text).toBe("whole");
    expect(JSON.stringify(messages)).not.toContain("half");
  });

  it.each([
    ["says nothing at all", { hang: true }, 60_001, "sent nothing for 60000 ms"],
    ["falls silent", { text: "abc", hang: true }, 60_001, "fell silent for 60000 ms"],
  ])("because it %s is cut off by the watchdog", async (_, turn, ms, written) => {
    const { session, clock, facts } = world([turn, { text: "ok" }]);
    const stream = execute(session, "x");
    await calm();
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(Math.min(1_000, ms - passed));
      await calm();
    }
    await past(clock);
    expect((await stream.result()).text).toBe("ok");
    expect((await facts()).find((fact) => fact.type === "model.failed")).toMatchObject({
      failure: { code: "MODEL_TIMEOUT", message: expect.stringContaining(written) },
    });
  });

  it("in an unexpected way shows nothing of the error that was thrown", async () => {
    const { session, clock, facts } = world((() => ({ error: new Error("key sk-secret-123 refused") })) as never, {
      limits: { attemptsMax: 1 },
    });
    const stream = execute(session, "x");
    await past(clock);
    expect((await stream.result()).error?.code).toBe("INTERNAL");
    expect(JSON.stringify(await facts())).not.toContain("sk-secret");
  });

  it("counts the tokens that it used", async () => {
    const { session, clock } = world([
      { text: "half", chunks: [[{ type: "usage", usage: { input: 5, output: -3, total: 1e12 } }]], error: "MODEL_OVERLOADED" },
      { text: "ok", usage: { input: 5, output: 1 } },
    ]);
    const stream = execute(session, "x");
    await past(clock);
    expect((await stream.result()).usage).toEqual({ input: 10, output: 1 });
  });
});

describe("a model call whose answer is complete", () => {
  const end = { type: "end", stopReason: "stop", raw: "stop" } as const;
  const whole = [[{ type: "text", index: 0, delta: "whole" } as const], [end]];

  it("is over, though the connection stays open; a provider that never stops reading is stopped", async () => {
    const { session, clock, provider } = world([{ chunks: whole, hang: true }, { text: "next" }]);
    expect(await execute(session, "x").result()).toMatchObject({ status: "completed", text: "whole" });
    expect((await execute(session, "y").result()).text).toBe("next");
    expect(provider.requests).toHaveLength(2);
    expect(clock.pending).toBe(1);
    clock.advance(5_000);
    await calm();
    expect(clock.pending).toBe(0);
  });

  it("stays complete when the connection breaks after it", async () => {
    const { session } = world([{ chunks: whole, error: "MODEL_STREAM_BROKEN" }]);
    expect(await execute(session, "x").result()).toMatchObject({ status: "completed", text: "whole" });
  });
});

describe("a conversation that cannot fit the window", () => {
  it("fails with a clear error and without a request", async () => {
    const { session, provider } = world([], {});
    Object.assign(provider, {
      capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false, contextTokens: 10 }),
    });
    const result = await execute(session, "word ".repeat(100)).result();
    expect(result.error).toMatchObject({ code: "CONTEXT_OVERFLOW" });
    expect(provider.requests).toHaveLength(0);
  });
});
