import type { AgentError } from "@loopwright/core";
import type { z } from "zod";

/** The one flaw of a value that is reported to the caller. */
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

/** The flaw to report: the first of those that lie deepest in the value. In a union, only the branches with the fewest flaws are searched. */
export function deepestIssue(issues: readonly Issue[]): NamedIssue {
  const found = issues.map((issue): NamedIssue => {
    const inner = issue.code === "invalid_union" ? nearest(issue.errors) : undefined;
    if (inner) return { ...inner, path: [...issue.path, ...inner.path] };
    const refusal = issue.code === "custom" ? (issue.params?.["refusal"] as AgentError | undefined) : undefined;
    return { path: issue.path, message: issue.message, ...(refusal ? { refusal } : {}) };
  });
  return deepestOf(found) ?? { path: [], message: "the value does not match the schema" };
}

/** The deepest flaw of the branches that have the fewest flaws. If it is a wrong `type` or `role`, the message lists all that the branches allow. */
function nearest(branches: readonly (readonly Issue[])[]): NamedIssue | undefined {
  const least = Math.min(...branches.map(({ length }) => length));
  const found = deepestOf(branches.filter(({ length }) => length === least).map(deepestIssue));
  const kinds = branches.flatMap((issues) => issues.filter(isKind)).filter(({ path }) => path[0] === found?.path[0]);
  if (found?.path.length !== 1 || kinds.length === 0) return found;
  const values = new Set(kinds.flatMap((issue) => issue.values.map((value) => JSON.stringify(value))));
  return { path: found.path, message: `Invalid option: expected one of ${[...values].join("|")}` };
}

/** True for a wrong `type` or `role`: the field in which the branches of a union differ. */
const isKind = (issue: Issue): issue is Extract<Issue, { code: "invalid_value" }> =>
  issue.code === "invalid_value" && issue.path.length === 1 && (issue.path[0] === "type" || issue.path[0] === "role");
