import { modelProviderKit, runKit, tryKit } from "@loopwright/testing";
import { afterAll, describe, expect, it } from "vitest";
import { nodeHttp } from "../src/node/index.ts";
import { providerUnderTest } from "../src/testing/index.ts";
import { trailingProvider, trailingWire } from "./trailing-vendor.ts";

const transport = nodeHttp();
afterAll(() => transport.close());

const lacking = ["thinking", "opaque", "refusal", "cache-usage", "raw-arguments", "unstreamed", "vision", "text-only", "cache-keys"];
const lacks = [
  ...lacking.map((capability) => ({ capability, reason: "the vendor has none" })),
  { capability: "unthinking", reason: "the vendor has one model" },
];
const model = "trailing-1";
const make = providerUnderTest({ wire: trailingWire, model, make: (origin, key) => trailingProvider(origin, key, transport) });

describe("a vendor that ends its answers in trailers keeps the promises of a model provider", () =>
  runKit(it, modelProviderKit, { make, lacks }));

it("takes no answer of a transport without trailers for a whole one", async () => {
  const overFetch = Object.assign((...how: Parameters<typeof fetch>) => fetch(...how), { close: () => {} });
  const blind = providerUnderTest({ wire: trailingWire, model, make: (origin, key) => trailingProvider(origin, key, overFetch) });
  const text = modelProviderKit.filter(({ id }) => id === "text");
  expect(await tryKit(text, { make: blind })).toEqual([
    expect.objectContaining({ outcome: "broken", reason: expect.stringContaining("its trailers") }),
  ]);
});
