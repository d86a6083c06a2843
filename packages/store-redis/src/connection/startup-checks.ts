import { AgentError } from "@loopwright/core";
import { clusterRefused, unavailable } from "./redis-fault.ts";

/** How Redis keeps what was acknowledged: in its append-only file, or not at all. */
export type Durability = "aof" | "none";

/** What a check found: a reason not to use the server, and what could not be looked at. */
export interface CheckResult {
  readonly problem?: AgentError;
  readonly unchecked: readonly string[];
}

/** Checks the server's answer to INFO (`undefined` where it gave none). */
export function checkServer(
  info: string | undefined,
  { where, durability }: { readonly where: string; readonly durability: Durability },
): CheckResult {
  const facts = new Map([...(info ?? "").matchAll(/^([a-z_]+):(.*?)\r?$/gm)].map(([, name = "", value = ""]) => [name, value]));
  const problem = problemOf(facts, where, durability);
  const needed = ["maxmemory_policy", "role", ...(durability === "aof" ? ["aof_enabled"] : [])];
  const unchecked = needed.filter((name) => !facts.has(name));
  return problem ? { problem, unchecked } : { unchecked };
}

function problemOf(facts: ReadonlyMap<string, string>, where: string, durability: Durability): AgentError | undefined {
  const refuse = (message: string, fix: string): AgentError =>
    new AgentError("CONFIG_INVALID", { message: `The Redis at ${where} ${message}.`, fix });
  const policy = facts.get("maxmemory_policy");
  if (facts.get("loading") === "1") return unavailable(where, "is still loading its data");
  if (facts.get("cluster_enabled") === "1" || facts.get("redis_mode") === "cluster") return clusterRefused(where);
  if (facts.get("role") === "slave") return refuse("is a replica", "Name the primary.");
  if (policy !== undefined && policy !== "noeviction")
    return refuse(`may throw away sessions when its memory is full (maxmemory-policy ${policy})`, "Set `maxmemory-policy noeviction`.");
  if (durability === "aof" && facts.get("aof_enabled") === "0")
    return refuse(
      "keeps no append-only file: a restart may lose what was acknowledged",
      'Set `appendonly yes`, or accept the loss with `durability: "none"`.',
    );
  return undefined;
}
