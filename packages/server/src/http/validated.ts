import { AgentError } from "@loopwright/core";
import type { z } from "zod";

/** The value as the schema gives it. @throws AgentError INPUT_INVALID that names the field */
export function validated<T>(schema: z.ZodType<T>, value: unknown, where: "body" | "query"): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { path, message } = deepest(result.error.issues);
  const field = path.length === 0 ? `The ${where}` : `\`${pathText(path)}\` in the ${where}`;
  throw new AgentError("INPUT_INVALID", {
    message: `${field}: ${message}.`,
    fix: "Correct the field; see `/openapi.json` for what the route takes.",
    details: { field: pathText(path) },
  });
}

interface Said {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What is wrong where the value came closest: of the branches of a union, the one that goes deepest. */
function deepest(issues: readonly z.core.$ZodIssue[]): Said {
  let best: Said | undefined;
  for (const issue of issues) {
    const path = issue.path;
    const inner = issue.code === "invalid_union" ? issue.errors.map(deepest) : [];
    const said = [{ path, message: issue.message }, ...inner.map((found) => ({ ...found, path: [...path, ...found.path] }))];
    for (const candidate of said) if (!best || candidate.path.length > best.path.length) best = candidate;
  }
  return best ?? { path: [], message: "It cannot be used" };
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.map((step, place) => (typeof step === "number" ? `[${step}]` : `${place === 0 ? "" : "."}${String(step).slice(0, 64)}`)).join("");
