import type { ModelChunk } from "@loopwright/core";
import { describe, expect, it } from "vitest";
import { runKit } from "../../src/kit/kit.ts";
import { modelProviderKit } from "../../src/provider/model-provider-kit.ts";
import { answerSaboteurs } from "./answer-saboteurs.ts";
import { boundSaboteurs } from "./bound-saboteurs.ts";
import { breakSaboteurs } from "./break-saboteurs.ts";
import { type HonestParts, honestParts, memorySubject, type Spoil } from "./honest-provider.ts";
import { errorSaboteurs } from "./provider-saboteurs.ts";
import { requestSaboteurs } from "./request-saboteurs.ts";

const saboteurs = [...answerSaboteurs, ...breakSaboteurs, ...boundSaboteurs, ...errorSaboteurs, ...requestSaboteurs];

describe("a provider over a wire in memory keeps every promise", () =>
  runKit(it, modelProviderKit, { make: (script) => memorySubject(script) }));

/** What a test spoils of a provider whose wire sends arguments as one value. */
interface ValueDefect {
  readonly write?: (value: unknown) => string;
  readonly endsCalls?: boolean;
}

/** The honest provider over such a wire: it joins and parses the pieces of the script, as an adapter does that encodes an answer in a vendor's format. */
function valueWire({ write = JSON.stringify, endsCalls = true }: ValueDefect): Spoil {
  const translator = (): ReturnType<HonestParts["translator"]> => {
    const honest = honestParts.translator();
    const pieces = new Map<number, string>();
    return (event) => {
      if (event.call === undefined || event.name !== undefined) return honest(event);
      if (!event.done) {
        pieces.set(event.call, `${pieces.get(event.call) ?? ""}${event.args ?? ""}`);
        return [];
      }
      const value: unknown = JSON.parse(pieces.get(event.call) ?? "{}");
      const args: ModelChunk = { type: "call-args", index: event.call + 2, delta: write(value) };
      return endsCalls ? [args, ...honest(event)] : [args];
    };
  };
  return { parts: { translator } };
}

describe("a provider whose wire sends arguments as values keeps every promise", () =>
  runKit(it, modelProviderKit, {
    make: (script) => memorySubject(script, valueWire({})),
    lacks: [{ capability: "raw-arguments", reason: "the wire sends values" }],
  }));

describe("the model provider kit can fail", () => {
  it.each(saboteurs)("a provider that $defect breaks `$breaks` and nothing else", async ({ breaks, make }) => {
    const broken = await Promise.all(
      modelProviderKit.map((each) =>
        each.run(make).then(
          () => [],
          () => [each.id],
        ),
      ),
    );
    expect(broken.flat()).toEqual([breaks]);
  });

  it.each([
    ["never completes a call whose arguments came as one value", "blocks", { endsCalls: false }],
    ["writes arguments that came as one value as no JSON", "call", { write: String }],
  ] as const)("a provider that %s breaks `%s`", async (_, id, defect) => {
    const broken = modelProviderKit.find((each) => each.id === id);
    await expect(broken?.run((script) => memorySubject(script, valueWire(defect)))).rejects.toThrow();
    await expect(broken?.run((script) => memorySubject(script, valueWire({})))).resolves.toBeUndefined();
  });

  it("every promise has a saboteur", () => {
    const unproven = modelProviderKit.filter(({ id }) => !saboteurs.some(({ breaks }) => breaks === id));
    expect(unproven.map(({ id }) => id)).toEqual([]);
  });

  it("every promise has an id of its own", () => {
    expect(new Set(modelProviderKit.map(({ id }) => id)).size).toBe(modelProviderKit.length);
  });
});
