/*
 * Owns: every order in which four hosts can reach the store: two owners, one that aborts and one that submits an input.
 */
import type { Finding } from "../check/finding.ts";
import { createDice } from "../world/dice.ts";
import { type Choose, type RaceLimits, type RaceOptions, type RaceResult, runRace } from "./race.ts";

export interface SchedulesOptions {
  /** Requests of each owner that are ordered. Default 5: some thousand schedules; 6 is about five times as many. */
  readonly ownerRequests?: number;
  /** A random sample of this size, from this seed, in place of all schedules. */
  readonly sample?: { readonly seed: number; readonly count: number };
  /** Real milliseconds after which no further one is begun. */
  readonly limitMs?: number;
  /** Failures after which no further one is begun. Default 20. */
  readonly failuresMax?: number;
  /** Called with each schedule: the index that was let through at each choice. */
  readonly onSchedule?: (schedule: readonly number[]) => void;
  readonly onFailure?: (failure: ScheduleFailure) => void;
}

export interface ScheduleFailure {
  /** The index that was let through at each choice. */
  readonly schedule: readonly number[];
  readonly findings: readonly Finding[];
  /** One line of code that does it again. */
  readonly replay: string;
}

export interface SchedulesReport {
  readonly schedules: number;
  /** Most choices of one schedule. */
  readonly choicesMax: number;
  readonly seconds: number;
  readonly failures: readonly ScheduleFailure[];
  /** True: there are no others. */
  readonly isComplete: boolean;
}

/** Runs every schedule once, or a sample of them. */
export function runSchedules(options: SchedulesOptions = {}): Promise<SchedulesReport> {
  return runSchedulesWith(options, undefined);
}

export async function runSchedulesWith(
  { sample, limitMs, onFailure, onSchedule, ownerRequests = 5, failuresMax = 20 }: SchedulesOptions,
  spoil: RaceOptions["spoil"],
): Promise<SchedulesReport> {
  const startedAt = performance.now();
  const failures: ScheduleFailure[] = [];
  const next = sample ? atRandom(sample) : allInTurn();
  let schedules = 0;
  let choicesMax = 0;
  let choose = next();
  while (choose && failures.length < failuresMax && performance.now() - startedAt <= (limitMs ?? Number.POSITIVE_INFINITY)) {
    const { choices, findings } = await runRace(choose, { limits: limitsOf(ownerRequests), ...(spoil ? { spoil } : {}) });
    schedules += 1;
    choicesMax = Math.max(choicesMax, choices.length);
    const schedule = choices.map(({ taken }) => taken);
    onSchedule?.(schedule);
    if (findings.length > 0) {
      const failure: ScheduleFailure = { schedule, findings, replay: replayOf(schedule, ownerRequests) };
      failures.push(failure);
      onFailure?.(failure);
    }
    choose = next(choices);
  }
  const isComplete = sample === undefined && choose === undefined;
  return { schedules, choicesMax, seconds: (performance.now() - startedAt) / 1_000, failures, isComplete };
}

/** The chooser of the next race, from the choices of the last one; `undefined` when no schedule is left. */
type Next = (choices?: RaceResult["choices"]) => Choose | undefined;

/** Depth first: the next schedule differs from the last one in its last choice that has an alternative left. */
function allInTurn(): Next {
  return (choices = []) => {
    const isFirst = choices.length === 0;
    const last = choices.findLastIndex(({ taken, among }) => taken + 1 < among);
    if (last < 0 && !isFirst) return undefined;
    const schedule = choices.slice(0, last + 1).map(({ taken }, at) => (at === last ? taken + 1 : taken));
    return (choice) => schedule[choice] ?? 0;
  };
}

function atRandom({ seed, count }: NonNullable<SchedulesOptions["sample"]>): Next {
  const dice = createDice(seed);
  let left = count;
  return () => (left-- > 0 ? (_, among) => dice.below(among) : undefined);
}

const limitsOf = (ownerRequests: number): RaceLimits => ({ ownerA: ownerRequests, ownerB: ownerRequests, aborter: 1, speaker: 1 });

/** What is found in one schedule. */
export async function replaySchedule(schedule: readonly number[], ownerRequests = 5): Promise<readonly Finding[]> {
  return (await runRace((choice) => schedule[choice] ?? 0, { limits: limitsOf(ownerRequests) })).findings;
}

const replayOf = (schedule: readonly number[], ownerRequests: number): string =>
  `import { replaySchedule } from "@loopwright/simulator"; console.log(await replaySchedule(${JSON.stringify(schedule)}, ${ownerRequests}))`;
