import type { Command } from "commander";

/** The command `skills`: what a folder of skills has, whether they can be used here, and their build. `exit` gets the exit code. */
export function addSkills(program: Command, exit: (code: number) => void): void {
  const skills = program.command("skills").description("list, check and build the skills of a folder");
  const load = (): Promise<typeof import("./survey-folder.ts")> => import("./survey-folder.ts");
  skills
    .command("list [folder]")
    .description("each skill with its tools; default: the folder of the configuration, else `skills`")
    .option("--json", "one skill a line, as JSON")
    .option("--env <file>", "file with variables")
    .action(async (folder: string | undefined, flags) => exit(await (await load()).listSkills(folder, flags)));
  skills
    .command("check [folder]")
    .description("read every skill and print the programs and variables that are missing; exit code 1 where one cannot be used")
    .option("--env <file>", "file with variables")
    .action(async (folder: string | undefined, flags) => exit(await (await load()).checkSkills(folder, flags)));
  skills
    .command("build [folder]")
    .description("write skills.json with the guardrails of the skills: later changes of a skill take none of them away")
    .option("--env <file>", "file with variables")
    .action(async (folder: string | undefined, flags) => exit(await (await load()).buildFolder(folder, flags)));
}
