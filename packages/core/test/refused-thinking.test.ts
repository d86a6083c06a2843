import { describe, expect, it } from "vitest";
import { AgentError, createAgent, createSession, defineTool, execute, type Message, type Tool } from "../src/index.ts";
import { memoryStore, type ScriptedStep, scripted } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { ModelRequest } from "../src/ports/index.ts";
import { world } from "./harness.ts";

const refusal = (): AgentError => new AgentError("MODEL_THINKING_REFUSED", { message: "Acme answered with status 400." });
const signed = (thinking: string, text: string, more: object = {}): ScriptedStep => ({
  thinking,
  text,
  chunks: [[{ type: "opaque", index: 0, vendor: "scripted", data: { signature: `sealed ${thinking}` } }]],
  ...more,
});
const thoughtsIn = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? []).flatMap((message: Message) =>
    message.role === "assistant" ? message.content.flatMap((part) => (part.type === "thinking" ? [part.text] : [])) : [],
  );
const opaqueIn = (request: ModelRequest | undefined): number => JSON.stringify(request?.messages ?? []).split('"opaque"').length - 1;

/** Answers a session's model calls by a script that refuses what the test asks for, without waits between attempts. */
function session(script: readonly ScriptedStep[], options: { readonly attemptsMax?: number; readonly tools?: readonly Tool[] } = {}) {
  const provider = scripted(script);
  const { attemptsMax = 3, tools = [] } = options;
  const agent = createAgent({ name: "tester", provider, tools, limits: { attemptsMax } });
  const clock = manualClock();
  const store = memoryStore({ clock });
  const open = () => createSession({ agent, id: "s1", store, clock });
  const ask = async (handle: ReturnType<typeof open>, text: string) => {
    const result = execute(handle, text).result();
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    result.then(over, over);
    // Retries wait on the manual clock.
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1_000);
    }
    return result;
  };
  return { provider, store, open, ask, facts: () => store.log.read({ scope: "local", session: "s1" }) };
}

describe("a vendor that refuses the thinking of an earlier answer", () => {
  it("is asked once more without it, in the same turn and ever after, also after a restart", async () => {
    const refuses = (request: ModelRequest) => (thoughtsIn(request).includes("One.") ? { error: refusal() } : { text: "Here I am." });
    const { provider, open, ask, facts } = session([signed("One.", "First."), refuses, refuses, signed("Two.", "Third."), refuses]);
    const handle = open();
    await ask(handle, "a");
    expect((await ask(handle, "b")).status).toBe("completed");
    expect((await ask(handle, "c")).status).toBe("completed");
    // Another handle knows it from the log alone.
    expect((await ask(open(), "d")).status).toBe("completed");
    expect(provider.requests.map(thoughtsIn)).toEqual([[], ["One."], [], [], ["Two."]]);
    expect(provider.requests.map(opaqueIn)).toEqual([0, 1, 0, 0, 1]);
    // What was sent is there all the same.
    expect(JSON.stringify(provider.requests[2]?.messages)).toContain("First.");
    const failed = (await facts()).filter(({ type }) => type === "model.failed");
    expect(failed).toMatchObject([{ failure: { code: "MODEL_THINKING_REFUSED", retryable: true }, turn: 1, attempt: 1 }]);
  });

  it("gets its repaired request even where a run has one attempt for each turn", async () => {
    const { provider, open, ask } = session([signed("One.", "First."), { error: refusal() }, { text: "Here." }], { attemptsMax: 1 });
    const handle = open();
    await ask(handle, "a");
    expect((await ask(handle, "b")).status).toBe("completed");
    expect(provider.requests.length).toBe(3);
  });

  it("is not asked a third time when it refuses the repaired request, and the session stays healthy", async () => {
    const { provider, open, ask } = session([signed("One.", "First."), { error: refusal() }, { error: refusal() }, { text: "Well." }]);
    const handle = open();
    await ask(handle, "a");
    expect(await ask(handle, "b")).toMatchObject({ status: "error", error: { code: "MODEL_THINKING_REFUSED" } });
    expect(provider.requests.length).toBe(3);
    expect((await ask(handle, "c")).status).toBe("completed");
  });

  it("is not asked again at all when the request held no thinking", async () => {
    const { provider, open, ask } = session([{ error: refusal() }, { text: "Well." }]);
    expect(await ask(open(), "a")).toMatchObject({ status: "error" });
    expect(provider.requests.length).toBe(1);
  });

  it("keeps the calls and their results of the turn whose thinking it refused", async () => {
    const look = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "seen" }) as Tool;
    const { provider, open, ask } = session(
      [signed("One.", "Let me look.", { calls: [{ name: "look", args: {} }] }), { error: refusal() }, { text: "Seen." }],
      { tools: [look] },
    );
    expect((await ask(open(), "a")).status).toBe("completed");
    const last = provider.requests[2];
    expect(thoughtsIn(last)).toEqual([]);
    expect(last?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool_result"]);
  });
});

it("other failures leave the thinking where it is", async () => {
  const { session: handle, provider } = world([signed("One.", "First."), { error: "MODEL_BAD_REQUEST" }, { text: "Well." }]);
  for (const text of ["a", "b", "c"]) await execute(handle, text).result();
  expect(provider.requests.map(thoughtsIn)).toEqual([[], ["One."], ["One."]]);
});
