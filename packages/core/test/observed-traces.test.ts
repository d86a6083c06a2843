import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { createAgent, defineTool, execute, type ObservedRun, type Observer } from "../src/index.ts";
import { scripted } from "../src/memory/index.ts";
import { isTraceparent } from "../src/protocol/index.ts";
import { world } from "./harness.ts";

const given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const within = "00-4bf92f3577b34da6a3ce929d0e0e4736-1111111111111111-01";

describe("the trace of an input", () => {
  it("is the caller's, and observers of its attempts get it with agent and user of the run", async () => {
    const seen: ObservedRun[] = [];
    const observer: Observer = { effect: (_, __, run) => void seen.push(run) };
    const { session, facts } = world([{ text: "Hello." }], {
      session: { observers: [observer], access: { scope: "local", user: "anne" } },
    });
    await execute(session, "Hi", { trace: given }).result();
    expect((await facts()).find(({ type }) => type === "input.accepted")).toMatchObject({ trace: given });
    expect(seen).toEqual([{ runId: expect.any(String), agent: "tester", access: { scope: "local", user: "anne" }, trace: given }]);
  });

  it("is the one that an observer gives where the caller has none; what is no traceparent is not recorded", async () => {
    const observer: Observer = { trace: () => "not a traceparent" };
    const second: Observer = { trace: () => within };
    const { session, facts } = world([{ text: "Hello." }, { text: "Hello." }], { session: { observers: [observer, second] } });
    await execute(session, "Hi", { trace: `${given}\r\nX-Other: 1` }).result();
    expect((await facts()).find(({ type }) => type === "input.accepted")).toMatchObject({ trace: within });
    const without = world([{ text: "Hello." }], { session: { observers: [observer] } });
    await execute(without.session, "Hi").result();
    expect((await without.facts()).find(({ type }) => type === "input.accepted")).not.toHaveProperty("trace");
  });

  it("of a child is that of the call that started it", async () => {
    const context = new AsyncLocalStorage<string>();
    const runs = new Map<string, ObservedRun>();
    const observer: Observer = {
      effect: ({ scope: _, session }, effect, run) => {
        runs.set(session, run);
        return { around: (work) => (effect.type === "run-tool" ? context.run(within, work) : work()) };
      },
      trace: () => context.getStore(),
    };
    const child = createAgent({ name: "child", provider: scripted([{ text: "Done." }]) });
    const delegate = defineTool({
      name: "delegate",
      description: "Delegates.",
      parameters: { type: "object" },
      execute: async (_, { child: start }) => (await start("one", child, "Do it.")).text,
    });
    const script = [{ calls: [{ name: "delegate" }] }, { text: "It is done." }];
    const { session } = world(script, { tools: [delegate], session: { observers: [observer] } });
    await execute(session, "Hi", { trace: given }).result();
    expect([...runs.values()].map(({ trace, agent, parent }) => [agent, trace, parent?.session])).toEqual([
      ["tester", given, undefined],
      ["child", within, session.id],
    ]);
  });

  it("belongs to the facts of its run, from the first to the one before its end", async () => {
    const seen: unknown[] = [];
    const observer: Observer = {
      facts: (_, facts, __, run) => {
        for (const fact of facts)
          if (fact.type === "model.started" || fact.type === "run.finished") seen.push([fact.type, run(fact.runId)?.trace]);
      },
    };
    const { session } = world([{ text: "Hello." }], { session: { observers: [observer] } });
    await execute(session, "Hi", { trace: given }).result();
    expect(seen).toEqual([
      ["model.started", given],
      ["run.finished", undefined],
    ]);
  });
});

it("a traceparent is of version 00, in small letters, and no id of it is zero", () => {
  expect(isTraceparent(given)).toBe(true);
  const flawed = [
    given.toUpperCase(),
    `${given}-00`,
    given.replace("00-", "ff-"),
    given.replace(/[0-9a-f]{32}/, "0".repeat(32)),
    "",
    undefined,
    {},
  ];
  for (const text of [...flawed, given.replace("00f067aa0ba902b7", "0".repeat(16))]) expect(isTraceparent(text)).toBe(false);
});
