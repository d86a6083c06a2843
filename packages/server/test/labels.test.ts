import { AgentError, systemText } from "@loopwright/core";
import type { LabelRule, ServerOptions } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { scriptedAgent, testServer } from "./test-server.ts";

const echo = scriptedAgent([(request) => ({ text: `<${systemText(request.system)}>` })], {
  prompt: ({ labels, access }) => JSON.stringify([labels, access.labels ?? null]),
});
const labels: { readonly [name: string]: LabelRule } = {
  surface: "any",
  region: ["eu", "us"],
  tier(value, { user }) {
    if (value !== user) throw new AgentError("FORBIDDEN", { message: "That tier is of another user.", fix: "Leave it out." });
  },
};

async function promptFor(options: object, server: Partial<ServerOptions> = { labels }): Promise<unknown> {
  const { send } = testServer({ agents: [echo], ...server });
  const text = await (await send("/api/agent/execute", { json: { input: "Hi", context: {}, options } })).text();
  const [, prompt = ""] = /"text":"<(.*?)>"/.exec(text) ?? [];
  return JSON.parse(JSON.parse(`"${prompt}"`));
}

describe("labels of an input", () => {
  it("reach the prompt if the deployment has declared them, in `labels` or in a field of their own", async () => {
    expect(await promptFor({ labels: { region: "eu" }, surface: "side-panel" })).toEqual([{ region: "eu", surface: "side-panel" }, null]);
    expect(await promptFor({ labels: { tier: "local" } })).toEqual([{ tier: "local" }, null]);
    expect(await promptFor({})).toEqual([{}, null]);
  });

  it.each([
    ["that is not declared", { labels: { colour: "red" } }, 400, "INPUT_INVALID"],
    ["whose field is not declared", { activeModule: "invoices" }, 400, "INPUT_INVALID"],
    ["with a value that is not listed", { labels: { region: "mars" } }, 400, "INPUT_INVALID"],
    ["with a value that the rule refuses", { labels: { tier: "gold" } }, 403, "FORBIDDEN"],
    ["named like what every object has", { labels: { constructor: "x" } }, 400, "INPUT_INVALID"],
    ["that is no text", { labels: { region: ["eu"] } }, 400, "INPUT_INVALID"],
  ])("are refused for one %s, by both routes, before anything is recorded", async (_, options, status, code) => {
    const { refused, ask } = testServer({ agents: [echo], labels });
    await ask("/api/sessions", { json: { id: "a" } });
    const before = await ask("/api/agent/session/a");
    for (const [path, body] of [
      ["/api/agent/execute", { sessionId: "a", input: "Hi", options }],
      ["/api/sessions/a/messages", { input: "Hi", options }],
    ] as const)
      expect(await refused(path, { json: body })).toMatchObject({ status, code, fix: expect.stringMatching(/\w/) });
    expect((await ask("/api/agent/session/a")).body).toEqual(before.body);
  });

  it("are those of a surface alone where none is declared", async () => {
    expect(await promptFor({ surface: "terminal" }, {})).toEqual([{ surface: "terminal" }, null]);
    const { refused } = testServer({ agents: [echo] });
    const json = { input: "Hi", context: {}, options: { labels: { region: "eu" } } };
    expect(await refused("/api/agent/execute", { json })).toMatchObject({
      status: 400,
      code: "INPUT_INVALID",
      fix: "Use surface, toolsRequired, attachments.",
    });
    const closed = testServer({ agents: [echo], labels: { surface: [] } });
    expect(await closed.refused("/api/agent/execute", { json: { ...json, options: { surface: "web" } } })).toMatchObject({ status: 400 });
  });
});

describe("the options of an orchestrator", () => {
  const orchestrator: { readonly [name: string]: LabelRule } = {
    modes: ["RAG", "CHATBOT", "DATA_ANALYSIS", "DEEP_RESEARCH"],
    attachments: "any",
    chatbotId: ["b1"],
  };

  it.each([
    [{ modes: ["RAG", "CHATBOT"] }, { modes: "RAG,CHATBOT" }],
    [{ modes: [] }, {}],
    [{ toolsRequired: false }, { toolsRequired: "false" }],
    [{ attachments: ["f1", "f2"] }, { attachments: "f1,f2" }],
    [{ chatbotId: "b1" }, { chatbotId: "b1" }],
    [{ labels: { modes: "RAG" } }, { modes: "RAG" }],
  ])("B106: %j reaches the prompt, the hooks and the tools as %j", async (options, expected) => {
    expect(await promptFor(options, { labels: orchestrator })).toEqual([expected, null]);
  });

  it.each([
    ["modes", { modes: ["RAG", "POETRY"] }, "The mode `POETRY`"],
    ["modes in labels", { labels: { modes: "RAG,POETRY" } }, "The mode `POETRY`"],
    ["chatbotId", { chatbotId: "b2" }, "The label `chatbotId`"],
    ["modes with a comma", { modes: ["RAG,CHATBOT"] }, "modes"],
    ["toolsRequired as text", { toolsRequired: "no" }, "toolsRequired"],
  ])("B106: %s of another value are refused by name, by both routes", async (_, options, named) => {
    const { refused, ask } = testServer({ agents: [echo], labels: orchestrator });
    await ask("/api/sessions", { json: { id: "a" } });
    for (const [path, body] of [
      ["/api/agent/execute", { sessionId: "a", input: "Hi", options }],
      ["/api/sessions/a/messages", { input: "Hi", options }],
    ] as const)
      expect(await refused(path, { json: body })).toMatchObject({
        status: 400,
        code: "INPUT_INVALID",
        detail: expect.stringContaining(named),
      });
  });

  it("B106: a server that declares no modes refuses a mode by its name", async () => {
    const { refused } = testServer({ agents: [echo] });
    const json = { input: "Hi", context: {}, options: { modes: ["RAG"] } };
    expect(await refused("/api/agent/execute", { json })).toMatchObject({ status: 400, detail: expect.stringContaining("The mode `RAG`") });
  });
});

describe("labels of a caller", () => {
  it("come from authentication alone", async () => {
    const authenticate = () => ({ user: "anne", scope: "garden", labels: { plan: "pro" } });
    expect(await promptFor({ labels: { region: "us" } }, { labels, authenticate })).toEqual([{ region: "us" }, { plan: "pro" }]);
    const { refused } = testServer({ agents: [echo], labels, authenticate });
    const json = { input: "Hi", context: {}, options: { labels: { plan: "enterprise" } } };
    expect(await refused("/api/agent/execute", { json })).toMatchObject({ status: 400 });
  });
});

describe("the audit of bodies", () => {
  it("gets each JSON body before it is checked, and may refuse it", async () => {
    const seen: unknown[] = [];
    const auditBody: NonNullable<ServerOptions["auditBody"]> = (body, { principal }) => {
      seen.push([principal.user, body]);
      if (JSON.stringify(body).includes("forbidden")) throw new AgentError("FORBIDDEN", { message: "Not here.", fix: "Leave it out." });
    };
    const { send, refused } = testServer({ agents: [echo], auditBody });
    expect((await send("/api/agent/execute", { json: { input: "Hi", context: {}, odd: 1 } })).status).toBe(200);
    expect(await refused("/api/sessions", { json: { title: "forbidden" } })).toMatchObject({ status: 403, code: "FORBIDDEN" });
    await send("/api/sessions");
    expect(seen).toEqual([
      ["local", { input: "Hi", context: {}, odd: 1 }],
      ["local", { title: "forbidden" }],
    ]);
  });
});
