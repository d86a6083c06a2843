import { isAgentError } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import {
  type AuthenticatorUnderTest,
  type KitCaller,
  kitCallers,
  type ServiceFate,
  type ServiceUnderTest,
  type StatedCaller,
  type StatedPrincipal,
} from "./authenticator-under-test.ts";

const here: StatedCaller = { isLocal: true, isExposed: false };
const elsewhere: StatedCaller = { isLocal: false, isExposed: true };
const address = "http://localhost/api/sessions";
/** Clocks may be so far apart, and a verdict may count for so long. */
const [skewMs, verdictMs, pauseMs] = [300_000, 60_000, 30_000];
/** Turns of the platform in which an answer that is due must come. */
const turns = 40;
const fates: readonly ServiceFate[] = ["error", "unreadable", "redirect", "no-connection"];

type Answer = { readonly principal: StatedPrincipal | undefined } | { readonly error: unknown };

const bearing = (token: string, headers: { readonly [name: string]: string } = {}): Request =>
  new Request(address, { headers: { ...headers, Authorization: `Bearer ${token}` } });

async function answerTo(subject: AuthenticatorUnderTest, request: Request, caller: StatedCaller = here): Promise<Answer> {
  try {
    return { principal: await subject.authenticate(request, caller) };
  } catch (error) {
    return { error };
  }
}

const ask = async (subject: AuthenticatorUnderTest, who: KitCaller = "anne"): Promise<Answer> =>
  answerTo(subject, bearing(await subject.tokenOf(who)));

const principalIn = (answer: Answer): StatedPrincipal | undefined => ("principal" in answer ? answer.principal : undefined);

/** What counts of an answer: its principal, or how it refuses. */
function seen(answer: Answer): string {
  const principal = principalIn(answer);
  if (principal) return `${principal.user}@${principal.scope}`;
  if ("principal" in answer) return "refused";
  return isAgentError(answer.error) ? answer.error.code : "another error";
}

const nameOf = (who: KitCaller): string => `${kitCallers[who].user}@${kitCallers[who].scope}`;

function expectRefused(answer: Answer, what: string): void {
  const got = seen(answer);
  expectThat(got === "refused" || got === "UNAUTHENTICATED", `${what}: expected a refusal, got ${got}`);
}

/** Without a verdict the answer is an error that a caller may repeat, so that it is neither let in nor answered as if its credentials were wrong. */
function expectNoVerdict(answer: Answer, what: string): void {
  const isRetryable = "error" in answer && isAgentError(answer.error) && answer.error.retryable;
  expectThat(isRetryable && seen(answer) === "NOT_READY", `${what}: expected NOT_READY, got ${seen(answer)}`);
}

function serviceOf({ service }: AuthenticatorUnderTest): ServiceUnderTest {
  expectThat(service !== undefined, "The subject has no `service`, and does not lack it.");
  return service;
}

/** The answer, or `undefined` if none comes in some turns of the platform. */
async function soon(answer: Promise<Answer>): Promise<Answer | undefined> {
  let got: Answer | undefined;
  void answer.then((one) => {
    got = one;
  });
  for (let turn = 0; turn < turns && got === undefined; turn++) await new Promise<void>((resolve) => systemClock.after(0, resolve));
  return got;
}

/** Everything of an error that a log or a person may see. */
function shownOf(error: unknown): string {
  const parts: string[] = [];
  for (let at = error, depth = 0; at !== undefined && depth < 5; depth++) {
    parts.push(String(at), JSON.stringify(at) ?? "", at instanceof Error ? (at.stack ?? "") : "");
    at = at instanceof Error ? at.cause : undefined;
  }
  return parts.join("\n");
}

