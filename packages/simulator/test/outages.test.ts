import { expect, it } from "vitest";
import { runOutages } from "../src/index.ts";

it("a store that is away for ten seconds costs nothing, whenever between two renewals that begins", async () => {
  const { outages, failures } = await runOutages();
  expect(outages).toBe(64);
  expect(failures).toEqual([]);
});

it("a store that is away for longer than an owner stays is found to cost something", async () => {
  const { outages, failures } = await runOutages({ lastsMs: 18_500, stepMs: 2_000 });
  expect(failures).toHaveLength(outages);
});
