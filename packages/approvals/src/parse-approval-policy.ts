import { AgentError } from "@loopwright/core";
import type { ApprovalPolicy, ToolPolicy } from "./approval-policy.ts";
import { checkedPattern } from "./pattern.ts";

/** The policy in a text of JSON: `"never"`, `"always"` or `{ unless: [pattern, ...], timeoutMs?, reason? }` by tool. @throws AgentError CONFIG_INVALID that names the tool */
export function parseApprovalPolicy(text: string, name: string): ApprovalPolicy {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong(name, "it is no JSON");
  }
  if (!isObject(value)) throw wrong(name, "it is no object with an entry for each tool");
  return Object.fromEntries(Object.entries(value).map(([tool, entry]) => [tool, entryOf(entry, tool.slice(0, 64), name)]));
}

function entryOf(entry: unknown, tool: string, name: string): ToolPolicy {
  if (entry === "never" || entry === "always") return entry;
  if (!isObject(entry)) throw wrong(name, `the entry of \`${tool}\` is not "never", "always" or \`{ "unless": [...] }\``);
  const { unless, timeoutMs, reason, ...others } = entry;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw wrong(name, `the entry of \`${tool}\` has a member \`${unknown.slice(0, 64)}\`, which there is not`);
  if (!Array.isArray(unless)) throw wrong(name, `\`unless\` of \`${tool}\` is no list of patterns`);
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs > 0))
    throw wrong(name, `\`timeoutMs\` of \`${tool}\` is not positive`);
  if (reason !== undefined && typeof reason !== "string") throw wrong(name, `\`reason\` of \`${tool}\` is no text`);
  return {
    unless: unless.map((pattern: unknown) => checkedPattern(pattern)),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(reason === undefined ? {} : { reason }),
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const wrong = (name: string, why: string): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `The policy of approvals in \`${name}\` cannot be used: ${why}.`,
    fix: 'Write for example { "deploy": "always" }.',
  });
