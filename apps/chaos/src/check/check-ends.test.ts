import { expect, it } from "vitest";
import { checkEnds } from "./check-ends.ts";

it("takes a kill for a kill", () => {
  expect(checkEnds([{ name: "node0", end: "SIGKILL", complaints: "" }], ["SIGKILL"])).toEqual([]);
});

it.each<[string, number | string]>([
  ["an exit with an error", 1],
  ["an exit in the middle of a storm", 0],
  ["an abort of the process", "SIGABRT"],
  ["a segmentation fault", "SIGSEGV"],
])("reports %s, with the node's last output", (_, end) => {
  const flaws = checkEnds([{ name: "node0", end, complaints: "first\nout of memory" }], ["SIGKILL"]);
  expect(flaws.join()).toMatch(new RegExp(`node0 ended by itself with ${end}.*out of memory`));
});
