import { expect, it } from "vitest";
import { CanaryHunt } from "./canary-hunt.ts";

const secret = 'sk-CANARY"42/whole';
const hunt = (...pieces: readonly string[]): readonly string[] => {
  const one = new CanaryHunt({ "the key": secret });
  for (const piece of pieces) one.receive("a page", piece);
  return one.flaws;
};

it("finds nothing where nothing is", () => {
  expect(hunt("sk-CANAR", " and sk-OTHER", JSON.stringify({ key: "[secret]" }))).toEqual([]);
});

it.each<[string, readonly string[]]>([
  ["plain", [`Authorization: Bearer ${secret}`]],
  ["in two pieces", [`...${secret.slice(0, 5)}`, `${secret.slice(5)}...`]],
  ["in base64", [Buffer.from(secret).toString("base64")]],
  ["by its beginning alone", [secret.slice(0, 12)]],
])("finds a secret that stands %s", (_, pieces) => {
  expect(hunt(...pieces)).toEqual(["I12: the key stands in a page"]);
});
