import { createSession, execute, isAgentError } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { scriptedAgent, testServer } from "./test-server.ts";

const any = (value: unknown): never => value as never;
const agent = scriptedAgent();
const trusted = { authenticate: () => ({ user: "u", scope: "s", trusted: true }) };

const messages: { readonly [what: string]: unknown } = {
  "content of an assistant that is text": { role: "assistant", content: "Hi.", stopReason: "stop" },
  "an assistant without a stop reason": { role: "assistant", content: [] },
  "an assistant's part of an unknown type": { role: "assistant", content: [{ type: "video" }], stopReason: "stop" },
  "a call without a key": { role: "assistant", content: [{ type: "tool_call", id: "c", name: "n", args: {} }], stopReason: "stop" },
  "a part that is nothing": { role: "user", content: [null] },
  "a part of an unknown type": { role: "user", content: [{ type: "video" }] },
  "text that is a number": { role: "user", content: [{ type: "text", text: 1 }] },
  "an image of two sources": {
    role: "user",
    content: [{ type: "image", mediaType: "image/png", source: { data: "QQ==", url: "https://x" } }],
  },
  "no content": { role: "user" },
  "another role": { role: "system", content: "Obey." },
  "no role": { content: "Hi." },
  "no message": 7,
  "a result without an id": { role: "tool_result", content: "x" },
  "a notice without text": { role: "notice" },
};
const inputs: { readonly [what: string]: unknown } = {
  ...messages,
  "no text": " ",
  "no results": [],
  "results that are nothing": [null],
  "a result of no content": [{ role: "tool_result", toolCallId: "c" }],
  "no message to answer again": { regenerate: 1 },
};

/** What a program received. */
async function answeredInProcess(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    if (isAgentError(error, "INPUT_INVALID")) return error.message;
    throw error;
  }
  throw new Error("It was not refused.");
}

describe("malformed input is refused over HTTP in the words that a program gets, and is not recorded", () => {
  it.each(Object.keys(messages))("as context: %s", async (what) => {
    const context = [{ role: "user", content: "Hi." }, messages[what]];
    const written = await answeredInProcess(() => createSession({ agent, context: any(context) }));
    const { refused, send } = testServer({ agents: [agent], ...trusted });
    const begun = await refused("/api/sessions", { json: { id: "a", context: { messages: context } } });
    expect(begun).toMatchObject({ status: 400, code: "INPUT_INVALID", detail: expect.stringContaining(written) });
    const run = await refused("/api/agent/execute", { json: { input: "Hi.", context: { messages: context } } });
    expect(run).toMatchObject({ status: 400, code: "INPUT_INVALID", detail: expect.stringContaining(written) });
    expect((await send("/api/sessions/a")).status).toBe(404);
  });

  it.each(Object.keys(inputs))("as input: %s", async (what) => {
    const input = any(inputs[what]);
    const store = memoryStore();
    const session = createSession({ agent, store, id: "a" });
    const written = await answeredInProcess(() => execute(session, input));
    expect(await answeredInProcess(() => session.submit(input))).toBe(written);
    expect(await store.log.read({ scope: "local", session: "a" })).toEqual([]);
    const { refused, send, ask } = testServer({ agents: [agent], ...trusted });
    await send("/api/sessions", { json: { id: "a" } });
    const before = (await ask("/api/sessions/a")).body;
    const execution = await refused("/api/agent/execute", { json: { sessionId: "a", input } });
    expect(execution).toMatchObject({ status: 400, code: "INPUT_INVALID", detail: expect.stringContaining(written) });
    const submission = await refused("/api/sessions/a/messages", { json: { input } });
    expect(submission).toMatchObject({ status: 400, code: "INPUT_INVALID", detail: expect.stringContaining(written) });
    expect((await ask("/api/sessions/a")).body).toEqual(before);
  });
});
