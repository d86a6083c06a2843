import { defineTool, findJsonFlaw, type Json, type Tool } from "@loopwright/core";
import { z } from "zod";
import { badArguments } from "./bad-arguments.ts";
import { jsonErrorPlace } from "./json-error-place.ts";
import { describe, everyMember, pick, stepsOf } from "./json-path.ts";

export interface JsonQueryArguments {
  readonly json: string;
  readonly path?: string | undefined;
  readonly action?: "get" | "pretty" | "describe" | undefined;
}

const jsonQueryLimits: { readonly textMax: number; readonly valuesMax: number } = {
  /** Characters of the JSON text. */
  textMax: 1_000_000,
  /** Values that a path with `*` may lead to. */
  valuesMax: 10_000,
};

const parameters: z.ZodType<JsonQueryArguments> = z.object({
  json: z.string().max(jsonQueryLimits.textMax).describe("The JSON text."),
  path: z
    .string()
    .max(1_000)
    .optional()
    .describe('What to pick, for example users[0].name, rows[*].id or ["odd key"]. Default: everything.'),
  action: z
    .enum(["get", "pretty", "describe"])
    .optional()
    .describe("get (default): compact JSON; pretty: indented; describe: only whether it is valid and what it is."),
});

/** The tool `json_query`: picks by path, indents, or checks JSON text. */
export function jsonQuery(): Tool<JsonQueryArguments> {
  return defineTool({
    name: "json_query",
    label: "JSON",
    description: "Checks JSON text and picks values from it by path. With * in the path the answer is a list.",
    parameters,
    replay: "pure",
    execute({ json, path = "", action = "get" }) {
      const value = parse(json);
      const steps = stepsOf(path);
      const values = pick(value, steps, jsonQueryLimits.valuesMax);
      const answer = steps.includes(everyMember) ? values : (values[0] ?? null);
      if (action === "describe") return `Valid JSON: ${describe(answer)}.`;
      return JSON.stringify(answer, undefined, action === "pretty" ? 2 : undefined);
    },
  });
}

function parse(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badArguments(`The text is not JSON: ${problemOf(text)}.`, "Correct the text at that place.");
  }
  const flaw = findJsonFlaw(value);
  if (flaw) throw badArguments(flaw === "too_deep" ? "The JSON is nested too deeply." : "The JSON has a forbidden key in it.");
  return value as Json;
}

function problemOf(text: string): string {
  const at = jsonErrorPlace(text);
  if (at >= text.length) return "it ends too early";
  const before = text.slice(0, at).split("\n");
  const where = `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
  if (text[at] === '"' && !/"(?:[^"\\]|\\.)*"/sy.test(text.slice(at))) return `the string that begins in ${where} is never closed`;
  return `unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0))} in ${where}`;
}
