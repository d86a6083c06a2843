import { findEventViolation } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { AgentError, execute, type SessionEvent } from "../src/index.ts";
import { withStoreDeadlines } from "../src/memory/store/store-deadlines.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { calm, eventsOf, howStands, ofType } from "./harness.ts";
import { drive, type Nodes, nodes, receivedBy, ref } from "./nodes.ts";

/** How a store is away. */
type Fault = "refuses" | "unknown" | "silent" | "written";

/** A store that can be away, and what was asked of it meanwhile. */
interface Away {
  readonly store: SessionStore;
  fault: Fault | undefined;
  readonly batches: string[];
}

/** `written`: appends are done, and no subscriber is notified. */
function awayStore({ store: inner, clock }: Nodes): Away {
  const never = new Promise<never>(() => {});
  const refusal = (): AgentError => new AgentError("STORE_UNAVAILABLE", { message: "Away." });
  const asked = async <T>(act: () => Promise<T>): Promise<T> => {
    if (away.fault === undefined || away.fault === "unknown" || away.fault === "written") return act();
    if (away.fault === "silent") return never;
    throw refusal();
  };
  const { log } = inner;
  const faulty: SessionStore = {
    ...inner,
    log: {
      ...log,
      async append(session, request) {
        away.batches.push(request.batchId);
        if (away.fault === "written") await log.append(session, request);
        if (away.fault === "unknown" || away.fault === "written") return { type: "unknown" };
        return asked(() => log.append(session, request));
      },
      read: (session, options) => asked(() => log.read(session, options)),
      head: (session) => asked(() => log.head(session)),
      claim: (session, claim) => asked(() => log.claim(session, claim)),
      renew: (session, lease) => asked(() => log.renew(session, lease)),
      release: (session, epoch) => asked(() => log.release(session, epoch)),
    },
  };
  const away: Away = { fault: undefined, batches: [], store: withStoreDeadlines(faulty, { clock }) };
  return away;
}

const faults: readonly Fault[] = ["refuses", "unknown", "silent", "written"];

