import { isId } from "@loopwright/core/ports";
import type { Membership, Principal } from "@loopwright/server";

type Fields = { readonly [name: string]: unknown };

export const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** The texts of a list, or of words apart by spaces. */
export function textsOf(value: unknown): readonly string[] | undefined {
  if (typeof value === "string") return value.split(" ").filter((word) => word !== "");
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
}

function labelsOf(value: unknown): Principal["labels"] | undefined {
  if (!isFields(value)) return undefined;
  const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function membershipOf(value: unknown): Membership | undefined {
  if (typeof value === "string") return isId(value) ? { scope: value } : undefined;
  if (!isFields(value) || typeof value["scope"] !== "string" || !isId(value["scope"])) return undefined;
  const [roles, labels] = [textsOf(value["roles"]), labelsOf(value["labels"])];
  return { scope: value["scope"], ...(roles ? { roles } : {}), ...(labels ? { labels } : {}) };
}

/**
 * A principal in the form of JSON: `{ user, scope, roles?, labels?, memberships?, expiresAt? }`; nothing in it makes a principal trusted. `memberships` are names of scopes or
 * `{ scope, roles?, labels? }`; one that is neither is left out. `undefined` unless there is a user. Without a scope the principal has `scope`, else that of its first
 * membership, or belongs to none and may do nothing.
 */
export function readPrincipal(value: unknown, { scope = "" }: { readonly scope?: string | undefined } = {}): Principal | undefined {
  if (!isFields(value) || typeof value["user"] !== "string" || value["user"] === "") return undefined;
  const [roles, labels] = [textsOf(value["roles"]), labelsOf(value["labels"])];
  const { memberships, expiresAt } = value;
  const others = Array.isArray(memberships) ? memberships.map(membershipOf).filter((one) => one !== undefined) : [];
  return {
    user: value["user"],
    scope: typeof value["scope"] === "string" ? value["scope"] : scope || (others[0]?.scope ?? ""),
    ...(roles ? { roles } : {}),
    ...(labels ? { labels } : {}),
    ...(others.length > 0 ? { memberships: others } : {}),
    ...(typeof expiresAt === "number" ? { expiresAt } : {}),
  };
}
