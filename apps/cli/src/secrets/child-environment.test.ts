import { mkdtemp, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configure } from "../config/configure.ts";
import { childEnvironment } from "./child-environment.ts";

const settingsOf = async (environment: Readonly<Record<string, string>>, secrets: Readonly<Record<string, string>> = {}) => ({
  environment: { ...environment, ...secrets },
  organizationId: undefined as string | undefined,
  configuration: { ...configure([]), secrets },
  filesDirectory: join(await mkdtemp(join(tmpdir(), "loopwright-children-")), ".loopwright/files"),
});

test("C14, C15, C23: children get the secrets of files before the variables of the process, and the organisation of the settings; never the passphrase", async () => {
  const settings = { ...(await settingsOf({}, { ACME_TOKEN: "of the file" })), organizationId: "org-acme" };
  const own = { PATH: "/bin", ACME_TOKEN: "of the process", LOOPWRIGHT_SECRETS_PASSPHRASE: "hidden" };
  expect(await childEnvironment(settings, own)).toEqual({ PATH: "/bin", ACME_TOKEN: "of the file", OPENAI_ORG_ID: "org-acme" });
});

test("C51: a KUBECONFIG that is a text is a file of this user which version control leaves out, and one that is a path stays", async () => {
  for (const text of ["apiVersion: v1", "clusters:\n- name: one\n"]) {
    const settings = await settingsOf({ KUBECONFIG: text });
    const { KUBECONFIG: path = "" } = await childEnvironment(settings, { KUBECONFIG: text });
    expect(path).toBe(join(settings.filesDirectory, "../kubeconfig"));
    expect(await readFile(path, "utf8")).toBe(text);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(join(path, "../.gitignore"), "utf8")).toBe("*\n");
  }
  const plain = await settingsOf({ KUBECONFIG: "/srv/sample/kubeconfig" });
  expect(await childEnvironment(plain, { KUBECONFIG: "/srv/sample/kubeconfig" })).toEqual({ KUBECONFIG: "/srv/sample/kubeconfig" });
  await expect(stat(join(plain.filesDirectory, ".."))).rejects.toThrow();
});
