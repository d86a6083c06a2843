import { expect, it } from "vitest";
import { checkForeignAnswers, checkTenantWords } from "./check-tenants.ts";

const words = { home: "quokka", guest: "axolotl" };
const flawsOf = (received: readonly string[]): readonly string[] =>
  checkTenantWords({ scope: "home", words, received: new Set(received), hasSpoken: true });

it("accepts a tenant's own messages, and none in an empty session", () => {
  expect(flawsOf(["quokka"])).toEqual([]);
  expect(checkTenantWords({ scope: "home", words, received: new Set(), hasSpoken: false })).toEqual([]);
});

it("finds the words of another tenant", () => {
  expect(flawsOf(["quokka", "axolotl"])).toEqual(["I13: the tenant home received what guest sent"]);
});

it("does not believe in silence", () => {
  expect(flawsOf([]).join()).toMatch(/was not notified of its own words/);
});

it("finds a session of another tenant that is not hidden", () => {
  const answers = [200, 403, 404].map((status) => ({ asked: "GET the session", status }));
  expect(checkForeignAnswers(answers)).toHaveLength(2);
});
