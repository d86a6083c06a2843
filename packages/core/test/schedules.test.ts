import { describe, expect, it } from "vitest";
import { type AgentSession, execute, type Fact, type FactOf } from "../src/index.ts";
import { localTime, timeInZone } from "../src/message/zoned-time.ts";
import { type ScheduleRequest, scheduleLimits } from "../src/protocol/schedule.ts";
import { calm, type World, world } from "./harness.ts";

const firings = (facts: readonly Fact[]): readonly FactOf<"input.accepted">[] =>
  facts.filter((fact): fact is FactOf<"input.accepted"> => fact.type === "input.accepted" && fact.origin?.type === "schedule");

/** Lets time pass in steps, so that every date of the way is reached. */
async function pass({ clock }: World, ms: number, stepMs = 1_000): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(stepMs);
    await calm();
  }
}

const talk = (): World => world(() => ({ text: "Done." }));

describe("a schedule", () => {
  it("sends its input once at its time, and its runs work for the user that set it", async () => {
    const made = talk();
    const at = made.clock.now() + 5_000;
    const set = await made.session.schedule("report", { input: "Report.", at, temperature: 0.5, labels: { surface: "page" } });
    expect(set).toMatchObject({ name: "report", due: at, mode: "enqueue", temperature: 0.5, labels: { surface: "page" }, user: "local" });
    expect(made.session.schedules).toEqual([set]);
    made.session.follow({ events() {} });
    await pass(made, 4_000);
    expect(firings(await made.facts())).toEqual([]);
    await pass(made, 10_000);
    expect(firings(await made.facts())).toMatchObject([
      {
        idempotencyKey: `report.${at}`,
        origin: { type: "schedule", schedule: "report", due: at },
        options: { temperature: 0.5 },
        labels: { surface: "page" },
        access: { user: "local" },
      },
    ]);
    expect(made.session.messages.at(-1)).toMatchObject({ role: "assistant", content: [{ text: "Done." }] });
    expect(made.session.schedules).toEqual([]);
  });

  it("that a wrong clock has fired early is refused for the same date once the clock is right", async () => {
    const made = talk();
    const at = made.clock.now() + 5_000;
    await made.session.schedule("report", { input: "Report.", at });
    made.session.follow({ events() {} });
    made.clock.setBack(-10_000);
    await pass(made, 2_000);
    made.clock.setBack(10_000);
    await expect(made.session.schedule("report", { input: "Report.", at })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("has fired"),
    });
    await pass(made, 10_000);
    expect(firings(await made.facts())).toHaveLength(1);
    await made.session.schedule("report", { input: "Report.", at: at + 20_000 });
    await pass(made, 20_000);
    expect(firings(await made.facts())).toHaveLength(2);
  });

  it("with an interval fires again and again until it is removed, and times that were missed fire once", async () => {
    const made = talk();
    const begin = made.clock.now();
    await made.session.schedule("tick", { input: "Tick.", everyMs: 10_000 });
    const stop = made.session.follow({ events() {} });
    await pass(made, 35_000);
    stop();
    await made.session[Symbol.asyncDispose]();
    await pass(made, 60_000);
    const later = made.again();
    later.follow({ events() {} });
    await pass(made, 10_000);
    const dues = firings(await made.facts()).map(({ origin }) => (origin?.type === "schedule" ? origin.due - begin : 0));
    expect(dues).toEqual([10_000, 20_000, 30_000, 40_000, 100_000]);
    expect(await later.unschedule("tick")).toBe(true);
    expect(await later.unschedule("tick")).toBe(false);
    await pass(made, 30_000);
    expect(firings(await made.facts())).toHaveLength(5);
    expect((await made.facts()).at(-1)).toMatchObject({ type: "schedule.cleared", schedule: "tick", by: "local" });
  });

  it("is set again by the same request without a second fact, and changed by another one", async () => {
    const made = talk();
    const request = { input: "Tick.", everyMs: 10_000 };
    const first = await made.session.schedule("tick", request);
    made.clock.advance(3_000);
    expect(await made.again().schedule("tick", request)).toEqual(first);
    expect((await made.types()).filter((type) => type === "schedule.set")).toHaveLength(1);
    const changed = await made.session.schedule("tick", { ...request, input: "Tock." });
    expect(changed).toMatchObject({ message: { content: "Tock." }, due: made.clock.now() + 10_000 });
    expect(made.session.schedules).toEqual([changed]);
  });

  it("of two handles on one session fires once", async () => {
    const made = talk();
    await made.session.schedule("report", { input: "Report.", at: made.clock.now() + 5_000 });
    for (const session of [made.session, made.again(), made.again()]) session.follow({ events() {} });
    await pass(made, 60_000);
    expect(firings(await made.facts())).toHaveLength(1);
  });

  it("with `interrupt` stops the open run", async () => {
    const made = world([{ hang: true }, { text: "Done." }]);
    await made.session.schedule("stop", { input: "Stop and report.", everyMs: 2_000, mode: "interrupt" });
    const open = execute(made.session, "Write a lot.");
    await pass(made, 2_000);
    await made.session.unschedule("stop");
    expect((await open.result()).status).toBe("aborted");
  });

  it("passes the `accept` hooks when it is set: what they refuse is not set, and what they edit is sent", async () => {
    const accept = ({ message }: { readonly message: { readonly content: unknown } }) =>
      message.content === "secret"
        ? ({ action: "refuse", reason: "no secrets" } as const)
        : ({ action: "edit", message: "Edited." } as const);
    const made = world(() => ({ text: "Done." }), { hooks: [{ name: "guard", accept }] });
    await expect(made.session.schedule("a", { input: "secret", everyMs: 5_000 })).rejects.toMatchObject({ code: "INPUT_REFUSED" });
    expect(await made.types()).not.toContain("schedule.set");
    await made.session.schedule("a", { input: "Hi.", everyMs: 5_000 });
    made.session.follow({ events() {} });
    await pass(made, 5_000);
    expect(firings(await made.facts())).toMatchObject([
      { message: { content: "Edited." }, verdicts: [{ hook: "guard", point: "accept", action: "edit" }] },
    ]);
  });
});

