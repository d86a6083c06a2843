import { anyOf, authUrl, developmentTokens, internalTokens, jwtTokens, oidcTokens } from "@loopwright/auth";
import { type ManualClock, manualClock } from "@loopwright/core/memory";
import { type Authenticate, bearerTokens } from "@loopwright/server";
import { type AuthenticatorUnderTest, authenticatorKit, type KitCaller, kitCallers, runKit, type ServiceFate } from "@loopwright/testing";
import { beforeAll, describe, it } from "vitest";
import type { FetchLike } from "../src/fetch-json.ts";
import { type IssuerKey, issuerKey } from "./issuer.ts";

const callers = Object.keys(kitCallers) as KitCaller[];
const secretOf = (who: KitCaller): string => `${who.padEnd(5, "-")}0123456789abcdef`;

interface Scene {
  readonly clock: ManualClock;
  readonly start: number;
  readonly lines: string[];
  readonly parts: { readonly clock: ManualClock; readonly fetch: FetchLike; readonly logger: { log(...line: unknown[]): void } };
  readonly service: Omit<NonNullable<AuthenticatorUnderTest["service"]>, "deadlineMs">;
}

/** A service in this process, behind `fetch`, that meets the fates of the kit. */
function scene(answer: (url: string, token: string | undefined, refused: ReadonlySet<KitCaller>) => Response): Scene {
  const clock = manualClock();
  const lines: string[] = [];
  const refused = new Set<KitCaller>();
  let fate: ServiceFate | undefined;
  let asked: (() => void) | undefined;
  const fetch: FetchLike = async (url, { headers }) => {
    asked?.();
    const authorization = new Headers(headers).get("Authorization");
    if (fate === "silence") return new Promise<never>(() => {});
    // What a transport might say: also its words must not reach a log.
    if (fate === "no-connection") throw new TypeError(`fetch failed with ${authorization}`);
    if (fate === "error") return new Response(`no: ${authorization}`, { status: 500 });
    if (fate === "unreadable") return new Response("<html>", { status: 200 });
    if (fate === "redirect") return new Response(null, { status: 302, headers: { Location: "https://elsewhere.example/" } });
    return answer(url, authorization?.replace("Bearer ", ""), refused);
  };
  const service: Scene["service"] = {
    fail: (next) =>
      new Promise((resolve) => {
        fate = next;
        asked = resolve;
      }),
    heal() {
      fate = undefined;
    },
    setRefused: (who, isRefused) => void (isRefused ? refused.add(who) : refused.delete(who)),
  };
  const logger = { log: (...line: unknown[]) => void lines.push(JSON.stringify(line)) };
  return { clock, start: clock.now(), lines, service, parts: { clock, fetch, logger } };
}

const under = (
  { clock, lines }: Scene,
  authenticate: Authenticate,
  more: Pick<AuthenticatorUnderTest, "tokenOf" | "service">,
): AuthenticatorUnderTest => ({
  authenticate,
  pass: (ms) => clock.advance(ms),
  now: () => clock.now(),
  lines: () => lines,
  ...more,
});

const noService = { capability: "service", reason: "it asks no service" };
const noVerdicts = { capability: "verdicts", reason: "a signature is not withdrawn" };
const anyPlace = { capability: "place", reason: "it counts from everywhere" };

/** Verdicts on the secrets of the callers. */
const verdicts = (): Scene => {
  const made: Scene = scene((_, token, refused) => {
    const who = callers.find((one) => secretOf(one) === token);
    const end = who && kitCallers[who].endsInMs;
    const expiresAt = end === undefined ? undefined : made.start + end;
    if (!who || refused.has(who) || (expiresAt ?? Number.POSITIVE_INFINITY) <= made.clock.now()) return new Response(null, { status: 401 });
    return Response.json({ ...kitCallers[who], ...(expiresAt === undefined ? {} : { expiresAt }), trusted: true });
  });
  return made;
};

describe.each([0, 60_000])("authUrl with verdicts of %d ms keeps every promise", (cacheMs) =>
  runKit(it, authenticatorKit, {
    lacks: [anyPlace],
    make: async () => {
      const made = verdicts();
      const authenticate = authUrl({ url: "https://verdicts.example/", cacheMs, ...made.parts });
      return under(made, authenticate, { tokenOf: secretOf, service: { ...made.service, deadlineMs: 2_000 } });
    },
  }),
);

