import { expect, it } from "vitest";
import { bullQueue } from "./bull-queue.ts";

it("refuses options that name no Redis, or two, without repeating a password", () => {
  for (const options of [{}, { url: "hunter2" }, { url: "http://hunter2@x" }, { url: "redis://x", clientOptions: {} }])
    expect(() => bullQueue(options)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.not.stringContaining("hunter2") }),
    );
});

it("hands a worker nothing once it is closed", async () => {
  const queue = bullQueue({ url: "redis://127.0.0.1:1" });
  await queue.close();
  await queue.work(async () => {}, { concurrency: 1 }).stop();
  await expect(queue.offer({ scope: "local", session: "first" })).rejects.toMatchObject({ code: "QUEUE_UNAVAILABLE", retryable: false });
});
