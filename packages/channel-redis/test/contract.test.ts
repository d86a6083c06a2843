import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import { faultyProxy } from "@loopwright/simulator/node";
import { eventChannelKit, runKit } from "@loopwright/testing";
import { describe, it, onTestFinished } from "vitest";
import { channelLimits } from "../src/channel-limits.ts";
import { type RedisChannelOptions, redisChannel } from "../src/index.ts";
import { describeWithRedis } from "./redis-suite.ts";

let tests = 0;

/** A topic without listeners is unsubscribed at once. */
const impatient: Clock = {
  ...systemClock,
  after(ms, run, options) {
    if (ms !== channelLimits.lingerMs) return systemClock.after(ms, run, options);
    run();
    return () => {};
  },
};

describeWithRedis("the channel over Redis keeps the promises of event channels", (redis) => {
  const make = (clock: Clock) => async () => {
    const line = await faultyProxy({ target: { port: redis().port } });
    // Tests of one suite share a Redis: each has a prefix of its own.
    const node = (options: RedisChannelOptions) => {
      const channel = redisChannel({ ...options, clock, prefix: `test-${tests}` });
      onTestFinished(() => channel.close());
      return channel;
    };
    tests++;
    onTestFinished(() => line.close());
    return {
      channel: node({ url: redis().url }),
      secondNode: node({ url: `redis://${line.host}:${line.port}` }),
      patienceMs: 5_000,
      async cut(act: () => void | Promise<void>) {
        line.infect({ isRefusing: true });
        line.cut("reset");
        await act();
        const probe = redisChannel({ url: redis().url, prefix: "probe" });
        // Redis runs commands in the order in which they arrive: what `act` published is done when this is.
        probe.publish({ scope: "probe", session: "probe" }, [{ type: "text_start", lane: 1, n: 1, index: 0 }]);
        await probe.close();
        line.infect();
      },
    };
  };
  runKit(it, eventChannelKit, { make: make(systemClock) });
  describe("also where topics are left without a pause", () => runKit(it, eventChannelKit, { make: make(impatient) }));
});
