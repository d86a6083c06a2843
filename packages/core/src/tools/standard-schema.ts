import type { JsonSchema } from "../message/json.ts";

/** The part of the Standard Schema specification (version 1) that core uses; zod 4, valibot and arktype have it. @see https://standardschema.dev (2026-11-20) */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    /** Standard JSON Schema: present in zod 4.2 and later. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => Record<string, unknown> };
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[];
    };

/** True for a Standard Schema, false for plain JSON Schema. */
export function isStandardSchema(schema: StandardSchema | JsonSchema): schema is StandardSchema {
  return "~standard" in schema;
}
