/*
 * Owns: a thread that runs one snippet in an engine of its own, and its end: by its answer, its deadline, an abort or a crash.
 * Does not own: what happens in the thread (snippet-program).
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { AgentError } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import type { SnippetLimits } from "./snippet-limits.ts";
import { snippetProgram } from "./snippet-program.ts";

export interface SnippetRequest {
  readonly code: string;
  /** What the snippet sees as `tables`. */
  readonly tables: Readonly<Record<string, readonly Readonly<Record<string, string | number | null>>[]>>;
  readonly limits: SnippetLimits;
  readonly clock: Pick<Clock, "after">;
  readonly signal: AbortSignal;
}

export interface SnippetResult {
  /** What was printed, line by line. */
  readonly printed: string;
  /** The value as JSON text; absent for `undefined`. */
  readonly value?: string;
  /** What was left out of either. */
  readonly isCut: boolean;
}

type Answer = SnippetResult | { readonly error: string; readonly printed: string };

/**
 * Runs JavaScript in QuickJS, an engine compiled to WebAssembly, which has no way out of its memory: no modules, network, files, clock or timers of the host.
 * @throws AgentError TOOL_ARGUMENTS for what the snippet throws, TOOL_TIMEOUT, TOOL_FAILED; the signal's reason when it was aborted
 */
export function runSnippet({ code, tables, limits, clock, signal }: SnippetRequest): Promise<SnippetResult> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const worker = new Worker(snippetProgram, {
      eval: true,
      env: {},
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      workerData: { code, tables: JSON.stringify(tables), limits, modules: modulesOf() },
      resourceLimits: { maxOldGenerationSizeMb: 256, stackSizeMb: 4 },
    });
    let isOver = false;
    const end = (finish: () => void): void => {
      if (isOver) return;
      isOver = true;
      cancel();
      signal.removeEventListener("abort", abort);
      // Only when the thread is gone is nothing of it left.
      void worker.terminate().then(finish, finish);
    };
    const abort = (): void => end(() => reject(signal.reason));
    const cancel = clock.after(limits.deadlineMs, () => end(() => reject(tooSlow(limits))));
    signal.addEventListener("abort", abort, { once: true });
    worker.on("message", (answer: Answer) => end(() => ("error" in answer ? reject(refused(answer)) : resolve(answer))));
    worker.on("error", () => end(() => reject(died())));
    worker.on("exit", () => end(() => reject(died())));
  });
}

/** Where the thread finds the engine: it has no folder of its own to look from. */
const modulesOf = (): { readonly core: string; readonly engine: string } => {
  const require = createRequire(import.meta.url);
  return { core: require.resolve("quickjs-emscripten-core"), engine: require.resolve("@jitl/quickjs-wasmfile-release-sync") };
};

const refused = ({ error, printed }: { readonly error: string; readonly printed: string }): AgentError =>
  new AgentError("TOOL_ARGUMENTS", {
    message: `The snippet failed: ${error}${printed === "" ? "" : `\nIt printed before:\n${printed}`}`,
    fix: "Correct the snippet. It has `tables` and `console.log`, and nothing of the host.",
  });

const tooSlow = ({ deadlineMs }: SnippetLimits): AgentError =>
  new AgentError("TOOL_TIMEOUT", { message: `The snippet did not end within ${deadlineMs} ms.`, fix: "Use a snippet that does less." });

const died = (): AgentError =>
  new AgentError("TOOL_FAILED", {
    message: "The thread of the snippet ended without an answer.",
    fix: "Use a snippet that needs less memory.",
  });
