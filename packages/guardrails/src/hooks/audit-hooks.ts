import type { Hooks } from "@loopwright/core";

/** A step of a run, for an audit: names and counts, and no content. */
export interface AuditedStep {
  readonly action: "run.start" | "model" | "tool" | "run.end";
  readonly sessionId: string;
  readonly runId: string;
  readonly agent: string;
  readonly user: string;
  readonly scope: string;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly tool?: string | undefined;
  readonly outcome?: string | undefined;
}

/** Hands each step of a run to `onStep`. What it throws, or rejects with, fails the step: where an audit is owed, nothing is done without it. */
export function auditHooks(onStep: (step: AuditedStep) => void | Promise<void>): Hooks {
  type Place = Parameters<NonNullable<NonNullable<Hooks["run"]>["start"]>>[0];
  const at = ({
    sessionId,
    runId,
    agent,
    access,
  }: Pick<Place, "sessionId" | "runId" | "agent" | "access">): Omit<AuditedStep, "action"> => ({
    ...{ sessionId, runId, agent },
    user: access.user,
    scope: access.scope,
  });
  return {
    name: "audit",
    run: {
      start: async (context) => void (await onStep({ ...at(context), action: "run.start" })),
      end: (context) => onStep({ ...at(context), action: "run.end", outcome: context.result.status }),
    },
    async decide(context) {
      const { provider, model } = context.message;
      await onStep({
        ...at(context),
        action: "model",
        provider,
        model,
        inputTokens: context.usage?.input,
        outputTokens: context.usage?.output,
      });
    },
    async review(context) {
      await onStep({ ...at(context), action: "tool", tool: context.call.name, outcome: context.outcome });
    },
  };
}
