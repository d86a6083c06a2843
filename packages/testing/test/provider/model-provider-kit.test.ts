import { describe, expect, it } from "vitest";
import { runKit } from "../../src/kit/kit.ts";
import { modelProviderKit } from "../../src/provider/model-provider-kit.ts";
import { answerSaboteurs } from "./answer-saboteurs.ts";
import { boundSaboteurs } from "./bound-saboteurs.ts";
import { breakSaboteurs } from "./break-saboteurs.ts";
import { memorySubject } from "./honest-provider.ts";
import { errorSaboteurs } from "./provider-saboteurs.ts";
import { requestSaboteurs } from "./request-saboteurs.ts";

const saboteurs = [...answerSaboteurs, ...breakSaboteurs, ...boundSaboteurs, ...errorSaboteurs, ...requestSaboteurs];

describe("a provider over a wire in memory keeps every promise", () =>
  runKit(it, modelProviderKit, { make: (script) => memorySubject(script) }));

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

  it("every promise has a saboteur", () => {
    const unproven = modelProviderKit.filter(({ id }) => !saboteurs.some(({ breaks }) => breaks === id));
    expect(unproven.map(({ id }) => id)).toEqual([]);
  });

  it("every promise has an id of its own", () => {
    expect(new Set(modelProviderKit.map(({ id }) => id)).size).toBe(modelProviderKit.length);
  });
});
