import { describe, expect, it } from "vitest";
import { execute } from "../src/index.ts";
import type { ContextCall, ContextEngine, FittedRequest } from "../src/ports/index.ts";
import { world } from "./harness.ts";

/** An engine that fits each call as given, and notes the calls of each context that it opened. */
function notedEngine(fit: (call: ContextCall) => FittedRequest | undefined = ({ history }) => history) {
  const opened: ContextCall[][] = [];
  const engine: ContextEngine = {
    open() {
      const calls: ContextCall[] = [];
      opened.push(calls);
      return {
        fit(call) {
          calls.push(call);
          return fit(call);
        },
      };
    },
  };
  return { engine, opened };
}

describe("a context engine", () => {
  it("is asked before each model call of a session, with the same growing list and its ids", async () => {
    const { engine, opened } = notedEngine();
    const { session, provider } = world([{ calls: [{ name: "nowhere" }] }, { text: "a" }, { text: "b" }], {
      context: engine,
      prompt: "Be brief.",
    });
    await execute(session, "one").result();
    await execute(session, "two").result();
    const [calls] = opened;
    expect([opened.length, calls?.length]).toEqual([1, 3]);
    expect(new Set(calls?.map(({ history }) => history.messages)).size).toBe(1);
    const { messages = [], ids = [] } = calls?.[2]?.history ?? {};
    expect(ids.map((id) => id !== undefined)).toEqual([true, true, true, true, true]);
    expect(session.messages.slice(0, 5)).toEqual(messages);
    expect(calls?.map(({ turn, attempt, request }) => [turn, attempt, request.system?.[0]?.text])).toEqual([
      [1, 1, "Be brief."],
      [2, 1, "Be brief."],
      [1, 1, "Be brief."],
    ]);
    expect(provider.requests).toHaveLength(3);
  });

  it("decides the messages, the prompt and the tools that are sent", async () => {
    const { engine } = notedEngine(() => ({
      messages: [{ role: "user", content: "short" }],
      system: [{ text: "Shorter.", source: "agent", cache: "stable" }],
      tools: [],
    }));
    const { session, provider } = world([{ text: "ok" }], { context: engine, prompt: "Be brief." });
    await execute(session, "long").result();
    expect(provider.requests[0]).toMatchObject({ messages: [{ content: "short" }], system: [{ text: "Shorter." }], tools: [] });
    expect(session.messages[0]).toMatchObject({ content: "long" });
  });

  it("has a context of its own for a conversation that a hook chose for one call", async () => {
    const { engine, opened } = notedEngine();
    const hooks = [{ name: "other", prepare: () => ({ messages: [{ role: "user", content: "chosen" }] as const }) }];
    const { session } = world([{ text: "ok" }], { context: engine, hooks });
    await execute(session, "given").result();
    expect(opened.map((calls) => calls.map(({ history }) => history.messages))).toEqual([[[{ role: "user", content: "chosen" }]]]);
  });

  it("fails the call with CONTEXT_OVERFLOW where nothing fits, and without a request", async () => {
    const { session, provider } = world([], { context: notedEngine(() => undefined).engine });
    expect((await execute(session, "x").result()).error?.code).toBe("CONTEXT_OVERFLOW");
    expect(provider.requests).toHaveLength(0);
  });

  it("fails the call with what it throws", async () => {
    const throws = (): never => {
      throw new TypeError("broken");
    };
    const { session } = world([], { context: notedEngine(throws).engine });
    expect((await execute(session, "x").result()).error?.code).toBe("INTERNAL");
  });
});
