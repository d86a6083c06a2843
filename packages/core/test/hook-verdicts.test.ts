import { assertEventStream } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { defineTool, execute, type Hooks, hookCounts, type RunEnd, resume, type Tool } from "../src/index.ts";
import { calm, deferred, eventsOf, ofType, world } from "./harness.ts";

const object = { type: "object" } as const;
const ran: unknown[] = [];
const act = defineTool({ name: "act", description: "Acts.", parameters: object, execute: (args) => `done ${ran.push(args)}` });
const pick = defineTool({ name: "pick", description: "Lets the user pick.", parameters: object });
const hooked = (script: readonly object[], hooks: Partial<Hooks>, tools: readonly Tool[] = [act, pick]) =>
  world(script as never, { tools, hooks: [{ name: "guard", ...hooks }] });
const verdictsOf = (facts: readonly object[]): readonly unknown[] => facts.flatMap((fact) => ("verdicts" in fact ? fact.verdicts : []));

describe("the hook accept", () => {
  it("edits a message before it is recorded, and the same key with the same message finds it without another question", async () => {
    let asked = 0;
    const { session, facts, again } = hooked([{ text: "ok" }], {
      accept({ message }) {
        asked += 1;
        return { action: "edit", message: String(message.content).replace("4711", "####"), reason: "a card number" };
      },
    });
    const first = await execute(session, "pay with 4711", { idempotencyKey: "k" }).result();
    const second = await execute(again(), "pay with 4711", { idempotencyKey: "k" }).result();
    expect(second.runId).toBe(first.runId);
    expect(asked).toBe(1);
    expect(session.messages[0]).toEqual({ role: "user", content: "pay with ####" });
    expect(JSON.stringify(await facts())).not.toContain("4711");
    await expect(execute(again(), "pay with 1234", { idempotencyKey: "k" }).result()).rejects.toMatchObject({ code: "KEY_REUSED" });
  });

  it("refuses a message: nothing is recorded, and `submit` and `execute` give the reason", async () => {
    const { session, facts } = hooked([], { accept: () => ({ action: "refuse", reason: "Not on Sundays." }) });
    const refusal = { code: "INPUT_REFUSED", message: "Not on Sundays." };
    await expect(session.submit("x")).rejects.toMatchObject(refusal);
    await expect(execute(session, "x").result()).rejects.toMatchObject(refusal);
    expect(await facts()).toEqual([]);
  });

  it("that throws, or does not answer within 1.5 seconds, is the end of the request; nothing is recorded", async () => {
    const broken = hooked([], {
      accept() {
        throw new Error("no database");
      },
    });
    await expect(broken.session.submit("x")).rejects.toMatchObject({
      code: "HOOK_FAILED",
      message: "The hook `accept` of `guard` failed.",
    });
    const slow = hooked([], { accept: () => new Promise(() => {}) });
    const submitted = slow.session.submit("x");
    submitted.catch(() => {});
    await calm();
    slow.clock.advance(1_500);
    await expect(submitted).rejects.toMatchObject({ code: "HOOK_TIMEOUT" });
    expect([await broken.facts(), await slow.facts()]).toEqual([[], []]);
  });

  it("answers in place of the model: a run with its verdict, whose events are in order, and which another process restores", async () => {
    const { session, provider, facts, again } = hooked([], {
      accept: () => ({ action: "answer", text: "We are closed.", reason: "closed" }),
    });
    const events = await eventsOf(execute(session, "Are you open?"));
    assertEventStream(events);
    expect(provider.requests).toHaveLength(0);
    expect(ofType(events, "text_delta").map(({ delta }) => delta)).toEqual(["We are closed."]);
    expect(ofType(events, "verdict")[0]).toMatchObject({ hook: "guard", point: "accept", action: "answer", reason: "closed" });
    const written = (await facts()).find(({ type }) => type === "model.finished");
    expect(ofType(events, "message_end").at(-1)?.messageId).toBe(String(written?.seq));
    expect((await again().ready()).messages).toEqual(session.messages);
  });

  it("is asked about a message that is answered again, and cannot edit it", async () => {
    const seen: boolean[] = [];
    const { session } = hooked([{ text: "one" }], {
      accept({ isRegenerated }) {
        seen.push(isRegenerated);
        return isRegenerated ? { action: "answer", text: "I said so." } : undefined;
      },
    });
    await execute(session, "x").result();
    const again = await execute(session, { regenerate: session.messageIds[0] as string }).result();
    expect(again.text).toBe("I said so.");
    expect(seen).toEqual([false, true]);
  });
});

