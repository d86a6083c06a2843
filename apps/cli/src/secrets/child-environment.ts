/*
 * Owns: the variables that child processes of tools get, and a KUBECONFIG that is a text as a file.
 * Does not own: which tools start children, and what these may do.
 */
import { mkdir, open, rename, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Environment } from "../config/environment.ts";
import type { Settings } from "../settings/settings.ts";
import { passphraseVariable } from "./passphrase.ts";

type ChildSettings = Pick<Settings, "environment" | "organizationId" | "configuration" | "filesDirectory">;

/**
 * The variables that a child process of a tool gets: those of this process with the secrets of files, the organisation of the settings and a KUBECONFIG that is
 * a path; without the passphrase of the secrets. @throws Error of the system where the file of a KUBECONFIG cannot be written
 */
export async function childEnvironment(settings: ChildSettings, own: Environment = process.env): Promise<Environment> {
  const { [passphraseVariable]: _, ...others } = own;
  const { environment, organizationId, configuration, filesDirectory } = settings;
  const kubeconfig = await kubeconfigFile(environment["KUBECONFIG"], dirname(filesDirectory));
  return {
    ...others,
    ...configuration.secrets,
    ...(organizationId === undefined ? {} : { OPENAI_ORG_ID: organizationId }),
    ...(kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig }),
  };
}

/** Puts these variables into this process, which works for one person: every child process has them. A server lends them to the children of tools alone. */
export function lendToChildren(environment: Environment): void {
  delete process.env[passphraseVariable];
  Object.assign(process.env, environment);
}

/** The path of a file with the text, where KUBECONFIG is a text and no path. Deployments that have only variables pass it so. */
async function kubeconfigFile(value: string | undefined, folder: string): Promise<string | undefined> {
  if (value === undefined || !(value.includes("\n") || value.includes("apiVersion:"))) return undefined;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // It may hold credentials: version control leaves it out, unless the folder has rules of its own.
  await writeFile(join(folder, ".gitignore"), "*\n", { flag: "wx" }).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  });
  const path = resolve(folder, "kubeconfig");
  const fresh = `${path}.${process.pid}`;
  const handle = await open(fresh, "w", 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(value);
  } finally {
    await handle.close();
  }
  await rename(fresh, path);
  return path;
}
