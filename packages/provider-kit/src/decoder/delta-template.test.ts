import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DeltaTemplate } from "./delta-template.ts";

const members = { texts: ["obfuscation"], numbers: ["sequence_number"] };
const learnt = (data: string, name = "delta"): DeltaTemplate => {
  const template = new DeltaTemplate(members);
  template.learn(data, name, JSON.parse(data)[name]);
  return template;
};
const event = (delta: string, number = 1, obfuscation = "a"): string =>
  JSON.stringify({ type: "text", sequence_number: number, item: { index: 0 }, delta, logprobs: [], obfuscation });

describe("DeltaTemplate", () => {
  it("reads what JSON.parse reads, of any two events", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom('"', "\\", '\\"', '","delta":"x', "\n", "\ud83d", "𝄞", ""));
    const some = fc.record({
      delta: text,
      number: fc.nat(),
      obfuscation: text,
      extra: fc.option(fc.jsonValue({ maxDepth: 2 }), { nil: undefined }),
    });
    const write = ({ delta, number, obfuscation, extra }: { delta: string; number: number; obfuscation: string; extra: unknown }): string =>
      JSON.stringify({ sequence_number: number, extra, delta, obfuscation });
    fc.assert(
      fc.property(some, some, fc.boolean(), (first, second, sameExtra) => {
        const next = write(sameExtra ? { ...second, extra: first.extra } : second);
        const read = learnt(write(first)).read(next);
        if (read !== undefined) expect(read).toBe(second.delta);
        // Where nothing but the changing members differs, it does read.
        if (
          sameExtra &&
          !JSON.stringify(first.extra ?? null).includes('"delta"') &&
          !/obfuscation|sequence/.test(JSON.stringify(first.extra ?? null))
        )
          expect(read).toBe(second.delta);
      }),
      { numRuns: 1_000 },
    );
  });

  it("never reads an event that differs in any other character", () => {
    fc.assert(
      fc.property(fc.nat(200), fc.constantFrom("", "x", '"', ",", "}", "\\"), (at, char) => {
        const good = event("Hi");
        const place = at % good.length;
        const bad = good.slice(0, place) + char + good.slice(place + 1);
        let parsed: { delta?: unknown; type?: unknown } | undefined;
        try {
          parsed = JSON.parse(bad);
        } catch {
          parsed = undefined;
        }
        const read = learnt(event("Well", 2, "bc")).read(bad);
        if (read !== undefined) expect(parsed).toMatchObject({ type: "text", delta: read, item: { index: 0 }, logprobs: [] });
      }),
      { numRuns: 2_000 },
    );
  });

  it("leaves a member that stands twice, a number of another form and what is too long to JSON.parse", () => {
    const twice = '{"delta":"a","x":{"delta":"a"}}';
    expect(learnt(twice).read(twice)).toBeUndefined();
    expect(learnt(event("a")).read(event("a", -1))).toBeUndefined();
    expect(learnt(event("a")).read(event("a").replace(":1,", ":01,"))).toBeUndefined();
    expect(learnt(event("a")).read(event("x".repeat(10_000)))).toBeUndefined();
  });

  it("reads nothing after `forget`", () => {
    const template = learnt(event("a"));
    template.forget();
    expect(template.read(event("b"))).toBeUndefined();
  });

  it("gives up on a server whose events are all different", () => {
    const template = new DeltaTemplate(members);
    const odd = (id: number): string => JSON.stringify({ id, delta: "a" });
    for (let id = 0; id < 20; id++) {
      expect(template.read(odd(id))).toBeUndefined();
      template.learn(odd(id), "delta", "a");
    }
    template.learn(odd(20), "delta", "a");
    expect(template.read(odd(20))).toBeUndefined();
  });
});
