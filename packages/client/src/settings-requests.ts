import type { ErrorCode } from "@loopwright/core/protocol";
import type { ClientContext } from "./client-context.ts";
import { requestJson, sendRequest } from "./send-request.ts";
import { queryOf, type RequestOptions } from "./session-requests.ts";

/** A model that the caller brought. Its key is never shown. */
export interface OwnProvider {
  readonly instanceId: string;
  readonly providerId: string;
  readonly model: string;
  readonly displayName: string;
  /** Absent: the vendor's own server. */
  readonly baseUrl?: string;
  /** The one whose model is called. */
  readonly active: boolean;
  readonly hasKey: boolean;
  /** Another one with each change. */
  readonly revision: string;
  /** It is the deployment's and cannot be changed. */
  readonly locked?: true;
}

/** A vendor whose models a caller may bring. */
export interface ProviderChoice {
  readonly providerId: string;
  readonly title: string;
  readonly defaultModel?: string;
  readonly baseUrl: "refused" | "optional" | "required";
}

/** What a new provider is made of. */
export interface NewProvider {
  readonly providerId: string;
  readonly model: string;
  readonly displayName: string;
  readonly key: string;
  readonly baseUrl?: string;
  /** Default: whether it is the first. */
  readonly active?: boolean;
}

/** Changes of a provider; another address needs the key again, `null` is the vendor's own. */
export interface ChangedProvider extends Partial<Omit<NewProvider, "providerId" | "baseUrl">> {
  readonly baseUrl?: string | null;
  /** That of the provider as it was read: STORE_CONFLICT where it was changed since. Default: whatever is there is changed. */
  readonly revision?: string;
}

/** How a test call ended. */
export type ProviderTest =
  | { readonly ok: true; readonly model: string; readonly totalMs: number }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string; readonly fix: string; readonly totalMs: number };

/** Models with keys of the caller's own. Every method @throws AgentError as the server refuses, ROUTE_NOT_FOUND where it has no such routes. */
export interface ProviderRequests {
  list(options?: RequestOptions): Promise<{
    readonly mode: "PlatformOnly" | "AllowUserProviders";
    readonly builders: readonly ProviderChoice[];
    readonly providers: readonly OwnProvider[];
  }>;
  add(provider: NewProvider, options?: RequestOptions): Promise<OwnProvider>;
  change(instanceId: string, change: ChangedProvider, options?: RequestOptions): Promise<OwnProvider>;
  remove(instanceId: string, options?: RequestOptions): Promise<void>;
  /** Makes one short call. */
  test(instanceId: string, options?: RequestOptions): Promise<ProviderTest>;
}

/** The plan and the preferences of the caller. */
export interface OwnSettings {
  readonly plan: string;
  readonly personalization: { readonly enabled: boolean; readonly text: string };
  readonly memory: { readonly enabled: boolean };
  readonly projectRule?: string;
}

export interface SettingsRequests {
  read(options?: RequestOptions): Promise<OwnSettings>;
  /** What is left out stays; `projectRule: null` takes the rule away. */
  change(
    change: Partial<Pick<OwnSettings, "personalization" | "memory">> & { readonly projectRule?: string | null },
    options?: RequestOptions,
  ): Promise<OwnSettings>;
  /** The plan of a user of the caller's scope. For operators. @throws AgentError FORBIDDEN, ROUTE_NOT_FOUND where the server has no such route */
  plan(user: string, options?: RequestOptions): Promise<UserPlan>;
  /** Sets the plan of a user of the caller's scope. For operators. @throws AgentError FORBIDDEN, INPUT_INVALID, ROUTE_NOT_FOUND */
  setPlan(user: string, plan: string, options?: RequestOptions): Promise<UserPlan>;
  /** How long the sessions of the caller's scope are kept. @throws AgentError ROUTE_NOT_FOUND where the server has no such route */
  retention(options?: RequestOptions): Promise<ScopeRetention>;
  /** Sets it; `null` takes it away. Those under a legal hold stay. For operators. @throws AgentError FORBIDDEN, INPUT_INVALID, ROUTE_NOT_FOUND */
  setRetention(keepMs: number | null, options?: RequestOptions): Promise<ScopeRetention>;
}

/** How long the sessions of a scope are kept after their last change. Of two times the shorter one counts; none: for ever, unless a session has its own. */
export interface ScopeRetention {
  /** Set by those that administer the scope. */
  readonly keepMs?: number;
  /** Set by the operator of the server. */
  readonly deploymentKeepMs?: number;
  /** Whether the caller may set it. */
  readonly mayChange: boolean;
}

/** The plan of a user. */
export interface UserPlan {
  readonly user: string;
  readonly plan: string;
}

export function createProviderRequests(client: ClientContext): ProviderRequests {
  const path = "/api/ai/providers";
  const of = (instanceId: string): string => `${path}/${encodeURIComponent(instanceId)}`;
  return {
    list: ({ signal } = {}) => requestJson(client, { path, signal }),
    add: (json, { signal } = {}) => requestJson(client, { path, json, signal }),
    change: (instanceId, json, { signal } = {}) => requestJson(client, { method: "PATCH", path: of(instanceId), json, signal }),
    async remove(instanceId, { signal } = {}) {
      await sendRequest(client, { method: "DELETE", path: of(instanceId), signal });
    },
    test: (instanceId, { signal } = {}) => requestJson(client, { method: "POST", path: `${of(instanceId)}/test`, signal }),
  };
}

export function createSettingsRequests(client: ClientContext): SettingsRequests {
  const path = "/api/settings";
  return {
    read: ({ signal } = {}) => requestJson(client, { path, signal }),
    change: (json, { signal } = {}) => requestJson(client, { method: "PATCH", path, json, signal }),
    plan: (user, { signal } = {}) => requestJson(client, { path: `${path}/plan${queryOf({ user })}`, signal }),
    setPlan: (user, plan, { signal } = {}) => requestJson(client, { path: `${path}/plan`, json: { user, plan }, signal }),
    retention: ({ signal } = {}) => requestJson(client, { path: `${path}/retention`, signal }),
    setRetention: (keepMs, { signal } = {}) =>
      requestJson(client, { method: "PATCH", path: `${path}/retention`, json: { keepMs }, signal }),
  };
}
