import { describe, expect, it } from "vitest";
import { AgentError } from "../errors.ts";
import { toolFailure } from "./tool-failure.ts";

const tool = { name: "probe" };
const textOf = (error: unknown): string =>
  toolFailure(error, tool)
    .output.map((part) => (part.type === "text" ? part.text : ""))
    .join("");

describe("the failure of a tool", () => {
  it("is cut to 2,000 characters, for the model and in the log", () => {
    const long = new AgentError("TOOL_FAILED", { message: "y".repeat(10_000) });
    const { output, failure } = toolFailure(long, tool);
    expect(output).toHaveLength(1);
    expect(textOf(long)).toHaveLength(2_000);
    expect(failure?.message).toHaveLength(2_000);
  });

  it("has no stack, no cause and no text of an error that is no AgentError", () => {
    const written = JSON.stringify(toolFailure(new Error("outside", { cause: new Error("inside") }), tool));
    expect(written).not.toMatch(/inside|outside/);
    expect(written).not.toMatch(/\.test\.ts|at /);
  });

  it.each([
    ["a string", "plain words", "TOOL_FAILED: The tool `probe` failed."],
    ["nothing", undefined, "TOOL_FAILED: The tool `probe` failed."],
    ["an object", { status: 500 }, "TOOL_FAILED: The tool `probe` failed."],
    ["a number as message", { message: 5 }, "TOOL_FAILED: The tool `probe` failed."],
    ["a lone surrogate", new AgentError("TOOL_FAILED", { message: "\uD800", fix: "" }), "TOOL_FAILED: \uFFFD"],
  ])("reads well when %s was thrown", (_, thrown, expected) => {
    expect(textOf(thrown)).toBe(expected);
  });

  it("survives an error whose message throws", () => {
    const hostile = Object.defineProperty({}, "message", {
      get: () => {
        throw new Error("again");
      },
    });
    expect(textOf(hostile)).toBe("TOOL_FAILED: The tool `probe` failed.");
  });

  it("keeps the code, the message and the fix of an AgentError", () => {
    const error = new AgentError("TOOL_DENIED", { message: "Not today.", fix: "Ask tomorrow.", retryable: true, retryAfterMs: 9 });
    const { outcome, failure } = toolFailure(error, tool);
    expect(outcome).toBe("denied");
    expect(failure).toEqual({ code: "TOOL_DENIED", message: "Not today.", retryable: true, retryAfterMs: 9 });
    expect(textOf(error)).toBe("TOOL_DENIED: Not today. Ask tomorrow.");
  });
});
