import { AgentError } from "@loopwright/core";
import { z } from "zod";

const text = (max: number): z.ZodType<string> =>
  z
    .string()
    .max(max)
    .refine((value) => value.trim() !== "" && value.isWellFormed() && !/\p{Cc}/u.test(value), "is blank or has control characters");

/** A new instance, as its user sends it. */
interface NewInstance {
  readonly providerId: string;
  readonly model: string;
  readonly displayName: string;
  /** Given once and never shown again. */
  readonly key: string;
  readonly baseUrl?: string | undefined;
  readonly active?: boolean | undefined;
}

/** The changes of an instance; what is left out stays. */
export interface ChangedInstance {
  readonly model?: string | undefined;
  readonly displayName?: string | undefined;
  readonly key?: string | undefined;
  /** `null`: the vendor's own server again. */
  readonly baseUrl?: string | null | undefined;
  readonly active?: boolean | undefined;
  /** What the sender has read; another one is a conflict. */
  readonly revision?: string | undefined;
}

const [providerId, model, displayName, baseUrl] = [text(64), text(200), text(100), text(2_000)];
/** Visible ASCII, because it is sent in a header. */
const key = z
  .string()
  .max(4_096)
  .transform((value) => value.trim())
  .refine((value) => /^[\x21-\x7e]+$/.test(value), "holds characters that no header can send");

export const newInstance: z.ZodType<NewInstance> = z.strictObject({
  ...{ providerId, model, displayName, key },
  baseUrl: baseUrl.optional(),
  active: z.boolean().optional(),
});
export const changedInstance: z.ZodType<ChangedInstance> = z.strictObject({
  model: model.optional(),
  displayName: displayName.optional(),
  key: key.optional(),
  baseUrl: baseUrl.nullable().optional(),
  active: z.boolean().optional(),
  revision: text(64).optional(),
});

const isPlainName = /^[A-Za-z.]{1,40}$/;

/** The input, checked. @throws AgentError INPUT_INVALID that names the field, never its value */
export function checkedInput<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
  const field = unknown ?? issue?.path.join(".") ?? "";
  // A name that a caller made up may be anything, also a key that was put into the wrong place.
  const name = field === "" ? "The body" : isPlainName.test(field) ? `The field \`${field}\`` : "A field";
  const why =
    unknown !== undefined
      ? "is not one of this request"
      : issue?.code === "custom"
        ? issue.message
        : "is missing or has a wrong type or length";
  throw new AgentError("INPUT_INVALID", { message: `${name} ${why}.`, fix: "See `/openapi.json` for the fields." });
}
