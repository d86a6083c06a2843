import { isAgentError } from "@loopwright/core";
import { expect, test } from "vitest";
import { companion } from "./companion.ts";

const missing = "@loopwright/store-of-nobody";

test("a package that is not installed is named with the line that installs it", async () => {
  const cause = Object.assign(new Error(`Cannot find package '${missing}' imported from main.js`), { code: "ERR_MODULE_NOT_FOUND" });
  const error: unknown = await companion(missing, () => Promise.reject(cause)).catch((thrown: unknown) => thrown);
  expect(isAgentError(error, "CONFIG_INVALID") && [error.message, error.fix]).toEqual([
    `The package \`${missing}\` is needed for this and is not installed.`,
    `Run \`npm install ${missing}\` beside loopwright.`,
  ]);
});

test("an error inside a package is shown as it is", async () => {
  const cause = Object.assign(new Error("Cannot find package 'lost' imported from other.js"), { code: "ERR_MODULE_NOT_FOUND" });
  await expect(companion(missing, () => Promise.reject(cause))).rejects.toBe(cause);
});
