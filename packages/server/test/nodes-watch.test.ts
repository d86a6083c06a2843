import { describe, expect, it } from "vitest";
import { until } from "../../host/test/turn-of-loop.ts";
import { quiet } from "./commanded-scene.ts";
import { type NodesScene, openNodes, pickTool } from "./nodes-scene.ts";

const path = "/api/sessions/s";

/** Two that take requests; the third, where there is one, runs what they record. */
const castings = [
  { name: "two servers that run sessions themselves", roles: ["all", "all"], isSilent: false },
  { name: "two servers and a worker", roles: ["server", "server", "worker"], isSilent: false },
  { name: "two servers and a worker whose log tells nobody of appends", roles: ["server", "server", "worker"], isSilent: true },
] as const;

/** The process that runs what the first node received. */
async function runnerOf({ nodes }: NodesScene): Promise<NodesScene["nodes"][number]> {
  await until(() => nodes.some(({ model }) => model.calls > 0), "a node runs the session");
  const found = nodes.find(({ model }) => model.calls > 0);
  if (!found) throw new Error("Nobody runs it.");
  return found;
}

describe.each(castings)("with $name", ({ roles, isSilent }) => {
  it("a reader on one gets every frame of a run that the other accepted, delta by delta", async () => {
    const scene = await openNodes({ roles, isSilent });
    scene.run(1);
    const [a, b] = scene.nodes;
    const watching = await b?.watch();
    await watching?.got("rest");
    await a?.say("Tell me.");
    const { model } = await runnerOf(scene);
    await watching?.got("message_start", 2);
    for (const word of ["Once ", "upon ", "a ", "time."]) {
      model.say(word);
      await watching?.got("text_delta", watching.frames.filter(({ event }) => event === "text_delta").length + 1);
    }
    model.end();
    await watching?.got("run_end");
    await watching?.got("rest", 2);
    expect(watching?.reader.flaws).toEqual([]);
    expect(watching?.reader.durable).toEqual(await scene.history());
    expect(watching?.reader.counts).toMatchObject({ wholeTexts: 1, ephemeral: expect.any(Number) });
    await watching?.connection.cut();
  });

  it("a reader that joins on the other in the middle of an answer gets a snapshot of it, then the rest", async () => {
    const scene = await openNodes({ roles, isSilent });
    scene.run(1);
    const [a, b] = scene.nodes;
    const first = await b?.watch();
    await a?.say("Tell me.");
    const { model } = await runnerOf(scene);
    model.say("Once upon ");
    await first?.got("text_delta");
    const late = await b?.watch("?from=now");
    await late?.got("message_snapshot");
    model.say("a time.");
    await late?.got("text_delta");
    model.end();
    await late?.got("run_end");
    expect([late?.reader.flaws, first?.reader.flaws]).toEqual([[], []]);
    expect(late?.reader.counts.snapshots).toBe(1);
    await Promise.all([late?.connection.cut(), first?.connection.cut()]);
  });

  it("an abort through one stops the model call of its owner within a second", async () => {
    const scene = await openNodes({ roles, isSilent });
    scene.run(1);
    const [a, b] = scene.nodes;
    const { runId } = (await a?.say("Tell me.")) ?? {};
    const { model } = await runnerOf(scene);
    model.say("Once ");
    const askedAt = scene.clock.now();
    const answer = await b?.ask({ path: `${path}/abort`, method: "POST", body: { runId } });
    expect([answer?.status, answer?.body]).toEqual([202, { aborting: true }]);
    await until(() => model.aborted === 1, "the model call is aborted");
    expect(scene.clock.now() - askedAt).toBeLessThanOrEqual(1_000);
    await until(async () => (await scene.history()).at(-1)?.type === "run_end", "the run ends");
    expect((await scene.history()).at(-1)).toMatchObject({ status: "aborted" });
  });

  it("A26: results of client tools through one continue the run, and the other streams it", async () => {
    const scene = await openNodes({ roles, isSilent, tools: [pickTool] });
    scene.run(1);
    const [a, b] = scene.nodes;
    const watching = await a?.watch();
    await a?.say("Pick.");
    const { model } = await runnerOf(scene);
    model.call("pick", {});
    model.end();
    await watching?.got("awaiting_tool_execution");
    await quiet();
    const results = [{ role: "tool_result", toolCallId: "call_1", content: "red" }];
    const answer = await b?.ask({ path: `${path}/tool-results`, method: "POST", body: { results } });
    expect(answer?.status).toBe(202);
    const calls = (): number => scene.nodes.reduce((sum, node) => sum + node.model.calls, 0);
    await until(() => calls() === 2, "the model is asked again");
    const next = scene.nodes.find((node) => node.model.calls > (node.model === model ? 1 : 0)) ?? a;
    next?.model.say("Red it is.");
    next?.model.end();
    await watching?.got("run_end");
    expect(watching?.reader.flaws).toEqual([]);
    expect(watching?.reader.durable).toEqual(await scene.history());
    await watching?.connection.cut();
  });
});
