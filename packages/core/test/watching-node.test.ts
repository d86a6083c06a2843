import { expect, it } from "vitest";
import { execute } from "../src/index.ts";
import type { SessionLog, SessionStore } from "../src/ports/index.ts";
import { calm, ofType } from "./harness.ts";
import { type Nodes, nodes, receivedBy, ref } from "./nodes.ts";

type Counts = { [Name in keyof SessionLog]?: number };

/** The store of some nodes, which counts the calls of its log. */
function counted({ store }: Nodes): { readonly store: SessionStore; readonly counts: Counts } {
  const counts: Counts = {};
  const log = new Proxy(store.log, {
    get: (target, name: keyof SessionLog) => {
      const method = target[name];
      if (!method) return undefined;
      return (...args: readonly unknown[]): unknown => {
        counts[name] = (counts[name] ?? 0) + 1;
        return Reflect.apply(method, target, args);
      };
    },
  });
  return { store: { ...store, log }, counts };
}

const emptied = (counts: Counts): void => {
  for (const name of Object.keys(counts)) delete counts[name as keyof Counts];
};

it("claims nothing while another node runs the session, and looks at its lease once a second", async () => {
  const world = nodes();
  execute(world.node(), "go");
  await calm();
  const { store, counts } = counted(world);
  receivedBy(world.node({ store }));
  await calm();
  emptied(counts);
  await world.pass(30_000);
  expect(counts).toEqual({ head: expect.any(Number) });
  expect(counts.head).toBeLessThanOrEqual(31);
});

it("claims once for a run of many appends", async () => {
  const world = nodes();
  const owner = world.node();
  const { store, counts } = counted(world);
  const far = receivedBy(world.node({ store }));
  await calm();
  emptied(counts);
  execute(owner, "go");
  for (let turn = 0; turn < 10; turn++) {
    await world.pass(300);
    world.model[turn]?.fail("MODEL_OVERLOADED");
    await world.pass(40_000, 1_000);
  }
  expect(ofType(far, "attempt_discarded").length).toBeGreaterThan(2);
  expect(counts.claim ?? 0).toBeLessThanOrEqual(1);
});

it("continues a session that its owner hands over within a second", async () => {
  const world = nodes();
  const owner = world.node();
  execute(owner, "go");
  await calm();
  receivedBy(world.node());
  await world.pass(5_000);
  const given = owner.handOver();
  await world.pass(1_100);
  await given;
  expect(world.model).toHaveLength(2);
});

it("continues a session as soon as the lease of a dead owner has expired", async () => {
  const world = nodes();
  const { epoch } = (await world.store.log.claim(ref, { node: "dead", leaseMs: 20_000 })) as { readonly epoch: number };
  execute(world.node({ drives: false }), "go");
  await calm();
  expect(epoch).toBe(1);
  receivedBy(world.node());
  await world.pass(19_500);
  expect(world.model).toHaveLength(0);
  await world.pass(1_000);
  expect(world.model).toHaveLength(1);
});
