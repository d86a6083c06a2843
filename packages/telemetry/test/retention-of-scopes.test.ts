import { createAgent } from "@loopwright/core";
import { manualClock, memoryStore, scripted, silentLogger } from "@loopwright/core/memory";
import { createHost, createRuntime, type Host } from "@loopwright/host";
import { expect, it, onTestFinished } from "vitest";
import { auditLog, auditObserver } from "../src/audit/index.ts";

const dayMs = 86_400_000;

it("two nodes erase the sessions of a scope whose retention has passed, and its audit chain has each removal once and verifies", async () => {
  const store = memoryStore();
  const clock = manualClock(Date.now());
  const agent = createAgent({ name: "helper", provider: scripted(() => ({ text: "Yes." })) });
  const node = (): { readonly host: Host; readonly audit: ReturnType<typeof auditLog> } => {
    const audit = auditLog({ log: store.log, clock });
    const runtime = createRuntime({ agents: [agent], store, clock, logger: silentLogger, observers: [auditObserver(audit)] });
    const host = createHost({ runtime, isOneOfMany: true, retention: () => [{ scope: "garden", keepMs: 30 * dayMs }] });
    onTestFinished(() => host.close());
    return { host, audit };
  };
  const nodes = [node(), node()] as const;
  const [{ host, audit }] = nodes;
  const ids = Array.from({ length: 20 }, (_, number) => `s${number}`);
  const asked = ids.map((id) => host.runtime.ask("helper", "Question", { id, access: { user: "anne", scope: "garden" } }).result());
  await Promise.all(asked);
  const held = await host.sessions.open({ scope: "garden", session: "s7" });
  await held.session.hold({ reason: "case 7", by: "olga" });
  held.release();
  clock.advance(31 * dayMs);
  for (let turn = 0; turn < 20_000 && (await store.index.list("garden")).length > 1; turn++) {
    if (turn % 20 === 0) clock.advance(1_000);
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
  expect((await store.index.list("garden")).map(({ id }) => id)).toEqual(["s7"]);
  for (const one of nodes) await one.audit.settled();
  const entries = await audit.list("garden");
  const removed = entries.flatMap(({ action, session }) => (action === "session.removed" ? [session] : []));
  expect(removed.sort()).toEqual(ids.filter((id) => id !== "s7").sort());
  expect(await audit.verify("garden")).toMatchObject({ intact: true, entries: entries.length });
});
