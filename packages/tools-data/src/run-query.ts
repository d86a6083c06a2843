import { type ChildProcess, spawn } from "node:child_process";
import { AgentError } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import type { DataLimits } from "./data-limits.ts";
import type { LoadedTable } from "./load-table.ts";
import { guardProcess } from "./process-guard.ts";
import { queryProgram } from "./query-program.ts";
import { watchMemory } from "./watch-memory.ts";

export interface QueryResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
  /** There are more rows than are shown. */
  readonly isCut: boolean;
}

export interface QueryRequest {
  readonly tables: readonly LoadedTable[];
  readonly sql: string;
  readonly limits: DataLimits;
  readonly clock: Pick<Clock, "after">;
  readonly signal: AbortSignal;
}

/** Bytes of an answer: more than its limits of characters can make. */
const answerBytesMax = 8 * 1024 * 1024;

/**
 * Runs one query in a process of its own, without an environment: SQLite cannot be stopped within a process, and a query may run for ever.
 * @throws AgentError TOOL_ARGUMENTS when SQLite refuses the query, TOOL_TIMEOUT, TOOL_FAILED; the signal's reason when it was aborted
 */
export async function runQuery(request: QueryRequest): Promise<QueryResult> {
  const { tables, sql, limits, signal } = request;
  checkStatement(sql);
  const text = await answerOf(JSON.stringify({ tables, sql, limits }), request);
  signal.throwIfAborted();
  const answer = JSON.parse(text) as QueryResult | { readonly error: string };
  if ("error" in answer) throw refused(`SQLite refused the query: ${answer.error}.`);
  return answer;
}

/** Statements that only read; a database in memory with `query_only` would refuse the others too, but not one that opens a file. */
function checkStatement(sql: string): void {
  const code = sql.replace(/^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/, "");
  if (!/^(?:select|with|values)\b/i.test(code)) throw refused("The query does not begin with SELECT, WITH or VALUES.");
}

function refused(message: string): AgentError {
  return new AgentError("TOOL_ARGUMENTS", { message, fix: "Use one SELECT of SQLite with the names that `describe_tables` gives." });
}

function answerOf(input: string, { limits, clock, signal }: QueryRequest): Promise<string> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(
      process.execPath,
      ["--no-warnings", "--max-old-space-size=512", "--input-type=module", "--eval", queryProgram],
      {
        env: {},
        stdio: ["pipe", "pipe", "ignore"],
      },
    );
    const { stdin, stdout } = child;
    // Without file descriptors left there are no pipes, and `error` is all that follows.
    if (!stdin || !stdout) return void child.once("error", (cause) => reject(notStarted(cause)));
    const guard = guardProcess(child.pid);
    const chunks: Buffer[] = [];
    let size = 0;
    let failure: Error | undefined;
    const stop = (error: Error): void => {
      failure ??= error;
      child.kill("SIGKILL");
    };
    const timeout = new AgentError("TOOL_TIMEOUT", {
      message: `The query did not end within ${limits.deadlineMs} ms.`,
      fix: "Use a simpler query.",
    });
    const cancel = clock.after(limits.deadlineMs, () => stop(timeout));
    const unwatch = watchMemory(child.pid, { clock, bytesMax: limits.memoryBytesMax, onTooMuch: () => stop(tooLarge(limits)) });
    const abort = (): void => stop(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    stdout.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > answerBytesMax) stop(died());
    });
    child.on("error", stop);
    // A process that died does not read: its end is the error.
    stdin.on("error", () => {});
    child.on("close", (code) => {
      guard?.kill("SIGKILL");
      cancel();
      unwatch();
      signal.removeEventListener("abort", abort);
      if (failure || code !== 0) reject(failure ?? died());
      else resolve(Buffer.concat(chunks).toString());
    });
    stdin.end(input);
  });
}

function tooLarge({ memoryBytesMax }: DataLimits): AgentError {
  return new AgentError("TOOL_FAILED", {
    message: `The query used more than ${memoryBytesMax} bytes.`,
    fix: "Use a query that needs less memory.",
  });
}

function notStarted(cause: Error): AgentError {
  return new AgentError("TOOL_FAILED", {
    message: "The process of the query cannot be started.",
    fix: "Look whether this process has too many open files.",
    cause,
  });
}

function died(): AgentError {
  return new AgentError("TOOL_FAILED", {
    message: "The process of the query ended without an answer.",
    fix: "Use a query that needs less memory.",
  });
}
