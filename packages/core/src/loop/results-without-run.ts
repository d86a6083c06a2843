import type { ErrorCode } from "../errors.ts";
import type { CallOutcome } from "../message/message.ts";
import { shownId } from "../message/shown-id.ts";
import type { BodyOf } from "./fact.ts";
import { toolsShown } from "./facts/tool-policy.ts";
import type { Call, Run } from "./state.ts";

/** The closing fact of a call that gets its result without running; the model sees `CODE: text`, as for a tool that failed. */
export function closeCall(
  runId: string,
  call: Call,
  end: { readonly outcome: CallOutcome; readonly code: ErrorCode; readonly text: string },
): BodyOf<"tool.finished"> {
  return {
    type: "tool.finished",
    runId,
    callKey: call.part.callKey,
    outcome: end.outcome,
    output: [{ type: "text", text: `${end.code}: ${end.text}` }],
    failure: { code: end.code, message: end.text, retryable: false },
  };
}

export const interrupted = (runId: string, call: Call): BodyOf<"tool.finished"> =>
  closeCall(runId, call, {
    outcome: "interrupted",
    code: "TOOL_INTERRUPTED",
    text: "The tool was started, its outcome is unknown. Do not assume it failed.",
  });

export const notRun = (runId: string, call: Call): BodyOf<"tool.finished"> =>
  closeCall(runId, call, { outcome: "aborted", code: "RUN_ABORTED", text: "Not run: the user stopped the run." });

export const childStopped = (runId: string, call: Call): BodyOf<"tool.finished"> =>
  closeCall(runId, call, { outcome: "aborted", code: "RUN_ABORTED", text: "The user stopped the run before the agent had ended." });

/** The result of a call whose arguments cannot be used. It names the problem, so the model can correct them. */
export function badArguments(runId: string, call: Call): BodyOf<"tool.finished"> {
  const problems = {
    invalid_json: "the arguments are not valid JSON",
    truncated: "the arguments were cut off because the answer reached its length limit",
    not_an_object: "the arguments are not a JSON object",
    too_deep: "the arguments are nested too deeply",
    forbidden_key: "the arguments use a forbidden key",
  };
  const text = `Not run: ${problems[call.part.problem ?? "invalid_json"]}. Call \`${shownId(call.part.name)}\` again with valid arguments.`;
  return closeCall(runId, call, { outcome: "error", code: "TOOL_ARGUMENTS", text });
}

export function unknownTool(run: Run, call: Call): BodyOf<"tool.finished"> {
  const names = Object.keys(toolsShown(run));
  const known = names.length > 0 ? `Available tools: ${names.slice(0, 50).join(", ")}.` : "There are no tools.";
  const name = call.part.name.slice(0, 64);
  return closeCall(run.runId, call, { outcome: "error", code: "TOOL_UNKNOWN", text: `There is no tool \`${name}\`. ${known}` });
}
