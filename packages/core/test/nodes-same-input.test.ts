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

describe("C04: the same input sent again after an owner has died", () => {
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

  it.each(["at once", "in the middle of the dead owner's lease"])(
    "are so before anybody has taken over, %s, on any handle",
    async (when) => {
      const scene = nodes();
      const store = dyingStore(scene.store);
      const first = drive(scene.node({ store }));
      const [heir, server] = [drive(scene.node()), drive(scene.node({ drives: false }))];
      const cut = await first.submit("go");
      await calm();
      store.kill();
      if (when !== "at once") await scene.pass(10_000);
      for (const handle of [heir, server, scene.node(), scene.node({ drives: false })])
        expect(await handle.submit("go")).toMatchObject({ replayed: true, runId: cut.runId, seq: cut.seq });
      expect(await server.submit("come")).toMatchObject({ replayed: false });
      expect(await heir.submit("come")).toMatchObject({ replayed: true });
      expect(await server.submit("go", { idempotencyKey: "k" })).toMatchObject({ replayed: false });
      expect(await inputs(scene)).toBe(3);
      await scene.pass(25_000);
      scene.model[1]?.say("Gone.");
      scene.model[1]?.end();
      await calm();
      expect(heir.messages.slice(0, 2)).toMatchObject([{ content: "go" }, { role: "assistant" }]);
    },
  );

  it("are two inputs once the first one was answered", async () => {
    const { scene, server } = await takenOver();
    scene.model[2]?.say("Gone.");
    scene.model[2]?.end();
    await calm();
    expect(await server.submit("go")).toMatchObject({ replayed: false });
  });

  it("are the same when a server died after it had recorded them, and no owner has begun", async () => {
    const scene = nodes();
    const { runId } = await scene.node({ drives: false }).submit("go");
    expect(await scene.node({ drives: false }).submit("go")).toMatchObject({ replayed: true, runId });
  });

  it("are two inputs to the owner when both came since it took over", async () => {
    const { scene, heir, server } = await takenOver();
    await server.submit("and back", { mode: "steer" });
    scene.model[2]?.say("Gone.");
    scene.model[2]?.end();
    await calm();
    expect([scene.model.length, heir.messages.at(-1)]).toEqual([4, { role: "user", content: "and back" }]);
    expect(await server.submit("and back")).toMatchObject({ replayed: true });
    expect(await heir.submit("and back")).toMatchObject({ replayed: false });
  });
});

describe("the same input sent again while no owner has died", () => {
  it("are another input to the owner, which knows that it lives; to others they are a copy until they are answered", async () => {
    const scene = nodes();
    const server = scene.node({ drives: false });
    await server.submit("go");
    const worker = drive(scene.node());
    await calm();
    expect([worker.isOwner, scene.model.length, worker.messages.length]).toEqual([true, 1, 1]);
    expect(await server.submit("go")).toMatchObject({ replayed: true });
    expect(await worker.submit("go")).toMatchObject({ replayed: false });
  });

  it("are another input to the owner, also in a run that has waited for a client and continued with another owner", async () => {
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
    expect(await server.submit("and back")).toMatchObject({ replayed: true });
    expect(await second.submit("and back")).toMatchObject({ replayed: false });
  });
});
