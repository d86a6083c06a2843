import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The path of a program, by path or by a name that the `PATH` leads to; `undefined` where there is none. */
export function findProgram(name: string): string | undefined {
  if (name.includes("/")) return isProgram(name) ? name : undefined;
  // Servers of Debian packages stand where the PATH of a plain user does not always lead.
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/usr/local/bin", "/usr/sbin"];
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
