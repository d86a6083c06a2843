import { type AgentError, isAgentError } from "@loopwright/core";
import type { Clock, Logger } from "@loopwright/core/ports";
import { type CompiledPolicy, compilePolicy } from "../checks/compile-policy.ts";
import type { GuardrailPolicy } from "../policy/guardrail-policy.ts";
import { defaultPolicy, parsePolicy } from "./parse-policy.ts";
import type { PolicySource } from "./policy-source.ts";

/** The policy that holds now. */
export interface HeldPolicy {
  readonly policy: GuardrailPolicy;
  readonly compiled: CompiledPolicy;
}

/** A policy that follows its source. */
export interface LivePolicy {
  /** The last one that was read; `undefined` before the first time. */
  readonly held: HeldPolicy | undefined;
  /**
   * The policy, read again where it was read longer ago than `reloadMs`. What cannot be read or used is reported once, and the policy before it stays.
   * @throws AgentError CONFIG_INVALID, STORE_* as long as there was none
   */
  refresh(logger?: Logger): Promise<HeldPolicy>;
}

export interface LivePolicyOptions {
  readonly source: PolicySource;
  readonly clock: Pick<Clock, "monotonic">;
  readonly reloadMs: number;
  readonly isShadow: boolean;
}

export function livePolicy({ source, clock, reloadMs, isShadow }: LivePolicyOptions): LivePolicy {
  let held: HeldPolicy | undefined;
  let revision: string | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<HeldPolicy> | undefined;
  let reported: string | undefined;

  async function read(logger: Logger | undefined): Promise<HeldPolicy> {
    let given: string | undefined;
    try {
      const stored = await source.read();
      given = stored?.revision ?? "none";
      if (!held || given !== revision) {
        const policy = stored ? parsePolicy(stored.text, source.name) : defaultPolicy;
        const isChange = held !== undefined;
        held = { policy, compiled: compilePolicy(policy, { isShadow }) };
        revision = given;
        if (isChange) logger?.log("info", `The guardrails in ${source.name} have changed, and hold from now on.`);
      }
      reported = undefined;
      return held;
    } catch (error) {
      if (!held) throw error;
      report(error, { given, logger });
      return held;
    } finally {
      readAt = clock.monotonic();
    }
  }

  function report(error: unknown, { given, logger }: { readonly given: string | undefined; readonly logger: Logger | undefined }): void {
    const known: AgentError | undefined = isAgentError(error) ? error : undefined;
    const what = `${given ?? ""} ${known?.code ?? "unknown"}`;
    if (reported === what) return;
    reported = what;
    const words = known?.message ?? "They cannot be read.";
    logger?.log("error", `The guardrails in ${source.name} were not taken; those before them still hold. ${words}`, { code: known?.code });
  }

  return {
    get held() {
      return held;
    },
    refresh(logger) {
      if (held && clock.monotonic() - readAt < reloadMs) return Promise.resolve(held);
      reading ??= read(logger).finally(() => {
        reading = undefined;
      });
      return reading;
    },
  };
}
