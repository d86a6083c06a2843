import { type ErrorCode, type Failure, isAgentError } from "../errors.ts";
import type { CallResult } from "../loop/fact.ts";
import type { ResultPart } from "../message/content.ts";
import type { CallOutcome } from "../message/message.ts";
import { wellFormed } from "../message/well-formed-text.ts";
import { cutText } from "./cut-text.ts";
import { toolLimits } from "./tool-limits.ts";

/**
 * The result of a tool that threw, for the model: `CODE: message`, at most 2,000 characters, without stack and cause. An AgentError gives its
 * code, message and fix; any other error gives TOOL_FAILED without its message, which may hold secrets. `kept` is output to put before it.
 */
export function toolFailure(error: unknown, tool: { readonly name: string }, kept: readonly ResultPart[] = []): CallResult {
  const { failure, fix } = describe(error, tool.name);
  const text = cutText(`${failure.code}: ${failure.message}${fix === "" ? "" : ` ${fix}`}`, toolLimits.errorTextMax);
  return { outcome: outcomeOf(failure.code), output: [...kept, { type: "text", text }], failure };
}

function describe(error: unknown, tool: string): { readonly failure: Failure; readonly fix: string } {
  if (isAgentError(error)) {
    const { code, message, retryable, retryAfterMs, fix } = error;
    const base: Failure = { code, message: wellFormed(cutText(message, toolLimits.errorTextMax)), retryable };
    return {
      failure: retryAfterMs === undefined ? base : { ...base, retryAfterMs },
      fix: wellFormed(cutText(fix, toolLimits.errorTextMax)),
    };
  }
  return { failure: { code: "TOOL_FAILED", message: `The tool \`${tool}\` failed.`, retryable: false }, fix: "" };
}

function outcomeOf(code: ErrorCode): CallOutcome {
  if (code === "RUN_ABORTED") return "aborted";
  if (code === "TOOL_DENIED") return "denied";
  return code === "TOOL_INTERRUPTED" ? "interrupted" : "error";
}
