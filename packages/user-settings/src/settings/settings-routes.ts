import { AgentError, type JsonSchema } from "@loopwright/core";
import { z } from "zod";
import { checkedInput } from "../providers/instance-input.ts";
import type { SettingsCaller, SettingsRoute } from "../settings-route.ts";
import { settingsChange, type UserSettingsStore } from "./user-settings.ts";

const settings: JsonSchema = {
  type: "object",
  required: ["plan", "personalization", "memory"],
  properties: {
    plan: { type: "string" },
    personalization: { type: "object", properties: { enabled: { type: "boolean" }, text: { type: "string" } } },
    memory: { type: "object", properties: { enabled: { type: "boolean" } } },
    projectRule: { type: "string" },
  },
};

export interface SettingsRoutesOptions {
  /** Whether a caller may read and set the plans of users of its scope, as operators may. Absent: there are no routes for it. */
  readonly maySetPlan?: (caller: SettingsCaller) => boolean | Promise<boolean>;
}

/** The routes of the caller's own settings, and of the plans of others, for `routes` of `createServer`. */
export function settingsRoutes(store: UserSettingsStore, { maySetPlan }: SettingsRoutesOptions = {}): readonly SettingsRoute[] {
  const { $schema: _, ...body } = z.toJSONSchema(settingsChange, { io: "input", unrepresentable: "any" });
  return [
    {
      ...{ method: "GET", path: "/api/settings", id: "readSettings", summary: "The plan and the settings of the caller." },
      describes: { response: settings },
      handle: async ({ principal }) => Response.json(await store.settingsOf(principal)),
    },
    {
      ...{
        method: "PATCH",
        path: "/api/settings",
        id: "changeSettings",
        summary: "Changes the settings of the caller; the plan is the operator's.",
      },
      body: "json",
      describes: { body: JSON.parse(JSON.stringify(body)) as JsonSchema, response: settings },
      handle: async ({ principal, body: input }) => Response.json(await store.change(principal, input)),
    },
    ...(maySetPlan ? planRoutes(store, maySetPlan) : []),
  ];
}

const plan: JsonSchema = {
  type: "object",
  required: ["user", "plan"],
  properties: { user: { type: "string" }, plan: { type: "string" } },
};

const newPlan: z.ZodType<{ readonly user: string; readonly plan: string }> = z.strictObject({
  user: z.string().min(1).max(200),
  plan: z.string().max(64),
});

function planRoutes(store: UserSettingsStore, maySetPlan: NonNullable<SettingsRoutesOptions["maySetPlan"]>): readonly SettingsRoute[] {
  const check = async (caller: SettingsCaller): Promise<void> => {
    if ((await maySetPlan(caller)) === true) return;
    throw new AgentError("FORBIDDEN", { message: "The plans of users are set by the operator.", fix: "Ask the operator." });
  };
  const path = "/api/settings/plan";
  return [
    {
      ...{ method: "GET", path, id: "readPlan", summary: "The plan of `user`, a user of the caller's scope. For operators." },
      describes: { response: plan },
      async handle({ principal, query }) {
        await check(principal);
        const user = query.get("user") ?? "";
        if (user === "") throw new AgentError("INPUT_INVALID", { message: "No user was named.", fix: "Pass `user`." });
        return Response.json({ user, plan: (await store.settingsOf({ scope: principal.scope, user })).plan });
      },
    },
    {
      ...{ method: "POST", path, id: "setPlan", summary: "Sets the plan of a user of the caller's scope. For operators." },
      body: "json",
      describes: { body: plan, response: plan },
      async handle({ principal, body }) {
        await check(principal);
        const wanted = checkedInput(newPlan, body);
        await store.setPlan({ scope: principal.scope, user: wanted.user }, wanted.plan);
        return Response.json(wanted);
      },
    },
  ];
}
