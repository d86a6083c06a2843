import { AgentError, type JsonSchema } from "@loopwright/core";
import { z } from "zod";
import { checkedInput } from "../providers/instance-input.ts";
import type { SettingsCaller, SettingsRoute } from "../settings-route.ts";
import type { RetentionChange, ScopeRetention } from "./scope-retention.ts";

const retention: JsonSchema = {
  type: "object",
  required: ["mayChange"],
  properties: { keepMs: { type: "integer" }, deploymentKeepMs: { type: "integer" }, mayChange: { type: "boolean" } },
};

const change: z.ZodType<{ readonly keepMs: number | null }> = z.strictObject({ keepMs: z.number().nullable() });
const changeSchema: JsonSchema = {
  type: "object",
  required: ["keepMs"],
  additionalProperties: false,
  properties: { keepMs: { type: ["integer", "null"] } },
};

export interface RetentionRoutesOptions {
  /** Whether a caller may set how long the sessions of its scope are kept: it erases them. */
  readonly mayChange: (caller: SettingsCaller) => boolean | Promise<boolean>;
  /** Called after each change, for an audit log. */
  readonly onChange?: (change: RetentionChange, caller: SettingsCaller) => void;
}

/** The routes of the retention of the caller's scope, for `routes` of `createServer`. */
export function retentionRoutes(store: ScopeRetention, { mayChange, onChange }: RetentionRoutesOptions): readonly SettingsRoute[] {
  const path = "/api/settings/retention";
  return [
    {
      ...{ method: "GET", path, id: "readRetention", summary: "How long the sessions of the caller's scope are kept." },
      describes: { response: retention },
      async handle({ principal }) {
        const isAllowed = (await mayChange(principal)) === true;
        return Response.json({ ...(await store.of(principal.scope)), mayChange: isAllowed });
      },
    },
    {
      ...{
        method: "PATCH",
        path,
        id: "changeRetention",
        summary: "Sets how long the sessions of the caller's scope are kept; those under a legal hold stay. For operators.",
      },
      body: "json",
      describes: { body: changeSchema, response: retention },
      async handle({ principal, body }) {
        if ((await mayChange(principal)) !== true)
          throw new AgentError("FORBIDDEN", {
            message: "How long sessions are kept is set by those that administer the scope.",
            fix: "Ask one of them.",
          });
        const changed = await store.set(principal.scope, checkedInput(change, body).keepMs);
        onChange?.(changed, principal);
        return Response.json({ ...changed.after, mayChange: true });
      },
    },
  ];
}
