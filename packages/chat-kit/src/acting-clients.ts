import { type ClientOptions, createClient, type LoopwrightClient } from "@loopwright/client";
import type { ChatPrincipal } from "./linked-people.ts";

/** Clients that act for users by the internal token of the deployment: for `clientFor`. The server knows it by `internalTokens` of `@loopwright/auth`. */
export function actingClients(options: Omit<ClientOptions, "scope" | "headers">): (principal: ChatPrincipal) => LoopwrightClient {
  return ({ user, scope }) => createClient({ ...options, scope, headers: { "X-Act-For": encodeURIComponent(user) } });
}
