import { tryHostileBodies } from "@loopwright/provider-kit/testing";
import { expect, it } from "vitest";

it.each(["chat", "responses"])(
  "survives hostile bodies over both transports in a process with a heap of 128 MB, over %s",
  async (api) => {
    const report = await tryHostileBodies(new URL(`./hostile-provider.ts?${api}`, import.meta.url));
    expect(report.flaws).toEqual([]);
    expect(report.calls).toBe(12);
  },
  120_000,
);
