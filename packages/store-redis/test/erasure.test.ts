import { describe, expect, it } from "vitest";
import { missing, redisFixture } from "./redis-fixture.ts";
import { batch, ref } from "./samples.ts";

const fixture = redisFixture();
const bytes = new TextEncoder().encode("a secret");

describe.skipIf(missing !== undefined)("a session in Redis that was removed", () => {
  it("leaves one key that marks it as removed, and nothing else in any key", async () => {
    const prefix = fixture.prefix();
    const store = fixture.open({ prefix });
    await store.log.append(ref, batch(0, "secret words", { due: 1 }));
    await store.index.list("local");
    await store.index.search("local", "secret");
    await store.snapshots.put(ref, "fold", "secret");
    await store.blobs.put("local", "sha256-00", { bytes, session: ref.session, ifAbsent: true });
    await store.blobs.put("local", "idempotency-00", { bytes, session: ref.session, ifAbsent: true });
    await store.blobs.put("local", "upload-00", { bytes, mediaType: "text/plain" });
    await store.blobs.own("local", "upload-00", ref.session);
    const answered = async (...words: readonly string[]): Promise<readonly string[]> =>
      (await fixture.redis.command(...words)).split(/\s+/).filter((line) => /^[^*$]/.test(line));
    expect((await answered("KEYS", `${prefix}:*`)).length).toBeGreaterThan(5);
    await store.log.remove(ref);
    const meta = `${prefix}:{local.${ref.session}}:meta`;
    expect(await answered("KEYS", `${prefix}:*`)).toEqual([meta]);
    expect(await answered("HGETALL", meta)).toEqual(["removed", "1"]);
  });
});
