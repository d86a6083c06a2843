import { describe, expect, it } from "vitest";
import { createGuardrails, type GuardrailPolicy, skillGuardrailHooks } from "../src/index.ts";
import { samples } from "./samples.ts";

/** Characters of each text. */
const length = 100_000;
/** A backtracking engine takes minutes to years for these texts. */
const usedMaxMs = 5_000;

const filled = (piece: string, end = ""): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length - end.length) + end;

/** What each rule has to look at longest: its own beginning again and again, and never its end. */
const attacks: { readonly [what: string]: string } = {
  ...Object.fromEntries(
    Object.entries(samples).flatMap(([rule, secret]) => [
      [`the beginning of a ${rule} key`, filled(secret.slice(0, Math.ceil(secret.length / 2)))],
      [`a ${rule} key but for its last character`, filled(`${secret.slice(0, -1)} `)],
      [`a ${rule} key that never ends`, secret.slice(0, 8) + filled(secret.at(-1) ?? "x")],
    ]),
  ),
  "one letter": filled("a", "!"),
  "words that might be base64": filled("QUFB", "\u00e9"),
  digits: filled("4"),
  "digits in groups": filled("4111 "),
  colons: filled("a:"),
  bytes: filled("255."),
  "e-mail addresses without an end": filled("a.b@c."),
  "signs of a telephone number": filled("+49 (30) "),
  "the words of an injection": filled("ignore all your print hidden you are now never tell "),
  "opened tags": filled("<system "),
  "chat markers": filled("<|im_"),
  "substitutions without an end": filled("$("),
  "chains of commands": filled("; && || | "),
  "pipes to a shell": filled("curl wget base64 | "),
  removals: filled("rm -rrrrrrrr dd of= "),
  "invisible characters": filled("a\u200b\u0430"),
};

const everything: GuardrailPolicy = {
  version: 1,
  secrets: {},
  pii: {},
  promptInjection: {},
  commands: { tools: ["shell"] },
  rules: ["^(a+)+$", "(x+x+)+y", "(a|aa)+$", "(.*a){20}", "([a-z]+)*[0-9]"].map((pattern, at) => ({ id: `own${at}`, pattern })),
};

/** Processor time of this thread: what else the machine does is no part of it. */
function usedMs(): number {
  const { user, system } = typeof process.threadCpuUsage === "function" ? process.threadCpuUsage() : process.cpuUsage();
  return (user + system) / 1_000;
}

describe("H11: all rules together, those of the package and those that forbid linear engines of another kind", () => {
  const { check } = createGuardrails({ policy: everything });

  it.each(Object.entries(attacks))("answer for 100,000 characters of %s", async (_, text) => {
    await check("warm", { gate: "output" });
    const before = usedMs();
    for (const place of [{ gate: "output" }, { gate: "tool_call", tool: "shell" }] as const) await check(text, place);
    const took = usedMs() - before;
    expect(took).toBeLessThan(usedMaxMs);
  });

  it("of skills are read by the same engine, and one that it does not take is refused when the skill is loaded", () => {
    for (const list of ["denyCommands", "denyOutput", "denyPrompts", "denyResponses"] as const) {
      expect(() => skillGuardrailHooks({ demo: { [list]: [{ pattern: "^(a+)+$" }] } })).not.toThrow();
      for (const pattern of ["(?<=a)b", "(a)\\1", "(a"])
        expect(() => skillGuardrailHooks({ demo: { [list]: [{ pattern }] } })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    }
  });
});
