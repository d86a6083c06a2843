import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { surveySecrets } from "./survey-secrets.ts";

afterEach(() => void vi.unstubAllEnvs());

/** A directory with a local file of secrets that is none, and no global one. */
async function damagedPlace(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "loopwright-survey-"));
  vi.stubEnv("HOME", join(directory, "home"));
  await mkdir(join(directory, ".loopwright"));
  await writeFile(join(directory, ".loopwright/secrets.enc"), "damaged");
  return directory;
}

/** Runs it as if these were terminals or not. */
async function withTerminals<T>(
  { stdin, stdout }: { readonly stdin: boolean; readonly stdout: boolean },
  run: () => Promise<T>,
): Promise<T> {
  const before = { stdin: process.stdin.isTTY, stdout: process.stdout.isTTY };
  Object.assign(process.stdin, { isTTY: stdin });
  Object.assign(process.stdout, { isTTY: stdout });
  try {
    return await run();
  } finally {
    Object.assign(process.stdin, { isTTY: before.stdin });
    Object.assign(process.stdout, { isTTY: before.stdout });
  }
}

test("a survey asks for no passphrase where standard input or standard output is no terminal, and reports the file as closed", async () => {
  const directory = await damagedPlace();
  for (const terminals of [
    { stdin: true, stdout: false },
    { stdin: false, stdout: true },
  ]) {
    const survey = surveySecrets(directory);
    expect(await withTerminals(terminals, () => survey.secretsFor({}))).toEqual({ values: {}, places: {} });
    expect(survey.reports).toMatchObject([{ place: { kind: "local" }, state: "closed", text: expect.stringContaining("no terminal") }]);
  }
});

test("a survey reports a file that does not open, and opens none where secrets are off", async () => {
  const directory = await damagedPlace();
  const passphrase = { LOOPWRIGHT_SECRETS_PASSPHRASE: "five random words of a test" };
  const survey = surveySecrets(directory);
  await survey.secretsFor(passphrase);
  expect(survey.reports).toMatchObject([{ state: "unreadable", text: expect.stringContaining("does not open: ") }]);
  const off = surveySecrets(directory);
  await off.secretsFor({ ...passphrase, LOOPWRIGHT_SECRETS: "off" });
  expect(off.reports).toMatchObject([{ state: "closed", text: expect.stringContaining("LOOPWRIGHT_SECRETS is off") }]);
});