describe("anyOf keeps every promise of the authenticator that knows the caller", () =>
  runKit(it, authenticatorKit, {
    lacks: [anyPlace],
    make: async () => {
      const made = verdicts();
      const others = [bearerTokens({ "other-0123456789abcdef": { user: "other", scope: "attic" } }), developmentTokens()];
      const authenticate = anyOf([...others, authUrl({ url: "https://verdicts.example/", ...made.parts })]);
      return under(made, authenticate, { tokenOf: secretOf, service: { ...made.service, deadlineMs: 2_000 } });
    },
  }));

describe("signed tokens", () => {
  const issuer = "https://issuer.example";
  let key: IssuerKey;
  beforeAll(async () => {
    key = await issuerKey("k1", { iss: issuer, aud: "loopwright" });
  });
  const tokenOf =
    ({ start }: Scene) =>
    (who: KitCaller): Promise<string> => {
      const { user, scope, endsInMs = 86_400_000 } = kitCallers[who];
      return key.sign({ sub: user, scope_id: scope, exp: (start + endsInMs) / 1_000, trusted: true });
    };
  const keys = (): Scene =>
    scene((url) =>
      Response.json(url.endsWith("/openid-configuration") ? { issuer, jwks_uri: "https://issuer.example/keys" } : { keys: [key.jwk] }),
    );

  describe("jwtTokens with keys at hand keep every promise", () =>
    runKit(it, authenticatorKit, {
      lacks: [anyPlace, noService, noVerdicts],
      make: async () => {
        const made = keys();
        const authenticate = jwtTokens({ issuer, audience: "loopwright", keys: { keys: [key.jwk] }, ...made.parts });
        return under(made, authenticate, { tokenOf: tokenOf(made) });
      },
    }));

  describe("jwtTokens with keys at an address keep every promise", () =>
    runKit(it, authenticatorKit, {
      lacks: [anyPlace, noVerdicts],
      make: async () => {
        const made = keys();
        const authenticate = jwtTokens({ issuer, audience: "loopwright", keys: "https://issuer.example/keys", ...made.parts });
        return under(made, authenticate, { tokenOf: tokenOf(made), service: { ...made.service, deadlineMs: 3_000 } });
      },
    }));

  describe("oidcTokens keep every promise", () =>
    runKit(it, authenticatorKit, {
      lacks: [anyPlace, noVerdicts],
      make: async () => {
        const made = keys();
        const authenticate = oidcTokens({ issuer, audience: "loopwright", ...made.parts });
        return under(made, authenticate, { tokenOf: tokenOf(made), service: { ...made.service, deadlineMs: 3_000 } });
      },
    }));
});

describe("bearerTokens keep every promise", () =>
  runKit(it, authenticatorKit, {
    lacks: [anyPlace, noService, noVerdicts],
    make: async () => {
      const made = scene(() => new Response(null, { status: 401 }));
      const known = callers.map((who) => {
        const { user, scope, endsInMs } = kitCallers[who];
        return [secretOf(who), { user, scope, ...(endsInMs === undefined ? {} : { expiresAt: made.start + endsInMs }) }];
      });
      return under(made, bearerTokens(Object.fromEntries(known)), { tokenOf: secretOf });
    },
  }));

const noEnd = { capability: "ends", reason: "its tokens have no end" };

describe("internalTokens keep every promise", () =>
  runKit(it, authenticatorKit, {
    lacks: [noService, noVerdicts, noEnd, { capability: "people", reason: "its callers are services" }],
    make: async () => {
      const made = scene(() => new Response(null, { status: 401 }));
      const services = Object.fromEntries(callers.map((who) => [secretOf(who), kitCallers[who]]));
      return under(made, internalTokens(services), { tokenOf: secretOf });
    },
  }));

describe("developmentTokens keep every promise", () =>
  runKit(it, authenticatorKit, {
    lacks: [noService, noVerdicts, noEnd, { capability: "secrets", reason: "every caller may invent its token" }],
    make: async () => {
      const made = scene(() => new Response(null, { status: 401 }));
      return under(made, developmentTokens(), { tokenOf: (who) => `dev:${kitCallers[who].user}@${kitCallers[who].scope}` });
    },
  }));
