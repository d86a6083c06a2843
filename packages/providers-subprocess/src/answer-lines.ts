import { AgentError, type ModelChunk } from "@loopwright/core";
import { z } from "zod";

/** A line may have so many characters: an argument of a call, or a piece of text. */
const lineCharactersMax: number = 1024 * 1024;

const count = z.number().int().nonnegative();
const line = z.discriminatedUnion("type", [
  z.strictObject({ type: z.enum(["text", "thinking"]), delta: z.string() }),
  z.strictObject({ type: z.literal("call"), id: z.string().optional(), name: z.string(), arguments: z.record(z.string(), z.unknown()) }),
  z.strictObject({ type: z.literal("usage"), input: count.optional(), output: count.optional() }),
  z.strictObject({ type: z.literal("alive") }),
  z.strictObject({ type: z.literal("error"), message: z.string().max(2_000), retryable: z.boolean().optional() }),
  z.strictObject({ type: z.literal("end"), stopReason: z.enum(["stop", "length"]).optional() }),
]);
type Line = z.infer<typeof line>;

/** The lines of a program as chunks of an answer. */
export class AnswerLines {
  #rest = "";
  #index = -1;
  #block: "text" | "thinking" | "call" | undefined;
  #hasCalls = false;
  #line = 0;

  /** The chunks of the lines that this text completes; an `end` is the last one of an answer. @throws AgentError EXECUTOR_FAILED */
  push(text: string): readonly ModelChunk[] {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    const chunks: ModelChunk[] = [];
    for (const each of lines) {
      this.#line++;
      if (each.trim() === "") continue;
      chunks.push(...this.#chunksOf(this.#parsed(each)));
      if (chunks.at(-1)?.type === "end") return chunks;
    }
    if (this.#rest.length <= lineCharactersMax) return chunks;
    this.#line++;
    throw this.#wrong(`has more than ${lineCharactersMax} characters`);
  }

  #parsed(text: string): Line {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw this.#wrong("is no JSON");
    }
    const parsed = line.safeParse(value);
    if (parsed.success) return parsed.data;
    // What zod writes names members and kinds, and repeats no value.
    const [issue] = parsed.error.issues;
    throw this.#wrong(`has a wrong value at \`${issue?.path.join(".") || "type"}\``);
  }

  #wrong(what: string): AgentError {
    return new AgentError("EXECUTOR_FAILED", {
      message: `Line ${this.#line} that the program wrote ${what}.`,
      fix: "Write one JSON object a line to standard output, and everything else to standard error.",
    });
  }

  #chunksOf(read: Line): readonly ModelChunk[] {
    switch (read.type) {
      case "text":
      case "thinking":
        if (this.#block !== read.type) this.#begin(read.type);
        return [{ type: read.type, index: this.#index, delta: read.delta }];
      case "call": {
        const index = this.#begin("call");
        this.#hasCalls = true;
        return [
          { type: "call-start", index, name: read.name, ...(read.id === undefined ? {} : { id: read.id }) },
          { type: "call-args", index, delta: JSON.stringify(read.arguments) },
          { type: "call-end", index },
        ];
      }
      case "usage": {
        const { input, output } = read;
        return [{ type: "usage", usage: { ...(input === undefined ? {} : { input }), ...(output === undefined ? {} : { output }) } }];
      }
      case "alive":
        return [read];
      case "error":
        throw new AgentError("EXECUTOR_FAILED", {
          message: `The program reported an error: ${read.message}`,
          retryable: read.retryable === true,
        });
      case "end":
        return [{ type: "end", stopReason: this.#hasCalls ? "tool_calls" : (read.stopReason ?? "stop") }];
      default:
        return read satisfies never;
    }
  }

  #begin(block: "text" | "thinking" | "call"): number {
    this.#block = block;
    return ++this.#index;
  }
}
