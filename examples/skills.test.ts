import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAgent, createSession, execute, textOf } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { createSkills, loadSkills } from "@loopwright/skills";
import { expect, onTestFinished, test } from "vitest";

test("an agent reads the skill of the example, gets its tool in the same run, and its script counts", async () => {
  const directory = await mkdtemp(join(tmpdir(), "example-skills-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const skills = await createSkills({
    skills: await loadSkills(fileURLToPath(new URL("skills", import.meta.url))),
    directory,
    approval: false,
  });
  const provider = scripted([
    { calls: [{ name: "read_skill", args: { skill: "word-count" } }] },
    { calls: [{ name: "count_words", args: { text: "An old silent pond\nA frog jumps in" } }] },
    { text: "It has eight words in two lines." },
  ]);
  const session = createSession({ agent: skills.equip(createAgent({ name: "counter", provider })) });
  expect((await execute(session, "How long is it?").result()).text).toBe("It has eight words in two lines.");
  const results = session.messages.filter(({ role }) => role === "tool_result").map((message) => textOf(message));
  expect(results[1]).toContain('{"words":8,"lines":2}');
  expect(provider.requests.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([
    ["read_skill"],
    ["read_skill", "count_words"],
    ["read_skill", "count_words"],
  ]);
});
