import { crc32 } from "node:zlib";
import type { SessionRef } from "@loopwright/core/ports";

/** A check sum of a fact as it is sent, of this session alone: what was changed on the way or in the store, or moved from another session, shows. */
export function sumOf(ref: SessionRef, body: string): number {
  return crc32(body, crc32(`${ref.scope}/${ref.session}/`));
}

/** The chain after one more fact, as Redis computes it when it writes: a lost, moved or foreign fact shows. */
export function chainOf(chain: number, sum: number): number {
  return (chain * 69_069 + sum) % 4_294_967_296;
}
