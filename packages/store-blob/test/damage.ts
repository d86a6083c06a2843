import type { SessionRef } from "@loopwright/core/ports";

/** A copy with one bit changed. */
export function withFlippedBit(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = bytes.slice();
  const at = bit >> 3;
  changed[at] = (changed[at] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

/** The key of the object that holds a fact, among objects of a store. */
export function keyOfFact(objects: Iterable<readonly [string, Uint8Array]>, { scope, session }: SessionRef, seq: number): string {
  for (const [key, bytes] of objects) {
    if (!key.startsWith(`sessions/${scope}/${session}/s`) || key.endsWith(".ids")) continue;
    for (const line of new TextDecoder().decode(bytes).split("\n")) {
      if (!line.startsWith('{"format"')) continue;
      const { from, to, factCount }: { readonly from: number; readonly to?: number; readonly factCount?: number } = JSON.parse(line);
      if (seq >= from && seq <= (to ?? from + (factCount ?? 0) - 1)) return key;
    }
  }
  throw new Error(`No object holds fact ${seq}.`);
}
