import { manualClock, memoryStore } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { until } from "../../host/test/turn-of-loop.ts";
import { scriptedAgent, testServer } from "./test-server.ts";

const day = 86_400_000;

/** The session `s` has one exchange of today, and one of so many days later; each server that shares its store has read none of it. */
async function scene(daysBetween: number) {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const options = { agents: [scriptedAgent()], store, clock };
  const first = testServer(options);
  const say = async (text: string): Promise<string> => {
    await first.ask("/api/sessions/s/messages", { json: { message: text } });
    await until(async () => (await first.ask<{ readonly status: string }>("/api/sessions/s")).body.status === "idle", "it rests");
    return (await first.ask<{ readonly cursor: string }>("/api/sessions/s")).body.cursor;
  };
  await first.ask("/api/sessions", { json: { id: "s" } });
  const early = await say("One.");
  clock.advance(daysBetween * day);
  const late = await say("Two.");
  return { clock, early, late, servers: [first, testServer(options)] as const };
}

it("a reader whose next event is older than a month is sent to the snapshot, whichever server it asks", async () => {
  const { clock, early, late, servers } = await scene(1);
  clock.advance(29 * day);
  for (const { ask } of servers)
    expect((await ask(`/api/sessions/s/events?after=${early}`, { headers: { Accept: "application/json" } })).status).toBe(200);
  clock.advance(2 * day);
  for (const [place, { refused, send, server }] of servers.entries()) {
    for (const [path, headers] of [
      [`/api/sessions/s/events?after=${early}`, {}],
      ["/api/sessions/s/events", { "Last-Event-ID": early }],
      [`/api/notifications?session=s@${early}`, {}],
    ] as const) {
      const problem = await refused(path, { headers });
      expect(problem, `${path} of ${place}`).toMatchObject({
        status: 410,
        code: "HISTORY_EXPIRED",
        details: { snapshot: "/api/sessions/s" },
      });
      expect(problem.headers.get("Link")).toBe('</api/sessions/s>; rel="latest-version"');
    }
    // What is still to come is never too old, and a reader without a place may have it all.
    expect((await send("/api/sessions/s/events", { headers: { "Last-Event-ID": late } })).status).toBe(204);
    expect((await send("/api/sessions/s/events", { headers: { Accept: "application/json" } })).status).toBe(200);
    await server.close();
  }
});

const metric = async (send: (path: string) => Promise<Response>, name: string): Promise<string | undefined> =>
  new RegExp(`^${name} (\\d+)$`, "m").exec(await (await send("/metrics")).text())?.[1];

it("a cursor that is ahead of the log is refused and counted, and alarms no operator: any client may make one up", async () => {
  const { refused, send, logged, server } = testServer();
  await (await send("/api/sessions", { json: { id: "s" } })).text();
  for (const cursor of ["99.0", "9007199254740991.0"])
    expect(await refused(`/api/sessions/s/events?after=${cursor}`)).toMatchObject({ status: 409, code: "HISTORY_LOST" });
  expect(await refused("/api/notifications?session=s@99.0")).toMatchObject({ status: 409, code: "HISTORY_LOST" });
  expect(await (await send("/metrics")).text()).not.toContain(`code="HISTORY_LOST"`);
  expect(await metric(send, "loopwright_cursors_ahead_total")).toBe("3");
  expect(logged.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
  await server.close();
});

it("a store that has less of a session than this process has seen alarms operators by the log and a metric", async () => {
  const whole = memoryStore();
  let lost = 0;
  const head: typeof whole.log.head = async (ref) => {
    const found = await whole.log.head(ref);
    return { ...found, lastSeq: found.lastSeq - lost };
  };
  const { refused, send, logged, server } = testServer({ store: { ...whole, log: { ...whole.log, head } } });
  await (await send("/api/agent/execute", { json: { sessionId: "s", context: {}, input: "Hi" } })).text();
  lost = 2;
  expect(await refused("/api/sessions/s/events?after=99.0")).toMatchObject({ status: 409, code: "HISTORY_LOST" });
  expect(await metric(send, `loopwright_damaged_sessions_total\\{code="HISTORY_LOST"\\}`)).toBe("1");
  const errors = logged.filter(({ level }) => level === "error");
  expect(errors).toMatchObject([{ fields: { scope: "local", session: "s", cursorSeq: 99 } }]);
  await server.close();
});
