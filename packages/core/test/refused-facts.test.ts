import { describe, expect, it } from "vitest";
import { AgentError, defineTool, execute, type FactDraft } from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { calm, world } from "./harness.ts";

const mark = "what this store takes for no fact";

/** A store that will not take facts in which the mark stands, for good. */
function choosy(isBad: (fact: FactDraft) => boolean = (fact) => JSON.stringify(fact).includes(mark)): SessionStore {
  const store = memoryStore({ clock: manualClock() });
  return {
    ...store,
    log: {
      ...store.log,
      async append(ref, request) {
        if (request.facts.some(isBad)) throw new AgentError("INPUT_INVALID", { message: "The store does not take that." });
        return store.log.append(ref, request);
      },
    },
  };
}

const parameters = { type: "object" } as const;

describe("facts that a store will not take", () => {
  it("of an input are refused alone: the inputs beside it and the open answer continue under the same lease", async () => {
    const { session, facts, types } = world([{ text: "half", hang: true }, { text: "a" }, { text: "b" }], { session: { store: choosy() } });
    const first = execute(session, "go").result();
    await calm();
    const before = await types();
    expect(before).toContain("model.started");
    const [bad, good, changed] = [
      execute(session, mark).result(),
      execute(session, "fine").result(),
      session.change({ metadata: { note: mark } }),
    ];
    await expect(bad).rejects.toMatchObject({ code: "INPUT_INVALID", message: "The store does not take that." });
    await expect(changed).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await calm();
    expect((await types()).filter((type) => type === "input.accepted")).toHaveLength(2);
    expect(session.status).toBe("running");
    await session.abort();
    expect((await first).status).toBe("aborted");
    expect((await good).text).toBe("a");
    expect((await types()).filter((type) => type === "owner.claimed")).toHaveLength(1);
    expect(new Set((await facts()).flatMap(({ epoch }) => epoch ?? []))).toEqual(new Set([1]));
  });

  it("of a tool's result are replaced by an error that the model can read, and the results beside it are kept", async () => {
    const say = defineTool({ name: "say", description: "Says", parameters, execute: ({ text }) => String(text) });
    const calls = ["one", mark, "three"].map((text) => ({ name: "say", args: { text } }));
    const bad = (fact: FactDraft): boolean => fact.type === "tool.finished" && JSON.stringify(fact).includes(mark);
    const { session, facts, types } = world([{ calls }, { text: "done" }], { tools: [say], session: { store: choosy(bad) } });
    expect(await execute(session, "go").result()).toMatchObject({ status: "completed", text: "done" });
    const results = (await facts()).flatMap((fact) => (fact.type === "tool.finished" ? [fact] : []));
    expect(results.map(({ callKey, outcome }) => [callKey.at(-1), outcome]).sort()).toEqual([
      ["0", "ok"],
      ["1", "error"],
      ["2", "ok"],
    ]);
    const replaced = results.find(({ outcome }) => outcome === "error");
    expect(replaced).toMatchObject({ failure: { code: "INTERNAL" }, output: [{ text: expect.stringContaining("could not be recorded") }] });
    expect((await types()).filter((type) => type === "owner.claimed")).toHaveLength(1);
  });

  it("of a model's answer are replaced by its failure, and the next run is answered", async () => {
    const bad = (fact: FactDraft): boolean => fact.type === "model.finished" && JSON.stringify(fact).includes(mark);
    const { session, types } = world([{ text: mark }, { text: "fine" }], { session: { store: choosy(bad) } });
    const result = await execute(session, "go").result();
    expect(result).toMatchObject({ status: "error", error: { code: "INTERNAL" } });
    expect((await execute(session, "again").result()).text).toBe("fine");
    expect((await types()).filter((type) => type === "model.failed")).toHaveLength(1);
  });

  it("are reported to subscribers if nothing can be put in their place", async () => {
    const store = choosy(({ type }) => type === "model.started");
    await expect(execute(world([{ text: "never" }], { session: { store } }).session, "go").result()).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
  });
});
