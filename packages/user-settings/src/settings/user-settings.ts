/*
 * Owns: the plan of a user and what the user has set: how to be answered, what is remembered, the rule of the project.
 * Does not own: what a plan allows and what agents make of it (agents).
 */
import { AgentError, type Json } from "@loopwright/core";
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

export function userSettings({ records, defaultPlan = "default" }: UserSettingsOptions): UserSettingsStore {
  const settingsOf = async (owner: RecordOwner): Promise<PrincipalSettings> => {
    const [own = {}, plan] = await Promise.all([records.get(owner, "settings", ownId), records.get(owner, "plan", ownId)]);
    const { personalization = { enabled: false, text: "" }, memory = { enabled: true }, projectRule } = settingsChange.parse(own);
    return {
      plan: typeof plan?.["plan"] === "string" ? plan["plan"] : defaultPlan,
      personalization,
      memory,
      ...(typeof projectRule === "string" ? { projectRule } : {}),
    };
  };
  return {
    settingsOf,
    async change(owner, input) {
      if (typeof input === "object" && input !== null && "plan" in input)
        throw new AgentError("FORBIDDEN", { message: "The plan of a user is set by the operator.", fix: "Leave `plan` out." });
      const { personalization, memory, projectRule } = checkedInput(settingsChange, input);
      const { plan: _, projectRule: before, ...kept } = await settingsOf(owner);
      const rule = projectRule === undefined ? before : (projectRule ?? undefined);
      const value = {
        ...kept,
        ...(personalization ? { personalization } : {}),
        ...(memory ? { memory } : {}),
        ...(rule === undefined || rule.trim() === "" ? {} : { projectRule: rule }),
      };
      await records.put(owner, "settings", { id: ownId, value: value satisfies { readonly [name: string]: Json } });
      return settingsOf(owner);
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
