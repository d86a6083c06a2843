import { expect, it } from "vitest";
import { seededIds } from "./seeded-ids.ts";
import { seededRandom } from "./seeded-random.ts";

const many = <T>(next: () => T): readonly T[] => Array.from({ length: 2_000 }, next);

it("the same seed gives the same ids, another seed others", () => {
  expect(many(seededIds(7).next)).toEqual(many(seededIds(7).next));
  expect(seededIds(7).next()).not.toBe(seededIds(8).next());
});

it("ids have the shape of real ones, are all different and sort by age", () => {
  const ids = many(seededIds(1).next);
  for (const id of ids) expect(id).toMatch(/^[0-9a-v]{26}$/);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(ids.toSorted());
});

it("random numbers lie in [0, 1), spread over it, and are the same for the same seed", () => {
  const numbers = many(seededRandom(3));
  expect(numbers).toEqual(many(seededRandom(3)));
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
  const buckets = Array.from({ length: 10 }, (_, at) => numbers.filter((number) => Math.floor(number * 10) === at).length);
  expect(Math.min(...buckets)).toBeGreaterThan(140);
  expect(Math.max(...buckets)).toBeLessThan(260);
});
