import { tryHostileBodies } from "@loopwright/provider-kit/testing";
import { expect, it } from "vitest";

it("survives hostile bodies over both transports in a process with a heap of 128 MB", async () => {
  const report = await tryHostileBodies(new URL("./hostile-provider.ts", import.meta.url));
  expect(report.flaws).toEqual([]);
  expect(report.calls).toBe(12);
}, 120_000);
