import { expect, it, vi } from "vitest";
import { randomIds } from "./random-ids.ts";

it("gives ids that sort by age and are never the same", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const ids = [0, 1, 31, 32, 1_023, 1_700_000_000_000, 1_700_000_000_001, 1_900_000_000_000].map((now) => {
    vi.setSystemTime(now);
    return randomIds.next();
  });
  vi.useRealTimers();
  expect([...ids].sort()).toEqual(ids);
  for (const id of ids) expect(id).toMatch(/^[0-9a-v]{26}$/);
  expect(new Set(Array.from({ length: 5_000 }, () => randomIds.next())).size).toBe(5_000);
});
