import type { SessionRef } from "@loopwright/core/ports";
import type { Tampering } from "@loopwright/testing";
import { openEntry, sealEntry } from "../src/log/log-entry.ts";

/** What is under each key; `undefined` takes it away. */
export type Changes = ReadonlyMap<string, Uint8Array | undefined>;

/**
 * Does this to the slot of one fact: gives what has to be under which keys then. The slots hold one fact each and nothing was put together yet, so
 * that the slots are the whole log.
 */
export function tamperedSlots(
  objects: ReadonlyMap<string, Uint8Array>,
  { scope, session }: SessionRef,
  { seq, way }: { readonly seq: number; readonly way: Tampering },
): Changes {
  const prefix = `sessions/${scope}/${session}/slots/`;
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).sort();
  const bytesOf = (key: string): Uint8Array => objects.get(key) ?? new Uint8Array();
  let before = "";
  let last: string | undefined;
  for (const [at, key] of keys.entries()) {
    const { lines, digest, ...header } = openEntry(bytesOf(key), { key, before });
    if (header.from !== seq || header.factCount !== 1) {
      [before, last] = [digest, key];
      continue;
    }
    if (way === "missing") return new Map([[key, undefined]]);
    if (way === "changed") {
      const forged = lines.map((line) => line.replace(/"title":"[^"]*"/, '"title":"forged"'));
      return new Map([[key, sealEntry(header, forged, { key, before }).bytes]]);
    }
    const moved = keys.slice(at).map((each) => [nextKey(each), bytesOf(each)] as const);
    return new Map([[key, bytesOf(last ?? "")], ...moved]);
  }
  throw new Error(`No slot holds fact ${seq}.`);
}

function nextKey(key: string): string {
  const slash = key.lastIndexOf("/") + 1;
  const name = key.slice(slash);
  return key.slice(0, slash) + String(Number(name) + 1).padStart(name.length, "0");
}
