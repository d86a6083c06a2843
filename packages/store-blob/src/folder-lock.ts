/*
 * A folder belongs to one process at a time: the one whose identity is in its file `lock`. A lock of a dead process is taken over. That must be
 * done by one process alone, so whoever wants to replace the lock first makes a file named for it, by the same rule; the second finds it.
 */
import { AgentError } from "@loopwright/core";
import type { FileCalls } from "./file-calls.ts";
import { fateOf, ownIdentity, type ProcessIdentity } from "./process-identity.ts";

interface LockText extends ProcessIdentity {
  /** Tells one holding from another of the same process. */
  readonly nonce: string;
}

export interface FolderLock {
  /** Gives the folder back. */
  release(): Promise<void>;
}

/** How many deaths in the middle of a take-over may lie one behind the other. */
const chainMax = 8;

/** Takes the folder for this process. @throws AgentError STORE_UNAVAILABLE when another process has it */
export async function lockFolder(folder: string, files: FileCalls): Promise<FolderLock> {
  const own: LockText = { ...ownIdentity(), nonce: crypto.randomUUID() };
  const path = `${folder}/lock`;
  await take({ path, folder, files, own }, 0);
  return {
    async release() {
      if ((await read(path, files))?.nonce === own.nonce) await files.remove(path);
    },
  };
}

interface Take {
  readonly path: string;
  readonly folder: string;
  readonly files: FileCalls;
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
      if (depth >= chainMax || fateOf(holder, own) !== "dead") throw inUse(folder, holder, own);
      // Named for the dead holder: of all who find him dead one gets it.
      const right = `${folder}/lock-after-${holder.nonce}`;
      await take({ ...asked, path: right }, depth + 1);
      // Without it he was replaced while we looked.
      const isStill = (await read(path, files))?.nonce === holder.nonce;
      if (isStill) await files.rename(draft, path);
      await files.remove(right);
      if (isStill) return;
    }
    throw new AgentError("STORE_UNAVAILABLE", { message: `The store ${folder} is being taken by other processes.` });
  } finally {
    await files.remove(draft);
  }
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

function isLock(value: unknown): value is LockText {
  return typeof value === "object" && value !== null && "machine" in value && "pid" in value && "started" in value && "nonce" in value;
}

function inUse(folder: string, holder: LockText, own: LockText): AgentError {
  const isForeign = fateOf(holder, own) === "foreign";
  return new AgentError("STORE_UNAVAILABLE", {
    message: `The store ${folder} is in use by process ${holder.pid}${isForeign ? " of another machine or container" : ""}.`,
    fix: isForeign
      ? `One process at a time can use it. If that one is gone, delete ${folder}/lock.`
      : `One process at a time can use it: end process ${holder.pid}, or name another folder.`,
    details: { pid: holder.pid },
  });
}
