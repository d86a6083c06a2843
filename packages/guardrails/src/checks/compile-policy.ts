import {
  allGates,
  type CheckSettings,
  type Gate,
  type GuardrailAction,
  type GuardrailMode,
  type GuardrailPolicy,
  type PiiKind,
} from "../policy/guardrail-policy.ts";
import { dangerousCommands } from "./command-check.ts";
import { besidePlaceholders, type Finding, type Match, type TextPlace } from "./finding.ts";
import { injectedPrompts, injectionSpan } from "./injection-check.ts";
import { patternCheck } from "./pattern-check.ts";
import { personalData, piiSpan } from "./pii-check.ts";
import { plainText } from "./plain-text.ts";
import { secretCheck, secretTail } from "./secret-check.ts";

/** A policy that texts are checked with. */
export interface CompiledPolicy {
  /** What its rules find, in the order of the text. A promise only where the text could have a secret. */
  check(text: string, place: TextPlace): readonly Finding[] | Promise<readonly Finding[]>;
  /** How many characters at the end of a streamed text could be the beginning of a match. */
  tailOf(text: string): number;
}

interface Check {
  readonly category: Finding["category"];
  readonly action: GuardrailAction;
  readonly mode: GuardrailMode;
  readonly at: ReadonlySet<Gate>;
  readonly exempt: ReadonlySet<string>;
  /** The tools that it looks at; absent: all. */
  readonly only?: ReadonlySet<string>;
  readonly reply?: string | undefined;
  /** Characters of its longest match in a streamed text. */
  readonly span: number;
  find(text: string): readonly Match[] | Promise<readonly Match[]>;
}

const allKinds: readonly PiiKind[] = ["email", "phone", "card", "iban", "ip"];
const commandTools: readonly string[] = ["cli_execute", "shell", "bash", "exec"];
const ruleSpan = 100;

/** The checks of a policy, compiled. `isShadow`: all of them as in shadow mode. @throws what a pattern that was not checked throws */
export function compilePolicy(policy: GuardrailPolicy, { isShadow = false }: { readonly isShadow?: boolean } = {}): CompiledPolicy {
  const mode: GuardrailMode = policy.mode ?? "enforce";
  const checks = checksOf(policy).map(
    ({ settings, defaults, ...check }): Check => ({
      ...check,
      action: settings.action ?? defaults.action,
      mode: isShadow ? "shadow" : (settings.mode ?? mode),
      at: new Set(settings.at ?? defaults.at),
      exempt: new Set(settings.exemptTools ?? []),
    }),
  );
  const streamed = checks.filter(
    ({ at, mode: own, action }) => own === "enforce" && action !== "warn" && [...at].some((gate) => gate !== "input"),
  );
  const span = Math.max(0, ...streamed.map((check) => check.span));
  const hasSecrets = streamed.some(({ category }) => category === "secret");
  return {
    check: (text, place) => checkAll(text, place, checks),
    tailOf(text) {
      if (streamed.length === 0) return 0;
      return Math.max(span, hasSecrets || span > 0 ? secretTail(text) : 0);
    },
  };
}

interface GivenCheck extends Pick<Check, "category" | "span" | "find" | "reply"> {
  readonly only?: ReadonlySet<string>;
  readonly settings: CheckSettings;
  readonly defaults: { readonly action: GuardrailAction; readonly at: readonly Gate[] };
}

function checksOf({ secrets, pii, promptInjection, commands, rules = [] }: GuardrailPolicy): readonly GivenCheck[] {
  const given: GivenCheck[] = [];
  if (secrets !== false)
    given.push({
      ...{ category: "secret", span: 0, find: secretCheck() },
      settings: secrets ?? {},
      defaults: { action: "redact", at: allGates },
    });
  if (pii) {
    const { kinds = allKinds } = pii;
    given.push({
      ...{ category: "pii", span: piiSpan, find: (text) => personalData(text, kinds) },
      settings: pii,
      defaults: { action: "redact", at: ["input", "output", "tool_output"] },
    });
  }
  if (promptInjection) {
    const { threshold = 1 } = promptInjection;
    given.push({
      ...{ category: "prompt_injection", span: injectionSpan, find: (text) => injectedPrompts(text, threshold) },
      settings: promptInjection,
      defaults: { action: "warn", at: ["input", "tool_output"] },
    });
  }
  if (commands)
    given.push({
      ...{ category: "command", span: 0, find: dangerousCommands },
      only: new Set(commands.tools ?? commandTools),
      settings: { ...commands, at: commands.at ?? ["tool_call"] },
      defaults: { action: "block", at: ["tool_call"] },
    });
  for (const rule of rules)
    given.push({
      ...{ category: "rule", span: rule.lengthMax ?? ruleSpan, find: patternCheck(rule), reply: rule.reply },
      settings: rule,
      defaults: { action: "redact", at: allGates },
    });
  return given;
}

function checkAll(given: string, { gate, tool }: TextPlace, checks: readonly Check[]): readonly Finding[] | Promise<readonly Finding[]> {
  if (given === "") return [];
  const asked = checks.filter(
    ({ at, exempt, only }) =>
      at.has(gate) && (tool === undefined || !exempt.has(tool)) && (!only || (tool !== undefined && only.has(tool))),
  );
  if (asked.length === 0) return [];
  const { text, at, after } = plainText(given);
  const found = asked.map((check) => ({ check, matches: check.find(text) }));
  const all = (matches: readonly (readonly Match[])[]): readonly Finding[] => {
    const findings = found.flatMap(({ check: { category, action, mode, reply } }, index) =>
      (matches[index] ?? []).map(
        ({ rule, start, end }): Finding => ({ rule, category, start: at(start), end: after(end - 1), action, mode, reply }),
      ),
    );
    return besidePlaceholders(given, findings).toSorted((a, b) => a.start - b.start || b.end - a.end);
  };
  const settled = found.flatMap(({ matches }) => (isPromise(matches) ? [] : [matches]));
  if (settled.length === found.length) return all(settled);
  return Promise.all(found.map(({ matches }) => matches)).then(all);
}

const isPromise = (matches: Check["find"] extends (text: string) => infer Found ? Found : never): matches is Promise<readonly Match[]> =>
  "then" in matches;
