import { describe, expect, it } from "vitest";
import { type AgentSession, defineTool } from "../src/index.ts";
import { type DyingStore, dyingStore } from "./dying-store.ts";
import { calm } from "./harness.ts";
import { drive, type Nodes, nodes } from "./nodes.ts";

interface Cut {
  readonly scene: Nodes;
  /** Has the session loaded since before the crash, and owns it now. */
  readonly heir: AgentSession;
  /** Has it loaded as well, and never owns it. */
  readonly server: AgentSession;
}

/** All have the session loaded at rest; then the owner dies while the model answers "go", and another one takes over. */
async function takenOver(): Promise<Cut> {
  const scene = nodes();
  const store: DyingStore = dyingStore(scene.store);
  const first = drive(scene.node({ store }));
  const heir = drive(scene.node());
  const server = drive(scene.node({ drives: false }));
  const { runId } = await first.submit("hi");
  await calm();
  scene.model[0]?.say("Hello.");
  scene.model[0]?.end();
  await calm();
  expect([heir.isResting, server.isResting, heir.runId]).toEqual([true, true, undefined]);
  const cut = await first.submit("go");
  expect(cut.runId).not.toBe(runId);
  await calm();
  expect(scene.model).toHaveLength(2);
  store.kill();
  await scene.pass(25_000);
  expect([heir.isOwner, server.isOwner, scene.model.length]).toEqual([true, false, 3]);
  return { scene, heir, server };
}

const inputs = async ({ facts }: Nodes): Promise<number> => (await facts()).filter(({ type }) => type === "input.accepted").length;

describe("C04: the same words said again after an owner has died", () => {
  it("are the input that was cut off, on a node that had the session loaded at rest and has taken over", async () => {
    const { scene, heir } = await takenOver();
    expect(await heir.submit("go")).toMatchObject({ replayed: true, runId: heir.runId });
    expect(await inputs(scene)).toBe(2);
    scene.model[2]?.say("Gone.");
    scene.model[2]?.end();
    await calm();
    expect(heir.isResting).toBe(true);
    expect(await heir.submit("go")).toMatchObject({ replayed: false });
  });

  it("are so on a node that never owns a session, and on one that has just loaded it", async () => {
    const { scene, heir, server } = await takenOver();
    expect(await server.submit("go")).toMatchObject({ replayed: true, runId: heir.runId });
    expect(await scene.node().submit("go")).toMatchObject({ replayed: true, runId: heir.runId });
    expect(await server.submit("come")).toMatchObject({ replayed: false });
    expect(await inputs(scene)).toBe(3);
  });

  it("are two inputs when both were said since it was taken over", async () => {
    const { scene, heir, server } = await takenOver();
    await server.submit("and back", { mode: "steer" });
    scene.model[2]?.say("Gone.");
    scene.model[2]?.end();
    await calm();
    expect([scene.model.length, heir.messages.at(-1)]).toEqual([4, { role: "user", content: "and back" }]);
    for (const session of [heir, server, scene.node()]) expect(await session.submit("and back")).toMatchObject({ replayed: false });
  });
});

describe("the same words said again while nobody has died", () => {
  it("are another input, also where the first one waited for its owner", async () => {
    const scene = nodes();
    const server = scene.node({ drives: false });
    await server.submit("go");
    const worker = drive(scene.node());
    await calm();
    expect([worker.isOwner, scene.model.length, worker.messages.length]).toEqual([true, 1, 1]);
    for (const session of [worker, server]) expect(await session.submit("go")).toMatchObject({ replayed: false });
  });

  it("are another input, also in a run that has waited for a client and went on with another owner", async () => {
    const ask = defineTool({ name: "ask", description: "Asks", parameters: { type: "object" } });
    const scene = nodes({ tools: [ask] });
    const first = drive(scene.node());
    await first.submit("go");
    await calm();
    scene.model[0]?.read([
      { type: "call-start", index: 0, id: "c1", name: "ask" },
      { type: "call-args", index: 0, delta: "{}" },
      { type: "call-end", index: 0 },
      { type: "end", stopReason: "tool_calls" },
    ]);
    await calm();
    expect([first.isOwner, first.pendingToolCalls.length]).toEqual([false, 1]);
    await first[Symbol.asyncDispose]();
    const server = scene.node({ drives: false });
    await server.submit([{ role: "tool_result", toolCallId: "c1", toolName: "ask", content: "yes" }]);
    await server.submit("and back", { mode: "steer" });
    const second = drive(scene.node());
    await calm();
    expect([second.isOwner, second.messages.at(-1)]).toEqual([true, { role: "user", content: "and back" }]);
    for (const session of [second, server]) expect(await session.submit("and back")).toMatchObject({ replayed: false });
  });
});
