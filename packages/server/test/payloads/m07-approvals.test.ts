import { defineTool, type JsonObject } from "@loopwright/core";
import type { SessionSnapshot } from "@loopwright/core/protocol";
import type { ServerOptions } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { scriptedAgent, type TestServer, testServer } from "../test-server.ts";
import { framesOf } from "./frames-of.ts";

const as = (who: string): Record<string, string> => ({ "X-User": who });
const authenticate: NonNullable<ServerOptions["authenticate"]> = (request) => {
  const [scope = "", user = ""] = (request.headers.get("X-User") ?? "").split(".");
  return { scope, user, roles: user === "boss" ? ["admin"] : [] };
};

/** Anne's session waits for a decision about this payment. */
async function paying(
  args: JsonObject,
  more: Partial<ServerOptions> = {},
): Promise<TestServer & { readonly paid: readonly unknown[]; pending(who?: string): Promise<Asked> }> {
  const paid: unknown[] = [];
  const pay = defineTool({
    ...{ name: "pay", description: "Pays.", parameters: { type: "object" }, approval: true },
    execute: (given) => `paid ${paid.push(given)}`,
  });
  const agent = scriptedAgent([{ calls: [{ name: "pay", args, id: "c1" }] }, { text: "ok" }], { tools: [pay] });
  const scene = testServer({ agents: [agent], authenticate, ...more });
  await framesOf(
    await scene.send("/api/agent/execute", { json: { sessionId: "a", context: {}, input: "Pay" }, headers: as("garden.anne") }),
  );
  const pending = async (who = "garden.anne"): Promise<Asked> => {
    const { body } = await scene.ask<SessionSnapshot>("/api/sessions/a", { headers: as(who) });
    const [approval] = body.run?.pendingApprovals ?? [];
    if (!approval) throw new Error("Nothing waits.");
    return { path: `/api/sessions/a/approvals/${approval.callKey}`, argsDigest: approval.argsDigest, args: approval.args };
  };
  return { ...scene, paid, pending };
}

interface Asked {
  readonly path: string;
  readonly argsDigest: string;
  readonly args: unknown;
}

describe("M07: a decision over HTTP", () => {
  it("about arguments that were changed between the question and the decision is refused, and nothing runs", async () => {
    const scene = await paying({ euros: 7 });
    const { path, argsDigest } = await scene.pending();
    const flipped = `${argsDigest.startsWith("0") ? "1" : "0"}${argsDigest.slice(1)}`;
    for (const digest of [flipped, argsDigest.slice(1), argsDigest.toUpperCase(), ""])
      expect(
        (await scene.refused(path, { json: { decision: "allow", argsDigest: digest }, headers: as("garden.anne") })).status,
      ).toBeGreaterThanOrEqual(400);
    expect(scene.paid).toEqual([]);
    expect((await scene.pending()).argsDigest).toBe(argsDigest);
  });

  it("on one's own request is refused where the policy of the deployment does so, and another one decides", async () => {
    const owners = new Map([["a", "anne"]]);
    const authorize: NonNullable<ServerOptions["authorize"]> = (principal, action, session) =>
      action !== "session.decide" || owners.get(session ?? "") !== principal.user;
    const scene = await paying({ euros: 7 }, { authorize });
    const { path, argsDigest } = await scene.pending();
    const sent = (who: string) => ({ json: { decision: "allow", argsDigest }, headers: as(who) });
    expect((await scene.refused(path, sent("garden.anne"))).status).toBe(403);
    expect(scene.paid).toEqual([]);
    expect((await scene.ask(path, sent("garden.boss"))).status).toBe(202);
    await framesOf(await scene.send("/api/sessions/a/events", { headers: as("garden.anne") }));
    expect(scene.paid).toEqual([{ euros: 7 }]);
  });

  it("by another scope does not exist, and one that is replayed runs nothing a second time", async () => {
    const scene = await paying({ euros: 7 });
    const { path, argsDigest } = await scene.pending();
    const sent = (who: string) => ({ json: { decision: "allow", argsDigest }, headers: as(who) });
    expect((await scene.refused(path, sent("kitchen.anne"))).status).toBe(404);
    expect((await scene.ask(path, sent("garden.anne"))).status).toBe(202);
    await framesOf(await scene.send("/api/sessions/a/events", { headers: as("garden.anne") }));
    for (const who of ["garden.anne", "garden.boss", "kitchen.anne"]) await scene.send(path, sent(who)).then((answer) => answer.text());
    // In a later run the same model makes the same call: the old decision is not one about it.
    await framesOf(await scene.send("/api/agent/execute", { json: { sessionId: "a", input: "Pay again" }, headers: as("garden.anne") }));
    expect(scene.paid).toHaveLength(1);
  });

  it("is made on all of 200 KB of arguments, also where their last byte is the bad part", async () => {
    const args = { note: "x".repeat(200_000), account: "of-the-attacker" };
    const scene = await paying(args);
    const asked = await scene.pending();
    expect(asked.args).toEqual(args);
    const other = await paying({ ...args, account: "of-a-friend" });
    expect((await other.pending()).argsDigest).not.toBe(asked.argsDigest);
    const crossed = { json: { decision: "allow", argsDigest: asked.argsDigest }, headers: as("garden.anne") };
    expect(await other.refused((await other.pending()).path, crossed)).toMatchObject({ code: "APPROVAL_MISMATCH" });
    expect(other.paid).toEqual([]);
  });
});
