import { Command } from "commander";
import { expect, test } from "vitest";
import { openKnowledge } from "../compose/knowledge/open-knowledge.ts";
import { openGuardrails } from "../compose/open-guardrails.ts";
import { addOptions, optionsNamed } from "./add-options.ts";
import { levelOfEnvironment, levelOfFlags } from "./config-level.ts";

const flagsOf = (...words: readonly string[]): object =>
  addOptions(new Command().exitOverride(), optionsNamed("guardrails", "enforceGuardrails"))
    .option("--no-guardrails")
    .parse(words, { from: "user" })
    .opts();

test("C39: guardrails are switched by variables as by flags", async () => {
  expect(levelOfFlags(flagsOf("--no-guardrails", "--enforce-guardrails=false")).values).toEqual({
    guardrails: false,
    enforceGuardrails: false,
  });
  expect(levelOfFlags(flagsOf("--guardrails", "policy.json", "--enforce-guardrails")).values).toEqual({
    guardrails: "policy.json",
    enforceGuardrails: true,
  });
  const { values } = levelOfEnvironment({ LOOPWRIGHT_GUARDRAILS: "false", LOOPWRIGHT_ENFORCE_GUARDRAILS: "0" });
  expect(values).toEqual({ guardrails: false, enforceGuardrails: false });
  expect((await openGuardrails(values)).warnings).toEqual([expect.stringContaining("no guardrail is evaluated")]);
  expect(() => flagsOf("--enforce-guardrails=maybe")).toThrow("`--enforce-guardrails` is `maybe`, and it is a switch");
});

test("a knowledge base that is switched off is none", async () => {
  const { values } = levelOfEnvironment({ LOOPWRIGHT_KNOWLEDGE: "false" });
  expect(values.knowledge).toBe(false);
  const place = { filesDirectory: "/nowhere/.loopwright/files", store: { kind: "sqlite", file: "/nowhere/sessions.db" } } as const;
  expect(await openKnowledge({ ...place, knowledge: false })).toBeUndefined();
});
