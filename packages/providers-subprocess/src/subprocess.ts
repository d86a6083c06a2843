/*
 * Owns: a call of a program as a call of a model: its start, its lines as chunks, its end, what a failure states.
 * Does not own: the process and its limits (tools-cli), the form of the lines (request-line, answer-lines).
 *
 * I1 A process of its own for each call, of which nothing is left when the stream has ended. I2 The program gets the variables of its list alone.
 * I3 Its failure is that of the program, not of a vendor: EXECUTOR_FAILED.
 */
import { mkdir } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { AgentError, type ModelChunk } from "@loopwright/core";
import type { ModelCallIo, ModelProvider, ModelRequest } from "@loopwright/core/ports";
import {
  type CliLimits,
  checkVariableName,
  childVariables,
  defaultCliLimits,
  findIsolation,
  type ProgramOutcome,
  runProgram,
  type Variables,
} from "@loopwright/tools-cli";
import { AnswerLines } from "./answer-lines.ts";
import { ErrorTail } from "./error-tail.ts";
import { requestLine } from "./request-line.ts";

/** What a program is run with. */
export interface SubprocessOptions {
  /** Absolute path of the program. */
  readonly path: string;
  readonly args?: readonly string[];
  /** Absolute path of its working directory; it is made where it is not there. */
  readonly directory: string;
  /** Names of the variables that it gets out of `environment`. Default: none beside `PATH` and `LANG`. */
  readonly variables?: readonly string[];
  /** Default: none are found. */
  readonly environment?: Variables;
  /** Whether it may use the network. Default false, where the system can refuse it. */
  readonly network?: boolean;
  /** Default: those of `cli_execute`, with 10 minutes and 8 MiB of output. */
  readonly limits?: Partial<CliLimits>;
  /** `required`: a call fails where the system has no namespaces or resource limits. Default `available`. */
  readonly isolation?: "required" | "available";
  /** Name on facts and messages. Default `subprocess`. */
  readonly name?: string;
  /** What it is asked for as the model where the agent names none. Default: the name. */
  readonly model?: string;
}

const outputBytesMax = 8 * 1024 * 1024;
const limitsOf = (limits: Partial<CliLimits> = {}): CliLimits => ({
  ...defaultCliLimits,
  durationMs: 600_000,
  outputBytesMax,
  ...limits,
  // Half a line would be an error: it is stopped where output is dropped.
  droppedBytesMax: limits.outputBytesMax ?? outputBytesMax,
});

/**
 * A provider whose calls are runs of a program: it reads one line with the request, writes lines with its answer, and may ask for tools, whose
 * results it gets in the next call.
 * @throws AgentError CONFIG_INVALID
 */
export function subprocess(options: SubprocessOptions): ModelProvider {
  const { name = "subprocess", path, directory } = options;
  if (![path, directory].every(isAbsolute))
    throw new AgentError("CONFIG_INVALID", {
      message: `\`${isAbsolute(path) ? "directory" : "path"}\` of the program ${name} is not an absolute path.`,
      fix: "Pass an absolute path.",
    });
  const limits = limitsOf(options.limits);
  for (const [limit, value] of Object.entries(limits))
    if (!(Number.isSafeInteger(value) && value > 0))
      throw new AgentError("CONFIG_INVALID", { message: `\`limits.${limit}\` is ${value}.`, fix: "Use a whole number above 0." });
  for (const variable of options.variables ?? []) checkVariableName(variable, name);
  return {
    name,
    defaultModel: options.model ?? name,
    capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
    stream: (request, io) => new Call({ ...options, name }, limits, request).stream(io),
  };
}

/** One run of the program. */
class Call {
  readonly #options: SubprocessOptions & { readonly name: string };
  readonly #limits: CliLimits;
  readonly #request: ModelRequest;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #tail = new ErrorTail();
  readonly #written: string[] = [];
  #wake: () => void = () => {};

  constructor(options: SubprocessOptions & { readonly name: string }, limits: CliLimits, request: ModelRequest) {
    this.#options = options;
    this.#limits = limits;
    this.#request = request;
    this.#variables = childVariables(options.environment ?? {}, options.variables ?? []);
  }

  async *stream({ signal }: ModelCallIo): AsyncGenerator<readonly ModelChunk[]> {
    signal.throwIfAborted();
    const input = requestLine(this.#request);
    const left = new AbortController();
    const end = await this.#start(input, AbortSignal.any([signal, left.signal]));
    const answer = new AnswerLines();
    try {
      for await (const text of this.#output(end.settled)) {
        const chunks = answer.push(text);
        if (chunks.length > 0) yield chunks;
        if (chunks.at(-1)?.type === "end") return;
      }
      signal.throwIfAborted();
      throw this.#failure(await end.outcome.catch(() => "unstarted" as const));
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      left.abort();
      await end.settled;
    }
  }

  async #start(
    input: string,
    signal: AbortSignal,
  ): Promise<{ readonly outcome: Promise<ProgramOutcome>; readonly settled: Promise<void> }> {
    const { path, args = [], directory, network = false, isolation: wanted = "available" } = this.#options;
    const isolation = await findIsolation();
    if (wanted === "required" && !(isolation.namespaces && isolation.resourceLimits))
      throw this.#error("cannot be kept apart: the system has no namespaces or no resource limits, and `isolation` requires them");
    // Where it cannot be made the program cannot be started, and that is the error.
    await mkdir(directory, { recursive: true }).catch(() => {});
    const outcome = runProgram({
      path,
      args,
      directory,
      variables: this.#variables,
      limits: this.#limits,
      isolation,
      network,
      signal,
      input,
      onOutput: (text, stream) => {
        if (stream === "stderr") this.#tail.push(text);
        else this.#written.push(text);
        this.#wake();
      },
    });
    const settled = outcome.then(
      () => {},
      () => {},
    );
    void settled.then(() => this.#wake());
    return { outcome, settled };
  }

  /** Standard output as it comes, until all of it was read. */
  async *#output(settled: Promise<void>): AsyncGenerator<string> {
    let hasEnded = false;
    void settled.then(() => {
      hasEnded = true;
    });
    for (;;) {
      const written = this.#written.splice(0).join("");
      if (written !== "") yield written;
      else if (hasEnded) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  #failure(outcome: ProgramOutcome | "unstarted"): AgentError {
    if (outcome === "unstarted")
      return this.#error("cannot be started: the program or its working directory is not there, or may not be used");
    const { exitCode, signalName, stopped } = outcome;
    const { durationMs, outputBytesMax: bytesMax } = this.#limits;
    if (stopped === "duration") return this.#error(`was stopped: it did not end within ${durationMs} ms`);
    if (stopped === "output") return this.#error(`was stopped: it wrote more than ${bytesMax} bytes`);
    if (stopped !== undefined) return this.#error(`was stopped: it had more ${stopped} than its limit`);
    if (exitCode === 0) return this.#error("ended without a line of the type `end`");
    return this.#error(exitCode === undefined ? `was ended by the signal ${signalName}` : `ended with the exit code ${exitCode}`);
  }

  #error(what: string): AgentError {
    const tail = this.#tail.shown(this.#variables, this.#request);
    return new AgentError("EXECUTOR_FAILED", {
      message: `The program ${this.#options.name} ${what}.${tail === "" ? "" : ` The end of its standard error:\n${tail}`}`,
    });
  }
}
