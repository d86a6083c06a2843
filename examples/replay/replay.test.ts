import { readFileSync } from "node:fs";
import { createSession, execute } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { sensitiveTexts } from "@loopwright/guardrails";
import { assertReplay, readSessionLog, redactSessionLog, replaySession, type SessionLogFile, sessionLogText } from "@loopwright/replay";
import { expect, it } from "vitest";
import { handbook } from "./handbook.ts";

/** A file that `sessionLogText` or `sessions export --format log` wrote of a session that happened. */
const recorded = (name: string): SessionLogFile => readSessionLog(readFileSync(new URL(name, import.meta.url), "utf8"));

/** Models and tools answer from the log, so that this one is never called. */
const model = scripted([], { name: "scripted", model: "scripted" });

it.each(["holidays.jsonl", "redacted.jsonl"])("the agent still does what it did when this session was recorded: %s", async (name) => {
  await assertReplay({ ...recorded(name), agent: handbook(model) });
});

it("another prompt is seen at the first fact that it changes", async () => {
  const { divergence } = await replaySession({ ...recorded("holidays.jsonl"), agent: handbook(model, "Answer in rhymes.") });
  expect([divergence?.recorded?.type, divergence?.members]).toEqual(["run.started", ["agentDigest"]]);
});

it("a session with secrets and personal data becomes a file that may be kept", async () => {
  const store = memoryStore();
  const live = handbook(scripted([{ text: "I will write to anne.miller@example.com." }], { name: "scripted", model: "scripted" }));
  await execute(createSession({ agent: live, store, id: "letter" }), "Write to anne.miller@example.com.").result();

  const facts = await store.log.read({ scope: "local", session: "letter" });
  const { log, replaced } = await redactSessionLog({ session: "letter", facts }, { find: sensitiveTexts() });
  expect(replaced).toEqual([{ placeholder: "[redacted:email-1]", rule: "email", places: 2, firstSeq: 3 }]);
  const file = sessionLogText(log);
  expect(file).not.toContain("anne.miller");
  await assertReplay({ ...readSessionLog(file), agent: handbook(model) });
});
