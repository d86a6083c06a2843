import { priceTableKit, runKit } from "@loopwright/testing";
import { describe, it } from "vitest";
import { prices } from "./prices.ts";

describe("the price table keeps every promise", () =>
  runKit(it, priceTableKit, { make: async () => ({ prices: prices(), provider: "openai", model: "gpt-4o" }) }));
