import { memoryStore } from "@loopwright/core/memory";
import { expect, test } from "vitest";
import { markOwnKeys, unmarkOwnKeys, withoutOwnKeys } from "./own-keys-mark.ts";

const question = {} as Parameters<Awaited<ReturnType<typeof withoutOwnKeys>>>[0];

test("A54: a process without users' keys does not start on a store that takes them, until that is ended", async () => {
  const store = memoryStore();
  await markOwnKeys(store);
  await markOwnKeys(store);
  await expect(withoutOwnKeys(store)).rejects.toMatchObject({ code: "CONFIG_INVALID", fix: expect.stringContaining("own-keys off") });
  expect([await unmarkOwnKeys(store), await unmarkOwnKeys(store)]).toEqual([true, false]);
  expect(await (await withoutOwnKeys(store))(question)).toBeUndefined();
});

test("A54: one that runs already refuses calls once another process takes users' keys, and looks at the store at most every five seconds", async () => {
  const store = memoryStore();
  let [now, looks] = [0, 0];
  const get: typeof store.blobs.get = (...words) => {
    looks++;
    return store.blobs.get(...words);
  };
  const resolve = await withoutOwnKeys({ blobs: { ...store.blobs, get } }, () => now);
  await markOwnKeys(store);
  for (; now < 5_000; now += 1_000) expect(await resolve(question)).toBeUndefined();
  expect(looks).toBe(1);
  await expect(resolve(question)).rejects.toMatchObject({ code: "OWN_KEY_UNUSABLE" });
  await unmarkOwnKeys(store);
  now += 5_000;
  expect(await resolve(question)).toBeUndefined();
});
