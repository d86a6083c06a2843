import { AgentError } from "@loopwright/core";
import { z } from "zod";
import type { CliToolOptions } from "./cli-settings.ts";
import { cliSettings } from "./cli-settings.ts";
import { defaultCliLimits } from "./program.ts";

const rule = z.union([
  z.literal("path"),
  z.strictObject({ values: z.array(z.string()).min(1) }),
  z.strictObject({ pattern: z.string().max(1_000) }),
]);
const names = z.array(z.string()).min(1);
const program = z.strictObject({
  name: z.string(),
  path: z.string(),
  description: z.string().max(1_000).optional(),
  calls: z.array(z.array(z.string())).min(1).optional(),
  commands: names.optional(),
  options: z.record(z.string(), z.union([z.literal("flag"), rule])).optional(),
  operands: z.union([z.literal(["none", "text"]), rule]).optional(),
  operandsMax: z.number().optional(),
  doubleDash: z.boolean().optional(),
  variables: z.array(z.string()).optional(),
  network: z.boolean().optional(),
  approval: z.boolean().optional(),
});
const limit = z.number().int().positive();
const limitNames = Object.keys(defaultCliLimits) as (keyof typeof defaultCliLimits)[];
const schema = z.strictObject({
  programs: z.array(program).min(1),
  limits: z.partialRecord(z.enum(limitNames), limit).optional(),
  isolation: z.literal(["required", "available"]).optional(),
});

/** What a JSON text lists: `programs`, `limits` and `isolation` of the options. `source` names it in errors. @throws AgentError CONFIG_INVALID that names the member */
export function readPrograms(text: string, source: string): Pick<CliToolOptions, "programs" | "limits" | "isolation"> {
  const wrong = (what: string): AgentError =>
    new AgentError("CONFIG_INVALID", {
      message: `The programs in ${source} cannot be used: ${what}.`,
      fix: "Correct it; the README of tools-cli lists every member.",
    });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong("it is no JSON");
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw wrong(`a wrong value at \`${issue?.path.join(".") ?? ""}\`: ${issue?.message ?? "unknown"}`);
  }
  const options = JSON.parse(JSON.stringify(parsed.data)) as Pick<CliToolOptions, "programs" | "limits" | "isolation">;
  cliSettings(options);
  return options;
}
