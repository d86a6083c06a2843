import { AgentError } from "@loopwright/core";
import { type ManualClock, manualClock } from "@loopwright/core/memory";
import {
  type AuthenticatorUnderTest,
  type KitCaller,
  kitCallers,
  type ServiceFate,
  type StatedCaller,
  type StatedPrincipal,
} from "../../src/authenticator/authenticator-under-test.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";

const tokens: { readonly [caller in KitCaller]: string } = {
  anne: "anne-0123456789abcdef",
  ben: "ben-00123456789abcdef",
  brief: "brief-123456789abcdef",
};

/** The parts of an authenticator, each of which a saboteur may replace. */
interface Parts {
  readonly clock: ManualClock;
  readonly lines: string[];
  /** Asks the service: the principal, or none. Rejects when it gives no verdict. */
  readonly verdictOf: (token: string) => Promise<StatedPrincipal | undefined>;
}

type Ask = (request: Request, caller: StatedCaller) => Promise<StatedPrincipal | undefined>;

const deadlineMs = 2_000;
const cacheMs = 10_000;
const tokenIn = (request: Request): string | undefined => {
  const header = request.headers.get("Authorization") ?? "";
  return header.length > 16_384 ? undefined : /^Bearer +(\S+)$/.exec(header)?.[1];
};
const down = (): AgentError => new AgentError("NOT_READY", { message: "No verdict.", retryAfterMs: 1_000 });
const isFromHere = ({ isLocal }: StatedCaller, { headers }: Request): boolean =>
  isLocal && !["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"].some((name) => headers.has(name));

function inTime<T>(answer: Promise<T>, clock: ManualClock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(deadlineMs, () => reject(down()));
    answer.then(resolve, reject).finally(cancel);
  });
}

/** One that keeps every promise: it asks the service in time, and keeps verdicts for ten seconds. */
const honest = ({ clock, verdictOf }: Parts): Ask => {
  const kept = new Map<string, { readonly principal: StatedPrincipal | undefined; readonly until: number }>();
  return async (request, caller) => {
    const token = tokenIn(request);
    if (token === undefined || !isFromHere(caller, request)) return undefined;
    const known = kept.get(token);
    if (known && known.until > clock.now()) return known.principal;
    const principal = await inTime(verdictOf(token), clock);
    kept.set(token, { principal, until: Math.min(clock.now() + cacheMs, principal?.expiresAt ?? Number.POSITIVE_INFINITY) });
    return principal;
  };
};

const made = (authenticatorOf: (parts: Parts) => Ask) => async (): Promise<AuthenticatorUnderTest> => {
  const clock = manualClock();
  const start = clock.now();
  const lines: string[] = [];
  const refused = new Set<KitCaller>();
  let fate: ServiceFate | undefined;
  let asked: (() => void) | undefined;
  const verdictOf = async (token: string): Promise<StatedPrincipal | undefined> => {
    asked?.();
    if (fate === "silence") return new Promise<never>(() => {});
    if (fate !== undefined) throw down();
    const who = (Object.keys(tokens) as KitCaller[]).find((one) => tokens[one] === token);
    if (who === undefined || refused.has(who)) return undefined;
    const { user, scope, endsInMs } = kitCallers[who];
    const expiresAt = endsInMs === undefined ? undefined : start + endsInMs;
    if (expiresAt !== undefined && expiresAt <= clock.now()) return undefined;
    return { user, scope, ...(expiresAt === undefined ? {} : { expiresAt }) };
  };
  const authenticate = authenticatorOf({ clock, lines, verdictOf });
  return {
    authenticate,
    tokenOf: (who) => tokens[who],
    pass: (ms) => clock.advance(ms),
    now: () => clock.now(),
    lines: () => lines,
    service: {
      deadlineMs,
      fail: (next) =>
        new Promise((resolve) => {
          fate = next;
          asked = resolve;
        }),
      heal() {
        fate = undefined;
      },
      setRefused: (who, isRefused) => void (isRefused ? refused.add(who) : refused.delete(who)),
    },
  };
};

