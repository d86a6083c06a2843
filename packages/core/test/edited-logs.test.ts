import { describe, expect, it } from "vitest";
import { execute, type FactDraft, factVersion, type Message } from "../src/index.ts";
import { calm, type World, world } from "./harness.ts";

const ref = { scope: "local", session: "s1" };

/** What a reader that brings objects to life would run, as JSON that an attacker has written into a store. */
const payloads: { readonly [what: string]: unknown } = {
  "a constructor of LangChain": {
    lc: 2,
    type: "constructor",
    id: ["langchain", "llms", "openai", "OpenAI"],
    kwargs: { openai_api_key: "x" },
  },
  "a secret of LangChain": { lc: 1, type: "secret", id: ["OPENAI_API_KEY"] },
  "a class": { __class: "ChildProcess", args: ["sh", "-c", "touch /tmp/owned"] },
  "a function of node-serialize": { run: "_$$ND_FUNC$$_function(){ globalThis.owned = true }()" },
  "a function of js-yaml": { "!!js/function": "function(){ globalThis.owned = true }" },
  "a prototype": JSON.parse('{"__proto__":{"owned":true}}'),
  "a prototype by its constructor": JSON.parse('{"constructor":{"prototype":{"owned":true}}}'),
  "a method": { toJSON: "globalThis.owned = true", toString: 1, valueOf: 1 },
};

const isOwned = (): boolean => "owned" in globalThis || "owned" in {};

/** A session whose log ends with facts that no version of this program has written. */
async function edited(value: unknown): Promise<World> {
  const made = world(() => ({ text: "yes" }));
  await execute(made.session, "one").result();
  await made.session[Symbol.asyncDispose]();
  const { lastSeq } = await made.store.log.head(ref);
  const facts = [
    { at: 5, v: factVersion, type: "session.changed", metadata: { value } },
    { at: 6, v: factVersion, type: "session.changed", title: "after it" },
  ];
  await made.store.log.append(ref, { expectedSeq: lastSeq, batchId: "edited", facts: facts as readonly FactDraft[] });
  return made;
}

describe("M11: a stored log that holds", () => {
  it.each(Object.entries(payloads))(
    "%s is read as plain data: nothing runs, no prototype changes, and the session continues",
    async (_, value) => {
      const made = await edited(value);
      const session = await made.again().ready();
      const read = session.snapshot().metadata?.["value"];
      expect(JSON.stringify(read)).toBe(JSON.stringify(value));
      expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
      expect(session.title).toBe("after it");
      const result = await execute(session, "two").result();
      await calm();
      expect(result.text).toBe("yes");
      expect(isOwned()).toBe(false);
    },
  );

  it.each(Object.entries(payloads))("%s in the place of a message is refused or plain, and never runs", async (_, value) => {
    const made = await edited(1);
    const { lastSeq } = await made.store.log.head(ref);
    const fact = { at: 7, v: factVersion, type: "input.accepted", inputId: "i9", mode: "enqueue", message: value };
    await made.store.log.append(ref, { expectedSeq: lastSeq, batchId: "more", facts: [fact as unknown as FactDraft] });
    const session = made.again();
    const outcome = await session.ready().then(
      () => session.messages.map((message: Message) => message.role),
      (error: { readonly code?: string }) => error.code,
    );
    await calm();
    expect(outcome).toBeDefined();
    expect(isOwned()).toBe(false);
    if (Array.isArray(outcome)) expect(outcome.every((role) => role === undefined || typeof role === "string")).toBe(true);
  });
});
