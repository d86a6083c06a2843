import { AgentError } from "@loopwright/core";
import {
  type AgentSession,
  addSpent,
  type DurableEvent,
  type ExecuteStatus,
  executeStatusOf,
  type Message,
  type PendingApproval,
  type PendingToolCall,
  type Problem,
  problemOf,
  type Spent,
} from "@loopwright/core/protocol";

/** The last frame of an execution. */
export interface ExecuteComplete extends Spent {
  readonly type: "execute_complete";
  readonly status: ExecuteStatus;
  readonly runId: string;
  readonly pendingToolCalls?: readonly PendingToolCall[];
  readonly pendingApprovals?: readonly PendingApproval[];
  readonly limit?: { readonly which: string; readonly value: number };
  /** Set when the status is `error` or `aborted`. */
  readonly error?: Problem;
}

type Waiting = Pick<AgentSession, "pendingToolCalls" | "pendingApprovals">;

/** How one execution ends, computed from the durable events of its run from its acceptance on. */
export interface ExecutionOutcome {
  /** True once the run has ended. */
  readonly isEnded: boolean;
  take(events: readonly DurableEvent[]): void;
  /** Messages that the execution added, in the order they came. */
  readonly messages: readonly Message[];
  /** `waiting`: what the run waits for, if it has not ended. */
  complete(waiting: Waiting): ExecuteComplete;
}

export function createExecutionOutcome(runId: string): ExecutionOutcome {
  const messages: Message[] = [];
  let spent: Spent = {};
  let limit: ExecuteComplete["limit"];
  let ending: Extract<DurableEvent, { readonly type: "run_end" }> | undefined;
  let failure: AgentError | undefined;

  function takeOne(event: DurableEvent): void {
    switch (event.type) {
      case "message_end":
        messages.push(event.message);
        spent = addSpent(spent, event);
        return;
      case "attempt_discarded":
      case "tool_execution_end":
      case "agent_end":
      case "context_compacted":
      case "expense":
        spent = addSpent(spent, event);
        return;
      case "limit_reached":
        limit = { which: event.which, value: event.value };
        return;
      case "error":
        failure = new AgentError(event.code, { message: event.error, runId });
        return;
      case "run_end":
        ending = event;
        return;
      default:
    }
  }

  function statusOf({ pendingToolCalls, pendingApprovals }: Waiting): ExecuteStatus {
    if (!ending) return executeStatusOf(pendingToolCalls.length + pendingApprovals.length > 0 ? "waiting" : "aborted");
    return executeStatusOf(ending.status);
  }

  return {
    messages,
    get isEnded() {
      return ending !== undefined;
    },
    take(events) {
      for (const event of events) if (event.runId === runId) takeOne(event);
    },
    complete(waiting) {
      const status = statusOf(waiting);
      const { pendingToolCalls, pendingApprovals } = waiting;
      const approvals = pendingApprovals.length > 0 ? { pendingApprovals } : {};
      const isDropped = !ending && status === "aborted";
      const error = isDropped ? new AgentError("RUN_ABORTED", { message: "The run was stopped: session closed.", runId }) : failure;
      return {
        type: "execute_complete",
        status,
        runId,
        ...(status === "awaiting_tool_execution" ? { pendingToolCalls, ...approvals } : {}),
        ...spent,
        ...(limit ? { limit } : {}),
        ...(error && (status === "error" || status === "aborted") ? { error: problemOf(error) } : {}),
      };
    },
  };
}
