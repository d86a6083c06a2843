/*
 * Owns: the plan of a user and what the user has set: how to be answered, what is remembered, the rule of the project.
 * Does not own: what a plan allows and what agents make of it (agents).
 */
import { AgentError, type Json, type JsonObject } from "@loopwright/core";
import { z } from "zod";
import { checkedInput } from "../providers/instance-input.ts";
import type { RecordOwner, UserRecords } from "../records/user-records.ts";

/** What a deployment knows of a user. */
export interface PrincipalSettings {
  /** Set by the operator alone. */
  readonly plan: string;
  readonly personalization: { readonly enabled: boolean; readonly text: string };
  readonly memory: { readonly enabled: boolean };
  readonly projectRule?: string;
}

export interface UserSettingsOptions {
  readonly records: UserRecords;
  /** The plan of users that have none. Default `default`. */
  readonly defaultPlan?: string;
}

/** Settings by user within a scope. It is a `SettingsSource` of `@loopwright/agents-research`. */
export interface UserSettingsStore {
  /** Read from the store at each call, so that a change counts from the next turn. @throws AgentError STORE_* */
  settingsOf(owner: RecordOwner): Promise<PrincipalSettings>;
  /** What the user may change; a field that is left out stays, `projectRule: null` takes it away. @throws AgentError INPUT_INVALID, FORBIDDEN for the plan */
  change(owner: RecordOwner, input: unknown): Promise<PrincipalSettings>;
  /** For operators. @throws AgentError INPUT_INVALID */
  setPlan(owner: RecordOwner, plan: string): Promise<void>;
}

const textMax = 4_000;
const planPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

const wellFormed = z
  .string()
  .max(textMax)
  .refine((text) => text.isWellFormed(), "is not well-formed text");

/** What a user may send. */
interface SettingsChange {
  readonly personalization?: { readonly enabled: boolean; readonly text: string } | undefined;
  readonly memory?: { readonly enabled: boolean } | undefined;
  readonly projectRule?: string | null | undefined;
}

export const settingsChange: z.ZodType<SettingsChange> = z.strictObject({
  personalization: z.strictObject({ enabled: z.boolean(), text: wellFormed }).optional(),
  memory: z.strictObject({ enabled: z.boolean() }).optional(),
  projectRule: wellFormed.nullable().optional(),
});

const ownId = "own";
/** How often a change begins again because another one came first. */
const conflictsMax = 10;

export function userSettings({ records, defaultPlan = "default" }: UserSettingsOptions): UserSettingsStore {
  const settingsOf = async (owner: RecordOwner): Promise<PrincipalSettings> => {
    const [own, plan] = await Promise.all([records.get(owner, "settings", ownId), records.get(owner, "plan", ownId)]);
    const name = plan?.value["plan"];
    return { plan: typeof name === "string" ? name : defaultPlan, ...storedSettings(own?.value ?? {}) };
  };
  return {
    settingsOf,
    async change(owner, input) {
      if (typeof input === "object" && input !== null && "plan" in input)
        throw new AgentError("FORBIDDEN", { message: "The plan of a user is set by the operator.", fix: "Leave `plan` out." });
      const change = checkedInput(settingsChange, input);
      for (let conflicts = 0; conflicts < conflictsMax; conflicts++) {
        const record = await records.get(owner, "settings", ownId);
        const value = withChange(record?.value ?? {}, change);
        if (await records.put(owner, "settings", { id: ownId, value, expected: record?.revision ?? null })) return settingsOf(owner);
      }
      throw new AgentError("STORE_CONFLICT", { message: "Other requests changed the settings too often at once.", fix: "Try again." });
    },
    async setPlan(owner, plan) {
      if (!planPattern.test(plan))
        throw new AgentError("INPUT_INVALID", {
          message: "The name of the plan is not usable.",
          fix: "Use 1 to 64 letters, digits, _, . and -.",
        });
      await records.put(owner, "plan", { id: ownId, value: { plan } });
    },
  };
}

/** Each field as it is stored, or its default where it is none of this version. Fields of a later version are passed over. */
function storedSettings({ personalization, memory, projectRule }: JsonObject): Omit<PrincipalSettings, "plan"> {
  const { enabled, text } = objectOf(personalization);
  const remembers = objectOf(memory)["enabled"];
  return {
    personalization: { enabled: enabled === true, text: typeof text === "string" ? text : "" },
    memory: { enabled: typeof remembers === "boolean" ? remembers : true },
    ...(typeof projectRule === "string" ? { projectRule } : {}),
  };
}

/** The stored settings with the change; what this version does not know stays. */
function withChange(before: JsonObject, { personalization, memory, projectRule }: SettingsChange): JsonObject {
  const { projectRule: oldRule, ...kept } = before;
  const rule = projectRule === undefined ? oldRule : (projectRule ?? "");
  return {
    ...kept,
    ...(personalization ? { personalization: { ...objectOf(before["personalization"]), ...personalization } } : {}),
    ...(memory ? { memory: { ...objectOf(before["memory"]), ...memory } } : {}),
    ...(typeof rule === "string" && rule.trim() === "" ? {} : rule === undefined ? {} : { projectRule: rule }),
  };
}

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
