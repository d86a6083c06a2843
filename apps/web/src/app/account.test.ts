import type { CallerAccess } from "@loopwright/client";
import { AgentError } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { createAccount, isSignedIn } from "./account.ts";
import { passingText } from "./kept-text.ts";

const access: CallerAccess = { user: "anne", scope: "garden", scopes: ["garden", "kitchen"], cookies: true };
const failing = (code: "FORBIDDEN" | "ROUTE_NOT_FOUND" | "UNAUTHENTICATED" | "SERVER_UNREACHABLE") => async (): Promise<never> => {
  throw new AgentError(code, { message: "No." });
};

function scene(answers: Partial<Record<"access" | "login" | "logout", () => Promise<never>>> = {}) {
  const kept = passingText();
  const begun: (string | undefined)[] = [];
  const client = {
    access: answers.access ?? (async () => access),
    login: answers.login ?? (async () => access),
    logout: answers.logout ?? (async () => {}),
  };
  const account = createAccount({ url: "", kept, client, clientWith: () => client, begin: (words) => void begun.push(words) });
  return { kept, begun, account };
}

it("a token is exchanged for a cookie and not kept; where there is no cookie it is kept once the server has accepted it", async () => {
  const cookies = scene();
  await cookies.account.signIn("t");
  expect([cookies.kept.get("token"), cookies.begun.length]).toEqual([undefined, 1]);
  for (const login of [failing("ROUTE_NOT_FOUND"), failing("FORBIDDEN")]) {
    const { kept, account } = scene({ login });
    await account.signIn("t");
    expect(kept.get("token")).toBe("t");
  }
});

it("a token that the server does not know, or cannot check, is not kept, and the page stays as it is", async () => {
  for (const answers of [
    { login: failing("UNAUTHENTICATED") },
    { login: failing("SERVER_UNREACHABLE") },
    { login: failing("ROUTE_NOT_FOUND"), access: failing("UNAUTHENTICATED") },
  ]) {
    const { kept, begun, account } = scene(answers);
    await expect(account.signIn("t")).rejects.toThrow();
    expect([kept.keys(), begun]).toEqual([[], []]);
  }
});

it("a team is kept until the user switches back to the first one, and given up when the user has left it", async () => {
  const { kept, begun, account } = scene();
  await account.load();
  account.switchTo("kitchen");
  expect([kept.get("scope"), begun]).toEqual(["kitchen", ["Team kitchen"]]);
  account.switchTo("garden");
  expect(kept.get("scope")).toBeUndefined();
  const left = scene({ access: failing("FORBIDDEN") });
  left.kept.set("scope", "kitchen");
  await left.account.load();
  expect([left.kept.get("scope"), left.begun.length]).toEqual([undefined, 1]);
  await left.account.load();
  expect(left.begun).toHaveLength(1);
});

it("a sign-out leaves no token, no team and no draft, and stays signed in while the server cannot end the session", async () => {
  const { kept, begun, account } = scene({ logout: failing("ROUTE_NOT_FOUND") });
  for (const key of ["token", "scope", "home", "draft.s1", "theme"]) kept.set(key, "x");
  await account.signOut();
  expect([kept.keys(), begun.length]).toEqual([["theme"], 1]);
  const down = scene({ logout: failing("SERVER_UNREACHABLE") });
  down.kept.set("token", "x");
  await expect(down.account.signOut()).rejects.toThrow();
  expect(down.kept.get("token")).toBe("x");
});

it("a user with a token or a cookie can sign out, the person at a local server cannot", () => {
  const kept = passingText();
  expect([isSignedIn(undefined, kept), isSignedIn(access, kept), isSignedIn({ ...access, expiresAt: 1 }, kept)]).toEqual([
    false,
    false,
    true,
  ]);
  kept.set("token", "t");
  expect(isSignedIn({ ...access, cookies: false }, kept)).toBe(true);
});
