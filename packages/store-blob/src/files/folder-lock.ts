/*
 * Owns: which process may write to a folder. It is the one that the file `lock` names.
 *
 * Lease. The holder renews a file in its drafts folder every third of its lease. Another process takes the folder over
 *  - at once, when the holder's process has ended; only a process of the same boot and pid namespace can see that;
 *  - otherwise when the renewal has not changed for a whole lease. Its age is read off where both have one monotonic clock, as containers of
 *    one machine do; elsewhere the renewal is watched on the own clock. No wall clock is asked.
 *
 * Fencing. Each write gives its final name to a file in the holder's drafts folder, and each removal moves the file there. A process that takes
 * over removes all drafts folders before it reads anything. From then on the file system itself answers a former holder with ENOENT, also one
 * that was paused between its last check and its write.
 *
 * One process alone may replace a lock: to do so it first makes a file named for the holder, by the same rule; the second finds it.
 */
import { AgentError } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import { storeLimits } from "../store-limits.ts";
import { codeOf, type FileCalls } from "./file-calls.ts";
import { fateOf, ownIdentity, type ProcessIdentity } from "./process-identity.ts";

interface LockText extends ProcessIdentity {
  /** Distinguishes one holding from another of the same process. */
  readonly nonce: string;
  readonly leaseMs: number;
  /** Names the clock of the renewals; empty for one that no other process has. */
  readonly clock: string;
}

export interface LockOptions {
  readonly folder: string;
  readonly files: FileCalls;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  /** Names what `clock` counts; empty for one that no other process has. */
  readonly clockName: string;
  readonly leaseMs: number;
  /** True once the folder is not wanted any more: waiting for it ends. */
  readonly isCancelled: () => boolean;
}

/** How many deaths in the middle of a take-over may lie one behind the other. */
const chainMax = 8;

const draftsOf = (folder: string): string => `${folder}/.drafts`;
const renewalOf = (folder: string, nonce: string): string => `${draftsOf(folder)}/${nonce}/renewed`;

/**
 * Takes the folder for this process. Where it is unknown whether the holder is alive, waits for its lease, at most as long as that runs.
 * @throws AgentError STORE_UNAVAILABLE when another process has it
 */
export async function lockFolder(options: LockOptions): Promise<FolderLock> {
  const { folder, files, clockName, leaseMs } = options;
  const own: LockText = { ...ownIdentity(), nonce: crypto.randomUUID(), leaseMs, clock: clockName };
  const path = `${folder}/lock`;
  await take({ ...options, path, own }, 0);
  const lock = new FolderLock(options, own.nonce);
  try {
    await files.makeFolder(draftsOf(folder));
    await fenceFormerHolders(folder, files);
    await files.makeFolder(lock.drafts);
    await lock.renew();
    // Only now: a process that took the folder over meanwhile may have fenced before the drafts folder was there.
    const holder = await read(path, files);
    if (holder?.nonce !== own.nonce) throw inUse(folder, holder ?? own);
    return lock;
  } catch (error) {
    await lock.release().catch(() => undefined);
    // There may be no drafts folder yet to move the lock to.
    if ((await read(path, files).catch(() => undefined))?.nonce === own.nonce) await files.remove(path).catch(() => undefined);
    throw error;
  }
}

/** The right to write to a folder, as long as it is renewed. */
export class FolderLock {
  /** Where files get their bytes before they get their names; it ends with a slash. Gone when another process has taken over. */
  readonly drafts: string;
  readonly #options: LockOptions;
  readonly #nonce: string;
  #count = 0;
  #renewedMs = 0;
  #renewing: Promise<void> | undefined;
  #lost: AgentError | undefined;
  #isReleased = false;
  #cancelTimer: () => void = () => {};

  constructor(options: LockOptions, nonce: string) {
    this.#options = options;
    this.#nonce = nonce;
    this.drafts = `${draftsOf(options.folder)}/${nonce}/`;
  }

  /** A new name in the drafts folder. */
  draft(): string {
    return `${this.drafts}${this.#count++}`;
  }