/** An honest authenticator for the kit. */
export const makeHonestAuthenticator: () => Promise<AuthenticatorUnderTest> = made(honest);

/** An honest one, around which a saboteur puts its defect. */
const spoiled = (spoil: (ask: Ask, parts: Parts) => Ask): (() => Promise<AuthenticatorUnderTest>) =>
  made((parts) => spoil(honest(parts), parts));

/** Defects of authenticators. */
export const authenticatorSaboteurs: readonly Saboteur<AuthenticatorUnderTest>[] = [
  {
    defect: "forgets when credentials end, and keeps their verdict",
    breaks: ["ends"],
    make: spoiled((ask) => {
      let brief: StatedPrincipal | undefined;
      return async (request, caller) => {
        const principal = await ask(request, caller);
        if (principal?.user === "brief") brief = { user: principal.user, scope: principal.scope };
        return tokenIn(request) === tokens.brief ? brief : principal;
      };
    }),
  },
  {
    defect: "lets callers in while its service is down",
    breaks: ["down", "deadline"],
    make: spoiled((ask) => async (request, caller) => ask(request, caller).catch(() => ({ user: "anne", scope: "garden" }))),
  },
  {
    defect: "answers an outage like wrong credentials",
    breaks: ["down", "deadline"],
    make: spoiled((ask) => async (request, caller) => ask(request, caller).catch(() => undefined)),
  },
  {
    defect: "waits for its service without a deadline",
    breaks: ["deadline"],
    make: made(({ verdictOf }) => async (request, caller) => {
      const token = tokenIn(request);
      return token !== undefined && isFromHere(caller, request) ? verdictOf(token) : undefined;
    }),
  },
  {
    defect: "takes its service for lost after some failures",
    breaks: ["recovers"],
    make: spoiled((ask) => {
      let failures = 0;
      return async (request, caller) => {
        if (failures >= 10) throw down();
        return ask(request, caller).catch((error: unknown) => {
          failures += 1;
          throw error;
        });
      };
    }),
  },
  {
    defect: "remembers refusals for ever",
    breaks: ["restored"],
    make: spoiled((ask) => {
      const refused = new Set<string>();
      return async (request, caller) => {
        const token = tokenIn(request) ?? "";
        if (refused.has(token)) return undefined;
        const principal = await ask(request, caller);
        if (!principal && isFromHere(caller, request)) refused.add(token);
        return principal;
      };
    }),
  },
  {
    defect: "remembers whom it has let in for an hour",
    breaks: ["revoked"],
    make: spoiled((ask, { clock }) => {
      const kept = new Map<string, { readonly principal: StatedPrincipal; readonly until: number }>();
      return async (request, caller) => {
        const token = tokenIn(request) ?? "";
        const known = kept.get(token);
        if (known && known.until > clock.now() && isFromHere(caller, request)) return known.principal;
        const principal = await ask(request, caller);
        if (principal)
          kept.set(token, { principal, until: Math.min(clock.now() + 3_600_000, principal.expiresAt ?? Number.POSITIVE_INFINITY) });
        return principal;
      };
    }),
  },
  {
    defect: "repeats the token in its error",
    breaks: ["hidden"],
    make: spoiled(
      (ask) => async (request, caller) =>
        ask(request, caller).catch((cause: unknown) => {
          throw new AgentError("NOT_READY", { message: "No verdict.", cause: new Error(`asked about ${tokenIn(request)}`, { cause }) });
        }),
    ),
  },
  {
    defect: "logs the tokens that it refuses",
    breaks: ["hidden"],
    make: spoiled((ask, { lines }) => async (request, caller) => {
      const principal = await ask(request, caller);
      if (!principal) lines.push(`refused ${request.headers.get("Authorization")}`);
      return principal;
    }),
  },
  {
    defect: "takes the scope from a header",
    breaks: ["request"],
    make: spoiled((ask) => async (request, caller) => {
      const principal = await ask(request, caller);
      return principal && { ...principal, scope: request.headers.get("X-Tenant") ?? principal.scope };
    }),
  },
  {
    defect: "takes the user from the address",
    breaks: ["request"],
    make: spoiled((ask) => async (request, caller) => {
      const principal = await ask(request, caller);
      return principal && { ...principal, user: new URL(request.url).searchParams.get("user") ?? principal.user };
    }),
  },
  {
    defect: "trusts whom a request calls trusted",
    breaks: ["request"],
    make: spoiled((ask) => async (request, caller) => {
      const principal = await ask(request, caller);
      return principal && (request.headers.get("X-Trusted") === "true" ? { ...principal, trusted: true } : principal);
    }),
  },
  {
    defect: "trusts every user",
    breaks: ["trust"],
    make: spoiled((ask) => async (request, caller) => {
      const principal = await ask(request, caller);
      return principal && { ...principal, trusted: true };
    }),
  },
  {
    defect: "takes a token from the address",
    breaks: ["address"],
    make: spoiled((ask) => async (request, caller) => {
      const token = new URL(request.url).searchParams.get("token");
      return ask(token === null ? request : new Request(request.url, { headers: { Authorization: `Bearer ${token}` } }), caller);
    }),
  },
  {
    defect: "takes a token from a cookie",
    breaks: ["address"],
    make: spoiled((ask) => async (request, caller) => {
      const token = /token=(\S+)/.exec(request.headers.get("Cookie") ?? "")?.[1];
      return ask(token === undefined ? request : new Request(request.url, { headers: { Authorization: `Bearer ${token}` } }), caller);
    }),
  },
  {
    defect: "knows a token by its first characters",
    breaks: ["guessed"],
    make: made((parts) => {
      const ask = honest({
        ...parts,
        verdictOf: (token) =>
          parts.verdictOf(Object.values(tokens).find((one) => token !== "" && one.slice(0, 8) === token.slice(0, 8)) ?? token),
      });
      return ask;
    }),
  },
  {
    defect: "lets callers without credentials in as a guest",
    breaks: ["unknown", "address", "guessed", "place", "revoked", "restored", "ends"],
    make: spoiled((ask) => async (request, caller) => (await ask(request, caller)) ?? { user: "guest", scope: "garden" }),
  },
  {
    defect: "takes the password of Basic authentication",
    breaks: ["unknown"],
    make: spoiled((ask) => async (request, caller) => {
      const basic = /^Basic +(\S+)$/.exec(request.headers.get("Authorization") ?? "")?.[1];
      return ask(basic === undefined ? request : new Request(request.url, { headers: { Authorization: `Bearer ${basic}` } }), caller);
    }),
  },
  {
    defect: "believes that a request behind a proxy comes from this machine",
    breaks: ["place"],
    make: spoiled((ask) => async (request, caller) => {
      const authorization = request.headers.get("Authorization");
      return ask(new Request(request.url, { headers: authorization === null ? {} : { Authorization: authorization } }), caller);
    }),
  },
  {
    defect: "gives callers that come at once one verdict",
    breaks: ["apart"],
    make: spoiled((ask) => {
      let underWay: Promise<StatedPrincipal | undefined> | undefined;
      return async (request, caller) => {
        if (tokenIn(request) === undefined) return undefined;
        underWay ??= ask(request, caller).finally(() => {
          underWay = undefined;
        });
        return underWay;
      };
    }),
  },
  {
    defect: "knows a caller once",
    breaks: ["again", "apart", "request", "recovers", "restored"],
    make: spoiled((ask) => {
      let used = 0;
      return async (request, caller) => (tokenIn(request) === tokens.anne && used++ > 0 ? undefined : ask(request, caller));
    }),
  },
  {
    defect: "reads the body",
    breaks: ["again"],
    make: spoiled((ask) => async (request, caller) => {
      await request.text().catch(() => "");
      return ask(request, caller);
    }),
  },
  {
    defect: "knows no caller",
    breaks: ["known", "apart", "again", "request", "ends", "down", "deadline", "recovers", "revoked", "restored"],
    make: made(() => async () => undefined),
  },
];
