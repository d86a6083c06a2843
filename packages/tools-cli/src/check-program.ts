import { basename, isAbsolute } from "node:path";
import { AgentError, refuseUnknownOptions } from "@loopwright/core";
import { RE2JS, RE2JSException } from "re2js";
import { checkVariableName } from "./child-variables.ts";
import type { CliProgram, ValueRule } from "./program.ts";

const known: Readonly<Record<keyof CliProgram, true>> = {
  name: true,
  path: true,
  description: true,
  calls: true,
  commands: true,
  options: true,
  operands: true,
  operandsMax: true,
  doubleDash: true,
  variables: true,
  network: true,
  approval: true,
};

/** Programs whose arguments are programs: shells, interpreters, what starts others. */
const starters =
  /^(?:(?:ba|da|z|k|c|tc|fi|a)?sh|busybox|(?:g|m|n)?awk|env|xargs|find|parallel|nohup|nice|timeout|time|setsid|sudo|doas|su|chroot|unshare|nsenter|watch|strace|gdb|ssh|scp|sftp|rsync|node|nodejs|deno|bun|npm|npx|pnpm|yarn|corepack|python[\d.]*|pip[\d.]*|uvx?|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|tclsh[\d.]*|vim?|nano|emacs|ed|less|more|man|make|powershell|pwsh|cmd|wscript|cscript|osascript)(?:\.exe)?$/i;

/** Options that start programs, by the program that has them: not even an allow-list takes them. */
const startingOptions: Readonly<Record<string, RegExp>> = {
  git: /^(?:-c|--config-env|--exec-path|--upload-pack|--receive-pack|--exec|-u|-x|--ext-diff|--textconv|-O|--open-files-in-pager)$/,
  tar: /^(?:--checkpoint-action|--to-command|--use-compress-program|-I|-F|--info-script|--new-volume-script|--rsh-command|--rmt-command)$/,
  curl: /^(?:-K|--config|-o|--output|-O|--remote-name|--output-dir)$/,
  sed: /^(?:-f|--file)$/,
  zip: /^(?:-TT|--unzip-command)$/,
};

/** @throws AgentError CONFIG_INVALID for a program that cannot be on the list, with the member that is wrong. */
export function checkProgram(program: CliProgram, names: ReadonlySet<string>): void {
  const { name, path, calls, operands = "none", operandsMax = 16, variables = [] } = program;
  const wrong: Wrong = (what, fix) =>
    new AgentError("CONFIG_INVALID", { message: `The program ${JSON.stringify(name).slice(0, 80)} ${what}.`, fix });
  if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) throw wrong("has a name that cannot be used", "Use letters, digits, `_`, `.` and `-`.");
  refuseUnknownOptions({ ...program }, known, `the program \`${name}\``);
  if (names.has(name)) throw wrong("is on the list twice", "Give each program a name of its own.");
  if (!isAbsolute(path)) throw wrong("has no absolute path", "Name the file of the program, such as `/usr/bin/git`.");
  if (/\.(?:bat|cmd|ps1|vbs)$/i.test(path.trim().replace(/[. ]+$/, "")))
    throw wrong("is a script of a Windows shell, which reads arguments as commands", "Name a program.");
  if (!calls && starters.test(basename(path)))
    throw wrong("starts other programs", "List its whole argument lists as `calls`, or put a program on the list that does one thing.");
  if (calls && (program.commands || program.options || program.operands !== undefined))
    throw wrong("has `calls` beside other rules", "With `calls` leave out `commands`, `options` and `operands`.");
  if (!(Number.isSafeInteger(operandsMax) && operandsMax > 0))
    throw wrong(`has \`operandsMax\` ${operandsMax}`, "Use a whole number above 0.");
  checkOptions(program, wrong);
  if (operands !== "none" && operands !== "text") checkRule(operands, wrong);
  for (const variable of variables) checkVariableName(variable, name);
}

type Wrong = (what: string, fix: string) => AgentError;

function checkOptions({ path, options = {} }: CliProgram, wrong: Wrong): void {
  for (const [option, rule] of Object.entries(options)) {
    if (!/^-[^=\s]+$/.test(option) || option === "--")
      throw wrong(`has the option ${JSON.stringify(option)}`, "Write an option with its dashes and without a value.");
    if (startingOptions[basename(path)]?.test(option))
      throw wrong(`has the option \`${option}\`, which starts programs or writes outside of the directory`, "Take it from the list.");
    if (rule !== "flag") checkRule(rule, wrong);
  }
}

function checkRule(rule: ValueRule, wrong: Wrong): void {
  if (rule === "path" || "values" in rule) return;
  try {
    RE2JS.compile(rule.pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw wrong(`has a pattern that cannot be used: ${error.message}`, "Use the syntax of RE2.");
  }
}
