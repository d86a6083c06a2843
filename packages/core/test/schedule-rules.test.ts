import { describe, expect, it } from "vitest";
import { defineTool, type Fact, type FactOf } from "../src/index.ts";
import type { Logger, ScheduleRules } from "../src/ports/index.ts";
import { scheduleLimits } from "../src/protocol/schedule.ts";
import { calm, type World, world } from "./harness.ts";

const minute = 60_000;

/** Rules of this test: `every <n>` is each n-th minute of the epoch, `until <time>` the last date before that time. */
const minuteRules: ScheduleRules = {
  next(rule, { after }) {
    const [, kind, number] = /^(every|until) (\d+)$/.exec(rule) ?? [];
    if (kind === "every") return (Math.floor(after / (Number(number) * minute)) + 1) * Number(number) * minute;
    if (kind === "until") return after < Number(number) ? Number(number) : undefined;
    throw new Error(`${rule} is no rule`);
  },
};

const firings = (facts: readonly Fact[]): readonly FactOf<"input.accepted">[] =>
  facts.filter((fact): fact is FactOf<"input.accepted"> => fact.type === "input.accepted" && fact.origin?.type === "schedule");

const duesOf = (facts: readonly Fact[], begin: number): readonly number[] =>
  firings(facts).map(({ origin }) => (origin?.type === "schedule" ? (origin.due - begin) / minute : Number.NaN));

async function pass({ clock }: World, ms: number, stepMs = 5_000): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(stepMs);
    await calm();
  }
}

const talk = (scheduleRules: ScheduleRules | undefined = minuteRules, logger?: Logger): World => {
  const session = { ...(scheduleRules ? { scheduleRules } : {}), ...(logger ? { logger } : {}) };
  const made = world(() => ({ text: "Done." }), { session });
  // So that dates of the rules are whole minutes after the beginning.
  made.clock.advance(10 * minute - (made.clock.now() % (10 * minute)));
  return made;
};

