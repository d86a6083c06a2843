/*
 * Owns: the context limit of each open run's plan in this process, between the hook that learns it and the engine that keeps within it.
 * Does not own: plans (PlanTable), what is cut or compacted (the engine).
 */
import type { ContextCall, ContextEngine, ModelProvider, SessionContext } from "@loopwright/core/ports";

/** Runs that ended in another process leave their limit behind: the oldest give way. */
const runsMax = 10_000;

export class PlanWindows {
  readonly #limits = new Map<string, number>();

  /** Before each model call of the run. */
  set(runId: string, contextLimit: number): void {
    this.#limits.set(runId, contextLimit);
    for (const oldest of this.#limits.keys()) {
      if (this.#limits.size <= runsMax) return;
      this.#limits.delete(oldest);
    }
  }

  delete(runId: string): void {
    this.#limits.delete(runId);
  }

  /** The engine, to which a model has no larger window than the plan gives. */
  around(engine: ContextEngine): ContextEngine {
    return {
      open: (): SessionContext => {
        const context = engine.open();
        const { prepare } = context;
        return {
          ...(prepare ? { prepare: (call, io) => prepare.call(context, this.#within(call), io) } : {}),
          fit: (call) => context.fit(this.#within(call)),
        };
      },
    };
  }

  #within(call: ContextCall): ContextCall {
    const limit = this.#limits.get(call.runId);
    return limit === undefined ? call : { ...call, provider: limited(call.provider, limit) };
  }
}

function limited(provider: ModelProvider, limit: number): ModelProvider {
  return {
    name: provider.name,
    defaultModel: provider.defaultModel,
    capabilities(model) {
      const known = provider.capabilities(model);
      return { ...known, contextTokens: Math.min(limit, known.contextTokens ?? limit) };
    },
    stream: (request, io) => provider.stream(request, io),
  };
}

/** The hooks' windows and the agent's engine within them; nothing where the agent has no engine. */
export function planWindows(engine: ContextEngine | undefined): { readonly windows?: PlanWindows; readonly context?: ContextEngine } {
  if (!engine) return {};
  const windows = new PlanWindows();
  return { windows, context: windows.around(engine) };
}
