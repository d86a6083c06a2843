import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAgent, createSession, execute } from "@loopwright/core";
import { subprocess } from "@loopwright/providers-subprocess";
import { builtinTools } from "@loopwright/tools-builtin";
import { expect, test } from "vitest";

const place = (name: string): string => fileURLToPath(new URL(`executors/${name}`, import.meta.url));
const folder = (): Promise<string> => mkdtemp(join(tmpdir(), "example-executors-"));

test("the program of the example asks for a tool of the agent, is started again with its result, and answers", async () => {
  const provider = subprocess({ path: process.execPath, args: [place("agent.mjs")], directory: await folder() });
  const session = createSession({ agent: createAgent({ name: "clock", provider, tools: builtinTools() }) });
  expect((await execute(session, "How late is it?").result()).text).toBe("I looked at the clock. You have asked 1 times.");
  expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool_result", "assistant"]);
});

const python = "/usr/bin/python3";
const hasPython = existsSync(python) && execFileSync(python, ["--version"]).length > 0;

test.skipIf(!hasPython)("the program in Python answers word by word", async () => {
  const provider = subprocess({ path: python, args: [place("agent.py")], directory: await folder() });
  const run = execute(createSession({ agent: createAgent({ name: "echo", provider }) }), "Wie geht's, Jürgen?");
  let deltas = 0;
  for await (const event of run) if (event.type === "text_delta") deltas++;
  expect((await run.result()).text).toBe("You asked: Wie geht's, Jürgen? ");
  expect(deltas).toBeGreaterThan(0);
});
