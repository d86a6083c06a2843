import { isAgentError } from "@loopwright/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redact } from "../src/checks/finding.ts";
import { secretTail } from "../src/checks/secret-check.ts";
import { checkPolicy, createGuardrails, type GuardrailPolicy, parsePolicy } from "../src/index.ts";
import { samples } from "./samples.ts";

const found = async (text: string, policy: GuardrailPolicy): Promise<readonly string[]> => {
  const place = { gate: "tool_output" } as const;
  return (await createGuardrails({ policy }).check(text, place)).map(({ rule, start, end }) => `${rule} ${text.slice(start, end)}`);
};
const pii = (text: string) => found(text, { version: 1, secrets: false, pii: {} });

describe("personal data", () => {
  it("is found where its checksum is right, and not where it is wrong", async () => {
    expect(await pii("card 4111 1111 1111 1111, not 4111 1111 1111 1112")).toEqual(["card 4111 1111 1111 1111"]);
    expect(await pii("5500-0055-5555-5559 and 378282246310005")).toEqual(["card 5500-0055-5555-5559", "card 378282246310005"]);
    expect(await pii("DE89 3704 0044 0532 0130 00; DE89 3704 0044 0532 0130 01")).toEqual(["iban DE89 3704 0044 0532 0130 00"]);
    expect(await pii("GB82WEST12345698765432")).toEqual(["iban GB82WEST12345698765432"]);
  });

  it("is found as e-mail, telephone and IP addresses, and numbers alike are left alone", async () => {
    expect(await pii("anne@example.com, ben.b+x@mail.example.co.uk")).toEqual([
      "email anne@example.com",
      "email ben.b+x@mail.example.co.uk",
    ]);
    expect(await pii("+49 (30) 1234-5678 or (415) 555-2671")).toEqual(["phone +49 (30) 1234-5678", "phone (415) 555-2671"]);
    expect(await pii("203.0.113.7 and 2001:db8::17")).toEqual(["ip 203.0.113.7", "ip 2001:db8::17"]);
    expect(await pii("version 1.2.3, 127.0.0.1, 12:30:15, order 1234567890123, 999.1.1.1, a::b::c, 1.2.3.4.5")).toEqual([]);
  });
});

describe("a pattern of one's own", () => {
  it("H11: that would take for ever in a backtracking engine is answered", async () => {
    const rules = [
      { id: "evil", pattern: "^(a+)+$" },
      { id: "worse", pattern: "(x+x+)+y" },
    ];
    expect(await found(`${"a".repeat(5_000)}!`, { version: 1, secrets: false, rules })).toEqual([]);
    expect(await found("x".repeat(5_000), { version: 1, secrets: false, rules })).toEqual([]);
  });

  it("H11: with lookaround, with a flaw, or that matches nothing at all is refused with its id", () => {
    for (const pattern of ["(?<=a)b", "(a)\\1", "(a", "a*"])
      expect(() => checkPolicy({ version: 1, rules: [{ id: "mine", pattern }] }, "the test")).toThrow(/the rule `mine`/);
  });

  it("does not look into placeholders, so that a text that was redacted stays as it is", async () => {
    const policy: GuardrailPolicy = { version: 1, rules: [{ id: "red", pattern: "[a-z]*redact[a-z]*|github" }] };
    const { check } = createGuardrails({ policy });
    const place = { gate: "tool_output" } as const;
    const once = redact(`a ${samples["github"]} redaction`, await check(`a ${samples["github"]} redaction`, place));
    expect(once).toBe("a [redacted:github] [redacted:red]");
    expect(await check(once, place)).toEqual([]);
  });
});

describe("the end of a text that is held back", () => {
  it("begins before every secret that is not complete, wherever it is cut", () => {
    const all = fc.constantFrom(...Object.values(samples));
    fc.assert(
      fc.property(all, fc.double({ min: 0, max: 0.99, noNaN: true }), (secret, at) => {
        const text = `Some words, then ${secret.slice(0, 1 + Math.floor(at * (secret.length - 1)))}`;
        expect(text.length - secretTail(text)).toBeLessThanOrEqual("Some words, then ".length);
      }),
      { numRuns: 200 },
    );
  });

  it("holds a name and the value that follows it together, and nothing of plain words", () => {
    expect(secretTail("the aws_secret_access_key = ")).toBeGreaterThanOrEqual("aws_secret_access_key = ".length);
    expect(secretTail("Nothing to hide. ")).toBe(0);
    expect(secretTail("今日は良い天気です")).toBe(0);
  });
});

describe("a policy", () => {
  const refused: readonly (readonly [text: string, words: RegExp])[] = [
    ["{", /is no JSON/],
    ["[]", /is no JSON object/],
    ["{}", /version/],
    ['{"version":2}', /version/],
    ['{"version":1,"secretz":false}', /secretz/],
    ['{"version":1,"secrets":{"actoin":"block"}}', /`secrets` of the file.*|actoin/],
    ['{"version":1,"secrets":{"action":"explode"}}', /secrets\.action/],
    ['{"version":1,"pii":{"kinds":["emial"]}}', /pii\.kinds/],
    ['{"version":1,"rules":[{"id":"a","pattern":"x"},{"id":"a","pattern":"y"}]}', /two rules/],
    ['{"version":1,"rules":[{"id":"A B","pattern":"x"}]}', /rules\.0\.id/],
    ['{"version":1,"rules":[{"id":"a","pattern":"x","flags":"i"}]}', /flags/],
    [`{"version":1,"rules":[${'{"id":"a","pattern":"x"},'.repeat(501).slice(0, -1)}]}`, /rules/],
  ];
  it.each(refused)("%s is refused by a typed error that names the member", (text, words) => {
    try {
      parsePolicy(text, "the file");
      expect.unreachable();
    } catch (error) {
      expect(isAgentError(error, "CONFIG_INVALID")).toBe(true);
      expect(String((error as Error).message)).toMatch(words);
    }
  });

  it("with a typing error is answered with the nearest name", () => {
    expect(() => parsePolicy('{"version":1,"promptInjektion":{}}', "the file")).toThrow(
      expect.objectContaining({ fix: "Did you mean `promptInjection`?" }),
    );
    expect(() => parsePolicy('{"version":1,"rules":[{"id":"a","patern":"x"}]}', "the file")).toThrow(
      expect.objectContaining({ fix: "Did you mean `pattern`?", message: "There is no option `patern` of `rules[0]` of the file." }),
    );
  });
});
