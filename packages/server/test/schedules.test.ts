import { manualClock } from "@loopwright/core/memory";
import { describe, expect, it, onTestFinished } from "vitest";
import { runClock, until } from "../../host/test/turn-of-loop.ts";
import { clientScene } from "./client-scene.ts";
import { openNodes } from "./nodes-scene.ts";
import { scriptedAgent, testServer } from "./test-server.ts";

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

describe("the schedules of a session over HTTP", () => {
  it("are set, listed and removed by a client; a request whose answer was lost sets one schedule", async () => {
    await using scene = clientScene({ script: [{ text: "Done." }], cuts: 7 });
    const { sessions } = scene.client;
    await sessions.create({ id: "s1" });
    const at = inAnHour();
    const set = await sessions.schedule("s1", "report", { input: "Report.", at, temperature: 0.5, labels: { surface: "page" } });
    expect(set).toMatchObject({ name: "report", due: Date.parse(at), message: { content: "Report." }, temperature: 0.5, user: "local" });
    const tick = await sessions.schedule("s1", "tick", { input: { role: "user", content: "Tick." }, everyMs: 60_000, mode: "interrupt" });
    expect(await sessions.schedules("s1")).toEqual([tick, set]);
    expect(await sessions.unschedule("s1", "tick")).toBe(true);
    expect(await sessions.unschedule("s1", "tick")).toBe(false);
    expect(await sessions.schedules("s1")).toEqual([set]);
  });

  it("fire without a request, as the user that set them", async () => {
    const clock = manualClock();
    const { ask, server } = testServer({ agents: [scriptedAgent([{ text: "Done." }])], clock });
    onTestFinished(() => server.close());
    await ask("/api/sessions", { json: { id: "a" } });
    await ask("/api/sessions/a/schedules/report", { method: "PUT", json: { input: "Report.", everyMs: 5_000 } });
    const stop = runClock(clock, 100);
    const messages = async () => (await ask<{ messages: readonly { message: { role: string } }[] }>("/api/sessions/a")).body.messages;
    await until(async () => (await messages()).length >= 4, "it has fired twice");
    stop();
    const { body } = await ask<{ firings: readonly { name: string; runId: string; status: string }[] }>("/api/sessions/a/schedules");
    expect(body.firings.at(-1)).toMatchObject({ name: "report", runId: expect.any(String), status: "completed" });
    expect((await messages()).slice(0, 2).map(({ message }) => message)).toMatchObject([
      { role: "user", content: "Report." },
      { role: "assistant" },
    ]);
  });

  it.each<[string, object, number, RegExp]>([
    ["an unknown zone", { at: "2030-01-01T09:00", timeZone: "Mars/Olympus" }, 400, /not a time zone/],
    ["a time that has passed", { at: "2001-01-01T09:00Z" }, 400, /has passed/],
    ["no time", {}, 400, /first time/],
    ["a cron expression where no rules are", { cron: "0 9 * * *" }, 400, /computes no dates/],
    ["a time of another kind", { at: "2130-01-01T09:00Z", missed: "skip" }, 400, /repeats/],
    ["another mode", { everyMs: 5_000, mode: "steer" }, 400, /mode/],
    ["a label that is not declared", { everyMs: 5_000, options: { labels: { colour: "red" } } }, 400, /label/],
    [
      "a file that does not exist",
      { everyMs: 5_000, input: { role: "user", content: [{ type: "image", mediaType: "image/png", source: { blob: "none" } }] } },
      404,
      /./,
    ],
  ])("are refused for %s, with the reason", async (_, json, status, detail) => {
    const { refused, ask, server } = testServer();
    onTestFinished(() => server.close());
    await ask("/api/sessions", { json: { id: "a" } });
    const problem = await refused("/api/sessions/a/schedules/report", { method: "PUT", json: { input: "Hi.", ...json } });
    expect(problem).toMatchObject({ status, detail: expect.stringMatching(detail) });
    expect((await ask("/api/sessions/a/schedules")).body).toEqual({ schedules: [], firings: [] });
  });

  it("are not found for a session that does not exist, and refused on one that is closed", async () => {
    const { refused, server } = testServer();
    onTestFinished(() => server.close());
    const put = { method: "PUT", json: { input: "Hi.", everyMs: 5_000 } };
    expect(await refused("/api/sessions/none/schedules/report", put)).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
  });
});

it("a schedule that a server without runs has set fires once on two workers, also if the one that fires it is killed", async () => {
  const { nodes, facts, run, store } = await openNodes({ roles: ["server", "worker", "worker"] });
  const [server, ...workers] = nodes;
  await server?.ask({ method: "PUT", path: "/api/sessions/s/schedules/report", body: { input: "Report.", everyMs: 3_600_000 } });
  run(60_000);
  await until(() => workers.some(({ model }) => model.calls > 0), "a worker has fired it");
  const first = workers.find(({ model }) => model.calls > 0);
  first?.kill();
  const second = workers.find((worker) => worker !== first);
  await until(() => (second?.model.calls ?? 0) > 0, "the other worker has taken the run over");
  second?.model.say("Done.");
  second?.model.end();
  await until(async () => (await facts()).includes("run.finished"), "the run ends");
  const inputs = (await store.log.read({ scope: "local", session: "s" })).filter(({ type }) => type === "input.accepted");
  expect(new Set(inputs.map((fact) => "idempotencyKey" in fact && fact.idempotencyKey)).size).toBe(inputs.length);
  expect((await facts()).filter((type) => type === "run.started").length).toBeLessThanOrEqual(inputs.length);
  expect(inputs).toHaveLength(1);
});
