import { createServer as createHttp, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Access, type Agent, createAgent, type ExecuteResult, execute, type Fact, type Runtime, type Tool } from "@loopwright/core";
import { memorySecrets, memoryStore, randomIds, silentLogger, systemClock } from "@loopwright/core/memory";
import type { Logger, SecretStore, SessionStore } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { openai } from "@loopwright/providers-openai";
import { type AgentServer, createServer } from "@loopwright/server";
import {
  type BYOKMode,
  type GuardedTransport,
  memoryRecords,
  type ProviderBuilder,
  type ProviderSettings,
  providerRoutes,
  providerSettings,
  settingsRoutes,
  type UserRecords,
  type UserSettingsStore,
  userSettings,
} from "../src/index.ts";
import { guardedTransport } from "../src/node/index.ts";

export interface VendorCall {
  readonly authorization: string | undefined;
  readonly organization: string | undefined;
  readonly model: string;
  readonly path: string | undefined;
}

/** A server that speaks OpenAI's chat API. What it answers may depend on the call. */
export interface FakeVendor {
  readonly url: string;
  readonly calls: readonly VendorCall[];
  answer: (call: VendorCall, response: ServerResponse) => void;
  close(): Promise<void>;
}

export function sayOk(_: VendorCall, response: ServerResponse): void {
  response.setHeader("content-type", "text/event-stream");
  const chunk = (delta: object, end?: string): string =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta, finish_reason: end ?? null }] })}\n\n`;
  response.end(`${chunk({ role: "assistant", content: "ok" })}${chunk({}, "stop")}data: [DONE]\n\n`);
}

/** The vendor's answer to a wrong key, which repeats the key in its text. */
export function refuseKey({ authorization }: VendorCall, response: ServerResponse): void {
  response.statusCode = 401;
  response.setHeader("content-type", "application/json");
  const key = authorization?.replace("Bearer ", "");
  response.end(
    JSON.stringify({ error: { message: `Incorrect API key provided: ${key}.`, type: "invalid_request_error", code: "invalid_api_key" } }),
  );
}

export async function fakeVendor(): Promise<FakeVendor> {
  const calls: VendorCall[] = [];
  const vendor = { calls, answer: sayOk as FakeVendor["answer"] };
  const server = createHttp((request: IncomingMessage, response) => {
    let text = "";
    request.on("data", (part: Buffer) => {
      text += part.toString();
    });
    request.on("end", () => {
      const { authorization } = request.headers;
      const organization = request.headers["openai-organization"];
      const { model } = JSON.parse(text || "{}") as { readonly model: string };
      const call = { authorization, organization: Array.isArray(organization) ? organization[0] : organization, model, path: request.url };
      calls.push(call);
      vendor.answer(call, response);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return Object.assign(vendor, {
    url: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise<void>((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  });
}

export const anne: Access = { user: "anne", scope: "team" };
export const ben: Access = { user: "ben", scope: "team" };

export interface DeploymentOptions {
  readonly mode?: BYOKMode;
  readonly secrets?: SecretStore;
  readonly records?: UserRecords;
  readonly logger?: Logger;
  readonly allowsPrivate?: boolean;
  /** In place of the one that `allowsPrivate` is for. */
  readonly transport?: GuardedTransport;
  readonly store?: SessionStore;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** As JSON. */
  readonly headers: string;
  readonly json: AnswerFields;
}

/** The fields that tests look into, of answers and of problems. */
export interface AnswerFields {
  readonly instanceId: string;
  readonly displayName: string;
  readonly revision: string;
  readonly code: string;
  readonly fix: string;
  readonly retryable: boolean;
  readonly providers: readonly AnswerFields[];
  readonly builders: readonly { readonly providerId: string; readonly baseUrl: string }[];
  readonly plan: unknown;
}

export interface Deployment {
  readonly settings: ProviderSettings;
  readonly runtime: Runtime;
  readonly server: AgentServer;
  readonly store: SessionStore;
  readonly preferences: UserSettingsStore;
  readonly records: UserRecords;
  readonly secrets: SecretStore;
  call(user: string, method: string, path: string, body?: unknown): Promise<Answer>;
  ask(access: Access): Promise<{ readonly result: ExecuteResult; readonly facts: readonly Fact[] }>;
}

/** The key that the deployment pays with. */
export const platformKey = "sk-PLATFORM-0123456789";

const fails: Tool = {
  name: "fails",
  description: "Fails.",
  parameters: { type: "object" },
  execute: () => {
    throw new Error("The tool broke.");
  },
};

/** A server whose agent calls the vendor with the platform's key, and whose users may bring keys for it. Callers name themselves in a header. */
export function deployment(vendor: FakeVendor, options: DeploymentOptions = {}): Deployment {
  const { mode = "AllowUserProviders", secrets = memorySecrets(), records = memoryRecords(), logger = silentLogger } = options;
  const chat = (apiKey: string, model: string, more: { readonly baseURL?: string; readonly transport?: typeof fetch } = {}) =>
    openai({ api: "chat", baseURL: vendor.url, ...more, apiKey, model });
  const builders: { readonly [id: string]: ProviderBuilder } = {
    vendor: { title: "The vendor", defaultModel: "small", create: ({ apiKey, model, ...own }) => chat(apiKey, model, own) },
    fixed: { title: "Fixed address", baseUrl: "refused", create: ({ apiKey, model }) => chat(apiKey, model) },
    custom: { title: "A server of one's own", baseUrl: "required", create: ({ apiKey, model, ...own }) => chat(apiKey, model, own) },
  };
  const policy = options.allowsPrivate ? { privateOrigins: [new URL(vendor.url).origin] } : {};
  const settings: ProviderSettings = providerSettings({
    ...{ mode, records, secrets, builders, ids: randomIds, clock: systemClock },
    transport: options.transport ?? guardedTransport({ policy }),
  });
  const agent: Agent = createAgent({ name: "helper", provider: chat(platformKey, "large"), limits: { attemptsMax: 1 }, tools: [fails] });
  const store = options.store ?? memoryStore();
  const runtime = createRuntime({ agents: [agent], store, logger, resolveModel: (question) => settings.resolveModel(question) });
  const preferences = userSettings({ records });
  const server = createServer({
    runtime,
    hosts: ["settings.test"],
    authenticate: (request) => {
      const [user = "", scope = "team"] = (request.headers.get("x-user") ?? "").split("@");
      return user === "" ? undefined : { user, scope };
    },
    routes: [...providerRoutes(settings), ...settingsRoutes(preferences)],
  });
  const call = async (user: string, method: string, path: string, body?: unknown) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { "x-user": user, "content-type": "application/json" };
    const response = await server.fetch(new Request(`http://settings.test${path}`, { method, headers, ...json }));
    const text = await response.text();
    return {
      status: response.status,
      text,
      headers: JSON.stringify([...response.headers]),
      json: /^[[{]/.test(text) ? JSON.parse(text) : undefined,
    };
  };
  let count = 0;
  const ask = async (access: Access) => {
    const id = `s${++count}`;
    const result = await execute(runtime.session({ agent: "helper", id, access }), "Hi.").result();
    const facts: readonly Fact[] = await store.log.read({ scope: access.scope, session: id });
    return { result, facts };
  };
  return { settings, runtime, server, call, ask, store, preferences, records, secrets };
}
