import { describe, expect, it } from "vitest";
import { testServer } from "../../test/test-server.ts";
import { routeTable } from "../http/route-table.ts";

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean; readonly schema: object }[];
  readonly requestBody?: { readonly required: boolean; readonly content: object };
  readonly responses: { readonly [status: string]: { readonly content?: object } };
  readonly security?: readonly object[];
}

interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly schemas: { readonly [name: string]: object } };
}

interface Properties {
  readonly [name: string]: { readonly const?: unknown };
}

const read = async (basePath = ""): Promise<Document> => (await testServer({ basePath }).ask<Document>(`${basePath}/openapi.json`)).body;

describe("/openapi.json", () => {
  it("has every route of the table, and no other", async () => {
    const { openapi, paths, servers } = await read("/agents");
    expect(openapi).toBe("3.1.0");
    expect(servers).toEqual([{ url: "/agents" }]);
    const found = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method} ${path}`),
    );
    const wanted = routeTable.map(({ id, method, path }) => `${id} ${method.toLowerCase()} ${path.replace(/:(\w+)/g, "{$1}")}`);
    expect(found.sort()).toEqual([...wanted].sort());
  });

  it("names the path of the server that was asked, also where a process has several", async () => {
    const [first, second, again] = [await read("/first"), await read("/second"), await read("/first")];
    expect([first, second, again].map(({ servers }) => servers[0]?.url)).toEqual(["/first", "/second", "/first"]);
  });

  it("names every parameter of a path and of a query", async () => {
    const { paths } = await read();
    for (const [path, methods] of Object.entries(paths))
      for (const { parameters = [] } of Object.values(methods)) {
        const inPath = parameters.filter((parameter) => parameter.in === "path");
        expect(inPath.map(({ name }) => `{${name}}`)).toEqual([...path.matchAll(/\{\w+\}/g)].map(([name]) => name));
        expect(inPath.every(({ required }) => required)).toBe(true);
      }
    const list = paths["/api/sessions"]?.["get"]?.parameters ?? [];
    expect(list.map(({ name, required }) => [name, required])).toEqual([
      ["limit", false],
      ["before", false],
      ["search", false],
      ["parent", false],
      ["agent", false],
      ["status", false],
      ["participant", false],
    ]);
    expect(list[0]?.schema).toMatchObject({ type: "integer", minimum: 1, maximum: 200, default: 50 });
  });

  it("names what a reader of events may ask for, and the calls of a snapshot", async () => {
    const { paths, components } = await read();
    const { parameters = [], responses } = paths["/api/sessions/{id}/events"]?.["get"] ?? {};
    const text = parameters.find(({ name }) => name === "text");
    expect(text).toMatchObject({ in: "query", required: false, schema: { const: "whole" } });
    expect(responses?.["200"]?.content).toHaveProperty(["text/event-stream"]);
    const { oneOf = [] } = components.schemas["EphemeralEvent"] as { readonly oneOf?: readonly { readonly properties: Properties }[] };
    const snapshot = oneOf.find(({ properties }) => properties["type"]?.const === "message_snapshot");
    expect(snapshot?.properties["calls"]).toMatchObject({
      type: "array",
      items: {
        properties: { index: { type: "integer" }, toolName: { type: "string" }, argsText: { type: "string" } },
        required: ["index", "toolName", "argsText"],
      },
    });
    expect(snapshot).not.toMatchObject({ required: expect.arrayContaining(["calls"]) });
  });

  it("leads every reference to a schema that is there, and uses all of them", async () => {
    const document = await read();
    const names = new Set([...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name));
    for (const name of names) expect(document.components.schemas).toHaveProperty([String(name)]);
    for (const name of Object.keys(document.components.schemas)) expect(names).toContain(name);
    expect(JSON.stringify(document)).not.toMatch(/\$defs|"\$schema"|"readOnly":true/);
    expect([...names]).toEqual(expect.arrayContaining(["ExecuteRequest", "SessionSnapshot", "DurableEvent", "EphemeralEvent", "Problem"]));
  });

  it("describes bodies, streams with their events, problems and the permitted callers", async () => {
    const { paths } = await read();
    const execute = paths["/api/agent/execute"]?.["post"];
    expect(execute?.requestBody).toEqual({
      required: true,
      content: { "application/json": { schema: { $ref: "#/components/schemas/ExecuteRequest" } } },
    });
    expect(execute?.responses["200"]?.content).toHaveProperty(["text/event-stream"]);
    expect(execute?.responses["400"]?.content).toEqual({
      "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
    });
    expect(execute?.responses["default"]).toBeDefined();
    expect(paths["/api/sessions/{id}/abort"]?.["post"]?.requestBody?.required).toBe(false);
    expect(Object.keys(paths["/api/files/{blob}"]?.["delete"]?.responses ?? {})).toEqual(expect.arrayContaining(["204", "404", "409"]));
    expect(paths["/healthz"]?.["get"]?.security).toEqual([]);
    expect(paths["/api/files"]?.["post"]?.requestBody?.content).toHaveProperty(["*/*"]);
  });
});