describe("the hook gate, for a client's tool", () => {
  const calls = [{ name: "pick", id: "p1", args: { from: "a" } }];

  it("denies the call: the client is not asked, and the model reads the reason", async () => {
    const { session, provider } = hooked([{ calls }, { text: "ok" }], { gate: () => ({ action: "deny", reason: "not now" }) });
    const events = await eventsOf(execute(session, "x"));
    assertEventStream(events);
    expect(ofType(events, "awaiting_tool_execution")).toEqual([]);
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain("Denied: not now");
  });

  it("edits the arguments that the client is asked with", async () => {
    const { session } = hooked([{ calls }], { gate: () => ({ action: "edit", args: { from: "b" } }) });
    const events = await eventsOf(execute(session, "x"));
    assertEventStream(events);
    expect(ofType(events, "awaiting_tool_execution")[0]?.toolCalls[0]?.args).toEqual({ from: "b" });
    expect(session.pendingToolCalls[0]?.args).toEqual({ from: "b" });
  });

  it("lets a person decide first, and then asks the client; of two calls the other one is not held up", async () => {
    const { session, facts } = hooked([{ calls: [...calls, { name: "pick", id: "p2" }] }, { text: "ok" }], {
      gate: ({ call }) => (call.id === "p1" ? { action: "ask", reason: "sure?" } : { action: "allow" }),
    });
    const first = await execute(session, "x").result();
    expect(first.pendingToolCalls?.map(({ toolCallId }) => toolCallId)).toEqual(["p2"]);
    const [asked] = first.pendingApprovals ?? [];
    await session.decide(asked?.callKey ?? "", { decision: "allow" });
    const second = await resume(session).result();
    expect(second.pendingToolCalls?.map(({ toolCallId }) => toolCallId).sort()).toEqual(["p1", "p2"]);
    const answers = ["p1", "p2"].map((toolCallId) => ({ role: "tool_result", toolCallId, content: "blue" }) as const);
    expect((await execute(session, answers).result()).text).toBe("ok");
    expect((await facts()).filter(({ type }) => type === "client.requested")).toHaveLength(2);
  });

  it("that throws fails the call as its own fault", async () => {
    const { session } = hooked([{ calls }, { text: "ok" }], {
      gate() {
        throw new Error("secret of the gate");
      },
    });
    const result = await execute(session, "x").result();
    expect(result.status).toBe("completed");
    expect(JSON.stringify(result.messages)).toContain("HOOK_FAILED");
    expect(JSON.stringify(result.messages)).not.toContain("secret of the gate");
  });
});

describe("the hook decide", () => {
  it("replaces an answer: what was streamed is withdrawn before the end of the message, and is in no fact", async () => {
    const { session, facts } = hooked([{ text: "the secret plan", chunkSize: 4 }], {
      decide: () => ({ answer: "I may not say.", reason: "secret" }),
    });
    const events = await eventsOf(execute(session, "x"));
    assertEventStream(events);
    const published = events.map(({ type }) => type);
    expect(published.indexOf("attempt_discarded")).toBeLessThan(published.lastIndexOf("message_end"));
    expect(ofType(events, "attempt_discarded")[0]).toMatchObject({ code: "ANSWER_WITHDRAWN", willRetry: false });
    expect(ofType(events, "message_end").at(-1)?.message).toMatchObject({ content: [{ type: "text", text: "I may not say." }] });
    expect(JSON.stringify(await facts())).not.toContain("secret plan");
    expect(session.messages).toHaveLength(2);
  });

  it("retracts an answer: the run fails with the reason, or the model is asked again", async () => {
    const final = hooked([{ text: "wrong" }], { decide: () => ({ action: "retract", reason: "It was wrong." }) });
    const result = await execute(final.session, "x").result();
    expect(result).toMatchObject({ status: "error", error: { code: "ANSWER_WITHDRAWN", message: "It was wrong." } });
    expect(final.session.messages).toHaveLength(1);
    const again = hooked([{ text: "wrong" }, { text: "right" }], {
      decide: ({ message }) =>
        JSON.stringify(message.content).includes("wrong") ? { action: "retract", reason: "It was wrong.", again: true } : undefined,
    });
    const stream = execute(again.session, "x");
    for (let round = 0; round < 3; round++) {
      await calm();
      again.clock.advance(5_000);
    }
    expect((await stream.result()).text).toBe("right");
  });

  it("of several sets: each sees the answer as the one before it left it, and the first verdict on the next turn counts", async () => {
    const seen: unknown[] = [];
    const { session, facts } = world([{ text: "one" }], {
      hooks: [
        { name: "first", decide: () => ({ answer: "two" }) },
        {
          name: "second",
          decide({ message }) {
            seen.push(message.content);
            return { action: "stop", reason: "enough" };
          },
        },
      ],
    });
    expect((await execute(session, "x").result()).text).toBe("two");
    expect(seen).toEqual([[{ type: "text", text: "two" }]]);
    expect(verdictsOf(await facts())).toEqual([
      { hook: "first", point: "decide", action: "replace" },
      { hook: "second", point: "decide", action: "stop", reason: "enough" },
    ]);
  });
});

