/*
 * Owns: a folder of files, one per object, and the right to write to it. Does not own: what the objects mean.
 * Invariants
 *  I1 a file gets its name only after its bytes are on the disk; so what has a name is whole, or its checksum shows that it is not.
 *  I2 `written` is answered only after the name is on the disk.
 *  I3 a file or folder whose sync failed is not synced again as if nothing had been: a new file is written, and the folder opened anew,
 *     before anything else in it is acknowledged.
 *  I4 one process at a time (`folder-lock.ts`); within it conditions are checked one after the other for each key.
 *  I5 no link is followed below the folder: what lies behind one belongs to others.
 */
import { AgentError } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import type { ConditionalBlobs, ObjectPage, PutOptions, PutOutcome, StoredObject } from "../conditional-blobs.ts";
import { KeyQueue } from "../key-queue.ts";
import { storeLimits } from "../store-limits.ts";
import { type FileCalls, nodeFiles } from "./file-calls.ts";
import { fileFault, keyFault } from "./file-fault.ts";
import { FileFolder } from "./file-folder.ts";
import { type FileHeader, openFile, sealFile } from "./file-format.ts";
import { monotonicClockName, ownIdentity } from "./process-identity.ts";

export interface FileBlobsOptions {
  /** Made with the folders above it at the first use. */
  readonly folder: string;
  /** Uses a folder on a network file system all the same: then nothing but you keeps two machines from writing at once. */
  readonly force?: boolean;
  /**
   * How long this process may stand still before another may take the folder over, in milliseconds. A process of another container or machine
   * waits so long for a folder whose holder has died. Default 15,000.
   */
  readonly leaseMs?: number;
  /** Measures the age of objects, and times the renewals of the lease. Default: the machine's time since its start. */
  readonly clock?: Pick<Clock, "monotonic" | "after">;
  /** The file system. For tests. */
  readonly files?: FileCalls;
}

const listMax = 1_000;
/** A renewal takes a write: a shorter lease would run out on a busy disk. */
const leaseMsMin = 100;

/** Objects as files of a folder that this process has for itself. Nothing is touched before the first use. */
export function fileBlobs(options: FileBlobsOptions): ConditionalBlobs {
  const { folder, force = false, clock = machineClock, files = nodeFiles, leaseMs = storeLimits.folderLeaseMs } = options;
  if (folder === "") throw new AgentError("CONFIG_INVALID", { message: "The store has no folder.", fix: "Name a folder." });
  if (!(leaseMs >= leaseMsMin))
    throw new AgentError("CONFIG_INVALID", { message: `\`leaseMs\` is ${leaseMs}.`, fix: `Use ${leaseMsMin} or more.` });
  const life = JSON.stringify(ownIdentity());
  const clockName = clock === machineClock ? monotonicClockName() : "";
  const place = new FileFolder({ folder, force, files, clock, clockName, leaseMs });
  const keys = new KeyQueue();

  async function find(key: string): Promise<StoredObject | undefined> {
    // What may not stay is not shown.
    await place.recover(key);
    const file = await place.read(key);
    if (!file) return undefined;
    const { header, bytes } = openFile(file, key);
    const ageMs = header.life === life ? Math.max(0, clock.monotonic() - header.writtenMs) : Number.POSITIVE_INFINITY;
    return { bytes, etag: header.etag, ageMs, ...(header.mediaType === undefined ? {} : { mediaType: header.mediaType }) };
  }

  async function put(
    key: string,
    bytes: Uint8Array,
    { ifNoneMatch, ifMatch, mediaType, isDurable = true, isPlain = false }: PutOptions,
  ): Promise<PutOutcome> {
    if (ifMatch !== undefined && (await find(key))?.etag !== ifMatch) return { type: "refused", mayBeOwn: false };
    const etag = crypto.randomUUID();
    const header: FileHeader = { etag, writtenMs: clock.monotonic(), life, ...(mediaType === undefined ? {} : { mediaType }) };
    const outcome = await place.write(key, isPlain ? bytes : sealFile(header, bytes), { isNew: ifNoneMatch ?? false, isDurable });
    if (outcome === "written") return { type: "written", etag };
    return outcome === "taken" ? { type: "refused", mayBeOwn: false } : { type: "unknown" };
  }

  const open = async (): Promise<void> => {
    try {
      await place.open();
    } catch (error) {
      throw fileFault(error, folder);
    }
  };
  const looking = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    await open();
    try {
      return await work();
    } catch (error) {
      throw await keyFault(error, { folder: place.root, key, files });
    }
  };

  return {
    exclusive: { life },
    get: (key) => looking(key, () => find(key)),
    has: (key) => looking(key, async () => (await place.read(key)) !== undefined),
    async put(key, bytes, options = {}) {
      try {
        return await looking(key, () => keys.run(key, () => put(key, bytes, options)));
      } catch (error) {
        if (error instanceof AgentError && error.code === "STORE_FULL") return { type: "full" };
        throw error;
      }
    },
    remove: (key, options) => looking(key, () => keys.run(key, () => place.remove(key, options?.isDurable ?? false))),
    list: (prefix, options = {}) => looking(prefix, () => list(place, prefix, options)),
    close: () => place.close(),
  };
}

/** Milliseconds since the machine was started: the same for all its processes, and no hand can set it. */
const machineClock: Pick<Clock, "monotonic" | "after"> = {
  monotonic: () => Number(process.hrtime.bigint() / 1_000n) / 1_000,
  after: systemClock.after,
};

async function list(
  place: FileFolder,
  prefix: string,
  { after, limit = listMax }: { readonly after?: string; readonly limit?: number },
): Promise<ObjectPage> {
  const keys = (await place.keys(prefix, after)).sort();
  const page = keys.slice(0, limit);
  return { objects: page.map((key) => ({ key })), hasMore: keys.length > page.length };
}
