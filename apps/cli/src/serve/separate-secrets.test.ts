import { isAgentError } from "@loopwright/core";
import { describe, expect, test } from "vitest";
import { variables } from "../config/variables.ts";
import { checkSeparateSecrets } from "./separate-secrets.ts";

const secret = "sk-one-text-for-both-0123456789";
const secretNames = variables.flatMap(({ name, isSecret }) => (isSecret ? [name] : []));

describe("K08: a token of callers", () => {
  test.each(secretNames)("that is also the value of %s is refused, and neither the message nor the advice has it", (name) => {
    for (const wishes of [
      { token: secret, auth: undefined },
      { token: undefined, auth: { internalToken: secret } },
    ]) {
      let refusal: unknown;
      try {
        checkSeparateSecrets(wishes, { [name]: ` ${secret} ` });
      } catch (error) {
        refusal = error;
      }
      expect(isAgentError(refusal, "CONFIG_INVALID")).toBe(true);
      expect(String((refusal as Error).message)).toContain(name);
      expect(JSON.stringify([(refusal as Error).message, refusal])).not.toContain(secret);
    }
  });

  test("that is one of several older master keys is refused", () => {
    const environment = { LOOPWRIGHT_OLDER_MASTER_KEYS: `another,${secret}` };
    expect(() => checkSeparateSecrets({ token: secret, auth: undefined }, environment)).toThrow(/LOOPWRIGHT_OLDER_MASTER_KEYS/);
  });

  test("that is a text of its own is taken, and so is no token", () => {
    const environment = Object.fromEntries(secretNames.map((name) => [name, `${secret}-${name}`]));
    checkSeparateSecrets({ token: secret, auth: { internalToken: `${secret}-internal` } }, environment);
    checkSeparateSecrets({ token: undefined, auth: undefined }, { OPENAI_API_KEY: "" });
  });
});
