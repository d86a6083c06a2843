import type { Clock } from "@loopwright/core";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";

/** A clock, and what makes time pass: a manual clock is advanced, a real one is waited for. */
export interface ClockUnderTest {
  readonly clock: Clock;
  readonly pass: (ms: number) => Promise<void>;
}

/** The promises of `Clock`. Durations are small, so that a real clock can be waited for. */
export const clockKit: StoreKit<ClockUnderTest> = [
  {
    id: "wall",
    promise: "the wall clock counts milliseconds since the epoch, and time passes on it",
    async run(make) {
      const { clock, pass } = await make();
      const before = clock.now();
      expectThat(before > Date.UTC(2020) && before < Date.UTC(2200), `It states ${before}.`);
      await pass(20);
      expectThat(clock.now() >= before + 19, `After 20 ms it advanced by ${clock.now() - before}.`);
    },
  },
  {
    id: "monotonic",
    promise: "intervals are counted in milliseconds and never go back",
    async run(make) {
      const { clock, pass } = await make();
      let last = clock.monotonic();
      const start = last;
      for (let round = 0; round < 5; round++) {
        await pass(4);
        expectThat(clock.monotonic() >= last, "It went back.");
        last = clock.monotonic();
      }
      expectThat(last - start >= 19, `After 20 ms it advanced by ${last - start}.`);
    },
  },
  {
    id: "once",
    promise: "what is planned runs once, not before its time and never within the call that plans it",
    async run(make) {
      const { clock, pass } = await make();
      const start = clock.monotonic();
      const ran: number[] = [];
      clock.after(0, () => ran.push(0));
      clock.after(10, () => ran.push(clock.monotonic() - start));
      expectSame(ran.length, 0, "what ran at once");
      await pass(40);
      await pass(20);
      expectSame(ran.length, 2, "how often they ran");
      expectThat((ran[1] ?? 0) >= 9, `It ran after ${ran[1]} ms instead of 10.`);
    },
  },
  {
    id: "soon",
    promise: "what is to run soon runs once, after the call that asks for it and after what was ready before",
    async run(make) {
      const { clock, pass } = await make();
      const ran: string[] = [];
      void Promise.resolve().then(() => ran.push("ready"));
      clock.soon(() => ran.push("soon"));
      expectSame(ran, [], "what ran at once");
      await pass(0);
      await pass(10);
      expectSame(ran, ["ready", "soon"], "what ran");
    },
  },
  {
    id: "order",
    promise: "what is due earlier runs earlier, whatever was planned first",
    async run(make) {
      const { clock, pass } = await make();
      const ran: string[] = [];
      clock.after(25, () => ran.push("late"));
      clock.after(5, () => ran.push("early"));
      await pass(60);
      expectSame(ran, ["early", "late"], "the order");
    },
  },
  {
    id: "cancel",
    promise: "what was cancelled does not run, and cancelling what ran or was cancelled does nothing",
    async run(make) {
      const { clock, pass } = await make();
      let ran = 0;
      const cancel = clock.after(5, () => ran++);
      const late = clock.after(5, () => (ran += 10), { idle: true });
      cancel();
      cancel();
      await pass(20);
      await pass(5);
      late();
      expectSame(ran, 10, "what ran");
    },
  },
];
