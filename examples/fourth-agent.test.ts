import { createSession, execute, systemText } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { carefulAgent } from "./fourth-agent.ts";

it("B02: a fourth agent of the same parts asks its model twice, and has the sections of its user", async () => {
  const provider = scripted([{ text: "Lisbon." }, { text: "Lisbon, and Porto." }]);
  const settings = { settingsOf: () => ({ plan: "free", projectRule: "Be brief." }) };
  const result = await execute(createSession({ agent: carefulAgent({ provider, settings }) }), "Which two cities?").result();
  expect(result.text).toBe("Lisbon, and Porto.");
  expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain("Does your draft answer the whole question?");
  expect(systemText(provider.requests[0]?.system)).toBe("Answer the whole question.\n\n# Rule of the project\nBe brief.");
});
