import type { IdSource } from "@loopwright/core";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";

/** A source of ids, and what makes time pass, so that age shows in the ids. */
export interface IdsUnderTest {
  readonly ids: IdSource;
  readonly pass: (ms: number) => Promise<void>;
}

const countOfIds = 2_000;

/** The promises of `IdSource`. */
export const idSourceKit: StoreKit<IdsUnderTest> = [
  {
    id: "shape",
    promise: "an id is 26 characters of 0-9 and a-v, so that it may stand in a path, a key and a header",
    async run(make) {
      const { ids } = await make();
      for (let n = 0; n < countOfIds; n++) {
        const id = ids.next();
        expectThat(/^[0-9a-v]{26}$/.test(id), `The id ${id} has another shape.`);
      }
    },
  },
  {
    id: "unique",
    promise: "no id comes twice",
    async run(make) {
      const { ids } = await make();
      const seen = new Set(Array.from({ length: countOfIds }, () => ids.next()));
      expectSame(seen.size, countOfIds, "how many are different");
    },
  },
  {
    id: "by-age",
    promise: "a later id sorts behind an earlier one",
    async run(make) {
      const { ids, pass } = await make();
      for (let round = 0; round < 5; round++) {
        const before = ids.next();
        await pass(3);
        const after = ids.next();
        expectThat(before < after, `${after} came after ${before}.`);
      }
    },
  },
  {
    id: "random",
    promise: "random numbers lie in [0, 1) and all over it",
    async run(make) {
      const { ids } = await make();
      const tenths = new Set<number>();
      for (let n = 0; n < countOfIds; n++) {
        const number = ids.random();
        expectThat(number >= 0 && number < 1, `It gave ${number}.`);
        tenths.add(Math.floor(number * 10));
      }
      expectSame(tenths.size, 10, "how many tenths it reaches");
    },
  },
];