describe("the hook review", () => {
  it("fails a result: the model reads the reason, people see an error, and nothing of the output is kept", async () => {
    const { session, provider, facts } = hooked([{ calls: [{ name: "act" }] }, { text: "ok" }], {
      review: () => ({ fail: true, reason: "The result is not to be trusted." }),
    });
    const events = await eventsOf(execute(session, "x"));
    expect(ofType(events, "tool_execution_end")[0]?.outcome).toBe("error");
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain("The result is not to be trusted.");
    expect(JSON.stringify(await facts())).not.toContain("done ");
    expect(ofType(events, "verdict")[0]).toMatchObject({ point: "review", action: "fail", callKey: expect.any(String) });
  });
});

describe("the hooks at the beginning and at the end of a run", () => {
  it("see each run once, with its result, and cannot hold it up or change it", async () => {
    const ended = deferred<RunEnd>();
    const never = deferred();
    const { session } = hooked([{ text: "done", usage: { input: 5 } }], {
      run: {
        async end({ result }) {
          ended.resolve(result);
          await never.promise;
          throw new Error("too late");
        },
      },
    });
    const result = await execute(session, "x").result();
    expect(result.status).toBe("completed");
    expect(await ended.promise).toMatchObject({ runId: result.runId, status: "completed", reason: "answer", usage: { input: 5 } });
    expect((await ended.promise).messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("fail the run that they cannot let begin, without a model call", async () => {
    const { session, provider } = hooked([], {
      run: {
        start() {
          throw new Error("no");
        },
      },
    });
    expect(await execute(session, "x").result()).toMatchObject({ status: "error", error: { code: "HOOK_FAILED" } });
    expect(provider.requests).toHaveLength(0);
  });
});

describe("what hooks and tools leave behind", () => {
  it("notes are facts for their package alone; one that is too large, or no JSON, is refused", async () => {
    const noted = defineTool({
      ...act,
      async execute(_, { record }) {
        await record("tests.tool", { n: 1 });
        return "noted";
      },
    });
    const { session, facts } = hooked(
      [{ calls: [{ name: "act" }] }, { text: "ok" }],
      {
        async gate({ record }) {
          await record("tests.gate", "asked");
          await expect(record("tests.gate", "x".repeat(17 * 1024))).rejects.toMatchObject({ code: "INPUT_INVALID" });
        },
      },
      [noted],
    );
    expect((await execute(session, "x").result()).status).toBe("completed");
    const notes = (await facts()).flatMap((fact) => (fact.type === "note.recorded" ? [{ kind: fact.kind, data: fact.data }] : []));
    expect(notes).toEqual([
      { kind: "tests.gate", data: "asked" },
      { kind: "tests.tool", data: { n: 1 } },
    ]);
  });

  it("verdicts that changed nothing are counted, and in no fact", async () => {
    const { session, facts, agent } = hooked([{ calls: [{ name: "act" }] }, { text: "ok" }], {
      prepare: ({ tools }) => ({ tools: [...tools] }),
      gate: () => ({ action: "allow" }),
      review: () => undefined,
    });
    const events = await eventsOf(execute(session, "x"));
    expect(Object.fromEntries(hookCounts(agent))).toEqual({
      "guard/prepare/unchanged": 2,
      "guard/gate/allow": 1,
      "guard/review/unchanged": 1,
    });
    expect(verdictsOf(await facts())).toEqual([]);
    expect(ofType(events, "verdict")).toEqual([]);
  });

  it("what a hook and a tool spent with a named model has its price, by model, and counts for the run", async () => {
    const spends = defineTool({
      ...act,
      execute(_, { addUsage }) {
        addUsage({ input: 1, provider: "p", model: "m1", cost: { totalUsd: 0.25 } });
        addUsage({ input: 2, provider: "p", model: "m1", cost: { totalUsd: 0.25 } });
        return "ok";
      },
    });
    const { session, facts } = hooked(
      [{ calls: [{ name: "act" }] }, { text: "ok" }],
      {
        gate({ addUsage }) {
          addUsage({ output: 3, provider: "p", model: "m2", cost: { totalUsd: 0.5 } });
        },
      },
      [spends],
    );
    const { usage, cost } = await execute(session, "x").result();
    expect({ usage, cost }).toMatchObject({ usage: { input: 3, output: 3 }, cost: { totalUsd: 1 } });
    const expenses = (await facts()).flatMap((fact) => ("expenses" in fact ? (fact.expenses ?? []) : []));
    expect(expenses.map(({ model }) => model)).toEqual(["m2", "m1"]);
  });

  it("state that is no JSON, or more than 16 KiB, fails the run as the hook's fault", async () => {
    for (const state of [{ big: "x".repeat(17 * 1024) }, { odd: (() => 1) as never }]) {
      const { session } = hooked([{ text: "ok" }], { prepare: () => ({ state }) });
      expect(await execute(session, "x").result()).toMatchObject({ status: "error", error: { code: "HOOK_FAILED" } });
    }
  });
});
