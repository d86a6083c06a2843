import { createClient, type ViewCall, viewOf } from "@loopwright/client";
import type { SessionSnapshot } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { createSessionActions } from "./session-actions.ts";

const image = { type: "image", mediaType: "image/png", source: { blob: "b1" } } as const;

/** Question 1 with answers 2 and 5, and 6 continues 5; question 3 is an edit of 1. */
const snapshot: SessionSnapshot = {
  sessionId: "s1",
  agent: "demo",
  status: "idle",
  createdAt: 0,
  updatedAt: 0,
  cursor: "9.0",
  messages: [
    { id: "1", parent: null, at: 0, message: { role: "user", content: [{ type: "text", text: "what?" }, image] } },
    { id: "2", parent: "1", at: 0, message: { role: "assistant", content: [], stopReason: "stop" } },
    { id: "3", parent: null, at: 0, message: { role: "user", content: "who?" } },
    { id: "5", parent: "1", at: 0, message: { role: "assistant", content: [], stopReason: "stop" } },
    { id: "6", parent: "5", at: 0, message: { role: "user", content: "go on" } },
  ],
  head: "2",
  waiting: [],
};

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** The actions over a real client, and what it sent. */
function scene(answer: () => Response = () => Response.json({})): {
  readonly actions: ReturnType<typeof createSessionActions>;
  readonly sent: Sent[];
  readonly failures: unknown[];
} {
  const sent: Sent[] = [];
  const failures: unknown[] = [];
  const client = createClient({
    url: "http://server",
    fetch: async (request) => {
      sent.push({ method: request.method, path: new URL(request.url).pathname, body: await request.json() });
      return answer();
    },
  });
  const actions = createSessionActions({
    client,
    sessionId: "s1",
    view: () => viewOf(snapshot),
    model: () => "big-model",
    fail: (error) => failures.push(error),
    say: () => undefined,
    openFork: () => undefined,
    openRun: () => undefined,
    toolLabel: () => undefined,
  });
  return { actions, sent, failures };
}

it("an edited message begins a branch beside the old one and keeps its files", async () => {
  const { actions, sent } = scene();
  await actions.edit("1", "when?");
  await actions.edit("6", "stop");
  expect(sent).toMatchObject([
    {
      method: "POST",
      path: "/api/sessions/s1/messages",
      body: { input: { role: "user", content: [{ type: "text", text: "when?" }, image] }, parent: null, options: { model: "big-model" } },
    },
    { body: { input: { role: "user", content: "stop" }, parent: "5" } },
  ]);
});

it("a decision is about the arguments that were seen", async () => {
  const { actions, sent } = scene();
  const call: ViewCall = {
    callKey: "r.1.0",
    toolCallId: "c1",
    toolName: "remove",
    args: { path: "a" },
    state: "awaiting_approval",
    approval: { argsDigest: "d1", reason: undefined },
    written: "",
    progress: [],
  };
  await actions.decideCall(call, { decision: "deny", note: "no" });
  expect(sent).toEqual([
    { method: "POST", path: "/api/sessions/s1/approvals/r.1.0", body: { decision: "deny", note: "no", argsDigest: "d1" } },
  ]);
});

it("an answer is written again for the question it answers", async () => {
  const { actions, sent } = scene();
  await actions.regenerate("5");
  await actions.regenerate("3");
  expect(sent.map(({ body }) => body)).toMatchObject([{ regenerate: "1" }, { regenerate: "3" }]);
});

it("choosing a version shows the newest end of its branch", async () => {
  const { actions, sent } = scene();
  await actions.selectBranch("5");
  expect(sent).toMatchObject([{ method: "PATCH", path: "/api/sessions/s1", body: { head: "6" } }]);
});

it("a refusal of an edit is the editor's, any other is shown by the page", async () => {
  const problem = { code: "SESSION_CLOSED", detail: "The session is closed.", fix: "Start a new one.", status: 410, retryable: false };
  const { actions, failures } = scene(() => Response.json(problem, { status: 410 }));
  await expect(actions.edit("1", "x")).rejects.toMatchObject({ code: "SESSION_CLOSED" });
  await actions.regenerate("5");
  expect(failures).toMatchObject([{ code: "SESSION_CLOSED" }]);
});

it("a person's answer to a call names the call, and links name the message", async () => {
  const { actions, sent } = scene();
  const call = {
    callKey: "r.1.0",
    toolCallId: "c",
    toolName: "ask",
    args: {},
    state: "awaiting_client",
    written: "",
    progress: [],
  } as const;
  await actions.answerCall(call, { content: "no", isError: true });
  expect(sent[0]?.body).toMatchObject({ results: [{ toolCallId: "c", callKey: "r.1.0", content: "no", isError: true }] });
  expect(actions.linkTo("5")).toBe("#/c/s1/m/5");
});
