import { createAgent } from "@loopwright/core";
import { manualClock, memoryStore, scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { runClock, until } from "../../host/test/turn-of-loop.ts";
import { memoryRecords, retentionRoutes, type ScopeRule, scopeRetention } from "../src/index.ts";

const dayMs = 86_400_000;

/** A server of two tenants that sweeps; a caller is `<user>@<scope>`, and Anne administers. */
function deployment(rules: readonly ScopeRule[] = []) {
  const clock = manualClock(1_700_000_000_000);
  const changes: (readonly [caller: string, beforeMs: number | undefined, afterMs: number | undefined])[] = [];
  const retention = scopeRetention({ records: memoryRecords(), deployment: rules });
  const agent = createAgent({ name: "helper", provider: scripted(() => ({ text: "ok" })) });
  const server = createServer({
    runtime: createRuntime({ agents: [agent], store: memoryStore(), clock }),
    retention: () => retention.rules(),
    hosts: ["retention.test"],
    authenticate: (request) => {
      const [user = "", scope = ""] = (request.headers.get("x-user") ?? "").split("@");
      return { user, scope, roles: user === "anne" ? ["admin"] : [] };
    },
    routes: [
      ...retentionRoutes(retention, {
        mayChange: ({ roles = [] }) => roles.includes("admin"),
        onChange: ({ before, after }, { user, scope }) => void changes.push([`${user}@${scope}`, before.keepMs, after.keepMs]),
      }),
    ],
  });
  onTestFinished(() => server.close());
  const call = async (user: string, method: string, path: string, body?: unknown) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { "x-user": user, "content-type": "application/json" };
    const response = await server.fetch(new Request(`http://retention.test${path}`, { method, headers, ...json }));
    const text = await response.text();
    return { status: response.status, json: text === "" ? undefined : JSON.parse(text) };
  };
  const isThere = async (user: string, id: string): Promise<boolean> => (await call(user, "GET", `/api/sessions/${id}`)).status === 200;
  return { clock, retention, changes, call, isThere };
}

const path = "/api/settings/retention";

describe("the retention of a scope", () => {
  it("is read by all of the scope, set by those that administer it, and holds for no other scope", async () => {
    const { call } = deployment();
    expect((await call("ben@garden", "GET", path)).json).toEqual({ mayChange: false });
    expect((await call("ben@garden", "PATCH", path, { keepMs: dayMs })).json).toMatchObject({ code: "FORBIDDEN" });
    expect((await call("anne@garden", "PATCH", path, { keepMs: dayMs })).json).toEqual({ keepMs: dayMs, mayChange: true });
    expect((await call("ben@garden", "GET", path)).json).toEqual({ keepMs: dayMs, mayChange: false });
    expect((await call("anne@kitchen", "GET", path)).json).toEqual({ mayChange: true });
    expect((await call("anne@garden", "PATCH", path, { keepMs: null })).json).toEqual({ mayChange: true });
  });

  it("notifies of each change, with the caller, the time before and the time after, and of no request that changed nothing", async () => {
    const { call, changes } = deployment();
    await call("ben@garden", "PATCH", path, { keepMs: dayMs });
    await call("anne@garden", "PATCH", path, { keepMs: 1 });
    for (const keepMs of [3 * dayMs, dayMs, null]) await call("anne@garden", "PATCH", path, { keepMs });
    expect(changes).toEqual([
      ["anne@garden", undefined, 3 * dayMs],
      ["anne@garden", 3 * dayMs, dayMs],
      ["anne@garden", dayMs, undefined],
    ]);
  });

  it.each([0, -1, 59_999, 1.5, 3_153_600_000_001, "90", undefined])("refuses %s, and keeps what was set", async (keepMs) => {
    const { call } = deployment();
    await call("anne@garden", "PATCH", path, { keepMs: dayMs });
    expect(await call("anne@garden", "PATCH", path, { keepMs })).toMatchObject({ status: 400, json: { code: "INPUT_INVALID" } });
    expect((await call("anne@garden", "GET", path)).json).toMatchObject({ keepMs: dayMs });
  });

  it("erases the sessions that exist, but neither one under a legal hold nor one that was changed since, nor those of another scope", async () => {
    const { clock, call, isThere } = deployment();
    for (const id of ["old", "held", "used"]) await call("anne@garden", "POST", "/api/sessions", { id, title: id });
    await call("anne@kitchen", "POST", "/api/sessions", { id: "other", title: "other" });
    expect((await call("anne@garden", "PUT", "/api/sessions/held/hold", { reason: "case 7" })).status).toBe(200);
    clock.advance(2 * dayMs);
    await call("anne@garden", "PATCH", "/api/sessions/used", { title: "still in use" });
    await call("anne@garden", "PATCH", path, { keepMs: dayMs });
    const stop = runClock(clock, 200);
    await until(async () => !(await isThere("anne@garden", "old")), "the old one is erased");
    stop();
    for (const id of ["held", "used"]) expect(await isThere("anne@garden", id)).toBe(true);
    expect(await isThere("anne@kitchen", "other")).toBe(true);
    // Lifted, the hold protects it no more.
    await call("anne@garden", "DELETE", "/api/sessions/held/hold");
    clock.advance(dayMs);
    const again = runClock(clock, 200);
    await until(async () => !(await isThere("anne@garden", "held")), "the one that was held is erased");
    again();
  });

  it("can be shorter than that of the deployment, not longer, and both are shown", async () => {
    const { retention, call } = deployment([
      { scope: "garden", keepMs: 10 * dayMs },
      { scope: "kitchen", keepMs: 10 * dayMs },
    ]);
    await call("anne@garden", "PATCH", path, { keepMs: dayMs });
    await call("anne@kitchen", "PATCH", path, { keepMs: 90 * dayMs });
    expect((await call("ben@kitchen", "GET", path)).json).toEqual({ keepMs: 90 * dayMs, deploymentKeepMs: 10 * dayMs, mayChange: false });
    expect([...(await retention.rules())].sort((a, b) => (a.scope < b.scope ? -1 : 1))).toEqual([
      { scope: "garden", keepMs: dayMs },
      { scope: "kitchen", keepMs: 10 * dayMs },
    ]);
  });

  it("keeps the rules of thousands of scopes, set by several processes at once, and passes over what a later version has written", async () => {
    const records = memoryRecords();
    const [one, other] = [scopeRetention({ records }), scopeRetention({ records })];
    for (let at = 0; at < 1_000; at++) await Promise.all([one.set(`a${at}`, dayMs + at), other.set(`b${at}`, dayMs + at)]);
    const rules = await one.rules();
    expect(rules).toHaveLength(2_000);
    expect(rules).toContainEqual({ scope: "b7", keepMs: dayMs + 7 });
    await records.put({ scope: "system", user: "retention" }, "retention", { id: "rules-later", value: { c: "P1D", d: 5, e: dayMs } });
    expect((await one.rules()).filter(({ scope }) => /^[c-e]$/.test(scope))).toEqual([{ scope: "e", keepMs: dayMs }]);
  });
});
