import type { Fact } from "@loopwright/core";
import type { SessionSnapshot } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { checkSnapshots } from "./check-snapshots.ts";

const message = {
  role: "assistant",
  content: [{ type: "text", text: "Hello" }],
  stopReason: "stop",
  provider: "openai",
  model: "m",
} as const;
const facts = [
  { type: "model.finished", seq: 1, message },
  { type: "run.finished", seq: 2, runId: "r1", status: "completed", reason: "stop" },
] as unknown as readonly Fact[];
const folded = {
  sessionId: "s",
  cursor: "2.9",
  messages: [{ id: "1", parent: null, at: 1, message }],
  lastRun: { runId: "r1", status: "completed", reason: "stop" },
} as unknown as SessionSnapshot;

const flawsOf = (changes: object, shown: object = { ...folded, ...changes }): string =>
  checkSnapshots({ facts, folded: { ...folded, ...changes }, shown: { node0: shown } }).join("\n");

it("takes what is the same, whatever the order of its fields", () => {
  expect(flawsOf({}, Object.fromEntries(Object.entries(folded).reverse()))).toBe("");
});

const question = { id: "0", parent: null, at: 1, message: { role: "user", content: "How are you?" } };
const asked = { messages: [question, ...folded.messages] };

it("takes the first words of a user for the title where none was given, and no other", () => {
  expect(flawsOf(asked, { ...folded, ...asked, title: "How are you?" })).toBe("");
  expect(flawsOf(asked, { ...folded, ...asked })).toMatch(/I15: node0 shows/);
  expect(flawsOf({ ...asked, title: "Chosen" }, { ...folded, ...asked, title: "How are you?" })).toMatch(/I15: node0 shows/);
});

it.each<[string, string, RegExp]>([
  ["a node that shows something else", flawsOf({}, { ...folded, title: "Other" }), /I15: node0 shows/],
  ["a node that shows nothing", checkSnapshots({ facts, folded, shown: { node0: undefined } }).join(), /I15: node0 shows/],
  ["a fold that has lost the tail", flawsOf({ cursor: "1.9" }), /I15: the fold ends at 1\.9 and the log at 2/],
  ["a fold that has lost an answer", flawsOf({ messages: [] }), /I15: the fold has 0 answers and the log 1/],
  [
    "a fold that ends a run otherwise",
    flawsOf({ lastRun: { runId: "r1", status: "failed", reason: "" } }),
    /I15: the fold gives that r1 ended last, failed/,
  ],
])("finds %s", (_, flaws, flaw) => {
  expect(flaws).toMatch(flaw);
});
