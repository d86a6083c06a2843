import type { JsonObject } from "@loopwright/core";
import { z } from "zod";
import * as schemas from "../schemas/index.ts";
import { serverVersion } from "../server-version.ts";
import type { Route } from "./route.ts";

/** Schemas that are components of the document, by name. */
const named = {
  Problem: schemas.problem,
  Message: schemas.message,
  UserMessage: schemas.userMessage,
  AssistantMessage: schemas.assistantMessage,
  ToolResultMessage: schemas.toolResultMessage,
  ExecuteInput: schemas.executeInput,
  ExecuteRequest: schemas.executeRequest,
  NewSessionRequest: schemas.newSessionRequest,
  ChangeSessionRequest: schemas.changeSessionRequest,
  MessageRequest: schemas.messageRequest,
  ToolResultsRequest: schemas.toolResultsRequest,
  DecisionRequest: schemas.decisionRequest,
  AbortRequest: schemas.abortRequest,
  SessionContext: schemas.sessionContext,
  DeclaredTool: schemas.declaredTool,
  SessionSnapshot: schemas.sessionSnapshot,
  SessionSummary: schemas.sessionSummary,
  SessionHit: schemas.sessionHit,
  AcceptedSubmission: schemas.acceptedSubmission,
  AcceptedDecision: schemas.acceptedDecision,
  PendingToolCall: schemas.pendingToolCall,
  PendingApproval: schemas.pendingApproval,
  ErrorCode: schemas.errorCode,
  Usage: schemas.usage,
  Cost: schemas.cost,
  AgentList: schemas.agentList,
  DurableEvent: schemas.durableEvent,
  EphemeralEvent: schemas.ephemeralEvent,
  StreamFrame: schemas.streamFrame,
  ExecuteComplete: schemas.executeComplete,
  Notification: schemas.notification,
} as const;

const registry = z.registry<{ readonly id: string }>();
for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });

type Document = { [key: string]: unknown };

/** The OpenAPI 3.1 document of the routes. @see https://spec.openapis.org/oas/v3.1.1.html (2026-11-21) */
export function openApiOf(routes: readonly Route[], basePath: string): JsonObject {
  const components: Document = {};
  const paths: { [path: string]: Document } = {};
  const describe = (schema: z.ZodType): unknown => schemaOf(schema, components);
  const problem = describe(schemas.problem);
  const event = describe(z.union([schemas.durableEvent, schemas.ephemeralEvent, schemas.streamFrame]));
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, { describe, problem, event }) };
  }
  const document = {
    openapi: "3.1.0",
    info: { title: "Loopwright", version: serverVersion, description: "Sessions of agents over HTTP." },
    servers: [{ url: basePath === "" ? "/" : basePath }],
    security: [{ bearer: [] }, {}],
    paths,
    components: { schemas: components, securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
  };
  return JSON.parse(JSON.stringify(document)) as JsonObject;
}

interface Parts {
  readonly describe: (schema: z.ZodType) => unknown;
  readonly problem: unknown;
  /** The content of a frame of a stream. */
  readonly event: unknown;
}

function operationOf(route: Route, { describe, problem, event }: Parts): Document {
  const { described } = route;
  const responses: Document = {};
  for (const [status, { description, schema, stream }] of Object.entries(route.responses)) {
    const isProblem = Number(status) >= 400;
    const content = {
      ...(stream ? { "text/event-stream": { schema: { type: "string", description: eventStream }, "x-event-schema": event } } : {}),
      ...(schema ? { "application/json": { schema: describe(schema) } } : {}),
      ...(described?.response ? { "application/json": { schema: described.response } } : {}),
      ...(isProblem ? { "application/problem+json": { schema: problem } } : {}),
    };
    responses[status] = { description, ...(Object.keys(content).length > 0 ? { content } : {}) };
  }
  responses["default"] = { description: "What was refused, and what to do.", content: { "application/problem+json": { schema: problem } } };
  const named = route.isExtension ? namedInPath(route.path) : parametersOf(route.params, "path", describe);
  const parameters = [...named, ...parametersOf(route.query, "query", describe)];
  return {
    operationId: route.id,
    summary: route.summary,
    ...(route.access === "public" ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body
      ? {
          requestBody: {
            required: !route.bodyOptional,
            content: { "application/json": { schema: describe(route.bodySchema ?? route.body) } },
          },
        }
      : {}),
    ...(described?.body ? { requestBody: { required: true, content: { "application/json": { schema: described.body } } } } : {}),
    ...(route.hasRawBody ? { requestBody: { required: true, content: { "*/*": { schema: { type: "string", format: "binary" } } } } } : {}),
    responses,
  };
}

const eventStream =
  "Server-sent events: `event` is the type, `data` one JSON line of the schema `x-event-schema`, `id` the cursor of a durable event.";

function parametersOf(schema: z.ZodType | undefined, place: "path" | "query", describe: Parts["describe"]): readonly Document[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = describe(schema) as { readonly properties?: Document; readonly required?: readonly string[] };
  return Object.entries(properties).map(([name, field]) => ({
    name,
    in: place,
    required: place === "path" || (required.includes(name) && !hasDefault(field)),
    schema: field,
  }));
}

/** The parameters of a path whose route has no schema of them. */
const namedInPath = (path: string): readonly Document[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: "path", required: true, schema: { type: "string" } }));

const hasDefault = (field: unknown): boolean => typeof field === "object" && field !== null && "default" in field;

/** The schema with its named parts moved to the components of the document. */
function schemaOf(schema: z.ZodType, components: Document): unknown {
  const json = z.toJSONSchema(schema, {
    metadata: registry,
    unrepresentable: "any",
    override({ jsonSchema }) {
      // Lists are read-only for this code, not for clients.
      delete jsonSchema.readOnly;
    },
  });
  const {
    $defs = {},
    $schema: _,
    ...rest
  } = JSON.parse(JSON.stringify(json).replaceAll("#/$defs/", "#/components/schemas/")) as {
    readonly $defs?: Document;
    readonly $schema?: string;
  } & Document;
  const id = registry.get(schema)?.id;
  Object.assign(components, $defs);
  if (id === undefined) return rest;
  if (!("$ref" in rest)) components[id] = rest;
  return { $ref: `#/components/schemas/${id}` };
}
