import { describe, expect, it } from "vitest";
import { type AgentSession, defineTool, execute } from "../src/index.ts";
import { calm } from "./harness.ts";
import { drive, type Nodes, nodes } from "./nodes.ts";

/** Milliseconds that pass until it is true, in steps of 10. */
async function passesUntil({ clock }: Nodes, isTrue: () => boolean): Promise<number> {
  const startedAt = clock.monotonic();
  for (await calm(); !isTrue(); await calm()) {
    if (clock.monotonic() - startedAt > 60_000) throw new Error("It did not come to pass within a minute.");
    clock.advance(10);
  }
  return clock.monotonic() - startedAt;
}

async function running(scene: Nodes): Promise<{ owner: AgentSession; result: Promise<unknown> }> {
  const owner = scene.node();
  const stream = execute(owner, "go");
  await calm();
  scene.model[0]?.say("half");
  await calm();
  return { owner, result: stream.result() };
}

const isStopped =
  ({ model }: Nodes) =>
  (): boolean =>
    model[0]?.isClosed ?? false;

describe("an abort", () => {
  it("closes the request of the provider at once where it runs", async () => {
    const scene = nodes();
    const { owner, result } = await running(scene);
    void owner.abort();
    expect(await passesUntil(scene, isStopped(scene))).toBe(0);
    expect(await result).toMatchObject({ status: "aborted", text: "half" });
  });

  it.each([
    ["tells of appends", { publishes: true, hasChannel: false }, 0],
    ["does not, where the channel tells", { publishes: false, hasChannel: true }, 0],
    ["does not, and there is no channel", { publishes: false, hasChannel: false }, 250],
  ] as const)("of another node closes it within a second where the log %s", async (_, options, withinMs) => {
    const scene = nodes(options);
    const { result } = await running(scene);
    const other = scene.node({ drives: false });
    const aborted = other.abort();
    expect(await passesUntil(scene, isStopped(scene))).toBeLessThanOrEqual(withinMs);
    expect(await aborted).toBe(true);
    expect(await result).toMatchObject({ status: "aborted", text: "half" });
  });

  it("of another node closes it within five seconds where the channel has failed", async () => {
    const scene = nodes({ publishes: false });
    const { result } = await running(scene);
    scene.channel.loses = () => true;
    void scene.node({ drives: false }).abort();
    expect(await passesUntil(scene, isStopped(scene))).toBeLessThanOrEqual(5_000);
    expect(await result).toMatchObject({ status: "aborted" });
  });

  it("of another node signals a tool, waits for its grace, and ends the run once", async () => {
    let signal: AbortSignal | undefined;
    const work = defineTool({
      name: "work",
      description: "Works",
      parameters: { type: "object" },
      execute(_, context) {
        signal = context.signal;
        return new Promise<string>(() => {});
      },
    });
    const scene = nodes({ publishes: false, tools: [work] });
    const stream = execute(scene.node(), "go");
    await calm();
    scene.model[0]?.read([
      { type: "call-start", index: 0, id: "c1", name: "work" },
      { type: "end", stopReason: "tool_calls", raw: "tool_calls" },
    ]);
    await calm();
    void scene.node({ drives: false }).abort();
    expect(await passesUntil(scene, () => signal?.aborted ?? false)).toBeLessThanOrEqual(1_000);
    await scene.pass(5_000);
    expect(await stream.result()).toMatchObject({ status: "aborted" });
    expect((await scene.types()).filter((type) => type === "run.finished")).toHaveLength(1);
  });

  it("of a run without an owner is carried out by the next owner, without a model call", async () => {
    const scene = nodes();
    const publisher = scene.node({ drives: false });
    await publisher.submit("go");
    expect(await publisher.abort()).toBe(true);
    drive(scene.node());
    await scene.pass(500);
    expect((await scene.facts()).at(-1)).toMatchObject({ type: "run.finished", status: "aborted" });
    expect(scene.model).toHaveLength(0);
  });
});
