import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { nodeFloorProblem } from "./node-floor.ts";

it.each(["22.16.0", "22.20.1", "24.0.0", "26.10.0"])("runs on Node.js %s", (version) => {
  expect(nodeFloorProblem(version)).toBeUndefined();
});

it.each(["18.20.0", "20.20.2", "22.15.9"])("refuses Node.js %s with a sentence", (version) => {
  expect(nodeFloorProblem(version)).toBe(`loopwright: Node.js ${version} is too old. Install Node.js 22.16 or newer.`);
});

it("refuses exactly what the manifest refuses", () => {
  const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  expect(nodeFloorProblem("1.0.0")).toContain(engines.node.replace(">=", "Node.js "));
});
