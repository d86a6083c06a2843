import { type ManualClock, manualClock } from "@loopwright/core/memory";
import { bearerTokens, type Principal } from "@loopwright/server";
import { onTestFinished } from "vitest";
import type { ServeOptions } from "../serve.ts";
import { type TestServer, testServer } from "../test-server.ts";

/** Tokens of 16 characters and more, by user. */
export const tokenOf = (user: string): string => `${user}-0123456789abcdef`;
export const as = (user: string, more: Record<string, string> = {}): Record<string, string> => ({
  Authorization: `Bearer ${tokenOf(user)}`,
  ...more,
});

export interface AccessScene extends TestServer {
  readonly clock: ManualClock;
}

/** A server on a manual clock with these users; ends with the test. */
export function accessScene(users: { readonly [user: string]: Omit<Principal, "user"> }, options: Partial<ServeOptions> = {}): AccessScene {
  const clock = manualClock();
  const authenticate = bearerTokens(
    Object.fromEntries(Object.entries(users).map(([user, principal]) => [tokenOf(user), { user, ...principal }])),
  );
  const test = testServer({ clock, authenticate, ...options });
  onTestFinished(() => test.server.close());
  return { ...test, clock };
}

/** Lets what is ready proceed, without a clock. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
