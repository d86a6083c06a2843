import { type AgentError, createAgent, createSession, execute } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { readSessionLog, sessionLogText } from "./session-log-file.ts";

async function recorded(): Promise<string> {
  const store = memoryStore();
  const agent = createAgent({ name: "helper", provider: scripted([{ text: "Line one.\nLine two." }]) });
  await execute(createSession({ agent, store, id: "s1" }), "Tell me.").result();
  return sessionLogText({ session: "s1", facts: await store.log.read({ scope: "local", session: "s1" }) });
}

it("a session is written as a line for itself and a line a fact, and read as it was", async () => {
  const text = await recorded();
  const { session, facts } = readSessionLog(text);
  expect(session).toBe("s1");
  expect(text.split("\n")).toHaveLength(facts.length + 2);
  expect(sessionLogText({ session, facts })).toBe(text);
});

it("another file is refused with the line that is wrong, and without its words", async () => {
  const lines = (await recorded()).split("\n");
  for (const [text, reason] of [
    ["", /no recorded session/],
    ["secret words", /Line 1 of the file is no JSON/],
    ['{"format":"loopwright-session"}', /no recorded session/],
    ['{"format":"loopwright-log","version":9,"session":"s1"}', /version 9/],
    [lines.filter((_, at) => at !== 3).join("\n"), /Line 4 of the file is not fact 3/],
    [[...lines.slice(0, 2), "secret words"].join("\n"), /Line 3 of the file is no JSON/],
    [lines.join("\n").replaceAll('"v":2', '"v":99'), /Line 2 of the file was written by a newer build/],
  ] as const) {
    let refused: unknown;
    try {
      readSessionLog(text);
    } catch (error) {
      refused = error;
    }
    expect((refused as AgentError).code).toBe("CONFIG_INVALID");
    expect((refused as AgentError).message).toMatch(reason);
    expect(String(refused)).not.toContain("secret");
  }
});
