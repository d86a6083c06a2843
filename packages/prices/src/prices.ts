import type { Cost, Usage } from "@loopwright/core";
import type { PriceTable } from "@loopwright/core/ports";
import { isSameModel } from "./matched-model.ts";

/** The price of one model, in US dollars per million tokens. */
export interface PriceOverride {
  readonly input: number;
  readonly output: number;
  /** Absent: unknown, and the cost of a call with such tokens is partial. */
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

export interface PricesOptions {
  /** Prices by provider and model, as they stand on facts; `*` for every other model of a provider. They win over the data. */
  readonly overrides?: { readonly [provider: string]: { readonly [model: string]: PriceOverride } };
  /** Which provider of the data an instance with a name of its own is, for example `{ "team-claude": "anthropic" }`. */
  readonly providers?: Readonly<Record<string, string>>;
}

type Data = typeof import("@pydantic/genai-prices");
type Call = Parameters<PriceTable["costOf"]>[0];

/** Our names where the data has another. */
const providerIds: Readonly<Record<string, string>> = { gemini: "google" };

const tokensPerPrice = 1_000_000;

/**
 * A price table over the data of `@pydantic/genai-prices`, which is loaded with the first call that needs it and never asks the
 * network. An unknown model, provider or usage gives `undefined`; where only one side of the usage or of the price is known,
 * the cost is `partial`.
 */
export function prices(options: PricesOptions = {}): PriceTable {
  let loading: Promise<Data> | undefined;
  let data: Data | undefined;

  return {
    costOf(call) {
      if (!hasCounts(call.usage)) return undefined;
      const override = overrideFor(call, options.overrides);
      if (override) return costBy(override, call.usage);
      if (data) return costFrom(data, call, options.providers);
      loading ??= import("@pydantic/genai-prices").then((loaded) => {
        data = loaded;
        return loaded;
      });
      return loading.then((loaded) => costFrom(loaded, call, options.providers));
    },
  };
}

/** Everything read, where anything of it is known. */
function readOf({ input, cacheRead, cacheWrite }: Usage): number | undefined {
  if (input === undefined && cacheRead === undefined && cacheWrite === undefined) return undefined;
  return (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0);
}

function hasCounts(usage: Usage): boolean {
  return readOf(usage) !== undefined || usage.output !== undefined;
}

function overrideFor({ provider, model }: Call, overrides: PricesOptions["overrides"]): PriceOverride | undefined {
  const own = overrides && Object.hasOwn(overrides, provider) ? overrides[provider] : undefined;
  if (!own) return undefined;
  return Object.hasOwn(own, model) ? own[model] : own["*"];
}

function costBy(price: PriceOverride, usage: Usage): Cost {
  let total = 0;
  let partial = isPartial(usage);
  for (const count of ["input", "cacheRead", "cacheWrite", "output"] as const) {
    const tokens = usage[count] ?? 0;
    const perMillion = price[count];
    if (perMillion !== undefined) total += tokens * perMillion;
    else if (tokens > 0) partial = true;
  }
  return costOf(total / tokensPerPrice, partial);
}

function isPartial(usage: Usage): boolean {
  return usage.input === undefined || usage.output === undefined;
}

function costOf(totalUsd: number, partial: boolean): Cost {
  return partial ? { totalUsd, partial } : { totalUsd };
}

function costFrom(
  { calcPrice, findProvider }: Data,
  { provider, model, usage, at }: Call,
  names: PricesOptions["providers"],
): Cost | undefined {
  const providerId = names?.[provider] ?? providerIds[provider] ?? provider;
  // The data would also take `my-openai-proxy` for OpenAI.
  if (findProvider({ providerId })?.id !== providerId) return undefined;
  const read = readOf(usage);
  const result = calcPrice(
    {
      ...(read === undefined ? {} : { input_tokens: read }),
      ...(usage.cacheRead === undefined ? {} : { cache_read_tokens: usage.cacheRead }),
      ...(usage.cacheWrite === undefined ? {} : { cache_write_tokens: usage.cacheWrite }),
      ...(usage.output === undefined ? {} : { output_tokens: usage.output }),
    },
    model,
    { providerId, timestamp: new Date(at) },
  );
  if (!result || !isSameModel(model, result.model.id)) return undefined;
  const readIsPriced = !read || result.model_price["input_mtok"] !== undefined;
  const outputIsPriced = !usage.output || result.model_price["output_mtok"] !== undefined;
  if (!readIsPriced && !outputIsPriced) return undefined;
  return costOf(result.total_price, isPartial(usage) || !readIsPriced || !outputIsPriced);
}
