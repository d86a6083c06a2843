import type { z } from "zod";

type KeysOf<T> = T extends unknown ? keyof T : never;
type Same<A, B> = [A, KeysOf<A>] extends [B, KeysOf<B>] ? ([B, KeysOf<B>] extends [A, KeysOf<A>] ? [] : [never]) : [never];

/** Returns a function that types a schema as one of `T`. It compiles only if the output of the schema is `T`, with no field missing and none added. */
export function exactly<T>(): <Schema extends z.ZodType>(schema: Schema, ...proof: Same<z.output<Schema>, T>) => z.ZodType<T> {
  return (schema, ..._proof) => schema as z.ZodType as z.ZodType<T>;
}
