import type { JsonSchema } from "@loopwright/core";
import { z } from "zod";
import type { SettingsRoute } from "../settings-route.ts";
import { changedInstance, newInstance } from "./instance-input.ts";
import type { ProviderSettings } from "./provider-settings.ts";

const instance: JsonSchema = {
  type: "object",
  required: ["instanceId", "providerId", "model", "displayName", "active", "hasKey", "revision"],
  properties: {
    instanceId: { type: "string" },
    providerId: { type: "string" },
    model: { type: "string" },
    displayName: { type: "string" },
    baseUrl: { type: "string" },
    active: { type: "boolean" },
    hasKey: { type: "boolean", description: "The key itself is never given." },
    revision: { type: "string", description: "Another one with each change." },
    locked: { type: "boolean", description: "It is the deployment's and cannot be changed." },
  },
};

const offered: JsonSchema = {
  type: "object",
  required: ["mode", "builders", "providers"],
  properties: {
    mode: { enum: ["PlatformOnly", "AllowUserProviders"] },
    builders: {
      type: "array",
      items: {
        type: "object",
        required: ["providerId", "title", "baseUrl"],
        properties: {
          providerId: { type: "string" },
          title: { type: "string" },
          defaultModel: { type: "string" },
          baseUrl: { enum: ["refused", "optional", "required"] },
        },
      },
    },
    providers: { type: "array", items: instance },
  },
};

const tested: JsonSchema = {
  type: "object",
  required: ["ok", "totalMs"],
  properties: {
    ok: { type: "boolean" },
    totalMs: { type: "number" },
    model: { type: "string" },
    code: { type: "string" },
    message: { type: "string" },
    fix: { type: "string" },
  },
};

const schemaOf = (schema: z.ZodType): JsonSchema => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return JSON.parse(JSON.stringify(rest)) as JsonSchema;
};

/** Which of the assistant's surfaces a deployment has. */
export type AssistantMode = "none" | "side-panel" | "full-page";

const path = "/api/ai/providers";

/** The routes of the models that users bring, for `routes` of `createServer`. A deployment without an assistant has none of them. */
export function providerRoutes(
  settings: ProviderSettings,
  { assistantMode = "full-page" }: { readonly assistantMode?: AssistantMode } = {},
): readonly SettingsRoute[] {
  if (assistantMode === "none") return [];
  const idOf = ({ params }: { readonly params: { readonly [name: string]: string } }): string => params["id"] ?? "";
  return [
    {
      ...{ method: "GET", path, id: "listProviders", summary: "The model providers of the caller, and the vendors that they may have." },
      describes: { response: offered },
      handle: async ({ principal }) => Response.json(await settings.list(principal)),
    },
    {
      ...{ method: "POST", path, id: "addProvider", summary: "Adds a model provider with its key, which no answer shows again." },
      body: "json",
      describes: { status: 201, body: schemaOf(newInstance), response: instance },
      handle: async ({ principal, body }) => Response.json(await settings.create(principal, body), { status: 201 }),
    },
    {
      ...{ method: "GET", path: `${path}/:id`, id: "readProvider", summary: "A model provider of the caller." },
      describes: { response: instance },
      handle: async (request) => Response.json(await settings.get(request.principal, idOf(request))),
    },
    {
      ...{
        method: "PATCH",
        path: `${path}/:id`,
        id: "changeProvider",
        summary: "Changes a model provider. Another address needs the key again.",
      },
      body: "json",
      describes: { body: schemaOf(changedInstance), response: instance },
      handle: async (request) => Response.json(await settings.change(request.principal, idOf(request), request.body)),
    },
    {
      ...{ method: "DELETE", path: `${path}/:id`, id: "removeProvider", summary: "Deletes a model provider and its key." },
      describes: { status: 204 },
      handle: async (request) => {
        await settings.remove(request.principal, idOf(request));
        return new Response(null, { status: 204 });
      },
    },
    {
      ...{
        method: "POST",
        path: `${path}/:id/test`,
        id: "testProvider",
        summary: "Makes one short call with the provider and gives its result.",
      },
      describes: { response: tested },
      handle: async (request) => Response.json(await settings.test(request.principal, idOf(request), request.signal)),
    },
  ];
}
