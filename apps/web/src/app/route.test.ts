import { expect, it } from "vitest";
import { hashOf, type Route, routeOf } from "./route.ts";

const routes: readonly Route[] = [
  { name: "new" },
  { name: "settings" },
  { name: "settings", sectionId: "appearance" },
  { name: "session", sessionId: "01jd_a-b" },
  { name: "session", sessionId: "s1", messageId: "12" },
  { name: "session", sessionId: "s1", messageId: "12.3" },
  { name: "session", sessionId: "s1", runId: "r0abc" },
];

it("a route and its hash name the same place", () => {
  for (const route of routes) expect(routeOf(hashOf(route))).toEqual(route);
});

it("a hash that names nothing of ours is a new conversation", () => {
  const strange = [
    "",
    "#",
    "#/",
    "#/c/",
    "#/settings/A B",
    "#/settings/x/y",
    "#/c/UPPER",
    "#/c/../x",
    "#/c/s1/x/2",
    "#/c/s1/m/<b>",
    `#/c/${"a".repeat(65)}`,
  ];
  for (const hash of strange) expect(routeOf(hash)).toEqual({ name: "new" });
});

it("a slash at the end does no harm", () => {
  expect(routeOf("#/c/s1/")).toEqual({ name: "session", sessionId: "s1" });
});
