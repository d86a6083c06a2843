import { readFileSync } from "node:fs";
import { scripted } from "@loopwright/core/memory";
import { readSessionLog, replaySession } from "@loopwright/replay";
import { expect, it } from "vitest";
import { handbook } from "./handbook.ts";

/** What `sessionLogText` wrote of a session that happened. */
const recorded = readSessionLog(readFileSync(new URL("holidays.jsonl", import.meta.url), "utf8"));

/** Models and tools answer from the log, so that this one is never called. */
const model = scripted([], { name: "scripted", model: "scripted" });

it("the agent still does what it did when the session was recorded", async () => {
  const report = await replaySession({ ...recorded, agent: handbook(model) });
  expect(report.divergence).toBeUndefined();
  expect(report).toEqual({ isIdentical: true, equal: recorded.facts.length });
});

it("another prompt is seen at the first fact that it changes", async () => {
  const { divergence } = await replaySession({ ...recorded, agent: handbook(model, "Answer in rhymes.") });
  expect([divergence?.recorded?.type, divergence?.members]).toEqual(["run.started", ["agentDigest"]]);
});