describe("while the store does not answer", () => {
  it.each(faults)("(%s) a caller that submits gets the error within two seconds", async (fault) => {
    const scene = nodes();
    const away = awayStore(scene);
    const session = scene.node({ store: away.store, drives: false });
    await session.submit("first");
    away.fault = fault;
    const asked = [session.submit("second", { idempotencyKey: "k" }), session.abort(), session.change({ title: "t" }), session.end()];
    const states = asked.map((one) => one.then(() => "recorded").catch((error: AgentError) => `${error.code} ${error.retryable}`));
    await scene.pass(1_900);
    const settled = await Promise.race([Promise.all(states), calm().then(() => "pending")]);
    expect(settled).toEqual(Array.from({ length: asked.length }, () => "STORE_UNAVAILABLE true"));
    away.fault = undefined;
    await scene.pass(10_000);
    if (fault !== "written") await session.submit("second", { idempotencyKey: "k" });
    const accepted = (await scene.facts()).filter((fact) => fact.type === "input.accepted" && fact.message?.content === "second");
    expect(accepted).toHaveLength(1);
    expect(scene.clock.pending).toBe(0);
  });

  it("an input that was recorded without an answer to its sender is accepted once", async () => {
    const scene = nodes();
    const away = awayStore(scene);
    const session = scene.node({ store: away.store, drives: false });
    away.fault = "written";
    const first = session.submit("hi", { idempotencyKey: "k" });
    first.catch(() => {});
    await scene.pass(1_900);
    await expect(first).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    away.fault = undefined;
    await scene.pass(1_000);
    expect(await session.submit("hi", { idempotencyKey: "k" })).toMatchObject({ replayed: true });
    expect((await scene.types()).filter((type) => type === "input.accepted")).toHaveLength(1);
  });

  it("a change whose caller has given up is not recorded later", async () => {
    const scene = nodes();
    const away = awayStore(scene);
    const session = scene.node({ store: away.store, drives: false });
    await session.submit("first");
    await calm();
    away.fault = "unknown";
    const stuck = session.change({ title: "one" });
    await calm();
    const waiting = session.change({ title: "two" });
    stuck.catch(() => {});
    waiting.catch(() => {});
    await scene.pass(1_900);
    await expect(waiting).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    away.fault = undefined;
    await scene.pass(10_000);
    await session.ready();
    await session.change({ metadata: { a: 1 } });
    expect(session.title).not.toBe("two");
  });

  it.each([
    ["refuses", 9_000],
    ["unknown", 9_000],
    ["silent", 8_000],
    // Written with it, the lease is gone: the next renewal reports it.
    ["written", 2_500],
  ] as const)("row 29: (%s) for %s ms an answer under way is kept, and recorded under its first batch id", async (fault, awayMs) => {
    const scene = nodes();
    const { model, node, pass, types } = scene;
    const away = awayStore(scene);
    const stream = execute(node({ store: away.store }), "go");
    const published = eventsOf(stream);
    await calm();
    model[0]?.say("half ");
    await calm();
    away.fault = fault;
    away.batches.splice(0);
    model[0]?.say("whole");
    model[0]?.end();
    await pass(awayMs);
    expect(await howStands(stream.result())).toBe("pending");
    away.fault = undefined;
    await pass(1_500);
    expect(await stream.result()).toMatchObject({ status: "completed", text: "half whole" });
    expect(new Set(away.batches).size).toBe(1);
    expect(away.batches.length).toBeGreaterThan(1);
    expect((await types()).filter((type) => type.startsWith("model."))).toEqual(["model.started", "model.finished"]);
    expect(findEventViolation(await published)).toBeUndefined();
  });

  it.each(["refuses", "unknown", "silent"] as const)(
    "row 29: (%s) for ten seconds costs nothing, wherever between two renewals that begins",
    async (fault) => {
      for (let phaseMs = 0; phaseMs < 6_000; phaseMs += 250) {
        const scene = nodes();
        const { model, node, pass } = scene;
        const away = awayStore(scene);
        const session = node({ store: away.store });
        const others = drive(node());
        const stream = execute(session, "go");
        await pass(8_000 + phaseMs, 250);
        model[0]?.say("half ");
        away.fault = fault;
        await pass(9_500, 250);
        model[0]?.say("whole");
        model[0]?.end();
        await pass(500, 250);
        away.fault = undefined;
        await pass(4_000, 250);
        expect([phaseMs, await howStands(stream.result()), others.isOwner]).toEqual([phaseMs, "resolved", false]);
        expect((await stream.result()).text).toBe("half whole");
        expect((await scene.types()).filter((type) => type === "owner.claimed")).toHaveLength(1);
        await Promise.all([session, others].map((one) => one[Symbol.asyncDispose]()));
      }
    },
    60_000,
  );

  it("a stream that still speaks is kept although what others append cannot be read", async () => {
    const scene = nodes({ publishes: false, hasChannel: false });
    const { model, node, pass } = scene;
    const away = awayStore(scene);
    const stream = execute(node({ store: away.store }), "go");
    await calm();
    away.fault = "refuses";
    await pass(2_000);
    model[0]?.say("still ");
    await pass(6_000);
    expect(model[0]?.isClosed).toBe(false);
    away.fault = undefined;
    await pass(1_500);
    model[0]?.say("here");
    model[0]?.end();
    await pass(300);
    expect((await stream.result()).text).toBe("still here");
    expect(model).toHaveLength(1);
  });

  it.each(faults)(
    "row 29: (%s) for longer all is dropped, and gone on with once it is back, within ten seconds and by itself",
    async (fault) => {
      const scene = nodes();
      const { model, node, pass } = scene;
      const away = awayStore(scene);
      const session = node({ store: away.store });
      const received: SessionEvent[] = [];
      await session.submit("go");
      await calm();
      model[0]?.say("half ");
      away.fault = fault;
      model[0]?.end();
      // Where renewals are answered the lease stands, and only the append is given up.
      await pass(fault === "unknown" ? 15_500 : 19_000);
      expect(session.isOwner).toBe(false);
      away.fault = undefined;
      received.push(...receivedBy(session));
      await pass(10_000);
      if (fault === "written") expect(model).toHaveLength(1);
      else {
        expect(model).toHaveLength(2);
        model[1]?.say("whole");
        model[1]?.end();
        await pass(500);
      }
      expect(session.messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
      expect((await scene.store.log.head(ref)).lease).toBeUndefined();
    },
  );

  it("an effect is not waited for longer than the lease", async () => {
    const scene = nodes();
    const { model, node, pass } = scene;
    const away = awayStore(scene);
    const session = node({ store: away.store, leaseMs: 5_000 });
    const stream = execute(session, "go");
    await calm();
    away.fault = "refuses";
    model[0]?.say("half");
    model[0]?.end();
    await pass(5_500);
    expect(session.isOwner).toBe(false);
    expect(await howStands(stream.result())).toBe("rejected");
  });
});

describe("a session that is handed over without a store that answers", () => {
  it("is let go of all the same", async () => {
    const scene: Nodes = nodes();
    const { model, node, pass } = scene;
    const away = awayStore(scene);
    const owner = node({ store: away.store });
    const stream = execute(owner, "go");
    const published = eventsOf(stream).catch(() => []);
    await calm();
    model[0]?.say("half");
    away.fault = "silent";
    const handed = owner.handOver();
    await pass(7_000);
    expect(await howStands(handed)).toBe("resolved");
    expect(owner.isOwner).toBe(false);
    expect(model[0]?.isClosed).toBe(true);
    expect(ofType(await published, "run_end")).toEqual([]);
  });
});
