import { memoryChannel, memoryStore } from "@loopwright/core/memory";
import { ownedSessionId } from "@loopwright/server";
import { expect, it } from "vitest";
import { modern, serveAgents } from "./mcp-server.ts";

/** For what follows an answer by itself. */
const patience = { timeout: 60_000 };

const twoNodes = async (script: Parameters<typeof serveAgents>[0]) => {
  const shared = { store: memoryStore(), channel: memoryChannel() };
  return { one: await serveAgents(script, { shared }), other: await serveAgents([], { shared }) };
};

it.each([
  ["of a conversation", { conversation: "weather" }],
  ["of its own", {}],
])("A call %s that one node answers is cancelled by a notification to another node, and by its own client alone", async (_, named) => {
  const { one, other } = await twoNodes([{ text: "Well", hang: true }]);
  const session = { "mcp-session-id": "s-1" };
  const params = { name: "ask_helper", arguments: { input: "Go.", ...named } };
  const answer = await one.send({ jsonrpc: "2.0", id: 7, method: "tools/call", params }, session);
  await expect.poll(() => one.provider.requests.length, patience).toBe(1);
  const cancel = (requestId: number, headers: Record<string, string>): Promise<Response> =>
    other.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }, headers);
  // Another request, another session, another user.
  await cancel(8, session);
  await cancel(7, { "mcp-session-id": "s-2" });
  await cancel(7, { ...session, authorization: "Bearer key-of-ben" });
  expect(one.ends).toEqual([]);
  expect((await cancel(7, session)).status).toBe(202);
  await expect.poll(() => one.ends, patience).toEqual(["aborted"]);
  expect(await answer.text()).toContain("failed");
  expect(other.provider.requests).toHaveLength(0);
});

it("A call that waits behind another one of its conversation is cancelled on another node, and the other one continues", async () => {
  const gate = Promise.withResolvers<void>();
  const { one, other } = await twoNodes([{ text: "First.", after: gate.promise }, { text: "Second." }]);
  const session = { "mcp-session-id": "s-1" };
  const ask = (id: number): Promise<Response> => {
    const params = { name: "ask_helper", arguments: { input: `Call ${id}.`, conversation: "weather" } };
    return one.send({ jsonrpc: "2.0", id, method: "tools/call", params }, session);
  };
  const first = await ask(1);
  await expect.poll(() => one.provider.requests.length, patience).toBe(1);
  const second = await ask(2);
  const conversation = new URL(`/api/sessions/${await ownedSessionId("mcp", "anne", ["conversation", "helper", "weather"])}`, one.endpoint);
  const waiting = async (): Promise<number> => {
    const response = await fetch(conversation, { headers: { authorization: "Bearer key-of-anne" } });
    return ((await response.json()) as { readonly waiting: readonly unknown[] }).waiting.length;
  };
  await expect.poll(waiting, patience).toBe(1);
  await other.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } }, session);
  gate.resolve();
  expect(await first.text()).toContain("First.");
  expect(await second.text()).not.toContain("Second.");
  expect(one.provider.requests).toHaveLength(1);
});

it("A call that comes again under its key to another node gets the same answer, while the first runs and after it has ended", async () => {
  const gate = Promise.withResolvers<void>();
  const { one, other } = await twoNodes([{ text: "Once.", after: gate.promise }]);
  const ask = { name: "ask_helper", arguments: { input: "Go." }, _meta: { "loopwright/idempotencyKey": "call-1" } };
  const first = (await one.connect(modern)).callTool(ask);
  await expect.poll(() => one.provider.requests.length, patience).toBe(1);
  const client = await other.connect(modern);
  const second = client.callTool(ask);
  gate.resolve();
  const answers = [await first, await second, await client.callTool(ask)];
  expect(answers.map(({ structuredContent }) => structuredContent)).toEqual(Array(3).fill(answers[0]?.structuredContent));
  expect(answers[0]?.structuredContent).toMatchObject({ text: "Once.", status: "completed" });
  expect([one.provider.requests.length, other.provider.requests.length]).toEqual([1, 0]);
});
