import type { Json, JsonObject } from "@loopwright/core";
import type { StoredRecord } from "../records/user-records.ts";
import type { AIProviderInstance, ShownInstance } from "./provider-instance.ts";

/** The instance of an entry. */
export function instanceOf({ value, revision }: StoredRecord): AIProviderInstance {
  const text = (name: string): string => String(value[name] ?? "");
  const { baseUrl } = value;
  return {
    instanceId: text("instanceId"),
    providerId: text("providerId"),
    model: text("model"),
    secretKeyRef: text("secretKeyRef"),
    displayName: text("displayName"),
    revision,
    ...(typeof baseUrl === "string" ? { baseUrl } : {}),
  };
}

/** The entry of an instance. Fields that a later version put into it stay. */
export function entryOf({ revision: _, ...fields }: AIProviderInstance, before: JsonObject = {}): JsonObject {
  const { baseUrl: __, ...kept } = before;
  return { ...kept, ...fields } satisfies { readonly [name: string]: Json };
}

/** What its user is shown of an instance. */
export function shown(
  { instanceId, providerId, model, displayName, baseUrl, revision }: AIProviderInstance,
  active: string | undefined,
): ShownInstance {
  return {
    instanceId,
    providerId,
    model,
    displayName,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    active: active === instanceId,
    hasKey: true,
    revision,
  };
}
