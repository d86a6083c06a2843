import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Beginnings of the ids of what is to be measured; empty: everything. */
  readonly only: readonly string[];
  readonly rounds: number;
  /** Profile Loopwright on everything that is measured, not only where a goal is missed. */
  readonly profile: boolean;
  /** Write docs/performance.md. */
  readonly write: boolean;
}

const roundsDefault = 5;

/** @throws Error when an option is unknown or out of range. */
export function benchOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: args.filter((argument) => argument !== "--"),
    options: {
      only: { type: "string", multiple: true, default: [] },
      rounds: { type: "string", default: String(roundsDefault) },
      profile: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds ${values.rounds}: use a whole number from 1 on.`);
  if (values.write && values.only.length > 0) throw new Error("--write makes the whole page: leave --only out.");
  return { only: values.only, rounds, profile: values.profile, write: values.write };
}
