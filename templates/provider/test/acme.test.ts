import { collectAnswer } from "@loopwright/testing";
import { afterEach, expect, it } from "vitest";
import { acme } from "../src/index.ts";

const before = process.env["ACME_API_KEY"];

afterEach(() => {
  if (before === undefined) delete process.env["ACME_API_KEY"];
  else process.env["ACME_API_KEY"] = before;
});

it("names the variable when there is no key, and only when it is called", async () => {
  delete process.env["ACME_API_KEY"];
  const provider = acme();
  const call = collectAnswer(provider, { model: provider.defaultModel, messages: [{ role: "user", content: "Hello." }] });
  await expect(call).rejects.toMatchObject({ code: "MODEL_KEY_MISSING", message: expect.stringContaining("ACME_API_KEY") });
});
