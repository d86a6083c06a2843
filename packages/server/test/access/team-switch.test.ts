import { describe, expect, it } from "vitest";
import { accessScene, as } from "./access-scene.ts";

const teams = () =>
  accessScene({
    anne: {
      scope: "garden",
      roles: ["admin"],
      trusted: true,
      memberships: [{ scope: "kitchen", roles: ["member"], labels: { plan: "small" } }, { scope: "Not An Id" }],
    },
    ben: { scope: "kitchen" },
    robot: { scope: "system", memberships: "any", trusted: true },
  });
const inKitchen = { "X-Scope": "kitchen" };

describe("a caller of several teams", () => {
  it("A34: finds in each team what belongs to it alone, and a session of the other team is answered like one that does not exist", async () => {
    const { ask, send, refused } = teams();
    await send("/api/sessions", { json: { id: "roses" }, headers: as("anne") });
    const missing = await refused("/api/sessions/none", { headers: as("anne", inKitchen) });
    const foreign = await refused("/api/sessions/roses", { headers: as("anne", inKitchen) });
    expect(JSON.stringify(foreign).replaceAll("roses", "none")).toBe(JSON.stringify(missing));
    expect([...foreign.headers.keys()]).toEqual([...missing.headers.keys()]);
    expect((await ask("/api/sessions/roses", { headers: as("anne", { "X-Scope": "garden" }) })).status).toBe(200);
  });

  it("A35: gets lists, searches and files of the team that the request names", async () => {
    const { ask, send } = teams();
    await send("/api/sessions", { json: { id: "roses", title: "Roses" }, headers: as("anne") });
    await send("/api/sessions", { json: { id: "soup", title: "Soup" }, headers: as("anne", inKitchen) });
    const { body: file } = await ask<{ blob: string }>("/api/files", { body: "x", headers: as("anne", { "Content-Type": "text/plain" }) });
    const idsIn = async (headers: Record<string, string>): Promise<unknown> => {
      const { body } = await ask<{ sessions: { id: string }[] }>("/api/sessions", { headers });
      return body.sessions.map(({ id }) => id);
    };
    expect(await idsIn(as("anne"))).toEqual(["roses"]);
    expect(await idsIn(as("anne", inKitchen))).toEqual(["soup"]);
    expect(await idsIn(as("ben"))).toEqual(["soup"]);
    expect((await ask("/api/sessions?search=roses", { headers: as("anne", inKitchen) })).body).toEqual({ hits: [] });
    expect((await send(`/api/files/${file.blob}`, { headers: as("anne", inKitchen) })).status).toBe(404);
    const own = await send(`/api/files/${file.blob}`, { headers: as("anne") });
    expect([own.status, own.headers.get("Vary")]).toEqual([200, "Authorization, Cookie, X-Scope"]);
  });

  it("has the roles of the team, and no trust in a team that authentication has not given it for", async () => {
    const { ask, refused } = teams();
    const access = (headers: Record<string, string>): Promise<{ body: Record<string, unknown> }> => ask("/api/access", { headers });
    expect((await access(as("anne"))).body).toEqual({
      ...{ user: "anne", scope: "garden", roles: ["admin"], cookies: false },
      scopes: ["garden", "kitchen"],
    });
    expect((await access(as("anne", inKitchen))).body).toEqual({
      ...{ user: "anne", scope: "kitchen", roles: ["member"], cookies: false },
      scopes: ["kitchen", "garden"],
    });
    const obey = { json: { context: { systemPrompt: "Obey." } } };
    expect((await ask("/api/sessions", { ...obey, headers: as("anne") })).status).toBe(201);
    expect(await refused("/api/sessions", { ...obey, headers: as("anne", inKitchen) })).toMatchObject({ status: 403 });
  });

  it("T02: is refused a team that is not its own with the same words as one that does not exist, whatever the header holds", async () => {
    const { refused, send } = teams();
    await send("/api/sessions", { json: { id: "soup" }, headers: as("ben") });
    const words = new Set<string>();
    for (const scope of [
      "kitchen",
      "nowhere",
      "",
      "*",
      "kitchen, garden",
      "GARDEN",
      "Not An Id",
      "garden/..",
      "a".repeat(10_000),
      "__proto__",
    ]) {
      const user = scope === "kitchen" ? "other" : "anne";
      const scene = user === "other" ? accessScene({ other: { scope: "garden" } }) : { refused };
      const problem = await scene.refused("/api/sessions", { headers: as(user, { "X-Scope": scope }) });
      expect(problem, scope).toMatchObject({ status: 403, code: "FORBIDDEN" });
      words.add(problem.detail);
    }
    expect(words.size).toBe(1);
  });

  it("names any team if it is a service of the deployment, and is recorded in it", async () => {
    const { send, ask, refused } = teams();
    expect((await send("/api/sessions", { json: { id: "report" }, headers: as("robot", inKitchen) })).status).toBe(201);
    expect((await ask("/api/sessions/report", { headers: as("ben") })).body).toMatchObject({ participants: ["robot", "helper"] });
    expect(await refused("/api/sessions", { headers: as("robot", { "X-Scope": "Kit chen" }) })).toMatchObject({ status: 403 });
    const { body } = await ask("/api/sessions/report/events", { headers: as("ben", { Accept: "application/json" }) });
    expect(JSON.stringify(body)).not.toMatch(/memberships|trusted|expiresAt/);
  });
});
