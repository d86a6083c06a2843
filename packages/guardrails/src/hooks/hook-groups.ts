import type { Hooks } from "@loopwright/core";

/** The five groups of hooks that a runner registers; each may be absent, one set or several. */
export interface HookGroups {
  readonly logging?: Hooks | readonly Hooks[] | undefined;
  readonly audit?: Hooks | readonly Hooks[] | undefined;
  readonly progress?: Hooks | readonly Hooks[] | undefined;
  readonly guardrails?: Hooks | readonly Hooks[] | undefined;
  readonly skillGuardrails?: Hooks | readonly Hooks[] | undefined;
}

/**
 * The sets of the groups in the order in which a run asks them: logging, audit, progress, guardrails, guardrails of skills. For the end of an agent's
 * `hooks`, so that what its own hooks have changed is checked last.
 */
export function hookGroups({ logging, audit, progress, guardrails, skillGuardrails }: HookGroups): readonly Hooks[] {
  return [logging, audit, progress, guardrails, skillGuardrails].flatMap((group) => group ?? []);
}
