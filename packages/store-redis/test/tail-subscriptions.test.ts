import { AgentError } from "@loopwright/core";
import { silentLogger } from "@loopwright/core/memory";
import { describe, expect, it, onTestFinished } from "vitest";
import { clientFactory } from "../src/connection/client-factory.ts";
import type { Outcome } from "../src/connection/connection.ts";
import { storeKeys } from "../src/keys.ts";
import { TailSubscriptions } from "../src/log/tail-subscriptions.ts";
import { missing, redisFixture } from "./redis-fixture.ts";
import { ref } from "./samples.ts";

const fixture = redisFixture();
const deadlineMs = 20_000;

describe.skipIf(missing !== undefined)("a listener whose connection was made while the other one gave no answer", () => {
  it("is notified of the tail once there is an answer, although no more appends come", async () => {
    const error = new AgentError("STORE_UNAVAILABLE", { message: "It is away." });
    const answers: Outcome[] = [
      { type: "uncertain", error },
      { type: "unsent", error },
    ];
    const ask = async (): Promise<Outcome> => answers.shift() ?? { type: "replied", reply: ["2", null] };
    const factory = clientFactory({ url: fixture.redis.url, durability: "none", deadlineMs, logger: silentLogger });
    const tails = new TailSubscriptions({ factory, connection: { ask }, keys: storeKeys(fixture.prefix()), deadlineMs });
    onTestFinished(() => tails.close());
    const notified: number[] = [];
    tails.subscribe(ref, (lastSeq) => notified.push(lastSeq));
    await expect.poll(() => notified).toEqual([2]);
    expect(answers).toEqual([]);
  });
});
