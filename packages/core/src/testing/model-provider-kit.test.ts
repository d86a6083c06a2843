import { describe, it } from "vitest";
import { runKit } from "./kit.ts";
import { modelProviderKit } from "./model-provider-kit.ts";
import { memorySubject } from "./model-provider-kit-honest.ts";

describe("a provider over a wire in memory keeps every promise", () =>
  runKit(it, modelProviderKit, { make: (script) => memorySubject(script) }));
