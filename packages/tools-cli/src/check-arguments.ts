import { AgentError } from "@loopwright/core";
import { RE2JS } from "re2js";
import { argumentLimits, type CliProgram, type ValueRule } from "./program.ts";

/** Arguments that fit the rules of a program. */
export interface CheckedArguments {
  readonly values: readonly string[];
  /** Which of them are paths, by their index, with what stands before the path in the same argument. */
  readonly paths: readonly { readonly at: number; readonly before: string; readonly path: string }[];
}

const shown = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}...` : text);

/** The arguments in the order in which the program gets them. Nothing is quoted or parsed: each is one argument. @throws AgentError TOOL_ARGUMENTS */
export function checkArguments(program: CliProgram, given: readonly string[]): CheckedArguments {
  checkShape(program, given);
  if (program.calls) {
    if (program.calls.some((call) => call.length === given.length && call.every((one, at) => one === given[at])))
      return { values: given, paths: [] };
    throw refused(
      program,
      "takes none but its listed calls",
      `Call it with one of: ${program.calls.map((call) => JSON.stringify(call)).join(", ")}.`,
    );
  }
  const [command, ...afterCommand] = given;
  if (!program.commands) return checkRest(program, given, []);
  if (command === undefined || !program.commands.includes(command))
    throw refused(program, `has no command ${shown(command ?? "")}`, `Begin with one of: ${program.commands.join(", ")}.`);
  return checkRest(program, afterCommand, [command]);
}

function checkShape(program: CliProgram, given: readonly string[]): void {
  if (given.length > argumentLimits.countMax)
    throw refused(program, `takes at most ${argumentLimits.countMax} arguments`, "Split the work.");
  for (const one of given) {
    if (one.length > argumentLimits.charactersMax)
      throw refused(program, `takes at most ${argumentLimits.charactersMax} characters in an argument`, "Shorten it.");
    if (one.includes("\0") || !one.isWellFormed())
      throw refused(program, "got an argument that is no text", "Leave out the zero byte or the broken character.");
  }
}

function checkRest(program: CliProgram, given: readonly string[], command: readonly string[]): CheckedArguments {
  const { operands: rule = "none", operandsMax = 16, doubleDash = false } = program;
  const [values, operands]: [string[], string[]] = [[...command], []];
  const paths: { at: number; before: string; path: string }[] = [];
  const rest = given.values();
  for (const one of rest) {
    if (!one.startsWith("-") || one === "-") {
      checkOperand(program, one);
      if (doubleDash) operands.push(one);
      else {
        operands.push(one);
        if (rule === "path") paths.push({ at: values.length, before: "", path: one });
        values.push(one);
      }
      continue;
    }
    const { rule: option, name, value: written } = optionOf(program, one);
    if (option === "flag") {
      values.push(name);
      continue;
    }
    const value = written ?? rest.next().value;
    if (value === undefined) throw refused(program, `needs a value for \`${name}\``, "Pass it as the next argument.");
    checkValue(option, value, { program, of: `the value of \`${name}\`` });
    if (written === undefined) values.push(name);
    const before = written === undefined ? "" : `${name}=`;
    if (option === "path") paths.push({ at: values.length, before, path: value });
    values.push(before + value);
  }
  if (operands.length > operandsMax) throw refused(program, `takes at most ${operandsMax} operands`, "Split the work.");
  if (!doubleDash || operands.length === 0) return { values, paths };
  const first = values.length + 1;
  if (rule === "path") paths.push(...operands.map((path, index) => ({ at: first + index, before: "", path })));
  return { values: [...values, "--", ...operands], paths };
}

function optionOf(
  program: CliProgram,
  written: string,
): { readonly name: string; readonly value: string | undefined; readonly rule: "flag" | ValueRule } {
  const end = written.startsWith("--") ? written.indexOf("=") : -1;
  const name = end === -1 ? written : written.slice(0, end);
  const { options = {} } = program;
  const rule = Object.hasOwn(options, name) ? options[name] : undefined;
  const names = Object.keys(options);
  if (rule === undefined)
    throw refused(
      program,
      `may not have the option ${shown(name)}`,
      names.length === 0 ? "It has no options." : `It has these: ${names.join(", ")}.`,
    );
  const value = end === -1 ? undefined : written.slice(end + 1);
  if (rule === "flag" && value !== undefined) throw refused(program, `takes no value for \`${name}\``, "Leave the value out.");
  return { name, value, rule };
}

function checkOperand(program: CliProgram, operand: string): void {
  const { operands: rule = "none" } = program;
  if (rule === "none") throw refused(program, `takes no operand, and ${shown(operand)} is one`, "Leave it out.");
  if (rule !== "text") checkValue(rule, operand, { program, of: "an operand" });
  else if (/^[-@]/.test(operand))
    throw refused(program, `takes no operand that begins with - or @, as ${shown(operand)} does`, "Pass the content itself.");
}

function checkValue(rule: ValueRule, value: string, { program, of }: { readonly program: CliProgram; readonly of: string }): void {
  // The rules of paths are those of the file tools, which look at the folder too.
  if (rule === "path") {
    if (/^[-@]/.test(value))
      throw refused(program, `takes no path that begins with - or @, as ${shown(value)} does`, "Choose another name.");
    return;
  }
  if ("values" in rule) {
    if (rule.values.includes(value)) return;
    throw refused(program, `may not have ${shown(value)} as ${of}`, `Use one of: ${rule.values.join(", ")}.`);
  }
  if (!RE2JS.compile(rule.pattern).matcher(value).matches())
    throw refused(program, `may not have ${shown(value)} as ${of}`, `It has to match ${rule.pattern} as a whole.`);
}

const refused = (program: CliProgram, what: string, fix: string): AgentError =>
  new AgentError("TOOL_ARGUMENTS", { message: `\`${program.name}\` ${what}. Nothing was run.`, fix });
