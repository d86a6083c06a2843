import type { z } from "zod";

type KeysOf<T> = T extends unknown ? keyof T : never;
type Same<A, B> = [A, KeysOf<A>] extends [B, KeysOf<B>] ? ([B, KeysOf<B>] extends [A, KeysOf<A>] ? [] : [never]) : [never];

/** Gives schemas back as schemas of `T`; the types do not compile unless what they give is `T`, with neither a field more nor less. */
export function exactly<T>(): <Schema extends z.ZodType>(schema: Schema, ...proof: Same<z.output<Schema>, T>) => z.ZodType<T> {
  return (schema, ..._proof) => schema as z.ZodType as z.ZodType<T>;
}
