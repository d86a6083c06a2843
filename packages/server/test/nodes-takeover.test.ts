import { describe, expect, it } from "vitest";
import { until } from "../../host/test/turn-of-loop.ts";
import { quiet } from "./commanded-scene.ts";
import { openNodes, restsOn } from "./nodes-scene.ts";

const ref = { scope: "local", session: "s" };

describe("a node that is to go", () => {
  it.each([
    { what: "a server that runs sessions", roles: ["all", "all"] as const, goes: 0, stays: 1 },
    { what: "a worker", roles: ["server", "worker", "worker"] as const, goes: 1, stays: 2 },
  ])("($what) hands what runs to another one, which takes it over within a second", async ({ roles, goes, stays }) => {
    const scene = await openNodes({ roles, limits: { drainMs: 5_000 } });
    scene.run(1);
    const [front] = scene.nodes;
    // Of two workers the first one gets the hint.
    const [leaving, staying] = [scene.nodes[goes], scene.nodes[stays]];
    await front?.say("Tell me.");
    await until(() => leaving?.model.calls === 1, "it runs");
    leaving?.model.say("Once ");
    await quiet();
    const began = scene.clock.now();
    const going = leaving?.door.handOver();
    expect(leaving?.door.ready()).toBe(false);
    await until(() => staying?.model.calls === 1, "another one runs it");
    expect(scene.clock.now() - began).toBeGreaterThanOrEqual(5_000);
    expect(scene.clock.now() - began).toBeLessThan(6_000);
    expect(await going).toBe(1);
    staying?.model.say("Once upon a time.");
    staying?.model.end();
    await until(async () => (await scene.facts()).at(-1) === "run.finished", "the run ends");
    const facts = await scene.store.log.read(ref);
    const claims = facts.filter((fact) => fact.type === "owner.claimed");
    expect(claims.map((fact) => fact.node)).toEqual([leaving?.door.context.host.node, staying?.door.context.host.node]);
    expect(facts.filter((fact) => fact.type === "model.finished")).toHaveLength(1);
    expect((await scene.history()).at(-1)).toMatchObject({ type: "run_end", status: "completed" });
  });

  it("lets what runs come to rest within its time, and then hands nothing over", async () => {
    const scene = await openNodes({ roles: ["all"] });
    scene.run(10);
    const [node] = scene.nodes;
    await node?.say("Tell me.");
    await until(() => node?.model.calls === 1, "it runs");
    const going = node?.door.handOver();
    const refused = await node?.ask({ path: "/api/sessions/s/messages", method: "POST", body: { message: "More." } });
    expect(refused).toMatchObject({ status: 503, body: { code: "NOT_READY" } });
    node?.model.say("Done.");
    node?.model.end();
    expect(await going).toBe(0);
    expect((await scene.facts()).at(-1)).toBe("run.finished");
  });

  it("ends its streams, whose readers continue at another node without a gap", async () => {
    const scene = await openNodes({ roles: ["all", "all"], limits: { drainMs: 1 } });
    scene.run(1);
    const [a, b] = scene.nodes;
    const first = await a?.watch();
    await a?.say("Tell me.");
    await first?.got("message_start", 2);
    a?.model.say("Once ");
    await first?.got("text_delta");
    await a?.door.handOver();
    await first?.ended();
    const second = await b?.watch(`?after=${first?.reader.cursor}`);
    await until(() => b?.model.calls === 1, "the other one runs it");
    b?.model.say("Anew.");
    b?.model.end();
    await second?.got("run_end");
    expect([first?.reader.flaws, second?.reader.flaws]).toEqual([[], []]);
    expect([...(first?.reader.durable ?? []), ...(second?.reader.durable ?? [])]).toEqual(await scene.history());
    await second?.connection.cut();
  });
});

describe("a node that dies", () => {
  it.each([
    { what: "another server", roles: ["all", "all"] as const, dies: 0, lives: 1 },
    { what: "another worker", roles: ["server", "worker", "worker"] as const, dies: 1, lives: 2 },
  ])("is followed by $what once its lease has run out, within twenty seconds", async ({ roles, dies, lives }) => {
    const scene = await openNodes({ roles });
    scene.run(5);
    const [front] = scene.nodes;
    const [dying, living] = [scene.nodes[dies], scene.nodes[lives]];
    await front?.say("Tell me.");
    await until(() => dying?.model.calls === 1, "it runs");
    dying?.model.say("Once ");
    await quiet();
    dying?.kill();
    const diedAt = scene.clock.now();
    await until(() => living?.model.calls === 1, "another one runs it");
    expect(scene.clock.now() - diedAt).toBeGreaterThan(9_000);
    expect(scene.clock.now() - diedAt).toBeLessThanOrEqual(25_000);
    living?.model.say("Once upon a time.");
    living?.model.end();
    await until(async () => (await scene.facts()).at(-1) === "run.finished", "the run ends");
    const types = await scene.facts();
    expect(types.filter((type) => type === "owner.claimed")).toHaveLength(2);
    expect(types.filter((type) => type === "model.failed")).toHaveLength(1);
    expect(types.filter((type) => type === "model.finished")).toHaveLength(1);
    await restsOn(living, scene.store);
  });

  it("C04: leaves an input that is recognised when it is sent again without a key, on whichever node", async () => {
    const scene = await openNodes({ roles: ["server", "worker", "worker"] });
    scene.run(5);
    const [front, dying, living] = scene.nodes;
    const { runId } = (await front?.say("Tell me.")) ?? { runId: "" };
    await until(() => dying?.model.calls === 1, "it runs");
    dying?.kill();
    await until(() => living?.model.calls === 1, "another one runs it");
    const again = await front?.ask({ path: "/api/sessions/s/messages", method: "POST", body: { message: "Tell me." } });
    expect(again).toMatchObject({ status: 200, body: { runId, replayed: true } });
    expect((await scene.facts()).filter((type) => type === "input.accepted")).toHaveLength(1);
    living?.model.end();
    await restsOn(living, scene.store);
  });
});
