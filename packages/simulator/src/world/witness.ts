import type { ModelRequest } from "@loopwright/core/ports";

/** A tool that began, as the world saw it. */
export interface ToolStart {
  readonly session: string;
  readonly node: string;
  readonly tool: string;
  readonly callKey: string;
  readonly attempt: number;
  readonly atMs: number;
  /** When its work was done, even if its process died before the result; absent: never. */
  endedAtMs?: number;
  /** When it gave a result; absent: never. */
  notifiedAtMs?: number;
  /** Whether the tool gave a result or failed; what the process did with the result is not known here. */
  outcome?: "ok" | "failed";
}

/** A request to the model vendor, as the vendor saw it. */
export interface ModelCall {
  readonly session: string;
  readonly node: string;
  readonly attempt: number;
  readonly atMs: number;
  readonly request: ModelRequest;
  /** What a strict vendor would have refused it for. */
  readonly flaw?: string;
  /** When the connection was closed, by whomever; absent: never. */
  closedAtMs?: number;
}

/** What the world saw, apart from the log: the side effects. */
export interface Witness {
  readonly tools: readonly ToolStart[];
  readonly models: readonly ModelCall[];
  toolStarted(start: ToolStart): ToolStart;
  modelCalled(call: ModelCall): ModelCall;
}

export function createWitness(): Witness {
  const tools: ToolStart[] = [];
  const models: ModelCall[] = [];
  return {
    tools,
    models,
    toolStarted(start) {
      tools.push(start);
      return start;
    },
    modelCalled(call) {
      models.push(call);
      return call;
    },
  };
}
