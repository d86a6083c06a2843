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
  // A user may have a name with `*`.
  return (account) => limits.get(account) ?? patterns.find(([pattern]) => fits(account, pattern))?.[1];
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

/** Why a member of a limit cannot be used. */
const flaws: { readonly [name: string]: (value: Json) => string | undefined } = {
  tokens: (value) => (isAmount(value) ? undefined : "an amount that is no number from 0 on"),
  costUsd: (value) => (isAmount(value) ? undefined : "an amount that is no number from 0 on"),
  per: (value) => (value === "day" || value === "month" ? undefined : "a `per` that is neither `day` nor `month`"),
  timeZone: (value) => (typeof value === "string" && isZone(value) ? undefined : "a `timeZone` that this platform does not know"),
};

const isAmount = (value: Json): boolean => typeof value === "number" && Number.isFinite(value) && value >= 0;

function limitOf(account: string, value: Json): LedgerLimit {
  const name = `The limit of \`${account.slice(0, 80)}\``;
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(`${name} is no object.`);
  for (const [key, member] of Object.entries(value as { readonly [name: string]: Json })) {
    const flaw = Object.hasOwn(flaws, key) ? flaws[key]?.(member) : `a field \`${key.slice(0, 40)}\`, which no limit has`;
    if (flaw !== undefined) throw invalid(`${name} has ${flaw}.`);
  }
  const limit = value as LedgerLimit;
  if (limit.tokens === undefined && limit.costUsd === undefined) throw invalid(`${name} has neither \`tokens\` nor \`costUsd\`.`);
  return limit;
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
