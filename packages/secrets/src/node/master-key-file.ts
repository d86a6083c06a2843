import { randomUUID } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { AgentError } from "@loopwright/core";
import { type MasterKey, masterKeyOf, newMasterKey } from "../master-keys.ts";

/**
 * The master key of a file; a file that does not exist is made with a new key that only this user may read. Keep it apart from the secrets that it opens, and
 * back it up: without it they are lost. @throws AgentError CONFIG_INVALID for a file that holds no key, STORE_UNAVAILABLE
 */
export async function masterKeyFile(path: string): Promise<MasterKey> {
  try {
    return await masterKeyOf((await read(path)) ?? (await made(path)));
  } catch (cause) {
    if (cause instanceof AgentError) throw cause;
    throw new AgentError("STORE_UNAVAILABLE", {
      message: `The file of the master key ${JSON.stringify(path)} could not be read or made.`,
      fix: "Check the path and its permissions.",
      cause,
    });
  }
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Of several processes that make it at once one wins, and all get its key: a link appears whole. */
async function made(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${randomUUID()}`;
  const handle = await open(fresh, "wx", 0o600);
  try {
    await handle.writeFile(`${newMasterKey()}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await link(fresh, path).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  });
  await rm(fresh, { force: true });
  return readFile(path, "utf8");
}
