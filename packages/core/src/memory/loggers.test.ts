import { expect, it, vi } from "vitest";
import { consoleLogger } from "./console-logger.ts";
import { silentLogger } from "./silent-logger.ts";

it("the console logger writes one line of JSON on standard error from its level on, free of control characters; the silent one writes nothing", () => {
  const lines: unknown[] = [];
  const spy = vi.spyOn(console, "error").mockImplementation((line) => lines.push(line));
  try {
    const logger = consoleLogger({ level: "warn" });
    logger.log("info", "not this");
    logger.log("warn", "two\nlines", { count: 2, nothing: undefined });
    logger.log("error", "\u001b]52;c;\u009b2J\u202egpj.exe\u2028", { title: "\u007f" });
    silentLogger.log("error", "nor this");
  } finally {
    spy.mockRestore();
  }
  expect(lines).toEqual([
    '{"level":"warn","message":"two\\nlines","count":2}',
    '{"level":"error","message":"\\u001b]52;c;\\u009b2J\\u202egpj.exe\\u2028","title":"\\u007f"}',
  ]);
});
