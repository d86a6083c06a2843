import { expect, it } from "vitest";
import { scripted } from "../memory/scripted-provider.ts";
import type { ModelProvider } from "../ports/model-provider.ts";
import { createAgent } from "./agent.ts";
import { providerEntry } from "./model-ref.ts";

interface VendorOptions {
  readonly apiKey?: string;
}

const given: VendorOptions[] = [];
const vendor = providerEntry((options: VendorOptions = {}): ModelProvider => {
  given.push(options);
  return scripted([]);
});

it("a provider's entry gives the provider, or one of its models with the owner of its key", () => {
  given.length = 0;
  expect(vendor({ apiKey: "k" }).name).toBe("scripted");
  const ref = vendor("large", { apiKey: "k", keyOwner: "user" });
  expect([ref.model, ref.keyOwner, ref.provider.name]).toEqual(["large", "user", "scripted"]);
  expect(vendor("large").keyOwner).toBe("platform");
  expect(given).toEqual([{ apiKey: "k" }, { apiKey: "k" }, {}]);
});

it("an agent takes a model, or a chain of models, in place of a provider and the name of a model", () => {
  const [first, second] = [vendor("large"), vendor("small", { keyOwner: "scope" })];
  const one = createAgent({ name: "helper", model: first });
  expect([one.provider, one.model, one.chain]).toEqual([first.provider, "large", [first]]);
  const two = createAgent({ name: "helper", model: [first, second] });
  expect([two.provider, two.model, two.chain]).toEqual([first.provider, "large", [first, second]]);
  const long = createAgent({ name: "helper", provider: first.provider, model: "large" });
  expect(long.chain).toEqual([first]);
});

it("an agent that is given again keeps its chain, unless it is given another model", () => {
  const [first, second] = [vendor("large"), vendor("small")];
  const agent = createAgent({ name: "helper", model: [first, second] });
  expect(createAgent({ ...agent, prompt: "Be brief." }).chain).toEqual([first, second]);
  expect(createAgent({ ...agent, model: "other" }).chain).toEqual([{ ...first, model: "other" }]);
});

it("what is no model is refused when the agent is created", () => {
  const wrong = [
    { model: [] },
    { model: [vendor("large"), {}] },
    { model: {} },
    { model: "large" },
    {},
    { provider: { ...scripted([]), defaultModel: "" } },
  ];
  for (const options of wrong)
    expect(() => createAgent({ name: "helper", ...(options as { model: never }) })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
});
