import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder with these files, gone when the test ends. */
export async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "loopwright-skills-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

/** A `SKILL.md` of this name. `more` stands in its front matter. */
export const skillText = (name: string, { more = "", body = "Do it." }: { readonly more?: string; readonly body?: string } = {}): string =>
  `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n\n${body}\n`;
