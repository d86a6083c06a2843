import { agentTool, createAgent, createSession, execute } from "@loopwright/core";
import { memoryStore, scripted, silentLogger } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { removeWithChildren } from "@loopwright/core/stores";
import { createHost, createRuntime } from "@loopwright/host";
import { describe, expect, it } from "vitest";

const ref = (session: string) => ({ scope: "local", session });

/** An agent whose researcher asks a clerk. */
function threeDeep() {
  const task = (name: string) => ({ calls: [{ name, args: { task: "Find apples." } }] });
  const clerk = createAgent({ name: "clerk", provider: scripted([{ text: "Apples." }]) });
  const tools = [agentTool({ agent: clerk })];
  const researcher = createAgent({ name: "researcher", provider: scripted([task("clerk"), { text: "Apples." }]), tools });
  const provider = scripted([task("researcher"), { text: "Done." }]);
  return createAgent({ name: "lead", provider, tools: [agentTool({ agent: researcher })] });
}

/** A tree of three sessions that rest, and their ids from the top. */
async function tree() {
  const store = memoryStore();
  const agent = threeDeep();
  await using top = createSession({ id: "top", agent, store });
  await execute(top, "Find fruit.").result();
  const [child] = await store.index.list("local", { parent: "top" });
  const [grandchild] = await store.index.list("local", { parent: child?.id ?? "" });
  return { store, agent, ids: ["top", child?.id ?? "", grandchild?.id ?? ""] };
}

/** The store with something done before the n-th request for it, from 1. */
function interrupted(
  store: SessionStore,
  at: number,
  act: () => Promise<unknown>,
): { readonly store: SessionStore; readonly count: () => number } {
  let count = 0;
  const watched = <T extends object>(port: T): T =>
    new Proxy(port, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== "function" || name === "subscribe") return value;
        return async (...args: readonly unknown[]) => {
          if (++count === at) await act();
          return (value as (...all: readonly unknown[]) => unknown).apply(target, [...args]);
        };
      },
    });
  return { store: { ...store, log: watched(store.log), index: watched(store.index) }, count: () => count };
}

type Erase = (store: SessionStore, agent: ReturnType<typeof threeDeep>) => Promise<void>;

const ways: readonly (readonly [string, Erase])[] = [
  ["alone", (store) => removeWithChildren(store, ref("top"))],
  [
    "by a host",
    async (store, agent) => {
      const host = createHost({ runtime: createRuntime({ agents: [agent], store, logger: silentLogger }), isOneOfMany: false });
      await host.sessions.remove(ref("top")).finally(() => host.close());
    },
  ],
];

describe.each(ways)("a tree that is erased %s", (_, erase) => {
  it("is erased whole, or holds: whatever session is put under a legal hold before whichever request of the erasure", async () => {
    const outcomes = new Set<string>();
    for (let place = 0; place < 3; place++) {
      for (let at = 1; ; at++) {
        const { store, agent, ids } = await tree();
        const held = ids[place] ?? "";
        const name = ["lead", "researcher", "clerk"][place] ?? "";
        const own = createAgent({ name, provider: scripted([]) });
        const holder = createSession({ id: held, agent: own, store, drives: false });
        let isHeld = false;
        const hold = async (): Promise<void> => {
          isHeld = await holder.hold({ reason: "case 7" }).catch(() => false);
        };
        const watched = interrupted(store, at, hold);
        const error = await erase(watched.store, agent).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        const left = await Promise.all(ids.map(async (id) => (await store.log.head(ref(id))).lastSeq > 0));
        const what = `${held}, held before request ${at} of ${watched.count()}`;
        expect([what, error]).toEqual([what, isHeld ? expect.objectContaining({ code: "SESSION_HELD" }) : undefined]);
        expect([what, left]).toEqual([what, ids.map(() => isHeld)]);
        outcomes.add(`${place} ${isHeld}`);
        if (isHeld) {
          await holder.releaseHold();
          await removeWithChildren(store, ref("top"));
          expect((await store.log.head(ref(held))).lastSeq).toBe(0);
        }
        if (at > watched.count()) break;
      }
    }
    expect([...outcomes].sort()).toEqual(["0 false", "0 true", "1 false", "1 true", "2 false", "2 true"]);
  });

  it("costs one read of each log, and of what has come since", async () => {
    const { store, agent, ids } = await tree();
    const lengths = await Promise.all(ids.map(async (id) => (await store.log.head(ref(id))).lastSeq));
    let read = 0;
    const log: SessionStore["log"] = {
      ...store.log,
      async read(...args) {
        const facts = await store.log.read(...args);
        // The first one that a session handle reads is of the host: it opens the session at the top.
        read += facts.filter(({ type }) => type !== "session.closed").length;
        return facts;
      },
    };
    const opened = erase === ways[1]?.[1] ? (lengths[0] ?? 0) : 0;
    await erase({ ...store, log: { ...log } }, agent);
    expect(read).toBeLessThanOrEqual(lengths.reduce((sum, length) => sum + length, 0) + 2 * opened);
  });
});