describe("a schedule with a rule", () => {
  it("fires at each date of its rule, and each firing names the next one", async () => {
    const made = talk();
    const begin = made.clock.now();
    const set = await made.session.schedule("tick", { input: "Tick.", cron: "every 2", timeZone: "Europe/Berlin" });
    expect(set).toMatchObject({ due: begin + 2 * minute, cron: "every 2", timeZone: "Europe/Berlin" });
    made.session.follow({ events() {} });
    await pass(made, 7 * minute);
    expect(firings(await made.facts()).map(({ origin }) => origin)).toEqual(
      [2, 4, 6].map((at) => ({ type: "schedule", schedule: "tick", due: begin + at * minute, next: begin + (at + 2) * minute })),
    );
    expect(made.session.schedules).toMatchObject([{ name: "tick", due: begin + 8 * minute }]);
  });

  it("ends after the last date of its rule", async () => {
    const made = talk();
    await made.session.schedule("last", { input: "Tick.", cron: `until ${made.clock.now() + minute}` });
    made.session.follow({ events() {} });
    await pass(made, 3 * minute);
    expect(firings(await made.facts())).toHaveLength(1);
    expect(made.session.schedules).toEqual([]);
    expect(made.session.firings).toMatchObject([{ name: "last", status: "completed" }]);
  });

  it("is left to other processes by one that cannot compute its rule, which logs that once; it fires once where the rules are", async () => {
    const logged: string[] = [];
    const made = talk();
    const begin = made.clock.now();
    await made.session.schedule("tick", { input: "Tick.", cron: "every 1" });
    await made.session[Symbol.asyncDispose]();
    const logger: Logger = { log: (_, message) => void logged.push(message) };
    const broken: ScheduleRules = {
      next() {
        throw new Error("no tables of zones");
      },
    };
    for (const scheduleRules of [undefined, broken] as const) {
      const other = made.again({ ...({ scheduleRules } as { scheduleRules: ScheduleRules }), logger });
      const stop = other.follow({ events() {} });
      await pass(made, 2 * minute);
      stop();
      await other[Symbol.asyncDispose]();
    }
    expect(firings(await made.facts())).toEqual([]);
    expect(logged).toEqual([
      "This process computes no dates of cron expressions.",
      "The rule of the schedule cannot be read: no tables of zones",
    ]);
    made.again().follow({ events() {} });
    await pass(made, 30_000);
    expect(duesOf(await made.facts(), begin)).toEqual([1]);
  });

  it("takes `@every` as an interval, without any rules", async () => {
    const made = talk();
    const bare = made.again({ scheduleRules: undefined as unknown as ScheduleRules });
    const set = await bare.schedule("tick", { input: "Tick.", cron: "@every 1h30m5s" });
    expect(set).toMatchObject({ everyMs: 5_405_000, due: made.clock.now() + 5_405_000 });
    expect(set.cron).toBeUndefined();
  });

  it("is set again by the same request without a second fact, and changed by another zone", async () => {
    const made = talk();
    const request = { input: "Tick.", cron: "every 3", missed: "skip" } as const;
    const first = await made.session.schedule("tick", request);
    await pass(made, minute);
    expect(await made.session.schedule("tick", request)).toEqual(first);
    expect((await made.types()).filter((type) => type === "schedule.set")).toHaveLength(1);
    await made.session.schedule("tick", { ...request, timeZone: "Asia/Tokyo" });
    expect((await made.types()).filter((type) => type === "schedule.set")).toHaveLength(2);
  });

  it.each<[string, object, string, RegExp]>([
    ["a rule that cannot be read", { cron: "now and then" }, "cron", /cannot be read: now and then is no rule/],
    ["a rule without a date to come", { cron: "until 1" }, "cron", /no date to come/],
    ["a rule beside an interval", { cron: "every 1", everyMs: 5_000 }, "cron", /either/],
    ["a rule beside a first time", { cron: "every 1", at: "2150-01-01T09:00Z" }, "cron", /either/],
    ["an unknown zone", { cron: "every 1", timeZone: "Mars/Olympus" }, "timeZone", /not a time zone/],
    ["an interval without units", { cron: "@every 90" }, "cron", /interval cannot be read/],
    ["an interval that is too short", { cron: "@every 0s" }, "cron", /interval cannot be read/],
    ["an expression that is too long", { cron: "x".repeat(scheduleLimits.cronCharacters + 1) }, "cron", /at most 200 characters/],
    ["skipping without repeating", { at: "2150-01-01T09:00Z", missed: "skip" }, "missed", /repeats/],
  ])("is refused for %s, and nothing is recorded", async (_, request, field, message) => {
    const made = talk();
    const setting = made.session.schedule("a", { input: "Hi.", ...request });
    await expect(setting).rejects.toMatchObject({ code: "INPUT_INVALID", message: expect.stringMatching(message), details: { field } });
    expect(await made.facts()).toEqual([]);
  });

  it("is refused where no rules are, with what to give", async () => {
    const { session } = world([]);
    await expect(session.schedule("a", { input: "Hi.", cron: "0 9 * * *" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      fix: expect.stringContaining("scheduleRules"),
    });
  });

  it("does not fire on rules whose next date is not after the one before", async () => {
    const logged: string[] = [];
    let isBroken = false;
    const rules: ScheduleRules = { next: (rule, when) => (isBroken ? when.after : minuteRules.next(rule, when)) };
    const made = talk(rules, { log: (_, message) => void logged.push(message) });
    await made.session.schedule("tick", { input: "Tick.", cron: "every 1" });
    made.session.follow({ events() {} });
    isBroken = true;
    await pass(made, 5 * minute);
    expect(firings(await made.facts())).toEqual([]);
    expect(logged).toEqual(["The rules of schedules gave a date that is not after the previous date."]);
  });
});

describe("the times that a schedule has missed", () => {
  const awayFor = async (missed: "once" | "skip", dates: object) => {
    const made = talk();
    const begin = made.clock.now();
    await made.session.schedule("tick", { input: "Tick.", missed, ...dates });
    const stop = made.session.follow({ events() {} });
    await pass(made, 3 * minute);
    stop();
    await made.session[Symbol.asyncDispose]();
    await pass(made, 5 * minute + 30_000);
    const later = made.again();
    later.follow({ events() {} });
    await pass(made, 4 * minute);
    return { dues: duesOf(await made.facts(), begin), session: later, begin };
  };

  it.each([{ cron: "every 2" }, { everyMs: 2 * minute }])("fire once together, late, by default (%o)", async (dates) => {
    expect((await awayFor("once", dates)).dues).toEqual([2, 4, 10, 12]);
  });

  it.each([{ cron: "every 2" }, { everyMs: 2 * minute }])("are left out by `skip`, and the history shows that (%o)", async (dates) => {
    const { dues, session, begin } = await awayFor("skip", dates);
    expect(dues).toEqual([2, 10, 12]);
    expect(session.firings.map(({ due, status }) => [(due - begin) / minute, status])).toEqual([
      [12, "completed"],
      [10, "completed"],
      [4, "skipped"],
      [2, "completed"],
    ]);
  });

  it("while its last input has no answer are left out by `skip`, and never answered beside it", async () => {
    const pick = defineTool({ name: "pick", description: "Lets the user pick.", parameters: { type: "object" } });
    const script = [{ calls: [{ name: "pick", args: {} }] }, { text: "Done." }];
    const made = world(script, { tools: [pick], session: { scheduleRules: minuteRules } });
    made.clock.advance(10 * minute - (made.clock.now() % (10 * minute)));
    const begin = made.clock.now();
    await made.session.schedule("tick", { input: "Tick.", cron: "every 1", missed: "skip" });
    made.session.follow({ events() {} });
    await pass(made, 3 * minute + 30_000);
    expect(duesOf(await made.facts(), begin)).toEqual([1]);
    expect(made.session.firings).toMatchObject([{ status: "running" }]);
    await made.session.abort("enough");
    await pass(made, minute);
    expect(duesOf(await made.facts(), begin)).toEqual([1, 4]);
    expect(made.session.firings.map(({ status }) => status)).toEqual(["completed", "skipped", "aborted"]);
  });
});

it("M10: a session keeps the last 200 due times that have passed, the newest first", async () => {
  const made = talk();
  await made.session.schedule("tick", { input: "Tick.", everyMs: 1_000 });
  made.session.follow({ events() {} });
  await pass(made, 205_000, 1_000);
  expect(firings(await made.facts()).length).toBeGreaterThan(200);
  expect(made.session.firings).toHaveLength(200);
  const dues = made.session.firings.map(({ due }) => due);
  expect(dues).toEqual(dues.toSorted((a, b) => b - a));
  expect(
    await made
      .again()
      .ready()
      .then(({ firings: kept }) => kept),
  ).toEqual(made.session.firings);
});
