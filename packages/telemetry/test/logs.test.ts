import { createAgent } from "@loopwright/core";
import { manualClock, scripted } from "@loopwright/core/memory";
import { loggerKit, runKit } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { jsonLogger, redactFields, redactText } from "../src/index.ts";
import { anne, telemetryServer } from "./telemetry-server.ts";

const logged = (options: Parameters<typeof jsonLogger>[0] = {}) => {
  const lines: string[] = [];
  return { logger: jsonLogger({ write: (line) => void lines.push(line), level: "debug", ...options }), lines };
};

const canaries = [
  "sk-ant-api03-CANARYcanaryCANARY01",
  "AIzaCANARYcanaryCANARYcanary0123456",
  "ghp_CANARYcanaryCANARYcanary0123",
  "Bearer CANARY.canary.0123456789",
  "eyJhbGciOiJIUzI1NiJ9.eyJjYW5hcnkiOjF9.CANARYcanary",
  "redis://user:CANARYpassword@host:6379",
  "canary of this server",
];

describe("a JSON log", () => {
  runKit(it, loggerKit, {
    make: async () => {
      const { logger, lines } = logged();
      return { logger, lines: () => lines.map((line) => line.trimEnd()) };
    },
  });

  it("has one object a line, with time, level, message and fields, and fields of its own", () => {
    const { logger, lines } = logged({ clock: manualClock(0), fields: { node: "n1" } });
    logger.log("warn", "A session\ncould not be opened.", { session: "s1", level: "debug", count: 2 });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.endsWith("\n")).toBe(true);
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      ...{ at: "1970-01-01T00:00:00.000Z", level: "warn", message: "A session\ncould not be opened." },
      ...{ node: "n1", session: "s1", count: 2 },
    });
  });

  it("has no key, token or password, wherever it stands: message, field, name of a field, list, object", () => {
    const { logger, lines } = logged({ secrets: ["canary of this server"] });
    for (const canary of canaries)
      logger.log("error", `It failed with ${canary}.`, {
        cause: `x ${canary} y`,
        list: [canary, { deep: canary }],
        [canary]: "value",
        apiKey: canary,
        tokens: 3,
      });
    expect(lines.join("")).not.toMatch(/canary/i);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ apiKey: "[redacted]", tokens: 3 });
  });

  it("has no content under the names that content has", () => {
    const fields = { prompt: "P-CANARY", args: { to: "A-CANARY" }, messages: ["M-CANARY"], output: "O-CANARY", session: "s1" };
    expect(redactFields(fields)).toEqual({
      prompt: "[content]",
      args: "[content]",
      messages: "[content]",
      output: "[content]",
      session: "s1",
    });
  });

  it("has the class and the frames of an error, and nothing of its message: neither by itself, nor in its stack, nor in its causes", () => {
    const { logger, lines } = logged();
    class OrderError extends Error {}
    const inner = new TypeError("CANARY of the cause\nin two lines");
    const { message, stack = "" } = new OrderError("CANARY of the order", { cause: inner });
    const cause = { name: inner.name, message: inner.message, stack: inner.stack ?? "" };
    logger.log("error", "A hook failed.", { error: { name: "OrderError", message, stack, cause } });
    logger.log("error", "A check failed.", { cause: `${inner.name}: ${inner.message}` });
    logger.log("error", "A tool failed.", { cause: "CANARY alone", error: { thrown: "CANARY that is no error" } });
    expect(lines.join("")).not.toContain("CANARY");
    const [first, second] = lines.map((line) => JSON.parse(line));
    expect(first.error.stack).toMatch(/^Error: \[content\]\n {4}at .*logs\.test\.ts/);
    expect(first.error.cause.stack).toMatch(/^TypeError: \[content\]\n {4}at /);
    expect(second.cause).toBe("TypeError: [content]");
  });

  it("leaves plain words as they are", () => {
    for (const text of ["The key of the map is missing.", "https://example.org/a?b=c", "task-force", "A basic idea."])
      expect(redactText(text)).toBe(text);
  });

  it("does not throw where its output does, and writes what JSON cannot hold without its fields", () => {
    const broken = jsonLogger({
      write: () => {
        throw new Error("The pipe is closed.");
      },
    });
    expect(() => broken.log("error", "A message.")).not.toThrow();
  });

  it("of a server that fails in every way has neither the question, nor the answer, nor the token of the caller", async () => {
    const { logger, lines } = logged();
    const provider = scripted(() => ({ text: "ANSWER-CANARY", error: "MODEL_REFUSED" as const }));
    const agent = createAgent({
      name: "helper",
      provider,
      hooks: [
        {
          name: "broken",
          prepare() {
            throw new Error("The hook is broken: Bearer CANARY.canary.0123456789");
          },
        },
      ],
    });
    const { ask } = telemetryServer({ agent, logger, principal: anne });
    await ask("/api/agent/execute", { input: "QUESTION-CANARY", context: {} });
    await new Promise((resolve) => setImmediate(resolve));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join("")).not.toMatch(/canary/i);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: expect.any(String), message: expect.any(String) });
  });
});
