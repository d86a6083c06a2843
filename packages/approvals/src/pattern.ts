import { AgentError, type Json, type JsonObject } from "@loopwright/core";
import { canonicalText } from "./canonical-text.ts";
import { isFolder, isOrigin } from "./places.ts";
import { ruleLimits } from "./rule-store.ts";

/** Which values of one argument fit. */
export type ArgumentMatcher =
  /** This value alone, whatever the order of members. */
  | { readonly equals: Json }
  /** Paths below this folder, which ends with `/`: `src/`, `/srv/data/`. No path with an empty segment, `.` or `..` fits. */
  | { readonly below: string }
  /** Addresses of this origin: scheme, host and port, `https://example.com`. Other hosts that end alike do not fit, nor does another scheme. */
  | { readonly origin: string }
  /** Any value. At least one other argument of the pattern is narrower. */
  | { readonly any: true };

/**
 * Which calls of a tool fit: every argument of a call has to fit its matcher, and a call with an argument that the pattern does not name never fits.
 * There are no wildcards in texts, so a pattern never covers more than it shows.
 */
export interface ApprovalPattern {
  readonly args: { readonly [name: string]: ArgumentMatcher };
}

/** The pattern of exactly these arguments. */
export const exactPattern = (args: JsonObject): ApprovalPattern => ({
  args: Object.fromEntries(Object.entries(args).map(([name, value]) => [name, { equals: value }])),
});

/** The value, if it is a pattern. @throws AgentError INPUT_INVALID */
export function checkedPattern(value: unknown): ApprovalPattern {
  const fields = recordOf(value);
  const args = recordOf(fields?.["args"]);
  if (!fields || !args || Object.keys(fields).length !== 1) throw invalid("it is not `{ args: { ... } }`");
  const entries = Object.entries(args);
  if (entries.length > ruleLimits.argumentsMax) throw invalid(`it names more than ${ruleLimits.argumentsMax} arguments`);
  const matchers = entries.map(([name, matcher]): readonly [string, ArgumentMatcher] => [name, checkedMatcher(name, matcher)]);
  if (matchers.length > 0 && matchers.every(([, matcher]) => "any" in matcher)) throw invalid("it lets every argument through");
  const pattern = { args: Object.fromEntries(matchers) };
  if (new TextEncoder().encode(JSON.stringify(pattern)).length > ruleLimits.patternBytesMax)
    throw invalid(`it takes more than ${ruleLimits.patternBytesMax} bytes`);
  return pattern;
}

function checkedMatcher(name: string, value: unknown): ArgumentMatcher {
  const fields = recordOf(value) ?? {};
  const [kind, ...others] = Object.keys(fields);
  const shown = `\`${name.slice(0, 64)}\``;
  if (kind === undefined || others.length > 0) throw invalid(`the matcher of ${shown} is not one of equals, below, origin and any`);
  const given = fields[kind];
  switch (kind) {
    case "equals":
      canonicalText(given as Json);
      return { equals: given as Json };
    case "below":
      if (isFolder(given)) return { below: given };
      throw invalid(`\`below\` of ${shown} is no folder that ends with \`/\`, without empty segments, \`.\` and \`..\``);
    case "origin":
      if (isOrigin(given)) return { origin: given };
      throw invalid(`\`origin\` of ${shown} is no origin such as \`https://example.com\``);
    case "any":
      if (given === true) return { any: true };
      throw invalid(`\`any\` of ${shown} is not true`);
    default:
      throw invalid(`the matcher of ${shown} is not one of equals, below, origin and any`);
  }
}

function recordOf(value: unknown): { readonly [name: string]: unknown } | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as { readonly [name: string]: unknown }) : undefined;
}

const invalid = (why: string): AgentError =>
  new AgentError("INPUT_INVALID", {
    message: `The pattern cannot be remembered: ${why}.`,
    fix: 'Leave it out to remember exactly these arguments, or use e.g. `{ "args": { "path": { "below": "src/" } } }`.',
    details: { field: "remember.pattern" },
  });
