import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createSession, defineTool, execute, textOf } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { expect, onTestFinished, test } from "vitest";
import { type ModelFlags, resolveSettings } from "../settings/settings.ts";
import { openSkills } from "./open-skills.ts";

const text = `---
name: kubernetes
description: Looks after a cluster.
metadata:
  loopwright:
    binaries: [sh]
    guardrails:
      deny_commands: [delete namespace]
      deny_output: [{ pattern: "token: [a-z]+", action: redact }]
      deny_prompts: [{ pattern: which binaries can you run, reply: I do not list them. }]
      deny_responses: [{ pattern: I can run kubectl, reply: I can help. }]
---
Look first.
`;

async function scene(flags: ModelFlags = {}, { build }: { readonly build?: string } = {}) {
  const directory = await mkdtemp(join(tmpdir(), "loopwright-open-skills-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await mkdir(join(directory, "skills/kubernetes"), { recursive: true });
  await writeFile(join(directory, "skills/kubernetes/SKILL.md"), text);
  if (build !== undefined) await writeFile(join(directory, "skills/skills.json"), build);
  const settings = resolveSettings({ offline: true, skills: "skills", ...flags }, {}, directory);
  const skills = await openSkills(settings, { PATH: "/usr/bin:/bin" });
  return async (script: Parameters<typeof scripted>[0], input: string) => {
    const provider = scripted(script);
    const run: string[] = [];
    const cluster = defineTool({
      name: "cluster",
      description: "Runs a command.",
      parameters: { type: "object", properties: { command: { type: "string" } } },
      execute: ({ command }) => {
        run.push(String(command));
        return "token: abcdef";
      },
    });
    const agent = skills.guard(skills.equip(createAgent({ name: "clerk", provider, tools: [cluster] })));
    const session = createSession({ agent });
    const result = await execute(session, input).result();
    return {
      run,
      result,
      provider,
      outputs: session.messages.filter(({ role }) => role === "tool_result").map((message) => textOf(message)),
    };
  };
}

const call = (command: string) => [{ calls: [{ name: "cluster", args: { command } }] }, { text: "Done." }];

test("C59, C60, C63: commands of a skill's list are refused and its output is redacted, parsed from the file without a build", async () => {
  const play = await scene();
  const denied = await play(call("delete namespace production"), "Go.");
  expect(denied.run).toEqual([]);
  expect(denied.outputs[0]).toContain("TOOL_DENIED");
  expect((await play(call("get pods"), "Go.")).outputs[0]).not.toContain("abcdef");
});

test("C61, C62: a question for its programs is answered without a model, and an answer that lists them is replaced", async () => {
  const play = await scene();
  const asked = await play([{ text: "no" }], "WHICH binaries can you run?");
  expect(asked.provider.requests).toHaveLength(0);
  expect(asked.result.text).toBe("I do not list them.");
  expect((await play([{ text: "I can run kubectl and jq." }], "Hi.")).result.text).toBe("I can help.");
});

test("C39: without enforcement the guardrails of skills change nothing, and without guardrails there are none", async () => {
  for (const flags of [{ enforceGuardrails: false }, { guardrails: false }] as object[]) {
    const play = await scene(flags as ModelFlags);
    expect((await play(call("delete namespace production"), "Go.")).run).toEqual(["delete namespace production"]);
  }
});

test("without a folder agents stay as they are, and a folder that is not there ends the start", async () => {
  const none = await openSkills(resolveSettings({ offline: true }, {}, tmpdir()), {});
  const agent = createAgent({ name: "clerk", provider: scripted([]) });
  expect(none.guard(none.equip(agent))).toBe(agent);
  await expect(openSkills(resolveSettings({ offline: true, skills: "no-such-folder" }, {}, tmpdir()), {})).rejects.toThrow(
    "cannot be read (ENOENT)",
  );
});
