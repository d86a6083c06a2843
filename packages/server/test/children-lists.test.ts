import { createClient } from "@loopwright/client";
import { agentTool, createAgent, createSession } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { removeWithChildren } from "@loopwright/core/stores";
import { expect, it } from "vitest";
import { openStreamDoor } from "./stream-door.ts";

/** An agent whose researcher asks a clerk. */
function threeDeep() {
  const task = (name: string) => ({ calls: [{ name, args: { task: "Find apples." } }] });
  const clerk = createAgent({ name: "clerk", provider: scripted([{ text: "Apples." }]) });
  const researcher = createAgent({
    name: "researcher",
    provider: scripted([task("clerk"), { text: "Apples." }]),
    tools: [agentTool({ agent: clerk })],
  });
  return createAgent({
    name: "lead",
    provider: scripted([task("researcher"), { text: "Done." }]),
    tools: [agentTool({ agent: researcher })],
  });
}

it("B44: the list over HTTP has the session at the top; its children are listed with it, and are deleted with it", async () => {
  const store = memoryStore();
  const door = openStreamDoor({ agents: [threeDeep()], store });
  const { sessions, execute } = createClient({ url: "http://localhost", fetch: (...args) => door.fetch(new Request(...args)) });
  await sessions.create({ id: "top" });
  await execute("Find fruit.", { sessionId: "top" }).result();
  const listed = async (parent?: string) => (await sessions.list(parent === undefined ? {} : { parent })).sessions;
  expect((await listed()).map(({ id }) => id)).toEqual(["top"]);
  const [researcher] = await listed("top");
  expect(researcher).toMatchObject({ agent: "researcher", parent: "top", status: "idle" });
  const [clerk] = await listed(researcher?.id);
  expect(clerk).toMatchObject({ agent: "clerk", parent: researcher?.id });
  expect([await listed(clerk?.id), await listed("No id at all")]).toEqual([[], []]);
  expect(await sessions.search("apples")).toEqual({ hits: [] });

  await sessions.remove("top");
  expect([await listed(), await listed("top"), await listed(researcher?.id)]).toEqual([[], [], []]);
  for (const session of ["top", researcher?.id ?? "", clerk?.id ?? ""])
    expect(await store.log.read({ scope: "local", session })).toEqual([]);
  await door.close();
});

it("B44: a legal hold on a child stops the deletion of the sessions above it, which names it; lifted, all are deleted", async () => {
  const store = memoryStore();
  const door = openStreamDoor({ agents: [threeDeep()], store });
  const { sessions, execute } = createClient({ url: "http://localhost", fetch: (...args) => door.fetch(new Request(...args)) });
  await sessions.create({ id: "top" });
  await execute("Find fruit.", { sessionId: "top" }).result();
  const [researcher] = await store.index.list("local", { parent: "top" });
  const [clerk] = await store.index.list("local", { parent: researcher?.id ?? "" });
  const below = createSession({ id: clerk?.id ?? "", agent: createAgent({ name: "clerk", provider: scripted([]) }), store });
  await below.hold({ reason: "case 7", by: "anne" });
  await expect(sessions.remove("top")).rejects.toMatchObject({
    code: "SESSION_HELD",
    details: { status: 409 },
    message: expect.stringContaining(`\`${clerk?.id}\`, a child of \`top\`, is under a legal hold by \`anne\``),
  });
  expect((await sessions.get("top")).status).toBe("idle");
  await expect(removeWithChildren(store, { scope: "local", session: "top" })).rejects.toMatchObject({ code: "SESSION_HELD" });
  expect(await store.index.list("local", { parent: "top" })).toHaveLength(1);
  await below.releaseHold();
  await sessions.remove("top");
  for (const session of ["top", researcher?.id ?? "", clerk?.id ?? ""])
    expect(await store.log.read({ scope: "local", session })).toEqual([]);
  await door.close();
});

it("B44: a legal hold that a child gets while the sessions above it are being deleted stops the deletion; lifted, it is completed", async () => {
  const store = memoryStore();
  let meanwhile = async (): Promise<void> => {};
  const append: typeof store.log.append = async (ref, request) => {
    const outcome = await store.log.append(ref, request);
    if (request.facts.some(({ type }) => type === "session.closed")) await meanwhile();
    return outcome;
  };
  const door = openStreamDoor({ agents: [threeDeep()], store: { ...store, log: { ...store.log, append } } });
  const { sessions, execute } = createClient({ url: "http://localhost", fetch: (...args) => door.fetch(new Request(...args)) });
  await sessions.create({ id: "top" });
  await execute("Find fruit.", { sessionId: "top" }).result();
  const [researcher] = await store.index.list("local", { parent: "top" });
  const held = createSession({ id: researcher?.id ?? "", agent: createAgent({ name: "researcher", provider: scripted([]) }), store });
  meanwhile = async () => {
    meanwhile = async () => {};
    await held.hold({ reason: "case 8" });
  };
  await expect(sessions.remove("top")).rejects.toMatchObject({
    code: "SESSION_HELD",
    message: expect.stringContaining(`\`${researcher?.id}\`, a child of \`top\`, is under a legal hold`),
  });
  expect(await store.index.list("local", { parent: "top" })).toHaveLength(1);
  await held.releaseHold();
  await sessions.remove("top");
  expect(await store.index.list("local", { parent: "top" })).toEqual([]);
  await door.close();
});
