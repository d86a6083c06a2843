/* What sets of hooks keep: over calls beside one another, over runs of a session, and for other processes. */
import { expect, it } from "vitest";
import { defineTool, execute, type Hooks, type JsonObject } from "../src/index.ts";
import { world } from "./harness.ts";

const note = defineTool({ name: "note", description: "Notes.", parameters: { type: "object" }, execute: () => "noted" });

it("keeps what the reviews of calls beside one another set in different members", async () => {
  const seen: JsonObject[] = [];
  const hooks: Hooks = {
    name: "notes",
    review: ({ call }) => ({ state: { [String(call.args["key"])]: true } }),
    prepare({ state }) {
      seen.push(state);
    },
  };
  const calls = ["a", "b", "c"].map((key) => ({ name: "note", args: { key } }));
  const { session } = world([{ calls }, { text: "ok" }], { tools: [note], hooks: [hooks] });
  await execute(session, "x").result();
  expect(seen).toEqual([{}, { a: true, b: true, c: true }]);
});

it("gives the member `session` to the next runs of the session, also in another process, and to no other session", async () => {
  const seen: JsonObject[] = [];
  const hooks: Hooks = {
    name: "counts",
    prepare({ state }) {
      seen.push(state);
      return { state: { session: Number(state["session"] ?? 0) + 1, run: true } };
    },
  };
  const { session, again } = world([{ text: "1" }, { text: "2" }, { text: "3" }, { text: "4" }], { hooks: [hooks] });
  await execute(session, "x").result();
  await execute(session, "y").result();
  await session[Symbol.asyncDispose]();
  await execute(again(), "z").result();
  await execute(again({ id: "s2" }), "x").result();
  expect(seen).toEqual([{}, { session: 1 }, { session: 2 }, {}]);
});

it("begins a run with what `run.start` set beside what the session has kept, when the run before ended later than the input came", async () => {
  const seen: JsonObject[] = [];
  const hooks: Hooks = {
    name: "counts",
    run: { start: () => ({ state: { begun: true } }) },
    prepare({ state }) {
      seen.push(state);
      return { state: { session: Number(state["session"] ?? 0) + 1 } };
    },
  };
  const { session } = world([{ text: "1" }, { text: "2" }], { hooks: [hooks] });
  const first = execute(session, "x").result();
  await Promise.all([first, execute(session, "y").result()]);
  expect(seen).toEqual([{ begun: true }, { begun: true, session: 1 }]);
});
