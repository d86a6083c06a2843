import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { SecretPlace } from "../config/found-secrets.ts";

const fileName = "secrets.enc";

/** The files of secrets, the first one the first to be asked. In the home directory both are one file. */
export function secretPlaces(directory: string): readonly SecretPlace[] {
  const [local, global] = [resolve(directory, ".loopwright", fileName), join(homedir(), ".loopwright", fileName)];
  return [{ kind: "local", path: local }, ...(global === local ? [] : [{ kind: "global", path: global } as const])];
}