  /** Makes sure of the lease where it may have run out while this process stood still. @throws AgentError STORE_UNAVAILABLE when it was lost */
  async check(): Promise<void> {
    if (this.#lost) throw this.#lost;
    if (this.#options.clock.monotonic() - this.#renewedMs >= this.#options.leaseMs) await this.renew();
  }

  /** Renews the lease, now and from time to time. A failing disk does not prevent reading. @throws AgentError STORE_UNAVAILABLE when it was lost */
  async renew(): Promise<void> {
    if (this.#lost) throw this.#lost;
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    await this.#renewing;
  }

  /** Gives the folder back. A holder that lost it changes nothing. */
  async release(): Promise<void> {
    const { folder, files } = this.#options;
    this.#isReleased = true;
    this.#cancelTimer();
    await this.#renewing?.catch(() => undefined);
    if ((await read(`${folder}/lock`, files))?.nonce === this.#nonce)
      // Through the drafts folder: after a take-over this fails, and the lock of the other process stays.
      await unlessMissing(files.rename(`${folder}/lock`, `${this.drafts}lock`));
    await removeDrafts(this.drafts, files);
  }

  async #renew(): Promise<void> {
    const { clock, files, folder, leaseMs } = this.#options;
    const nowMs = clock.monotonic();
    const draft = this.draft();
    try {
      await files.write(draft, new TextEncoder().encode(String(nowMs)), false);
      await files.rename(draft, renewalOf(folder, this.#nonce));
      this.#renewedMs = nowMs;
    } catch (error) {
      if (codeOf(error) === "ENOENT" && !this.#isReleased) throw this.#lose();
      await files.remove(draft).catch(() => undefined);
    }
    this.#cancelTimer();
    if (!this.#isReleased) this.#cancelTimer = clock.after(leaseMs / 3, () => void this.renew().catch(() => undefined), { idle: true });
  }

  #lose(): AgentError {
    const { folder } = this.#options;
    this.#lost = new AgentError("STORE_UNAVAILABLE", {
      message: `Another process took the store ${folder} over while this one stood still.`,
      fix: "Restart this process. No acknowledged data is lost.",
    });
    return this.#lost;
  }
}

/** From here on no other process can name or remove a file in the folder. */
async function fenceFormerHolders(folder: string, files: FileCalls): Promise<void> {
  for (const { name, isFolder } of await files.names(draftsOf(folder))) {
    if (isFolder) await removeDrafts(`${draftsOf(folder)}/${name}/`, files);
    else await files.remove(`${draftsOf(folder)}/${name}`);
  }
}

async function removeDrafts(drafts: string, files: FileCalls): Promise<void> {
  for (let tries = 0; tries < storeLimits.fenceTriesMax; tries++) {
    for (const { name } of await files.names(drafts)) await files.remove(drafts + name);
    // A holder that still runs may have made a file meanwhile.
    if (await files.removeFolder(drafts)) return;
  }
  throw new AgentError("STORE_UNAVAILABLE", { message: `The folder ${drafts} cannot be emptied: another process still writes to it.` });
}

interface Take extends LockOptions {
  readonly path: string;
  readonly own: LockText;
}

async function take(asked: Take, depth: number): Promise<void> {
  const { path, folder, files, own } = asked;
  const draft = `${folder}/lock-${crypto.randomUUID()}`;
  await files.write(draft, new TextEncoder().encode(JSON.stringify(own)), true);
  try {
    for (let tries = 0; tries < chainMax; tries++) {
      if (await files.link(draft, path)) return;
      const holder = await read(path, files);
      if (!holder) continue;
      if (depth >= chainMax) throw inUse(folder, holder);
      if (!(await isOver(asked, holder))) continue;
      // Named for the former holder: of all processes that find its lease over one gets it.
      const right = `${folder}/lock-after-${holder.nonce}`;
      await take({ ...asked, path: right }, depth + 1);
      // Without it the lock was replaced while we looked.
      const isStill = (await read(path, files))?.nonce === holder.nonce;
      if (isStill) await files.rename(draft, path);
      await files.remove(right);
      if (isStill) return;
    }
    throw new AgentError("STORE_UNAVAILABLE", { message: `The store ${folder} is being taken by other processes.` });
  } finally {
    // A draft that stays is harmless; a failure here would leave a lock that this process does not know to be its own.
    await files.remove(draft).catch(() => undefined);
  }
}

/** True when the holder has ended or its lease has run out; false when the lock has changed. @throws AgentError STORE_UNAVAILABLE when it lives */
async function isOver({ path, folder, files, own, clock, isCancelled }: Take, holder: LockText): Promise<boolean> {
  const fate = fateOf(holder, own);
  if (fate === "dead") return true;
  if (fate === "alive") throw inUse(folder, holder);
  const look = async (): Promise<string> => new TextDecoder().decode(await files.read(renewalOf(folder, holder.nonce)));
  const renewal = await look();
  const isSameClock = own.clock !== "" && holder.clock === own.clock && renewal !== "";
  const endMs = Math.min(clock.monotonic(), isSameClock ? Number(renewal) : Number.POSITIVE_INFINITY) + holder.leaseMs;
  while (clock.monotonic() < endMs) {
    await new Promise<void>((resolve) => void clock.after(holder.leaseMs / storeLimits.leaseLooks, resolve));
    if (isCancelled() || (await look()) !== renewal) throw inUse(folder, holder);
    if ((await read(path, files))?.nonce !== holder.nonce) return false;
  }
  return true;
}

async function read(path: string, files: FileCalls): Promise<LockText | undefined> {
  const bytes = await files.read(path);
  if (!bytes) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (isLock(value)) return value;
  } catch {
    // Below.
  }
  throw new AgentError("STORE_UNAVAILABLE", {
    message: `The lock ${path} cannot be read.`,
    fix: `If no process uses the folder, delete ${path}.`,
  });
}

const lockFields = ["machine", "pid", "started", "nonce", "leaseMs", "clock"] as const;

function isLock(value: unknown): value is LockText {
  return typeof value === "object" && value !== null && lockFields.every((field) => field in value);
}

function inUse(folder: string, holder: LockText): AgentError {
  const isHere = holder.machine === ownIdentity().machine;
  return new AgentError("STORE_UNAVAILABLE", {
    message: `The store ${folder} is in use by process ${holder.pid}${isHere ? "" : " of another machine or container"}.`,
    fix: isHere
      ? `One process at a time can use it: end process ${holder.pid}, or name another folder.`
      : `One process at a time can use it. If that one has ended, its lease runs out ${holder.leaseMs} ms after its last renewal.`,
    details: { pid: holder.pid },
  });
}

async function unlessMissing(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}
