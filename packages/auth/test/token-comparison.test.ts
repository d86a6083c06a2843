import { bearerTokens } from "@loopwright/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import { internalTokens } from "../src/index.ts";

const tokens = Array.from({ length: 5 }, (_, at) => `token-${at}-0123456789abcdef`);
const [first = "", , , , last = ""] = tokens;
const person = { user: "anne", scope: "garden" };
const caller = { remoteAddress: "127.0.0.1", isExposed: false, isLocal: true };

const authenticators = {
  bearerTokens: bearerTokens(Object.fromEntries(tokens.map((token) => [token, person]))),
  internalTokens: internalTokens(Object.fromEntries(tokens.map((token) => [token, person]))),
};

afterEach(() => void vi.restoreAllMocks());

/** How many characters are looked at to answer about a token: what takes time, counted in place of the time. */
async function charactersFor(authenticate: (typeof authenticators)["bearerTokens"], token: string): Promise<number> {
  const request = new Request("http://localhost/", { headers: { Authorization: `Bearer ${token}` } });
  const looks = vi.spyOn(String.prototype, "charCodeAt");
  await authenticate(request, caller);
  const count = looks.mock.calls.length;
  looks.mockRestore();
  return count;
}

describe("K09: the comparison of a token", () => {
  it.each(Object.entries(authenticators))("of `%s` looks at as many characters, however much of the token is right", async (_, known) => {
    // What follows a right token, such as a look at where the caller is, is no part of the comparison.
    const guesses = [
      `${last.slice(0, -1)}x`,
      `${first.slice(0, -1)}x`,
      `x${first.slice(1)}`,
      "nothing-of-it-0123456789",
      first.toUpperCase(),
      "short",
      "x".repeat(5_000),
    ];
    const counts = new Set<number>();
    for (const guess of guesses) counts.add(await charactersFor(known, guess));
    expect([...counts]).toHaveLength(1);
    // The digests of all tokens, each to its end.
    expect([...counts][0]).toBeGreaterThanOrEqual(tokens.length * 2 * 32);
  });

  it("knows the right token wherever it stands in the list, and no part of one", async () => {
    const asked = (token: string) =>
      authenticators.bearerTokens(new Request("http://localhost/", { headers: { Authorization: `Bearer ${token}` } }), caller);
    for (const token of tokens) expect(await asked(token)).toEqual(person);
    for (const token of [first.slice(0, -1), `${first}0`, first.slice(1)]) expect(await asked(token)).toBeUndefined();
  });
});
