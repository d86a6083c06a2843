import { expect, it } from "vitest";
import { createAgent } from "./agent/agent.ts";
import { isAgentError } from "./errors.ts";
import { scripted } from "./memory/index.ts";
import { refuseUnknownOptions } from "./unknown-options.ts";

interface Options {
  readonly baseURL?: string;
  readonly turnsMax?: number;
  readonly api?: string;
}

const known = { baseURL: true, turnsMax: true, api: true } as const;

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return isAgentError(error, "CONFIG_INVALID") ? `${error.message} ${error.fix}` : String(error);
  }
  return "";
}

const refused = (options: object): string => refusal(() => refuseUnknownOptions<Options>(options, known, "the thing"));

it.each([
  ["baseUrl", "baseURL"],
  ["BASEURL", "baseURL"],
  ["turnMax", "turnsMax"],
  ["tunrsMax", "turnsMax"],
  ["apy", "api"],
])("`%s` is refused with the near name `%s`", (name, near) => {
  expect(refused({ [name]: 1 })).toBe(`There is no option \`${name}\` of the thing. Did you mean \`${near}\`?`);
});

it("a name that is near to none is refused with all that there are, however long it is", () => {
  expect(refused({ colour: 1 })).toBe("There is no option `colour` of the thing. Use: baseURL, turnsMax, api.");
  expect(refused({ ["x".repeat(1_000_000)]: 1 }).length).toBeLessThan(200);
  expect(refused({ toString: 1 })).toContain("There is no option `toString`");
});

it("known names and members without a value are let through", () => {
  expect(refused({ baseURL: "x", turnsMax: 1, api: "y", colour: undefined })).toBe("");
});

it("an agent refuses unknown limits and deadlines, and an unknown value of `onLimit`", () => {
  const made = (more: object): string => refusal(() => createAgent({ name: "a", provider: scripted([]), ...more }));
  expect(made({ limits: { maxTurns: 3 } })).toContain("There is no option `maxTurns` of `limits` of the agent `a`. Use: turnsMax, ");
  expect(made({ limits: { turnMax: 3 } })).toBe("There is no option `turnMax` of `limits` of the agent `a`. Did you mean `turnsMax`?");
  expect(made({ deadlines: { totalMS: 3 } })).toContain("Did you mean `totalMs`?");
  expect(made({ limits: { onLimit: "halt" } })).toBe("Agent `a`: `limits.onLimit` is halt. Use `finalize`, `stop` or `error`.");
  expect(made({ limits: { turnsMax: 3, onLimit: "stop" } })).toBe("");
});
