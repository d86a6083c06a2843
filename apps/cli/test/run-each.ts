import { runProgram } from "../src/program.ts";

/* Runs the command lines of its argument (JSON) one after another in one process, and prints as JSON the output and exit code of each. */

interface CommandLine {
  readonly words: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const { stdout, stderr, env: environment } = process;
const write = stdout.write.bind(stdout);
const written: { code: number; stdout: string; stderr: string }[] = [];
for (const { words, env = {} } of JSON.parse(process.argv[2] ?? "[]") as readonly CommandLine[]) {
  const received = { stdout: "", stderr: "" };
  stdout.write = ((text: string) => {
    received.stdout += text;
    return true;
  }) as typeof stdout.write;
  stderr.write = ((text: string) => {
    received.stderr += text;
    return true;
  }) as typeof stderr.write;
  Object.assign(environment, env);
  const code = await runProgram(words, "0.0.0");
  for (const name of Object.keys(env)) delete environment[name];
  written.push({ code, ...received });
}
write(JSON.stringify(written));
