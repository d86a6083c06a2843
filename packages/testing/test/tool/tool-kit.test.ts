import { describe, expect, it } from "vitest";
import { runKit, tryKit } from "../../src/kit/kit.ts";
import { toolKit } from "../../src/tool/tool-kit.ts";
import { makeHonestTool, toolSaboteurs } from "./tool-saboteurs.ts";

describe("an honest tool keeps every promise", () => runKit(it, toolKit, { make: makeHonestTool }));

describe("the tool kit can fail", () => {
  it.each(toolSaboteurs)("a tool that $defect breaks one promise and no other", async ({ promise, make }) => {
    const broken = (await tryKit(toolKit, { make })).filter(({ outcome }) => outcome === "broken");
    expect(broken.map((verdict) => verdict.promise.slice(0, promise.length))).toEqual([promise]);
  });

  it("every promise has a saboteur", () => {
    const unproven = toolKit.filter((each) => !toolSaboteurs.some(({ promise }) => each.promise.startsWith(promise)));
    expect(unproven.map(({ promise }) => promise)).toEqual([]);
  });
});
