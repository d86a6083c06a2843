import type { Access, Json, JsonSchema } from "@loopwright/core";

/** The sender of a request, as `Principal` of `@loopwright/server` has it. */
export interface SettingsCaller extends Access {
  readonly trusted?: boolean;
}

/** What a route is given, as `ExtensionContext` of `@loopwright/server` has it. */
export interface SettingsRequest {
  readonly principal: SettingsCaller;
  readonly params: { readonly [name: string]: string };
  readonly query: URLSearchParams;
  readonly body: Json | Uint8Array | undefined;
  readonly signal: AbortSignal;
}

/** A route for `routes` of `createServer`. */
export interface SettingsRoute {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly body?: "json";
  readonly describes?: { readonly status?: number; readonly body?: JsonSchema; readonly response?: JsonSchema };
  readonly timeoutMs?: number;
  handle(request: SettingsRequest): Promise<Response>;
}