describe("the time of a schedule", () => {
  it("is a local time in its zone, also across a change of its clocks", async () => {
    const made = talk();
    const dueOf = async (request: Partial<ScheduleRequest>): Promise<string> =>
      new Date((await made.session.schedule("a", { input: "Hi.", ...request })).due).toISOString();
    const year = new Date(made.clock.now()).getUTCFullYear() + 1;
    expect(await dueOf({ at: `${year}-01-15T09:00`, timeZone: "Europe/Berlin" })).toBe(`${year}-01-15T08:00:00.000Z`);
    expect(await dueOf({ at: `${year}-07-15T09:00:30`, timeZone: "Europe/Berlin" })).toBe(`${year}-07-15T07:00:30.000Z`);
    expect(await dueOf({ at: `${year}-07-15T09:00-03:30` })).toBe(`${year}-07-15T12:30:00.000Z`);
  });

  it("that a zone skips is later by the gap, and the first of one that comes twice", () => {
    const berlin = (local: string): string => new Date(timeInZone(Date.parse(local), "Europe/Berlin")).toISOString();
    expect(berlin("2026-03-29T02:30Z")).toBe("2026-03-29T01:30:00.000Z");
    expect(berlin("2026-10-25T02:30Z")).toBe("2026-10-25T00:30:00.000Z");
    expect(new Date(localTime(Date.parse("2026-10-25T00:30Z"), "Asia/Kathmandu")).toISOString()).toBe("2026-10-25T06:15:00.000Z");
  });
});

describe("a schedule that cannot be used", () => {
  const ahead = "2150-01-01T09:00";
  it.each<[string, Partial<ScheduleRequest>, string, RegExp]>([
    ["an unknown zone", { at: ahead, timeZone: "Mars/Olympus" }, "timeZone", /not a time zone/],
    ["a local time without a zone", { at: ahead }, "at", /needs its `timeZone`/],
    ["a zone beside an offset", { at: `${ahead}Z`, timeZone: "UTC" }, "timeZone", /belongs to a local time/],
    ["a time that has passed", { at: "2001-01-01T09:00Z" }, "at", /2001-01-01T09:00:00.000Z has passed/],
    ["a date that does not exist", { at: "2150-02-30T09:00Z" }, "at", /not a time\./],
    ["words in place of a time", { at: "tomorrow" }, "at", /not a time\./],
    ["a time too far ahead", { at: `${ahead}Z` }, "at", /more than ten years/],
    ["neither time nor interval", {}, "at", /needs a first time/],
    ["an interval that is too short", { everyMs: 10 }, "everyMs", /from 1000 to/],
    ["an interval that is no whole number", { everyMs: Number.NaN }, "everyMs", /whole number/],
    ["another mode", { everyMs: 5_000, mode: "steer" as "enqueue" }, "mode", /enqueue or interrupt/],
    ["a message that is too large", { everyMs: 5_000, input: "x".repeat(scheduleLimits.messageBytes) }, "input", /at most 65536 bytes/],
  ])("is refused for %s, and nothing is recorded", async (_, request, field, message) => {
    const made = talk();
    const setting = made.session.schedule("a", { input: "Hi.", ...request });
    await expect(setting).rejects.toMatchObject({ code: "INPUT_INVALID", message: expect.stringMatching(message), details: { field } });
    expect(await made.facts()).toEqual([]);
  });

  it("M10: is refused for a name that is no name, on a closed session, and beyond the most that a session may have", async () => {
    const { session } = talk();
    const set = (name: string, on: AgentSession = session) => on.schedule(name, { input: "Hi.", everyMs: 60_000 });
    await expect(set("A b")).rejects.toMatchObject({ code: "INPUT_INVALID", details: { field: "name" } });
    for (let count = 0; count < scheduleLimits.perSession; count++) await set(`s${count}`);
    await expect(set("more")).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("already has 100 schedules"),
    });
    await set("s0");
    await session.end();
    await expect(set("s0")).rejects.toMatchObject({ code: "SESSION_CLOSED" });
    await expect(session.unschedule("s0")).rejects.toMatchObject({ code: "SESSION_CLOSED" });
  });
});
