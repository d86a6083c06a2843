import type { Json, Logger } from "@loopwright/core";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";

/** A logger that takes every level, and the lines it has written. */
export interface LoggerUnderTest {
  readonly logger: Logger;
  readonly lines: () => readonly string[];
}

const levels = ["debug", "info", "warn", "error"] as const;

/** The promises of `Logger` to operators and their programs. */
export const loggerKit: StoreKit<LoggerUnderTest> = [
  {
    id: "a-line",
    promise: "each message is one line, at once and in order",
    async run(make) {
      const { logger, lines } = await make();
      for (const level of levels) logger.log(level, `It is ${level}.`);
      expectSame(lines().length, levels.length, "how many lines there are");
      for (const [n, level] of levels.entries())
        expectThat(lines()[n]?.includes(`It is ${level}.`) ?? false, `Line ${n} is ${lines()[n]}.`);
    },
  },
  {
    id: "level-and-fields",
    promise: "a line names its level and its fields",
    async run(make) {
      const { logger, lines } = await make();
      logger.log("warn", "Slow.", { session: "s1", waitMs: 70, nothing: undefined });
      for (const part of ["warn", "session", "s1", "waitMs", "70"])
        expectThat(lines()[0]?.includes(part) ?? false, `${part} is not there.`);
    },
  },
  {
    id: "no-forged-line",
    promise: "line breaks in a message or a field make no second line",
    async run(make) {
      const { logger, lines } = await make();
      logger.log("info", 'first\n{"level":"error"}\r\nthird', { text: "a\nb" });
      expectSame(lines().length, 1, "how many lines there are");
      expectThat(!/[\r\n]/.test(lines()[0] ?? ""), "There is a line break in the line.");
    },
  },
  {
    id: "never-throws",
    promise: "it never throws, whatever the message and the fields are",
    async run(make) {
      const { logger } = await make();
      const loop: { [name: string]: Json } = {};
      loop["self"] = loop;
      logger.log("error", "It loops.", { loop });
      logger.log("error", "\ud800", { half: "\udfff", not: Number.NaN });
    },
  },
];
