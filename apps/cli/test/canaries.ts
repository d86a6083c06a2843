import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { canaryScanner } from "@loopwright/testing";

/** Bytes that a run left somewhere. */
export interface Artefact {
  readonly name: string;
  readonly bytes: Buffer;
}

/** So much of a secret is already too much. */
const shownMax = 12;

/** One sentence for each artefact that has a secret in any form. */
export async function leaksIn(artefacts: readonly Artefact[], secrets: readonly string[]): Promise<readonly string[]> {
  const scanner = canaryScanner(secrets.map((text) => ({ name: text, text, partMin: shownMax })));
  const leaks: string[] = [];
  for (const { name, bytes } of artefacts) {
    const [first] = await scanner.find(bytes);
    if (first) leaks.push(`${name} has ${first.canary} as ${first.form}.`);
  }
  return leaks;
}

/** Every file of a folder and of those in it. */
export function filesIn(folder: string): readonly Artefact[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ name: path.slice(folder.length + 1), bytes: readFileSync(path) }));
}
