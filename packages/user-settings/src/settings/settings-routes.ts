import type { JsonSchema } from "@loopwright/core";
import { z } from "zod";
import type { SettingsRoute } from "../settings-route.ts";
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

/** The routes of the caller's own settings, for `routes` of `createServer`. */
export function settingsRoutes(store: UserSettingsStore): readonly SettingsRoute[] {
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
  ];
}
