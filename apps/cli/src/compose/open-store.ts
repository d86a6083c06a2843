import { createHash } from "node:crypto";
import { join } from "node:path";
import { AgentError } from "@loopwright/core";
import type { Logger, SessionStore } from "@loopwright/core/ports";
import type { ConditionalBlobs } from "@loopwright/store-blob";
import type { RedisStore } from "@loopwright/store-redis";
import { sqliteStore } from "@loopwright/store-sqlite";
import type { Environment } from "../config/environment.ts";
import type { StorePlace } from "../config/store-place.ts";
import { companion } from "./companion.ts";

export interface StoreOptions {
  readonly environment: Environment;
  readonly logger?: Logger;
}

/** The store of the settings; only its package is loaded. Nothing is touched before its first use. @throws AgentError CONFIG_INVALID */
export async function openStore(place: StorePlace, { environment, logger }: StoreOptions): Promise<SessionStore> {
  switch (place.kind) {
    case "sqlite":
      return sqliteStore(place.file);
    case "redis":
      return openRedis(place.url, { environment, ...(logger ? { logger } : {}) });
    case "files": {
      const { fileBlobs } = await companion("@loopwright/store-blob", () => import("@loopwright/store-blob"));
      return openObjects(fileBlobs({ folder: place.folder }));
    }
    case "s3":
      return openBucket(place, environment);
    default:
      return place satisfies never;
  }
}

/** The store in this Redis. @throws AgentError CONFIG_INVALID */
export async function openRedis(url: string, { environment, logger }: StoreOptions): Promise<RedisStore> {
  const { redisStore } = await companion("@loopwright/store-redis", () => import("@loopwright/store-redis"));
  const durability = durabilityOf(environment["LOOPWRIGHT_REDIS_DURABILITY"]);
  const marksFile = marksFileOf(url, environment["LOOPWRIGHT_STATE_DIR"]);
  const more = { ...(durability ? { durability } : {}), ...(logger ? { logger } : {}), ...(marksFile ? { marksFile } : {}) };
  return redisStore({ url, ...more });
}

/** Where this machine keeps what it saw last of a Redis: a file for each server and database, whose name holds no password. */
function marksFileOf(url: string, folder: string | undefined): string | undefined {
  if (folder === undefined) return undefined;
  const { host, pathname } = new URL(url);
  return join(folder, `redis-${createHash("sha256").update(`${host}${pathname}`).digest("hex").slice(0, 16)}.json`);
}

/** What a Redis without an append-only file is taken with. */
function durabilityOf(text: string | undefined): "aof" | "none" | undefined {
  if (text === undefined || text === "aof" || text === "none") return text;
  throw new AgentError("CONFIG_INVALID", {
    message: "LOOPWRIGHT_REDIS_DURABILITY is neither `aof` nor `none`.",
    fix: "Leave it out, or set `none` where a restart of Redis may lose every session.",
  });
}

async function openBucket(place: StorePlace & { readonly kind: "s3" }, environment: Environment): Promise<SessionStore> {
  return openObjects(await bucketObjects(place, environment));
}

/** The objects of a bucket. @throws AgentError CONFIG_INVALID without the variables that it needs */
export async function bucketObjects(
  { bucket, prefix }: StorePlace & { readonly kind: "s3" },
  environment: Environment,
): Promise<ConditionalBlobs> {
  const endpoint = environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"];
  // Servers that speak the language of S3 mostly do not care for the region.
  const region = environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? (endpoint === undefined ? undefined : "us-east-1");
  const [accessKeyId, secretAccessKey] = [environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"]];
  if (region === undefined || accessKeyId === undefined || secretAccessKey === undefined)
    throw new AgentError("CONFIG_INVALID", {
      message: "The bucket needs AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and not all of them are set.",
      fix: "Set them in the environment or `.env`; AWS_ENDPOINT_URL_S3 for a server that is not Amazon's.",
    });
  const { s3Blobs } = await companion("@loopwright/store-blob", () => import("@loopwright/store-blob"));
  const sessionToken = environment["AWS_SESSION_TOKEN"];
  const place = { bucket, prefix, region, accessKeyId, secretAccessKey };
  const more = { ...(endpoint === undefined ? {} : { endpoint }), ...(sessionToken === undefined ? {} : { sessionToken }) };
  return s3Blobs({ ...place, ...more });
}

/** Objects as a store, which keeps a view of each conversation for other programs beside the logs. */
async function openObjects(blobs: ConditionalBlobs): Promise<SessionStore> {
  const { blobStore } = await companion("@loopwright/store-blob", () => import("@loopwright/store-blob"));
  const { withConversationViews } = await import("@loopwright/embed");
  return withConversationViews(blobStore({ blobs }), { place: blobs });
}
