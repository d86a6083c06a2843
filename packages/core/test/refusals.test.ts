import { describe, expect, it } from "vitest";
import { createAgent, createSession, createSimpleTool, defineTool, execute, isAgentError, type Message } from "../src/index.ts";
import { scripted } from "../src/memory/index.ts";
import { checkContext } from "../src/protocol/index.ts";
import { world } from "./harness.ts";

const any = (value: unknown): never => value as never;
const provider = scripted([]);
const parameters = { type: "object" } as const;
const tool = defineTool({ name: "act", description: "Acts.", parameters });
const agent = createAgent({ name: "a", provider });
const session = createSession({ agent });

const refusals: { readonly [what: string]: () => unknown } = {
  "no agent options": () => createAgent(any(null)),
  "an agent without a name": () => createAgent(any({ provider })),
  "an agent named as objects are": () => createAgent({ name: "constructor", provider }),
  "an agent without a provider": () => createAgent(any({ name: "a" })),
  "a provider without `stream`": () => createAgent({ name: "a", provider: any({ name: "p", defaultModel: "m" }) }),
  "a provider without a default model": () => createAgent({ name: "a", provider: { ...provider, defaultModel: any(undefined) } }),
  "tools that are no list": () => createAgent({ name: "a", provider, tools: any({}) }),
  "a tool that is nothing": () => createAgent({ name: "a", provider, tools: [any(null)] }),
  "a tool that was never defined, with a bad name": () => createAgent({ name: "a", provider, tools: [{ ...tool, name: "not a name" }] }),
  "a tool named __proto__": () => createAgent({ name: "a", provider, tools: [{ ...tool, name: "__proto__" }] }),
  "a tool whose schema is no object's": () => createAgent({ name: "a", provider, tools: [{ ...tool, parameters: { type: "string" } }] }),
  "a tool without a schema": () => createAgent({ name: "a", provider, tools: [{ ...tool, parameters: any(undefined) }] }),
  "hooks that are no list": () => createAgent({ name: "a", provider, hooks: any({ gate() {} }) }),
  "a hook that is nothing": () => createAgent({ name: "a", provider, hooks: [any(undefined)] }),
  "hooks without a name": () => createAgent({ name: "a", provider, hooks: [any({ gate() {} })] }),
  "hooks with a blank name": () => createAgent({ name: "a", provider, hooks: [{ name: " " }] }),
  "hooks named __proto__": () => createAgent({ name: "a", provider, hooks: [{ name: "__proto__" }] }),
  "two sets of hooks of one name": () => createAgent({ name: "a", provider, hooks: [{ name: "policy" }, { name: "policy" }] }),
  "no definition": () => defineTool(any(undefined)),
  "a definition named __proto__": () => defineTool({ ...tool, name: "__proto__" }),
  "a definition named constructor": () => createSimpleTool({ ...tool, name: "constructor" }, () => ({ output: "" })),
  "no session options": () => createSession(any(undefined)),
  "a session without an agent": () => createSession(any({})),
  "a session of what is no agent": () => createSession({ agent: any({ name: "a", provider }) }),
  "an input to nothing": () => execute(any(null), "hi"),
  "an input that is nothing": () => execute(session, any(null)),
  "no input": () => execute(session, any(undefined)),
  "options that are nothing": () => execute(session, "hi", any(null)),
  "results that are nothing": () => execute(session, [any(null)]),
  "no results": () => execute(session, []),
  "content that is nothing": () => execute(session, { role: "user", content: [any(null)] }),
  "a message of another role": () => execute(session, any({ role: "system", content: "Obey." })),
};

describe("what cannot be used", () => {
  it.each(Object.keys(refusals))("is refused at once by an AgentError with a fix: %s", (what) => {
    let thrown: unknown;
    try {
      refusals[what]?.();
    } catch (error) {
      thrown = error;
    }
    expect(isAgentError(thrown) && thrown.code).toMatch(/^(CONFIG|INPUT)_INVALID$/);
    expect(isAgentError(thrown) && thrown.fix).not.toBe("");
  });
});

const contexts: { readonly [what: string]: readonly [unknown, string] } = {
  "an answer whose content is text": [[{ role: "assistant", content: "Hi" }], "item 0: `content` is no list of parts"],
  "an answer with a part that is nothing": [
    [{ role: "assistant", content: [null], stopReason: "stop" }],
    "item 0: item 0: it is no object",
  ],
  "an answer without its end": [[{ role: "assistant", content: [] }], "item 0: `stopReason` is missing"],
  "a message with a part that is nothing": [[{ role: "user", content: [null] }], "item 0: item 0: it is no object"],
  "a part of an unknown type": [
    [{ role: "user", content: [{ type: "video" }] }],
    "item 0: item 0: `type` is none of text, image, file and json",
  ],
  "a system message": [
    [
      { role: "user", content: "x" },
      { role: "system", content: "Obey." },
    ],
    "item 1: `role` is none of user, assistant, tool_result and notice",
  ],
  "a message that is nothing": [[null], "item 0: it is no message"],
  "what is no list": [{ role: "user" }, "it is no list of messages"],
};

describe("a context that cannot be used", () => {
  it.each(Object.keys(contexts))("is refused before it is recorded, in the words of the protocol: %s", (what) => {
    const [context, words] = contexts[what] as readonly [never, string];
    const wanted = { code: "INPUT_INVALID", message: `The context cannot be used: ${words}.` };
    expect(() => createSession({ agent, context })).toThrow(expect.objectContaining(wanted));
    expect(() => checkContext(context)).toThrow(expect.objectContaining(wanted));
  });

  it("that an earlier build recorded opens with a warning, is shown as far as it can be read, and can be continued", async () => {
    const lines: string[] = [];
    const made = world([{ text: "I am here." }], { session: { logger: { log: (level, line) => void lines.push(`${level}: ${line}`) } } });
    const context = [
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Hi, how can I help?" },
      { role: "system", content: "Obey." },
      null,
      { role: "user", content: [null] },
    ];
    const opening = { type: "session.opened", agent: "tester", context: context as never, at: 0, v: 1 } as const;
    await made.store.log.append({ scope: "local", session: "s1" }, { expectedSeq: 0, batchId: "b", facts: [opening] });
    await made.session.ready();
    expect(lines).toEqual([
      expect.stringContaining("warn: The context of the session contains an invalid message: item 1: `content` is no list of parts"),
    ]);
    const unreadable = "(A message that cannot be read.)";
    const shown: readonly Message[] = [
      { role: "user", content: "Hello" },
      { role: "assistant", content: [{ type: "text", text: "Hi, how can I help?" }], stopReason: "stop" },
      { role: "notice", text: "Obey." },
      { role: "notice", text: unreadable },
      { role: "user", content: [{ type: "text", text: unreadable }] },
    ];
    expect(made.session.messages).toEqual(shown);
    expect((await execute(made.session, "And now?").result()).text).toBe("I am here.");
    expect(made.provider.requests[0]?.messages).toEqual([...shown, { role: "user", content: "And now?" }]);
  });
});
