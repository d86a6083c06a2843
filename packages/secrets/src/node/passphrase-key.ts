import { scrypt } from "node:crypto";
import { AgentError } from "@loopwright/core";
import { keyBytes } from "../envelope/envelope.ts";
import { type MasterKey, masterKeyFrom } from "../master-keys.ts";

/** What one guess of a passphrase costs: this memory, filled this many times. */
export interface Argon2Cost {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

/** 64 MiB and a quarter of a second. @see https://www.rfc-editor.org/rfc/rfc9106#section-4 */
export const argon2Cost: Argon2Cost = { memoryKib: 64 * 1024, passes: 3, lanes: 1 };

/** How a passphrase becomes a key: `argon2id` for all that is written, `scrypt` for files of before. */
export type Derivation =
  | ({ readonly kdf: "argon2id" } & Argon2Cost)
  | { readonly kdf: "scrypt"; readonly N: number; readonly r: number; readonly p: number };

/** A file may not make its reader spend more than this. */
const bytesMax = 1024 * 1024 * 1024;
const passesMax = 64;
const lanesMax = 64;

/** The master key of a passphrase. @throws AgentError CONFIG_INVALID for an empty passphrase or costs that are out of range */
export async function passphraseKey(passphrase: string, salt: Uint8Array, derivation: Derivation): Promise<MasterKey> {
  if (typeof passphrase !== "string" || passphrase === "")
    throw new AgentError("CONFIG_INVALID", {
      message: "The passphrase of the secrets is empty.",
      fix: "Pass the passphrase that the file was made with.",
    });
  if (!isAffordable(derivation)) throw new AgentError("CONFIG_INVALID", { message: "The costs of the passphrase are out of range." });
  return masterKeyFrom(await derived(passphrase.normalize("NFKC"), salt, derivation));
}

/** True for a derivation that this process knows and is ready to pay for. */
export function isAffordable(derivation: Derivation): boolean {
  switch (derivation.kdf) {
    case "argon2id": {
      const { memoryKib, passes, lanes } = derivation;
      return (
        areCounts([memoryKib, passes, lanes]) &&
        lanes <= lanesMax &&
        passes <= passesMax &&
        memoryKib >= 8 * lanes &&
        memoryKib * 1024 <= bytesMax
      );
    }
    case "scrypt": {
      const { N, r, p } = derivation;
      return areCounts([N, r, p]) && N >= 2 && (N & (N - 1)) === 0 && 128 * N * r * p <= bytesMax;
    }
    default:
      derivation satisfies never;
      return false;
  }
}

const areCounts = (numbers: readonly number[]): boolean => numbers.every((each) => Number.isSafeInteger(each) && each >= 1);

async function derived(passphrase: string, salt: Uint8Array, derivation: Derivation): Promise<Uint8Array> {
  if (derivation.kdf === "argon2id") {
    const { memoryKib, passes, lanes } = derivation;
    // WebAssembly: the oldest Node.js that we support has no Argon2 of its own.
    const { argon2id } = await import("hash-wasm");
    return argon2id({
      ...{ password: passphrase, salt, hashLength: keyBytes, outputType: "binary" },
      ...{ memorySize: memoryKib, iterations: passes, parallelism: lanes },
    });
  }
  const { N, r, p } = derivation;
  return new Promise((resolve, reject) => {
    scrypt(passphrase, salt, keyBytes, { N, r, p, maxmem: 128 * N * r * 2 }, (error, key) => (error ? reject(error) : resolve(key)));
  });
}
