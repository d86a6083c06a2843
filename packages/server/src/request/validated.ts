import { AgentError } from "@loopwright/core";
import type { z } from "zod";
import { messagesFlaw } from "./messages-flaw.ts";

/** The value as the schema gives it. @throws AgentError INPUT_INVALID that names the field; of messages first in the words of core */
export function validated<T>(schema: z.ZodType<T>, value: unknown, where: "body" | "query"): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { path, message } = deepest(result.error.issues);
  const field = pathText(path);
  const details = { field };
  const fix = "see `/openapi.json` for what the route takes.";
  const said = where === "body" ? messagesFlaw(value) : undefined;
  if (said) {
    const place = field === "" ? "" : ` The field: \`${field}\`.`;
    throw new AgentError("INPUT_INVALID", { message: `${said.message}${place}`, fix: `${said.fix} Or ${fix}`, details });
  }
  const what = field === "" ? `The ${where}` : `\`${field}\` in the ${where}`;
  throw new AgentError("INPUT_INVALID", { message: `${what}: ${message}.`, fix: `Correct the field; ${fix}`, details });
}

interface Said {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

type Issue = z.core.$ZodIssue;

/** The first of those that go deepest. */
const deepestOf = (said: readonly Said[]): Said | undefined =>
  said.reduce<Said | undefined>((best, one) => (!best || one.path.length > best.path.length ? one : best), undefined);

/** What is wrong where the value came closest. */
function deepest(issues: readonly Issue[]): Said {
  const said = issues.map((issue) => {
    const inner = issue.code === "invalid_union" ? nearest(issue.errors) : undefined;
    return inner ? { ...inner, path: [...issue.path, ...inner.path] } : { path: issue.path, message: issue.message };
  });
  return deepestOf(said) ?? { path: [], message: "It cannot be used" };
}

/** What the branch of a union says that has least against the value; where that is its kind, all kinds that there are. */
function nearest(branches: readonly (readonly Issue[])[]): Said | undefined {
  const least = Math.min(...branches.map(({ length }) => length));
  const said = deepestOf(branches.filter(({ length }) => length === least).map(deepest));
  const kinds = branches.flatMap((issues) => issues.filter(isKind)).filter(({ path }) => path[0] === said?.path[0]);
  if (said?.path.length !== 1 || kinds.length === 0) return said;
  const values = new Set(kinds.flatMap((issue) => issue.values.map((value) => JSON.stringify(value))));
  return { path: said.path, message: `Invalid option: expected one of ${[...values].join("|")}` };
}

/** A field that has one value in each branch: what kind of thing it is. */
const isKind = (issue: Issue): issue is Extract<Issue, { code: "invalid_value" }> =>
  issue.code === "invalid_value" && issue.path.length === 1 && (issue.path[0] === "type" || issue.path[0] === "role");

const pathText = (path: readonly PropertyKey[]): string =>
  path.map((step, place) => (typeof step === "number" ? `[${step}]` : `${place === 0 ? "" : "."}${String(step).slice(0, 64)}`)).join("");
