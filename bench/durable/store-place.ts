import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { redisMissing, startRedis } from "@loopwright/simulator/node";
import { blobStore, fileBlobs } from "@loopwright/store-blob";
import { redisStore } from "@loopwright/store-redis";
import { sqliteStore } from "@loopwright/store-sqlite";
import type { StoreKind } from "./durable-scenes.ts";

/** A store that processes can open one after the other. */
export interface StorePlace {
  /** For `openStore`, also in another process. */
  readonly place: string;
  remove(): Promise<void>;
}

/** Why a store of this kind cannot be measured here; `undefined` where it can. */
export const storeMissing = (kind: StoreKind): string | undefined => (kind.startsWith("redis") ? redisMissing() : undefined);

/** A new place for a store of this kind. */
export async function createStorePlace(kind: StoreKind): Promise<StorePlace> {
  if (kind === "redis-everysec" || kind === "redis-always") {
    const redis = await startRedis({ args: ["--appendfsync", kind === "redis-always" ? "always" : "everysec"] });
    return { place: redis.url, remove: () => redis.stop() };
  }
  const folder = mkdtempSync(join(tmpdir(), "loopwright-bench-"));
  const place = kind === "memory" ? "memory" : kind === "sqlite" ? `sqlite:${join(folder, "log.db")}` : `files:${join(folder, "log")}`;
  return { place, remove: async () => rmSync(folder, { recursive: true, force: true }) };
}

/** The store at a place. */
export function openStore(place: string): SessionStore {
  if (place === "memory") return memoryStore();
  if (place.startsWith("sqlite:")) return sqliteStore({ path: place.slice("sqlite:".length) });
  if (place.startsWith("files:")) return blobStore({ blobs: fileBlobs({ folder: place.slice("files:".length) }) });
  return redisStore(place);
}
