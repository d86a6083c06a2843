import type { KitRunner } from "./kit.ts";
import type { Make, StoreKit } from "./store-case.ts";

/** An adapter with one defect: the proof that a kit can fail. */
export interface Saboteur<Subject> {
  /** Continues "an adapter that ...". */
  readonly defect: string;
  /** Ids of the cases that must fail, all of them and no other. */
  readonly breaks: readonly string[];
  readonly make: Make<Subject>;
}

/** Registers the proof of a kit: each saboteur fails exactly what it breaks, and every case is broken by one. */
export function proveKit<Subject>(it: KitRunner, kit: StoreKit<Subject>, saboteurs: readonly Saboteur<Subject>[]): void {
  for (const { defect, breaks, make } of saboteurs)
    it(`the kit catches an adapter that ${defect}`, async () => {
      const failed: string[] = [];
      for (const { id, run } of kit) await run(make).catch(() => failed.push(id));
      const [seen, wanted] = [failed.sort().join(", "), [...breaks].sort().join(", ")];
      if (seen !== wanted) throw new Error(`It failed [${seen}] instead of [${wanted}].`);
    });
  it("every promise of the kit is broken by a saboteur", async () => {
    const broken = new Set(saboteurs.flatMap(({ breaks }) => breaks));
    const unproven = kit.filter(({ id }) => !broken.has(id)).map(({ id }) => id);
    if (unproven.length > 0) throw new Error(`No saboteur breaks: ${unproven.join(", ")}.`);
  });
}
