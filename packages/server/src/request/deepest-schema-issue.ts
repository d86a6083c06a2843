import type { AgentError } from "@loopwright/core";
import type { z } from "zod";

/** The one flaw of a value that the caller gets. */
export interface NamedIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** The error of core about the value, if core has checked it. */
  readonly refusal?: AgentError;
}

type Issue = z.core.$ZodIssue;

/** The first of the flaws with the longest path. */
const deepestOf = (found: readonly NamedIssue[]): NamedIssue | undefined =>
  found.reduce<NamedIssue | undefined>((best, one) => (!best || one.path.length > best.path.length ? one : best), undefined);

/** The flaw at which the value is closest to its schema. */
export function deepestIssue(issues: readonly Issue[]): NamedIssue {
  const found = issues.map((issue): NamedIssue => {
    const inner = issue.code === "invalid_union" ? nearest(issue.errors) : undefined;
    if (inner) return { ...inner, path: [...issue.path, ...inner.path] };
    const refusal = issue.code === "custom" ? (issue.params?.["refusal"] as AgentError | undefined) : undefined;
    return { path: issue.path, message: issue.message, ...(refusal ? { refusal } : {}) };
  });
  return deepestOf(found) ?? { path: [], message: "It cannot be used" };
}

/** The flaw in the branch of a union with the fewest flaws; if that is the kind of the value, a flaw that names all kinds. */
function nearest(branches: readonly (readonly Issue[])[]): NamedIssue | undefined {
  const least = Math.min(...branches.map(({ length }) => length));
  const found = deepestOf(branches.filter(({ length }) => length === least).map(deepestIssue));
  const kinds = branches.flatMap((issues) => issues.filter(isKind)).filter(({ path }) => path[0] === found?.path[0]);
  if (found?.path.length !== 1 || kinds.length === 0) return found;
  const values = new Set(kinds.flatMap((issue) => issue.values.map((value) => JSON.stringify(value))));
  return { path: found.path, message: `Invalid option: expected one of ${[...values].join("|")}` };
}

/** The field that has one constant in each branch: the kind of the value. */
const isKind = (issue: Issue): issue is Extract<Issue, { code: "invalid_value" }> =>
  issue.code === "invalid_value" && issue.path.length === 1 && (issue.path[0] === "type" || issue.path[0] === "role");
