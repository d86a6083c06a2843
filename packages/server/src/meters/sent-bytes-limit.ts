import { AgentError } from "@loopwright/core";
import type { HttpLimits } from "../server-limits.ts";
import type { Principal } from "../server-options.ts";

/** The files that are being sent. A store returns a file whole, so each one is in memory until its caller has received it. */
export interface SentFiles {
  /** Counts a file, until the returned function is called. @throws AgentError CONNECTION_LIMIT if too many bytes are being sent, to the caller or in all */
  take(principal: Principal, sizeBytes: number): () => void;
}

const retryAfterMs = 5_000;
const mebibyte = 1024 * 1024;

export function createSentFiles({ sentFileBytes, sentFileBytesPerPrincipal }: HttpLimits): SentFiles {
  const held = new Map<string, number>();
  let total = 0;

  function add(key: string, bytes: number): void {
    total += bytes;
    const own = (held.get(key) ?? 0) + bytes;
    if (own > 0) held.set(key, own);
    else held.delete(key);
  }

  return {
    take({ scope, user }, sizeBytes) {
      const key = `${scope}/${user}`;
      // A single file may always be read, whatever its size.
      const own = held.get(key) ?? 0;
      if (own > 0) check(own + sizeBytes, sentFileBytesPerPrincipal, "this caller");
      if (total > 0) check(total + sizeBytes, sentFileBytes, "the callers of this server");
      add(key, sizeBytes);
      let isTaken = true;
      return () => {
        if (isTaken) add(key, -sizeBytes);
        isTaken = false;
      };
    },
  };
}

function check(bytes: number, most: number, whose: string): void {
  if (bytes <= most) return;
  throw new AgentError("CONNECTION_LIMIT", {
    message: `With this file more than ${Math.round(most / mebibyte)} MiB of files would be on their way to ${whose}.`,
    fix: "Read the files of the open requests, or close their connections; then send the request again.",
    retryAfterMs,
  });
}
