/*
 * Owns: the models that are called where the chosen one fails: those that are named, else those of the keys that are there.
 * Does not own: how they are written (config/fallback-model), when one is called (core).
 */
import type { Configuration } from "../config/configure.ts";
import { parseFallback } from "../config/fallback-model.ts";
import { type Vendor, vendorNamed, vendors } from "../config/vendors.ts";
import { keyOf } from "./key-of.ts";

/** A model of the chain after the first. */
export interface Fallback {
  readonly vendor: Vendor;
  /** Undefined: the vendor's default. */
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  /** Of requests to OpenAI. */
  readonly organizationId: string | undefined;
  /** What named it, for people. */
  readonly because: string;
}

/** The model that is called first. */
type First = Pick<Fallback, "vendor" | "model" | "baseUrl">;

/**
 * The chain after the first model, without the first one. Where none is named and the first vendor was found by its key, the vendors of the other keys follow with their
 * default models; a vendor that was named stays alone.
 */
export function fallbacksOf({ values, sources, environment, sourceOf }: Configuration, first: First): readonly Fallback[] {
  const { fallbacks, provider, baseUrl, organizationId } = values;
  if (first.vendor.name === "offline") return [];
  if (fallbacks !== undefined) {
    const because = sources.fallbacks ?? "";
    return fallbacks.flatMap((text) => {
      const entry = parseFallback(text, because);
      const vendor = vendorNamed(entry.provider);
      if (!vendor) return [];
      const inherited = vendor.name === "openai" ? organizationId : undefined;
      const fallback = { vendor, model: entry.model, baseUrl: entry.baseUrl, organizationId: entry.organizationId ?? inherited, because };
      return isSame(fallback, first) ? [] : [fallback];
    });
  }
  if (provider !== undefined || baseUrl !== undefined || !keyOf(first.vendor, environment)) return [];
  return vendors.flatMap((vendor) => {
    const key = keyOf(vendor, environment);
    if (vendor === first.vendor || vendor.name === "custom" || key === undefined) return [];
    const own = vendor.name === "openai" ? organizationId : undefined;
    return [{ vendor, model: undefined, baseUrl: undefined, organizationId: own, because: sourceOf(key.variable) }];
  });
}

const isSame = (one: First, other: First): boolean =>
  one.vendor === other.vendor && one.model === other.model && one.baseUrl === other.baseUrl;
