import type { Logger } from "@loopwright/core";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { LoggerUnderTest } from "../../src/logger/logger-kit.ts";

type Entry = Parameters<Logger["log"]>;

/** A logger over a list of lines; `format` makes a line of one entry. */
const logging = (format: (...entry: Entry) => readonly string[]) => async (): Promise<LoggerUnderTest> => {
  const lines: string[] = [];
  return { logger: { log: (...entry) => void lines.push(...format(...entry)) }, lines: () => lines };
};

const asJson = (...[level, message, fields]: Entry): string => JSON.stringify({ level, message, ...fields });

function guarded(...entry: Entry): string {
  try {
    return asJson(...entry);
  } catch {
    return asJson(entry[0], entry[1]);
  }
}

/** Defects of loggers. */
export const loggerSaboteurs: readonly Saboteur<LoggerUnderTest>[] = [
  {
    defect: "drops what is not urgent",
    breaks: ["a-line"],
    make: logging((...entry) => (entry[0] === "debug" ? [] : [guarded(...entry)])),
  },
  { defect: "drops the fields", breaks: ["level-and-fields"], make: logging((level, message) => [asJson(level, message)]) },
  {
    defect: "writes messages as they are",
    breaks: ["no-forged-line"],
    make: logging((...entry) => `${guarded(...entry)} ${entry[1]}`.split("\n")),
  },
  { defect: "throws at what it cannot write", breaks: ["never-throws"], make: logging((...entry) => [asJson(...entry)]) },
];