/** The promises of an authenticator: `authenticate` of a server. */
export const authenticatorKit: StoreKit<AuthenticatorUnderTest> = [
  {
    id: "known",
    promise: "credentials lead to the user and the scope that they are for",
    async run(make) {
      expectSame(seen(await ask(await make())), nameOf("anne"), "the principal");
    },
  },
  {
    id: "apart",
    promise: "callers that come at once each get the principal of their own credentials",
    async run(make) {
      const subject = await make();
      const callers = Array.from({ length: 20 }, (_, at): KitCaller => (at % 3 === 0 ? "ben" : "anne"));
      const answers = await Promise.all(callers.map((who) => ask(subject, who)));
      expectSame(answers.map(seen), callers.map(nameOf), "the principals");
    },
  },
  {
    id: "again",
    promise: "the same request may be asked about again, and its body is left for its route",
    async run(make) {
      const subject = await make();
      const headers = { Authorization: `Bearer ${await subject.tokenOf("anne")}` };
      const request = new Request(address, { method: "POST", body: "text", headers });
      const answers = [await answerTo(subject, request), await answerTo(subject, request)].map(seen);
      expectSame(answers, [nameOf("anne"), nameOf("anne")], "the principals");
      expectSame(await request.text().catch(() => "read before"), "text", "the body");
    },
  },
  {
    id: "unknown",
    promise: "without credentials, with unknown ones and with what is none, no caller is let in",
    async run(make) {
      const subject = await make();
      const token = await subject.tokenOf("anne");
      const headers = ["", "Bearer", "Bearer ", `Basic ${token}`, token, `Bearer ${token} ${token}`, `Bearer ${"x".repeat(20_000)}`];
      for (const header of [...headers, "Bearer unknown-0123456789abcdef", "Bearer a.b.c"])
        expectRefused(
          await answerTo(subject, new Request(address, { headers: header === "" ? {} : { Authorization: header } })),
          `a header of ${header.length} characters`,
        );
    },
  },
  {
    id: "address",
    promise: "a token counts in no place but `Authorization`: addresses end up in logs, and other sites send cookies",
    async run(make) {
      const subject = await make();
      const token = await subject.tokenOf("anne");
      const headers = [{ Cookie: `token=${token}` }, { "X-Token": token }, { "X-Api-Key": token }];
      const requests = [
        ...["token", "access_token", "ticket"].map((name) => new Request(`${address}?${name}=${encodeURIComponent(token)}`)),
        ...headers.map((one) => new Request(address, { headers: one })),
      ];
      for (const request of requests) expectRefused(await answerTo(subject, request), request.url);
    },
  },
  {
    id: "guessed",
    promise: "a token that is a part of another, longer or changed is not known",
    needs: ["secrets"],
    async run(make) {
      const subject = await make();
      const token = await subject.tokenOf("anne");
      const middle = Math.floor(token.length / 2);
      const changed = `${token.slice(0, middle)}${token[middle] === "A" ? "B" : "A"}${token.slice(middle + 1)}`;
      for (const guess of [token.slice(0, -1), token.slice(1), `${token}x`, token.toUpperCase(), changed])
        expectRefused(await answerTo(subject, bearing(guess)), "a guess");
    },
  },
  {
    id: "request",
    promise: "nothing else in a request changes user, scope or trust",
    async run(make) {
      const subject = await make();
      const token = await subject.tokenOf("anne");
      const claims = { "X-Scope": "kitchen", "X-User": "ben", "X-Tenant": "kitchen", "X-Roles": "admin", "X-Trusted": "true" };
      const headers = { ...claims, Cookie: "scope=kitchen", Authorization: `Bearer ${token}` };
      const plain = principalIn(await ask(subject));
      for (const request of [bearing(token, claims), new Request(`${address}?scope=kitchen&user=ben&trusted=true`, { headers })]) {
        const { expiresAt: _, ...stated } = principalIn(await answerTo(subject, request)) ?? { user: "", scope: "" };
        const { expiresAt: __, ...expected } = plain ?? { user: "none", scope: "none" };
        expectSame(stated, expected, "the principal");
      }
    },
  },
  {
    id: "trust",
    promise: "no user is trusted, and none belongs to every scope",
    needs: ["people"],
    async run(make) {
      const principal = principalIn(await ask(await make()));
      expectThat(principal?.trusted !== true && principal?.memberships !== "any", "the principal is one of a service");
    },
  },
  {
    id: "place",
    promise: "credentials for this machine do not count from another one, nor behind a proxy",
    needs: ["place"],
    async run(make) {
      const subject = await make();
      const token = await subject.tokenOf("anne");
      expectRefused(await answerTo(subject, bearing(token), elsewhere), "another machine");
      for (const name of ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"])
        expectRefused(await answerTo(subject, bearing(token, { [name]: "127.0.0.1" })), name);
    },
  },
  {
    id: "ends",
    promise: "a principal states when its credentials end, and from then on they do not count",
    needs: ["ends"],
    async run(make) {
      const subject = await make();
      const end = subject.now() + (kitCallers.brief.endsInMs ?? 0);
      const principal = principalIn(await ask(subject, "brief"));
      expectSame(principal?.user, "brief", "the user");
      const stated = principal?.expiresAt ?? Number.POSITIVE_INFINITY;
      expectThat(stated <= end + skewMs, "the principal states no end, or one after that of its credentials");
      subject.pass(end - subject.now() + skewMs);
      const later = principalIn(await ask(subject, "brief"));
      expectThat(later === undefined || (later.expiresAt ?? Number.POSITIVE_INFINITY) <= subject.now(), "it was let in after the end");
    },
  },
  {
    id: "down",
    promise: "while its service fails or cannot be reached no caller is let in, and the answer is NOT_READY",
    needs: ["service"],
    async run(make) {
      for (const fate of fates) {
        const subject = await make();
        void serviceOf(subject).fail(fate);
        expectNoVerdict(await ask(subject), fate);
      }
    },
  },
  {
    id: "deadline",
    promise: "a service that is silent has a deadline, after which the answer is NOT_READY",
    needs: ["service"],
    async run(make) {
      const subject = await make();
      const service = serviceOf(subject);
      const asked = service.fail("silence");
      const answer = ask(subject);
      // One that asks nothing has its answer already.
      await Promise.race([asked, answer]);
      subject.pass(service.deadlineMs);
      const got = await soon(answer);
      expectThat(got !== undefined, `no answer after ${service.deadlineMs} ms of its clock`);
      expectNoVerdict(got, "silence");
    },
  },
  {
    id: "recovers",
    promise: "a service that answers again is believed again within half a minute",
    needs: ["service"],
    async run(make) {
      const subject = await make();
      void serviceOf(subject).fail("error");
      for (let at = 0; at < 10; at++) await ask(subject);
      serviceOf(subject).heal();
      subject.pass(pauseMs);
      expectSame(seen(await ask(subject)), nameOf("anne"), "the principal after the outage");
    },
  },
  {
    id: "revoked",
    promise: "credentials that the service refuses from now on stop counting within a minute",
    needs: ["service", "verdicts"],
    async run(make) {
      const subject = await make();
      expectSame(seen(await ask(subject)), nameOf("anne"), "the principal before");
      serviceOf(subject).setRefused?.("anne", true);
      subject.pass(verdictMs);
      expectRefused(await ask(subject), "after a minute");
    },
  },
  {
    id: "restored",
    promise: "a refusal is not remembered for more than a minute",
    needs: ["service", "verdicts"],
    async run(make) {
      const subject = await make();
      serviceOf(subject).setRefused?.("anne", true);
      expectRefused(await ask(subject), "while the service refuses");
      serviceOf(subject).setRefused?.("anne", false);
      subject.pass(verdictMs);
      expectSame(seen(await ask(subject)), nameOf("anne"), "the principal after a minute");
    },
  },
  {
    id: "hidden",
    promise: "no principal, no error and no line of the log has the token",
    async run(make) {
      for (const fate of [undefined, ...fates]) {
        const subject = await make();
        const token = await subject.tokenOf("anne");
        if (fate !== undefined) void subject.service?.fail(fate);
        const answers = [
          await ask(subject),
          await answerTo(subject, bearing(token), elsewhere),
          await answerTo(subject, bearing(`${token}x`)),
        ];
        const shown = answers.map((answer) => ("error" in answer ? shownOf(answer.error) : JSON.stringify(answer.principal)));
        expectThat(![...shown, ...subject.lines()].some((text) => text?.includes(token)), `the token was shown (${fate ?? "no failure"})`);
      }
    },
  },
];
