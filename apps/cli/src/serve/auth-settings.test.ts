import { describe, expect, test } from "vitest";
import { levelOfEnvironment, levelOfFlags } from "../config/config-level.ts";
import { configure } from "../config/configure.ts";
import { type AuthFlags, authSettings } from "./auth-settings.ts";

const settings = (flags: AuthFlags, environment: Record<string, string> = {}): ReturnType<typeof authSettings> =>
  authSettings(configure([levelOfFlags(flags), levelOfEnvironment(environment)]).values);
const issuer = { jwtIssuer: "https://issuer.example", jwtAudience: "loopwright" };

describe("the flags of run about callers", () => {
  test("ask for nothing by default, and for a verdict on each request with a service", () => {
    expect(settings({})).toBeUndefined();
    expect(settings({ authUrl: "https://verdicts.example/check" })).toEqual({
      service: { url: "https://verdicts.example/check", cacheMs: 0 },
    });
    expect(settings({ authCache: "10", authScope: "team" }, { LOOPWRIGHT_AUTH_URL: "http://127.0.0.1:1/" })).toEqual({
      service: { url: "http://127.0.0.1:1/", cacheMs: 10_000 },
      scope: "team",
    });
  });

  test("name an issuer, and where a caller stands in its tokens", () => {
    const jwtClaims = "user=sub,scope=https://example.com/team,roles=realm_access.roles";
    expect(settings({ ...issuer, jwtAlgorithms: "ES256,EdDSA", jwtClaims, unshared: "viewer" })).toEqual({
      issuer: {
        issuer: "https://issuer.example",
        audience: ["loopwright"],
        algorithms: ["ES256", "EdDSA"],
        claims: { user: ["sub"], scope: "https://example.com/team", roles: ["realm_access", "roles"] },
      },
      unshared: "viewer",
    });
    const environment = { LOOPWRIGHT_JWT_ISSUER: "https://i.example", LOOPWRIGHT_JWT_AUDIENCE: "a,b", LOOPWRIGHT_JWT_KEYS: "keys.json" };
    expect(settings({}, environment)?.issuer).toMatchObject({ issuer: "https://i.example", audience: ["a", "b"], keys: "keys.json" });
  });

  test.each<[string, AuthFlags, RegExp]>([
    ["an issuer without an audience", { jwtIssuer: "https://issuer.example" }, /tokens for other services would be accepted/],
    ["an audience without an issuer", { jwtAudience: "loopwright" }, /`--jwt-audience` has no effect without --jwt-issuer/],
    ["claims without an issuer", { jwtClaims: "user=sub" }, /`--jwt-claims` has no effect/],
    ["a claim of a part that there is not", { ...issuer, jwtClaims: "admin=yes" }, /`admin=yes` names no claim/],
    ["a claim without a name", { ...issuer, jwtClaims: "user=" }, /names no claim/],
    ["a cache without a service", { authCache: "5" }, /`--auth-cache` has no effect without --auth-url/],
    ["a cache of more than a minute", { authUrl: "https://a.example", authCache: "61" }, /`61` is no time/],
    ["a scope that is none", { ...issuer, authScope: "Two Words" }, /`Two Words` is no scope/],
    ["a scope without callers of it", { authScope: "team" }, /`--auth-scope` has no effect/],
    ["a right that there is not", { ...issuer, unshared: "owner" }, /`owner` is no right/],
    ["a right without callers", { unshared: "member" }, /`--unshared` has no effect/],
    ["an internal token that can be guessed", { internalToken: "short" }, /fewer than 16/],
    ["an internal token that no header can carry", { internalToken: "töken-of-many-characters" }, /no request can send/],
  ])("are refused for %s", (_, flags, message) => {
    expect(() => settings(flags)).toThrow(message);
  });
});
