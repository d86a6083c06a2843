import { type AgentSession, defineTool, execute, type Hooks, textOf } from "@loopwright/core";
import type { ScriptedTurn } from "@loopwright/core/memory";
import type { ModelRequest } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { contextEngine } from "../src/index.ts";
import { lightSizes } from "../src/sizes.ts";
import { world } from "./harness.ts";
import { examples } from "./long-session.ts";

const act = defineTool({
  name: "act",
  description: "Acts.",
  parameters: { type: "object", properties: { times: { type: "integer" } } },
  execute: ({ times = 1 }: { times?: number }) => "result ".repeat(300 * times),
});

/** A vendor that counts `factor` tokens for one that is estimated, and calls a tool in each second turn. */
const vendor =
  (factor: number) =>
  (request: ModelRequest, call: number): ScriptedTurn => {
    const units = request.messages.reduce((sum, one) => sum + lightSizes.sizeOf(one), 0) + lightSizes.sizeBeside(request);
    const usage = { input: Math.ceil((units / 4) * factor), output: 10 };
    return call % 2 === 0 ? { calls: [{ name: "act", args: { times: 1 + (call % 3) } }], usage } : { text: `Answer ${call}.`, usage };
  };

/** The requests of a session of so many inputs; with `taken`, a new process answers each. */
async function requestsOf(
  factor: number,
  { taken, compacts }: { readonly taken: boolean; readonly compacts: boolean },
  hooks: readonly Hooks[] = [],
) {
  const made = world(vendor(factor) as never, {
    tools: [act],
    hooks,
    contextTokens: 9_000,
    context: contextEngine({ compaction: compacts ? {} : false }),
  });
  let session: AgentSession = made.session;
  for (let input = 0; input < 24; input++) {
    if (taken) session = made.again();
    const { status } = await execute(session, `Question ${input}: ${"and so on ".repeat(20)}`).result();
    expect(status).toBe("completed");
  }
  return { requests: made.provider.requests.map(({ messages }) => messages.map(textOf)), store: made.store };
}

describe("a process that takes a session over", () => {
  it.each([0.8, 1, 1.6, 2.4])("sends what the one before it would have sent, where the vendor counts %d tokens for one", async (factor) => {
    const [stayed, taken] = [
      await requestsOf(factor, { taken: false, compacts: false }),
      await requestsOf(factor, { taken: true, compacts: false }),
    ];
    expect(stayed.requests.some((messages) => messages.some((text) => text.includes("left out to fit")))).toBe(true);
    expect(taken.requests).toEqual(stayed.requests);
  });

  it.each([1, 2.4])("sends the same with the examples of a hook, where the vendor counts %d tokens for one", async (factor) => {
    const [stayed, taken] = [
      await requestsOf(factor, { taken: false, compacts: true }, [{ name: "examples", prepare: () => ({ examples }) }]),
      await requestsOf(factor, { taken: true, compacts: true }, [{ name: "examples", prepare: () => ({ examples }) }]),
    ];
    expect(stayed.requests.some((messages) => messages.some((text) => text.startsWith("Summary of")))).toBe(true);
    expect(taken.requests).toEqual(stayed.requests);
  });

  it.each([1, 1.6, 2.4])("compacts when it would have, where the vendor counts %d tokens for one", async (factor) => {
    const placesOf = async (taken: boolean): Promise<readonly number[]> => {
      const { requests } = await requestsOf(factor, { taken, compacts: true });
      return requests.flatMap((messages, call) => {
        const summaryOf = (texts: readonly string[] = []): string | undefined => texts.find((text) => text.startsWith("Summary of"));
        return summaryOf(messages) !== summaryOf(requests[call - 1]) ? [call] : [];
      });
    };
    const stayed = await placesOf(false);
    expect(stayed.length).toBeGreaterThan(0);
    expect(await placesOf(true)).toEqual(stayed);
  });
});

describe("a conversation that a hook chose for one call", () => {
  it("is cut into the window, and neither compacted nor taken for the session's", async () => {
    const own = [
      { role: "user", content: "Sum this up." },
      { role: "user", content: "long ".repeat(20_000) },
    ] as const;
    const hooks = [
      {
        name: "own",
        prepare: ({ turn, messages }: { turn: number; messages: readonly unknown[] }) =>
          turn === 1 && messages.length === 1 ? { messages: own } : undefined,
      },
    ];
    const { session, provider, store } = world([{ text: "Short." }, { text: "Yes." }], { contextTokens: 4_000, hooks: hooks as never });
    expect((await execute(session, "go").result()).text).toBe("Short.");
    await execute(session, "on").result();
    const texts = provider.requests.map(({ messages }) => messages.map(textOf));
    expect(texts[0]?.join("")).toMatch(/^Sum this up\.long (.|\n)*left out(.|\n)*/);
    expect(texts[0]?.join("").length).toBeLessThan(16_000);
    expect(texts[1]).toEqual(["go", "Short.", "on"]);
    const facts = await store.log.read({ scope: "local", session: "s1" });
    expect(facts.some(({ type }) => type === "context.compacted")).toBe(false);
  });
});
