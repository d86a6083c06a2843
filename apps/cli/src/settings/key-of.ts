import type { Environment } from "../config/environment.ts";
import type { Vendor } from "../config/vendors.ts";

/** Name and value of the vendor's key, from the first of its variables that is set. Print the name only. */
export function keyOf(vendor: Vendor, environment: Environment): { readonly variable: string; readonly value: string } | undefined {
  for (const variable of vendor.keys) {
    const value = environment[variable]?.trim();
    if (value) return { variable, value };
  }
  return undefined;
}
