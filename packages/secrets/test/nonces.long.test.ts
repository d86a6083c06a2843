import { expect, it } from "vitest";
import { open, randomKey, seal } from "../src/envelope/envelope.ts";

const writes = 1_000_000;

it("K02: a million values that are encrypted under one key have a million nonces", () => {
  const key = randomKey();
  const place = ["team", "A", 1];
  const nonces = new Set<string>();
  let last: Uint8Array = new Uint8Array();
  for (let write = 0; write < writes; write++) {
    const sealed = seal(key, place, "the same value");
    nonces.add(sealed.toString("latin1", 1, 13));
    last = sealed;
  }
  expect(nonces.size).toBe(writes);
  expect(open(key, place, last)?.toString()).toBe("the same value");
}, 600_000);
