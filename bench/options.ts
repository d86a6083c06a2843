import { parseArgs } from "node:util";
import { contextStart } from "./context/context-scenes.ts";
import { latencyStart } from "./latency/run-latency.ts";
import { listsStart } from "./lists/list-scenes.ts";
import { youngStart } from "./young-scenes.ts";

export interface BenchOptions {
  /** Beginnings of the ids of what is to be measured; empty: everything. */
  readonly only: readonly string[];
  readonly rounds: number;
  /** Profile Loopwright on everything that is measured, not only where a goal is missed. */
  readonly profile: boolean;
  /** Write docs/performance.md; with `only: ["young"]`, `["http"]`, `["page"]`, `["durable"]`, `["lists"]`, `["latency"]`, `["context"]` or `["protocols"]` only that section. */
  readonly write: boolean;
}

const roundsDefault = 5;

/** Beginning of the ids of all that is measured over HTTP: a section of the page by itself. */
export const httpStart = "http";

/** Beginning of the ids of all that is measured of the page in a browser: a section by itself, and only measured when it is asked for. */
export const pageStart = "page";

/** Beginning of the ids of all that is measured of logs and stores: a section by itself, and only measured when it is asked for. */
export const durableStart = "durable";

/** Beginning of the ids of all that is measured of the streams of other protocols: a section by itself, and only measured when it is asked for. */
export const protocolsStart = "protocols";

const sectionStarts: readonly string[] = [
  youngStart,
  httpStart,
  pageStart,
  durableStart,
  listsStart,
  latencyStart,
  contextStart,
  protocolsStart,
];

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
  if (values.write && values.only.some((start) => !sectionStarts.includes(start)))
    throw new Error(`--write makes whole sections: leave --only out, or say --only ${sectionStarts.join(" or --only ")}.`);
  return { only: values.only, rounds, profile: values.profile, write: values.write };
}
