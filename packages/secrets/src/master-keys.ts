import { AgentError } from "@loopwright/core";
import { keyBytes, randomKey, seal } from "./envelope/envelope.ts";
import type { KeyRing } from "./key-ring.ts";
import { opened, unreadable } from "./unreadable.ts";

/** A master key of this process. Printed, it is its id. */
export interface MasterKey {
  /** A fingerprint: the same for the same key, and of no use to find it. */
  readonly id: string;
  readonly within: (context: string) => MasterKeyUse;
}

interface MasterKeyUse {
  seal(dataKey: Uint8Array): Uint8Array;
  open(wrapped: Uint8Array): Uint8Array;
}

const idCharacters = 16;

/**
 * The master key of a text: 32 bytes as base64 or base64url, as `newMasterKey` gives them.
 * @throws AgentError CONFIG_INVALID for any other text; the message does not have it
 */
export async function masterKeyOf(text: string): Promise<MasterKey> {
  const bytes = decoded(text.trim());
  if (bytes?.length !== keyBytes) {
    throw new AgentError("CONFIG_INVALID", {
      message: "The master key of the secrets is not usable.",
      fix: `Pass ${keyBytes} random bytes as base64, for example from \`openssl rand -base64 32\`.`,
    });
  }
  return masterKeyFrom(bytes);
}

/** The master key of 32 bytes. */
export async function masterKeyFrom(bytes: Uint8Array): Promise<MasterKey> {
  const named = new Uint8Array([...new TextEncoder().encode("loopwright master key id\n"), ...bytes]);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", named));
  const id = [...digest]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("")
    .slice(0, idCharacters);
  return {
    id,
    within: (context) => ({
      seal: (dataKey) => seal(bytes, ["loopwright data key", id, context], dataKey),
      open: (wrapped) => opened(bytes, ["loopwright data key", id, context], wrapped),
    }),
  };
}

/** A new master key as base64url, for a file or a variable of the deployment. */
export function newMasterKey(): string {
  return btoa(String.fromCharCode(...randomKey()))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/**
 * A key ring of keys of this process: `current` wraps, `older` ones only open what they wrapped before. To rotate without downtime, give all processes the
 * new key among the `older` ones, then make it the current one, then `rewrap`, then drop the old one.
 */
export function masterKeys(current: MasterKey, older: readonly MasterKey[] = []): KeyRing {
  const known = new Map([...older, current].map((key) => [key.id, key]));
  return {
    currentId: current.id,
    wrap: async (dataKey, context) => ({ masterId: current.id, bytes: current.within(context).seal(dataKey) }),
    async unwrap({ masterId, bytes }, context) {
      const key = known.get(masterId);
      if (!key) throw unreadable(`its master key \`${masterId.slice(0, 64)}\` is not among those of this process`);
      return key.within(context).open(bytes);
    },
  };
}

function decoded(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
