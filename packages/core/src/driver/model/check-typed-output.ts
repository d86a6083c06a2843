/*
 * Owns: the check of the last answer against the `output` of the run or of the agent. The first answer that does not match gets a correction; the second ends the run.
 * Does not own: how a text is read as a value (output-spec).
 */
import type { Agent } from "../../agent/agent.ts";
import { type OutputSpec, outputInvalid, readOutput } from "../../agent/output-spec.ts";
import { failureOf } from "../../errors.ts";
import type { BodyOf } from "../../loop/fact.ts";
import type { Run } from "../../loop/state.ts";
import { type Message, textOf } from "../../message/message.ts";
import type { ExecuteResult } from "../../protocol/execute.ts";
import { andThen, type SyncOrAsync } from "../effects/sync-or-async.ts";

type Finished = BodyOf<"model.finished">;

/** The beginning of a correction for the model. It also marks the message as a correction. */
const correctionStart = "Your answer is not in the required form.";

/** The answer unchanged, with a correction for the model, or with the failure that ends the run. */
export function checkTypedOutput(
  closing: Finished,
  { agent, run, messages }: { readonly agent: Agent; readonly run: Run; readonly messages: () => readonly Message[] },
): SyncOrAsync<Finished> {
  const { decision, failure } = closing;
  const output = run.options?.output ?? agent.output;
  const isLast = closing.calls.length === 0 && (decision === undefined || decision.action === "stop" || decision.action === "finish");
  if (!output || failure || !isLast) return closing;
  return andThen(readOutput(output, textOf(closing.message)), ({ problem }): Finished => {
    if (problem === undefined) return closing;
    const mayCorrect = !decision && !run.limit && closing.turn < run.limits.turnsMax && !isCorrected(messages());
    if (!mayCorrect) return { ...closing, failure: failureOf(outputInvalid(problem)) };
    const notice = `${correctionStart} ${problem}\nAnswer again with a JSON object that fits the schema, and nothing else.`;
    return { ...closing, decision: { action: "nudge", notice } };
  });
}

/** True if the answer follows a correction. */
function isCorrected(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  return last?.role === "notice" && last.text.startsWith(correctionStart);
}

/** The result with the value of the answer. A run that completed without a valid answer, for example at a limit, counts as failed. */
export function withOutput(result: ExecuteResult, spec: OutputSpec | undefined): SyncOrAsync<ExecuteResult> {
  if (!spec || result.status !== "completed") return result;
  return andThen(readOutput(spec, result.text), (read): ExecuteResult => {
    if (read.problem === undefined) return { ...result, output: read.output };
    const { output: _, ...rest } = result;
    return { ...rest, status: "error", error: outputInvalid(read.problem) };
  });
}
