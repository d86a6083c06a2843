import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AppendList, append, at, emptyList, findLastIndex, itemsFrom, lastWithKey } from "./append-list.ts";

interface Named {
  readonly name: string | undefined;
  readonly place: number;
}

const nameOf = ({ name }: Named): string | undefined => name;
const listOf = (count: number, nameAt: (place: number) => string | undefined): AppendList<Named> => {
  let list = emptyList<Named>();
  for (let place = 0; place < count; place++) list = append(list, { name: nameAt(place), place });
  return list;
};

describe("the last item with a key", () => {
  it("is the one that a search from the end finds, in every version and after every fork", () => {
    const names = fc.array(fc.option(fc.constantFrom("a", "b", "c"), { nil: undefined }), { maxLength: 40 });
    fc.assert(
      fc.property(fc.integer({ min: 240, max: 270 }), names, names, (before, one, other) => {
        const versions = [listOf(before, (place) => (place % 50 === 0 ? "a" : undefined))];
        for (const branch of [one, other])
          for (const [place, name] of branch.entries())
            versions.push(
              append(place === 0 ? (versions[0] as AppendList<Named>) : (versions.at(-1) as AppendList<Named>), { name, place }),
            );
        for (const list of [...versions, ...versions.reverse()])
          for (const key of ["a", "b", "c", "d"])
            expect(lastWithKey(list, key, nameOf)).toBe(
              at(
                list,
                findLastIndex(list, ({ name }) => name === key),
              ),
            );
      }),
      { numRuns: 60 },
    );
  });

  it("costs what is new, also where there is none", () => {
    let asked = 0;
    const counted = ({ name }: Named): string | undefined => {
      asked += 1;
      return name;
    };
    let list = listOf(5_000, String);
    expect(lastWithKey(list, "none", counted)).toBeUndefined();
    asked = 0;
    for (let place = 5_000; place < 5_100; place++) {
      list = append(list, { name: String(place), place });
      expect(lastWithKey(list, "none", counted)).toBeUndefined();
      expect(lastWithKey(list, "17", counted)?.place).toBe(17);
    }
    expect(asked).toBeLessThan(300);
  });
});

it("the items from a place on are those of the version, whatever newer versions have", () => {
  const old = listOf(300, String);
  let newer = old;
  for (let place = 300; place < 600; place++) newer = append(newer, { name: String(place), place });
  for (const from of [0, 1, 255, 256, 257, 299, 300]) {
    expect(itemsFrom(old, from).map(({ place }) => place)).toEqual(Array.from({ length: 300 - from }, (_, i) => from + i));
    expect(itemsFrom(newer, from)).toHaveLength(600 - from);
  }
  expect(itemsFrom(emptyList(), 0)).toEqual([]);
});
