import type { Hooks } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import type { Finding, TextPlace } from "../checks/finding.ts";
import type { GuardrailPolicy } from "../policy/guardrail-policy.ts";
import { livePolicy } from "../source/live-policy.ts";
import { checkPolicy, defaultPolicy } from "../source/parse-policy.ts";
import type { PolicySource } from "../source/policy-source.ts";
import { guardrailHooks } from "./guardrail-hooks.ts";

export interface GuardrailsOptions {
  /** A policy, or where one is kept; default: secrets are redacted everywhere. A source is followed while the process runs. */
  readonly policy?: GuardrailPolicy | PolicySource;
  /** False: every check evaluates and records, and changes nothing. Default true. */
  readonly enforce?: boolean;
  /** Name of the set of hooks. Default `guardrails`. */
  readonly name?: string;
  /** Milliseconds for which a policy that was read counts as the newest. Default 1,000. */
  readonly reloadMs?: number;
  /** Default: the system's. */
  readonly clock?: Pick<Clock, "monotonic">;
}

/** Checks of an agent, as a set of hooks. */
export interface Guardrails {
  /** For the end of an agent's `hooks`: what the other sets have changed is checked, too. */
  readonly hooks: Hooks;
  /** The policy that holds now. @throws AgentError CONFIG_INVALID, STORE_* as long as none could be read */
  policy(): Promise<GuardrailPolicy>;
  /** What is found in a text at this place, by the policy that holds now. */
  check(text: string, place: TextPlace): Promise<readonly Finding[]>;
}

const isSource = (policy: GuardrailPolicy | PolicySource): policy is PolicySource => "read" in policy;

/** @throws AgentError CONFIG_INVALID for a policy that cannot be used; that of a source is read with the first run, or by `policy()` */
export function createGuardrails(options: GuardrailsOptions = {}): Guardrails {
  const { policy = defaultPolicy, enforce = true, name = "guardrails", reloadMs = 1_000, clock = systemClock } = options;
  const source = isSource(policy) ? policy : fixedSource(policy);
  const live = livePolicy({ source, clock, reloadMs, isShadow: !enforce });
  return {
    hooks: guardrailHooks({ name, live }),
    policy: async () => (await live.refresh()).policy,
    check: async (text, place) => (await live.refresh()).compiled.check(text, place),
  };
}

/** @throws AgentError CONFIG_INVALID */
function fixedSource(policy: GuardrailPolicy): PolicySource {
  const stored = { text: JSON.stringify(checkPolicy(policy, "the option `policy`")), revision: "fixed" };
  return { name: "the option `policy`", read: async () => stored };
}
