import { memoryStore } from "@loopwright/core/memory";
import type { BlobStore } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { until } from "../../../host/test/turn-of-loop.ts";
import { openNodes } from "../../test/nodes-scene.ts";
import { keyPrefix, removeExpiredKeys } from "./remove-expired-idempotency-keys.ts";

const dayMs = 86_400_000;
const scope = "local";

const keep = (blobs: BlobStore, name: string, at: number): Promise<boolean> =>
  blobs.put(scope, name, { bytes: new TextEncoder().encode(JSON.stringify({ digest: "d", at })), ifAbsent: true });

const keysOf = (blobs: BlobStore): Promise<readonly string[]> => blobs.list(scope, { prefix: keyPrefix, limit: 100_000 });

async function digestOf(text: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(text))).toString("hex");
}

describe("idempotency keys", () => {
  it("of which a scope gets as many every day do not pile up", async () => {
    const { blobs } = memoryStore();
    const perDay = 30;
    const counts: number[] = [];
    for (let day = 0; day < 120; day++) {
      const now = day * dayMs;
      for (let n = 0; n < perDay; n++) {
        const name = `${keyPrefix}${await digestOf(`${day}.${n}`)}`;
        await keep(blobs, name, now);
        await removeExpiredKeys(blobs, { scope, name, isExpired: (kept) => (kept as { at: number }).at < now - 30 * dayMs });
      }
      counts.push((await keysOf(blobs)).length);
    }
    // Of 3,600 that came.
    const young = 31 * perDay;
    expect(counts[29]).toBe(30 * perDay);
    expect(counts.slice(60).every((count) => count >= young && count < (young * 4) / 3 + 600)).toBe(true);
  });

  it("are read a few at a time, and others' blobs not at all", async () => {
    const { blobs } = memoryStore();
    const read: string[] = [];
    const watched: BlobStore = {
      ...blobs,
      get(asked, key) {
        read.push(key);
        return blobs.get(asked, key);
      },
    };
    await blobs.put(scope, "sha256-00", { bytes: new Uint8Array(1) });
    for (let n = 0; n < 100; n++) await keep(blobs, `${keyPrefix}00${String(n).padStart(2, "0")}`, n % 2);
    const removed = await removeExpiredKeys(watched, {
      scope,
      name: `${keyPrefix}0009`,
      isExpired: (kept) => (kept as { at: number }).at < 1,
    });
    expect([removed, read]).toEqual([2, ["10", "11", "12", "13"].map((end) => `${keyPrefix}00${end}`)]);
    expect(await keysOf(blobs)).toHaveLength(98);
  });

  it("count for thirty days, and make room for those that come later", async () => {
    const { nodes, store, clock } = await openNodes({ roles: ["all"] });
    const [node] = nodes;
    const begin = async (key: string, title: string): Promise<number> => {
      const headers = { "Idempotency-Key": key };
      return (await node?.ask({ path: "/api/sessions", method: "POST", headers, body: { title } }))?.status ?? 0;
    };
    expect(await begin("first", "A trip")).toBe(201);
    // The last one of each group: wherever a new one falls, one of them comes after it.
    const old = Array.from({ length: 256 }, (_, n) => `${keyPrefix}${n.toString(16).padStart(2, "0")}${"f".repeat(62)}`);
    for (const one of old) await keep(store.blobs, one, clock.now());
    clock.advance(30 * dayMs);
    expect([await begin("first", "A trip"), await begin("first", "Another")]).toEqual([200, 422]);
    expect(await begin("second", "A trip")).toBe(201);
    expect(await keysOf(store.blobs)).toHaveLength(258);
    clock.advance(1);
    expect(await begin("third", "A trip")).toBe(201);
    await until(async () => (await keysOf(store.blobs)).length === 258, "one old key goes");
  });
});
