import { type ScryptOptions, scrypt } from "node:crypto";
import { AgentError } from "@loopwright/core";
import { keyBytes } from "../envelope/envelope.ts";
import { type MasterKey, masterKeyFrom } from "../master-keys.ts";

/** What one guess of a passphrase costs: memory of 128 x N x r bytes, and the time to fill it. */
export interface ScryptCost {
  /** A power of two. */
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** 128 MiB and about half a second. @see https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html (scrypt) */
export const scryptCost: ScryptCost = { N: 2 ** 17, r: 8, p: 1 };

/** A file may not make its reader spend more than this. */
const bytesMax = 1024 * 1024 * 1024;

/** The master key of a passphrase. @throws AgentError CONFIG_INVALID for an empty passphrase or costs that are out of range */
export async function passphraseKey(passphrase: string, salt: Uint8Array, { N, r, p }: ScryptCost): Promise<MasterKey> {
  if (typeof passphrase !== "string" || passphrase === "")
    throw new AgentError("CONFIG_INVALID", {
      message: "The passphrase of the secrets is empty.",
      fix: "Pass the passphrase that the file was made with.",
    });
  if (!isCost({ N, r, p })) throw new AgentError("CONFIG_INVALID", { message: "The costs of the passphrase are out of range." });
  return masterKeyFrom(await derived(passphrase.normalize("NFKC"), salt, { N, r, p, maxmem: 128 * N * r * 2 }));
}

/** True for costs that this process is ready to spend. */
export function isCost({ N, r, p }: ScryptCost): boolean {
  const isWhole = [N, r, p].every((each) => Number.isSafeInteger(each) && each >= 1);
  return isWhole && N >= 2 && (N & (N - 1)) === 0 && 128 * N * r * p <= bytesMax;
}

function derived(passphrase: string, salt: Uint8Array, options: ScryptOptions): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase, salt, keyBytes, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}
