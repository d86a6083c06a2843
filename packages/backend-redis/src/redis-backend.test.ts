import { expect, it } from "vitest";
import { redisBackend } from "./redis-backend.ts";

it("gives store, channel and queue, connects nothing before the first use, and closes all three", async () => {
  const { store, channel, queue, close } = redisBackend("redis://127.0.0.1:1", { prefix: "mine" });
  expect([store.log.append, channel.publish, queue.offer].map((method) => typeof method)).toEqual(["function", "function", "function"]);
  expect(channel.reach).toBeUndefined();
  await close();
  await expect(queue.offer({ scope: "local", session: "first" })).rejects.toMatchObject({ code: "QUEUE_UNAVAILABLE", retryable: false });
});

it("refuses an address that is none, without repeating a password", () => {
  expect(() => redisBackend("http://hunter2@x")).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", message: expect.not.stringContaining("hunter2") }),
  );
});
