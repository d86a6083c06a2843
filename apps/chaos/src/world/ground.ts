import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type FailingDisk,
  type FaultyProxy,
  failingDisk,
  failingDiskMissing,
  faultyProxy,
  type RedisProcess,
  redisMissing,
  startRedis,
} from "@loopwright/simulator/node";
import { startChild } from "./child.ts";
import type { StoreSettings } from "./node-settings.ts";
import { redisPassword } from "./secrets.ts";
import { type SmallDisk, smallDisk, smallDiskMissing } from "./small-disk.ts";

/** What a world stands on. */
export interface Ground {
  readonly store: (folder: string) => StoreSettings;
  /** Of the channel and the queue; absent where nodes share a store alone. */
  readonly redisUrl?: string;
  readonly redis?: RedisProcess;
  /** The line that every node has to Redis: that of its store, or of all where `channelProxy` is absent. */
  readonly proxy?: FaultyProxy;
  /** The line of the channel and the queue. */
  readonly channelProxy?: FaultyProxy;
  /** One process at a time may have the store open. */
  readonly isExclusive?: boolean;
  /** What the store lies on, where it is a disk of its own. */
  readonly disk?: SmallDisk;
  /** What makes the disks of the nodes fail. */
  readonly failingDisk?: FailingDisk;
  /** Folders where everything lies that it keeps beside the folder of the world, written down anew. */
  remains?(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** How a ground is laid, and why it cannot be. */
export interface GroundPlan {
  readonly name: string;
  readonly skip?: () => string | undefined;
  lay(seed: number): Promise<Ground>;
}

/** One SQLite file. */
export const sqliteGround: GroundPlan = {
  name: "sqlite",
  lay: async () => ({ store: (folder) => ({ type: "sqlite", file: join(folder, "sessions.db") }), close: async () => {} }),
};

/** A folder of files: one node alone. */
export const filesGround: GroundPlan = {
  name: "files",
  lay: async () => ({ store: (folder) => ({ type: "files", folder: join(folder, "sessions") }), isExclusive: true, close: async () => {} }),
};

/** A bucket of an S3 server: nodes share it and nothing else. */
export const s3Ground: GroundPlan = {
  name: "s3",
  async lay() {
    const folder = await mkdtemp(join(tmpdir(), "loopwright-bucket-"));
    const server = await startChild(import.meta.resolve("./s3-process.ts"), [folder]);
    return {
      store: () => ({ type: "s3", endpoint: `http://127.0.0.1:${server.port}` }),
      async remains() {
        await server.ask("written");
        return [folder];
      },
      async close() {
        server.signal("SIGKILL");
        await server.ended;
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
};

export interface RedisGroundOptions {
  readonly appendfsync?: "everysec" | "always";
  /** The channel and the queue have a line of their own. */
  readonly hasOwnChannelLine?: boolean;
}

/** Nodes are a user with a password. The rig is the one without, so that it can ask on its own. */
const redisUser = ["--user", "node", "on", `>${redisPassword}`, "~*", "&*", "+@all"];

/** Sessions, channel and queue on one Redis behind a line that can be made bad. */
export function redisGround({ appendfsync = "everysec", hasOwnChannelLine = false }: RedisGroundOptions = {}): GroundPlan {
  return {
    name: "redis",
    skip: redisMissing,
    async lay(seed) {
      // What is compressed cannot be looked through.
      const redis = await startRedis({ args: ["--appendfsync", appendfsync, "--rdbcompression", "no", ...redisUser] });
      const target = { host: redis.host, port: redis.port };
      const proxy = await faultyProxy({ target, seed });
      const channelProxy = hasOwnChannelLine ? await faultyProxy({ target, seed }) : undefined;
      const urlOf = ({ port }: FaultyProxy): string => `redis://node:${redisPassword}@127.0.0.1:${port}`;
      return {
        store: () => ({ type: "redis", url: urlOf(proxy) }),
        redisUrl: urlOf(channelProxy ?? proxy),
        redis,
        proxy,
        ...(channelProxy ? { channelProxy } : {}),
        async remains() {
          await redis.command("SAVE");
          return [redis.dir];
        },
        async close() {
          await proxy.close();
          await channelProxy?.close();
          await redis.stop();
        },
      };
    },
  };
}

/** The same on a small disk that can be filled. */
export function onSmallDisk(plan: GroundPlan): GroundPlan {
  return {
    name: plan.name,
    skip: () => smallDiskMissing() ?? plan.skip?.(),
    async lay(seed) {
      const [ground, disk] = [await plan.lay(seed), await smallDisk()];
      const close = async (): Promise<void> => {
        await ground.close();
        await disk.close();
      };
      const remains = async (): Promise<readonly string[]> => [disk.folder, ...((await ground.remains?.()) ?? [])];
      return { ...ground, disk, store: () => ground.store(disk.folder), remains, close };
    },
  };
}

/** The same; the disk of each node can be made to fail. */
export function onFailingDisk(plan: GroundPlan): GroundPlan {
  return {
    name: plan.name,
    skip: () => failingDiskMissing() ?? plan.skip?.(),
    async lay(seed) {
      const [ground, disk] = [await plan.lay(seed), await failingDisk()];
      const close = async (): Promise<void> => {
        await ground.close();
        await disk.close();
      };
      return { ...ground, failingDisk: disk, close };
    },
  };
}
