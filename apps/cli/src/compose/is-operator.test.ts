import { expect, test } from "vitest";
import { reachOf } from "./is-operator.ts";

test("the figures of all scopes are for callers with a token of the server, those of a scope for its admins, and all others see their own", () => {
  const anne = { user: "anne", scope: "garden" };
  expect(reachOf({ ...anne, trusted: true })).toBe("all");
  for (const role of ["admin", "service"]) expect(reachOf({ ...anne, roles: [role] })).toBe("scope");
  for (const roles of [[], ["viewer"], ["administrator"]]) expect(reachOf({ ...anne, roles })).toBe("user");
  expect(reachOf({ ...anne, trusted: false })).toBe("user");
});
