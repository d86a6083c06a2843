import { providerUnderTest } from "@loopwright/provider-kit/testing";
import { modelProviderKit, runKit } from "@loopwright/testing";
import { describe, it } from "vitest";
import { acme } from "../src/index.ts";
import { acmeWire } from "./acme-wire.ts";

describe("the promises of a model provider", () =>
  runKit(it, modelProviderKit, {
    make: providerUnderTest({
      wire: acmeWire,
      model: "acme-2",
      modelWithoutVision: "acme-1",
      make: (baseURL, apiKey) => acme({ apiKey, baseURL }),
    }),
    lacks: [
      { capability: "unthinking", reason: "all of Acme's models reason" },
      { capability: "trailers", reason: "Acme sends none" },
    ],
  }));
