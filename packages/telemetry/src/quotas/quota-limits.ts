import { AgentError, type Json } from "@loopwright/core";
import type { LedgerLimit, LedgerLimits } from "@loopwright/core/stores";

/**
 * Limits from configuration: an object whose keys are accounts, `scope/<scope>`, `user/<scope>/<user>`, or patterns with `*` in place of a name, which
 * hold for every account that no other key names. A value is a limit or a list of limits: `{ "tokens": 100000, "costUsd": 5, "per": "day",
 * "timeZone": "Europe/Berlin" }`. @throws AgentError CONFIG_INVALID
 */
export function quotaLimits(config: Json): LedgerLimits {
  if (typeof config !== "object" || config === null || Array.isArray(config)) throw invalid("It is no object.");
  const limits = new Map(Object.entries(config).map(([account, value]) => [checkedAccount(account), listOf(account, value)]));
  const patterns = [...limits].filter(([account]) => account.includes("*"));
  return (account) =>
    account.includes("*") ? undefined : (limits.get(account) ?? patterns.find(([pattern]) => fits(account, pattern))?.[1]);
}

function fits(account: string, pattern: string): boolean {
  const [steps, wanted] = [account.split("/"), pattern.split("/")];
  // A user may have any name, also one with a slash.
  if (steps.length < wanted.length) return false;
  return wanted.every((step, at) => step === "*" || step === (at === wanted.length - 1 ? steps.slice(at).join("/") : steps[at]));
}

function checkedAccount(account: string): string {
  if (/^(?:scope\/[^/]+|user\/[^/]+\/.+|session\/[^/]+\/[^/]+)$/.test(account)) return account;
  throw invalid(`\`${account.slice(0, 80)}\` is no account.`);
}

function listOf(account: string, value: Json): readonly LedgerLimit[] {
  const list: readonly Json[] = Array.isArray(value) ? value : [value];
  if (list.length === 0) throw invalid(`\`${account.slice(0, 80)}\` has no limit.`);
  return list.map((one) => limitOf(account, one));
}

const known = new Set(["tokens", "costUsd", "per", "timeZone"]);

function limitOf(account: string, value: Json): LedgerLimit {
  const name = `The limit of \`${account.slice(0, 80)}\``;
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(`${name} is no object.`);
  const limit = value as { readonly [name: string]: Json };
  const stranger = Object.keys(limit).find((key) => !known.has(key));
  if (stranger !== undefined) throw invalid(`${name} has a field \`${stranger.slice(0, 40)}\`, which no limit has.`);
  const { tokens, costUsd, per, timeZone } = limit;
  for (const amount of [tokens, costUsd])
    if (amount !== undefined && !(typeof amount === "number" && Number.isFinite(amount) && amount >= 0))
      throw invalid(`${name} has an amount that is no number from 0 on.`);
  if (tokens === undefined && costUsd === undefined) throw invalid(`${name} has neither \`tokens\` nor \`costUsd\`.`);
  if (per !== undefined && per !== "day" && per !== "month") throw invalid(`${name} has a \`per\` that is neither \`day\` nor \`month\`.`);
  if (timeZone !== undefined && (typeof timeZone !== "string" || !isZone(timeZone)))
    throw invalid(`${name} has a \`timeZone\` that this platform does not know.`);
  return {
    ...(typeof tokens === "number" ? { tokens } : {}),
    ...(typeof costUsd === "number" ? { costUsd } : {}),
    ...(per === undefined ? {} : { per }),
    ...(typeof timeZone === "string" ? { timeZone } : {}),
  };
}

function isZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const invalid = (why: string): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `The quotas cannot be used. ${why}`,
    fix: 'Write them like `{ "user/team/*": { "tokens": 100000, "per": "day" }, "scope/team": { "costUsd": 50, "per": "month" } }`.',
  });
