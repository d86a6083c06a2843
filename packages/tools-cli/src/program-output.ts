import { AgentError, type ToolEvent } from "@loopwright/core";
import { type ProgramOutcome, type ProgramRun, runProgram, type StopReason } from "./run-program.ts";

const deltaMax = 8_192;

/** The output of a program while it comes, then how it ended. @throws AgentError TOOL_TIMEOUT, FILE_LIMIT, TOOL_FAILED where it was stopped or cannot be started */
export async function* programOutput(name: string, run: Omit<ProgramRun, "onOutput">): AsyncGenerator<ToolEvent, void> {
  let pieces: string[] = [];
  let wake = (): void => {};
  let outcome: ProgramOutcome | undefined;
  let failure: unknown;
  let isDone = false;
  const ended = runProgram({
    ...run,
    onOutput(text) {
      pieces.push(text);
      wake();
    },
  })
    .then(
      (value) => {
        outcome = value;
      },
      (error: unknown) => {
        failure = error;
      },
    )
    .finally(() => {
      isDone = true;
      wake();
    });
  while (!isDone || pieces.length > 0) {
    if (pieces.length === 0)
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (isDone || pieces.length > 0) resolve();
      });
    const text = pieces.join("");
    pieces = [];
    // After an abort no watcher waits for it.
    for (let at = 0; at < text.length && !run.signal.aborted; at += deltaMax) yield { type: "delta", delta: text.slice(at, at + deltaMax) };
  }
  await ended;
  if (!outcome) throw notStarted(name, failure);
  const notes = notesOf(outcome, run);
  if (notes.length > 0 && !run.signal.aborted) yield { type: "delta", delta: `\n[${notes.join(" ")}]` };
  if (outcome.stopped) throw stoppedError(name, outcome.stopped, run);
  yield { type: "complete", output: undefined, details: { ...outcome, isolation: run.isolation } };
}

function notesOf({ exitCode, signalName, stopped, isCut }: ProgramOutcome, { limits }: Pick<ProgramRun, "limits">): readonly string[] {
  return [
    ...(isCut ? [`The output was cut after ${limits.outputBytesMax} bytes.`] : []),
    ...(stopped ? [] : signalName === undefined ? [] : [`It was ended by ${signalName}.`]),
    ...(stopped || exitCode === undefined ? [] : [`Exit code ${exitCode}.`]),
  ];
}

function stoppedError(name: string, reason: StopReason, { limits }: Pick<ProgramRun, "limits">): AgentError {
  const what = (limit: string): string => `\`${name}\` and all its processes were stopped: ${limit}.`;
  switch (reason) {
    case "aborted":
      return new AgentError("RUN_ABORTED", { message: what("the call was ended") });
    case "duration":
      return new AgentError("TOOL_TIMEOUT", {
        message: what(`it ran for more than ${limits.durationMs} ms`),
        fix: "Ask it for less, or raise `limits.durationMs`.",
      });
    case "output":
      return new AgentError("TOOL_FAILED", {
        message: what(`it wrote more than ${limits.droppedBytesMax} bytes of output`),
        fix: "Ask it for less output.",
      });
    case "processes":
      return new AgentError("TOOL_FAILED", {
        message: what(`it had more than ${limits.processesMax} processes`),
        fix: "Ask it for less, or raise `limits.processesMax`.",
      });
    case "files":
      return new AgentError("FILE_LIMIT", {
        message: what(`the working directory has more than ${limits.entriesMax} entries or ${limits.directoryBytesMax} bytes`),
        fix: "Remove files, or raise the limit.",
      });
    default:
      return reason satisfies never;
  }
}

function notStarted(name: string, cause: unknown): AgentError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
  return new AgentError("TOOL_FAILED", {
    message: `\`${name}\` could not be started (${code}).`,
    fix: "Check that it can be run by hand.",
    cause,
  });
}
