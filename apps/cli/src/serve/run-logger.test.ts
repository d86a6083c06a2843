import { expect, test } from "vitest";
import { createRunLogger } from "./run-logger.ts";

function open(isJson: boolean): { readonly logger: ReturnType<typeof createRunLogger>; readonly out: string[]; readonly err: string[] } {
  const [out, err]: [string[], string[]] = [[], []];
  const logger = createRunLogger({ isJson, stdout: { write: (text) => out.push(text) }, stderr: { write: (text) => err.push(text) } });
  return { logger, out, err };
}

test("information is written to standard output, and errors to standard error", () => {
  const { logger, out, err } = open(false);
  logger.notify("listening", ["one", "two"], { port: 1 });
  logger.log("info", "A request.");
  logger.log("warn", "A session\u001b[2J could not be opened.", { session: "s1", count: 2, nothing: undefined });
  expect(out).toEqual(["one\ntwo\n"]);
  expect(err).toEqual(["warn: A session␛[2J could not be opened. (session s1, count 2)\n"]);
});

test("programs get everything on standard output, one object a line", () => {
  const { logger, out, err } = open(true);
  logger.notify("listening", ["one", "two"], { port: 1 });
  logger.log("debug", "With\nlines.", { session: "s1" });
  expect(err).toEqual([]);
  expect(out.map((line) => [line.endsWith("\n"), JSON.parse(line)])).toEqual([
    [true, { at: expect.any(String), level: "info", message: "listening", port: 1 }],
    [true, { at: expect.any(String), level: "debug", message: "With\nlines.", session: "s1" }],
  ]);
});
