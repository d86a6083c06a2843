import { AgentError } from "@loopwright/core";
import { parseDocument } from "yaml";
import { z } from "zod";
import { type SkillText, skillLimits } from "./skill.ts";
import { toolsOfHeadings } from "./tool-headings.ts";

const rule = z.union([
  z
    .string()
    .min(1)
    .transform((pattern) => ({ pattern })),
  z.strictObject({ pattern: z.string().min(1), reply: z.string().optional(), action: z.literal(["block", "redact"]).optional() }),
]);
const rules = z.array(rule).default([]);
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "no name of a variable");
const variables = z.array(variable).default([]);
const domain = z.string().regex(/^(?:\*\.)?(?:[a-z0-9-]+\.)*[a-z0-9-]+$/i, "no domain");
const own = z.strictObject({
  binaries: z.array(z.string().regex(/^[A-Za-z0-9_.+-]+$/, "no name of a program")).default([]),
  variables: z
    .strictObject({ required: variables, one_of: z.array(z.array(variable).min(1)).default([]), optional: variables })
    .prefault({}),
  egress: z.array(domain).default([]),
  duration_ms: z.number().int().positive().max(3_600_000).optional(),
  guardrails: z.strictObject({ deny_commands: rules, deny_output: rules, deny_prompts: rules, deny_responses: rules }).prefault({}),
});
const schema = z.looseObject({
  name: z
    .string()
    .max(64)
    .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "letters a-z, digits and single hyphens alone"),
  description: z.string().trim().min(1).max(1_024),
  license: z.string().optional(),
  compatibility: z.string().min(1).max(500).optional(),
  metadata: z.looseObject({ loopwright: own.prefault({}) }).prefault({}),
  "allowed-tools": z.string().optional(),
});

/** What a `SKILL.md` has. `source` names it in errors. @throws AgentError CONFIG_INVALID with what is wrong and where */
export function parseSkill(text: string, source: string): SkillText {
  const wrong = (what: string): AgentError =>
    new AgentError("CONFIG_INVALID", {
      message: `The skill in ${source} cannot be used: ${what}.`,
      fix: "Correct it; docs/skills.md has the format.",
    });
  if (text.length > skillLimits.textMax) throw wrong(`it has more than ${skillLimits.textMax} characters`);
  const parts = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(text);
  if (!parts) throw wrong("it does not begin with a front matter between two lines `---`");
  const document = parseDocument(parts[1] ?? "");
  const [fault] = document.errors;
  if (fault) throw wrong(`its front matter is no YAML: ${fault.message.split("\n")[0]}`);
  const parsed = schema.safeParse(valuesOf(document, wrong));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw wrong(`a wrong value at \`${issue?.path.join(".") ?? ""}\` of its front matter: ${issue?.message ?? "unknown"}`);
  }
  const { name, description, metadata } = parsed.data;
  const { binaries, variables: named, egress, duration_ms: durationMs, guardrails } = metadata.loopwright;
  const body = (parts[2] ?? "").replaceAll("\r\n", "\n").trim();
  try {
    return {
      ...{ name, description, body, egress, durationMs },
      tools: toolsOfHeadings(body),
      needs: { binaries, required: named.required, oneOf: named.one_of, optional: named.optional },
      rules: {
        denyCommands: guardrails.deny_commands,
        denyOutput: guardrails.deny_output,
        denyPrompts: guardrails.deny_prompts,
        denyResponses: guardrails.deny_responses,
      },
    };
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : "its headings cannot be read");
  }
}

function valuesOf(document: ReturnType<typeof parseDocument>, wrong: (what: string) => AgentError): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 }) as unknown;
  } catch {
    throw wrong("its front matter has aliases");
  }
}
