import { describe, expect, it } from "vitest";
import { runKit } from "./kit.ts";
import { modelProviderKit } from "./model-provider-kit.ts";
import { answerSaboteurs } from "./model-provider-kit-answer-saboteurs.ts";
import { boundSaboteurs } from "./model-provider-kit-bound-saboteurs.ts";
import { breakSaboteurs } from "./model-provider-kit-break-saboteurs.ts";
import { memorySubject } from "./model-provider-kit-honest.ts";
import { requestSaboteurs } from "./model-provider-kit-request-saboteurs.ts";
import { errorSaboteurs } from "./model-provider-kit-saboteurs.ts";

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
