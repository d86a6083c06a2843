import { AgentError } from "../../../errors.ts";
import type { ToolResultMessage } from "../../../message/message.ts";
import { shownId } from "../../../message/shown-id.ts";
import type { AcceptedSubmission, AnswerOptions } from "../../../protocol/execute.ts";
import { normaliseOutput } from "../../../tools/normalise-output.ts";
import { toolLimits } from "../../../tools/tool-limits.ts";
import { type CommandContext, submitInput } from "./submit-input.ts";

interface Answer {
  readonly callKey: string;
  readonly output: unknown;
}

/** Records the output of a client call, as `submit` records a list of results. */
export async function answerCall(
  context: CommandContext,
  { callKey, output }: Answer,
  options: AnswerOptions,
): Promise<AcceptedSubmission> {
  const { isError, ...submit } = options;
  const { parts, flaw } = normaliseOutput(output, toolLimits.outputMax);
  if (flaw !== undefined)
    throw new AgentError("INPUT_INVALID", {
      message: `The output of the call \`${shownId(String(callKey))}\` holds ${flaw}.`,
      fix: "Pass text, parts or plain JSON.",
    });
  const result: ToolResultMessage = {
    role: "tool_result",
    toolCallId: callKey,
    callKey,
    content: parts,
    ...(isError === true ? { isError } : {}),
  };
  return submitInput(context, [result], submit);
}
