import type { SessionStore } from "@loopwright/core/ports";
import type { KillPoint, NodeFlaw, StoreSettings } from "./node-settings.ts";
import { s3Secret } from "./secrets.ts";

/** What the S3 server of the rig knows. */
const s3Place = { region: "eu-test-1", bucket: "sessions", accessKeyId: "AKIDEXAMPLE", secretAccessKey: s3Secret } as const;

/** The store of a world, as every process of it opens it. Only what it stands on is loaded. */
export async function openStore(settings: StoreSettings, flaw?: NodeFlaw): Promise<SessionStore> {
  switch (settings.type) {
    case "sqlite": {
      const { sqliteStore } = await import("@loopwright/store-sqlite");
      return sqliteStore({ path: settings.file });
    }
    case "files": {
      const { blobStore, fileBlobs } = await import("@loopwright/store-blob");
      return blobStore({ blobs: fileBlobs({ folder: settings.folder }) });
    }
    case "redis": {
      const { redisStore } = await import("@loopwright/store-redis");
      return redisStore({ url: settings.url, durability: flaw === "drives a store that went back" ? "none" : "aof" });
    }
    case "s3": {
      const { blobStore, s3Blobs } = await import("@loopwright/store-blob");
      return blobStore({ blobs: s3Blobs({ ...s3Place, endpoint: settings.endpoint }) });
    }
    default:
      return settings satisfies never;
  }
}

/** The same store; the process dies at the kill point. */
export function deadlyStore(store: SessionStore, point: KillPoint): SessionStore {
  let seen = 0;
  return {
    ...store,
    log: {
      ...store.log,
      async append(ref, request) {
        const isHere = request.facts.some(({ type }) => type === point.at) && ++seen === point.count;
        if (isHere && point.when === "before") process.kill(process.pid, "SIGKILL");
        const outcome = await store.log.append(ref, request);
        if (isHere) process.kill(process.pid, "SIGKILL");
        return outcome;
      },
    },
  };
}
