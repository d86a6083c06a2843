import type { IdSource } from "@loopwright/core";
import { seededIds } from "@loopwright/core/memory";
import type { IdsUnderTest } from "../../src/ids/id-source-kit.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";

/** Ids of a seed; their age is a count, so that no time need pass. */
export const makeSeededIds = async (): Promise<IdsUnderTest> => ({ ids: seededIds(1), pass: async () => {} });

const spoiled = (spoil: (real: IdSource) => Partial<IdSource>) => async (): Promise<IdsUnderTest> => {
  const { ids, pass } = await makeSeededIds();
  return { ids: { ...ids, ...spoil(ids) }, pass };
};

/** Defects of sources of ids. */
export const idSourceSaboteurs: readonly Saboteur<IdsUnderTest>[] = [
  { defect: "writes in capitals", breaks: ["shape"], make: spoiled((real) => ({ next: () => real.next().toUpperCase() })) },
  {
    defect: "begins again after 1,500 ids",
    breaks: ["unique"],
    make: spoiled((real) => {
      const first = Array.from({ length: 1_500 }, () => real.next());
      let count = 0;
      return { next: () => first[count++ % first.length] as string };
    }),
  },
  {
    defect: "puts the age last",
    breaks: ["by-age"],
    make: spoiled((real) => ({ next: () => [...real.next()].reverse().join("") })),
  },
  { defect: "draws from half of the range", breaks: ["random"], make: spoiled((real) => ({ random: () => real.random() / 2 })) },
];
