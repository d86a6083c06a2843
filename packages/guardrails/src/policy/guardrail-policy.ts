import { z } from "zod";

/** Where texts are checked: a user's message, the model's text, the arguments of a call, the output of a tool. */
export type Gate = "input" | "output" | "tool_call" | "tool_output";

/** The gates in the order in which a message meets them. */
export const allGates: readonly Gate[] = ["input", "output", "tool_call", "tool_output"];

/** `warn` records, `redact` puts a placeholder in place of the match, `block` refuses the message, the answer, the call or the result. */
export type GuardrailAction = "warn" | "redact" | "block";

/** `shadow` evaluates and records, and changes nothing. */
export type GuardrailMode = "enforce" | "shadow";

export type PiiKind = "email" | "phone" | "card" | "iban" | "ip";

/** The settings that all checks have. */
export interface CheckSettings {
  readonly action?: GuardrailAction | undefined;
  /** Default: that of the policy. */
  readonly mode?: GuardrailMode | undefined;
  readonly at?: readonly Gate[] | undefined;
  /** Tools whose arguments and output this check does not see. */
  readonly exemptTools?: readonly string[] | undefined;
}

/** A pattern of one's own. */
export interface PatternRule extends CheckSettings {
  /** `[a-z][a-z0-9_-]{0,47}`; placeholders and verdicts carry it. */
  readonly id: string;
  /** A pattern in the syntax of RE2, which takes linear time: without lookaround and backreferences. */
  readonly pattern: string;
  /** Default false. */
  readonly ignoreCase?: boolean | undefined;
  /** Characters of the longest match: so many are held back of a streamed text. Default 100, at most 4,000. */
  readonly lengthMax?: number | undefined;
  /** With `block`: what is answered in place of the answer, or of a model call. */
  readonly reply?: string | undefined;
}

/** What `guardrails.json` holds. A check that is absent has its default: secrets are redacted everywhere, all others are off. */
export interface GuardrailPolicy {
  readonly version: 1;
  /** Default `enforce`. */
  readonly mode?: GuardrailMode | undefined;
  readonly secrets?: false | CheckSettings | undefined;
  readonly pii?: false | (CheckSettings & { readonly kinds?: readonly PiiKind[] | undefined }) | undefined;
  readonly promptInjection?: false | (CheckSettings & { readonly threshold?: number | undefined }) | undefined;
  /** Looks at the arguments of `tools` alone; default: `cli_execute`, `shell`, `bash`, `exec`. */
  readonly commands?: false | (CheckSettings & { readonly tools?: readonly string[] | undefined }) | undefined;
  readonly rules?: readonly PatternRule[] | undefined;
}

/** The bounds of a policy. */
export const policyLimits: {
  readonly textMax: number;
  readonly rulesMax: number;
  readonly patternMax: number;
  readonly lengthMax: number;
  readonly namesMax: number;
} = {
  /** Characters of a policy as JSON. */
  textMax: 1_000_000,
  rulesMax: 500,
  /** Characters of one pattern. */
  patternMax: 2_000,
  /** Characters that a rule may hold back. */
  lengthMax: 4_000,
  /** Names in one list. */
  namesMax: 500,
};

const gate = z.enum(["input", "output", "tool_call", "tool_output"]);
const names = z.array(z.string().min(1).max(64)).max(policyLimits.namesMax);
const settings = {
  action: z.enum(["warn", "redact", "block"]).optional(),
  mode: z.enum(["enforce", "shadow"]).optional(),
  at: z.array(gate).min(1).optional(),
  exemptTools: names.optional(),
};
const off = z.literal(false);
const rule = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9_-]{0,47}$/, "an id is a lower case letter and at most 47 letters, digits, _ and -"),
  pattern: z.string().min(1).max(policyLimits.patternMax),
  ignoreCase: z.boolean().optional(),
  lengthMax: z.number().int().min(1).max(policyLimits.lengthMax).optional(),
  reply: z.string().min(1).max(10_000).optional(),
  ...settings,
});

const secrets = z.strictObject(settings);
const pii = z.strictObject({
  ...settings,
  kinds: z
    .array(z.enum(["email", "phone", "card", "iban", "ip"]))
    .min(1)
    .optional(),
});
const promptInjection = z.strictObject({ ...settings, threshold: z.number().min(0.1).max(10).optional() });
const commands = z.strictObject({ ...settings, tools: names.min(1).optional() });
const policy = z.strictObject({
  version: z.literal(1),
  mode: z.enum(["enforce", "shadow"]).optional(),
  secrets: z.union([off, secrets]).optional(),
  pii: z.union([off, pii]).optional(),
  promptInjection: z.union([off, promptInjection]).optional(),
  commands: z.union([off, commands]).optional(),
  rules: z.array(rule).max(policyLimits.rulesMax).optional(),
});

/** The schemas of the parts of a policy, by the name of the part; their members are all that there are. */
export const policyParts: {
  readonly secrets: z.ZodObject;
  readonly pii: z.ZodObject;
  readonly promptInjection: z.ZodObject;
  readonly commands: z.ZodObject;
  readonly rules: z.ZodObject;
} = { secrets, pii, promptInjection, commands, rules: rule };

/** The schema of a policy; unknown members are refused. */
export const policySchema: z.ZodType<GuardrailPolicy> = policy;

/** The members that a policy may have. */
export const policyMembers: readonly string[] = Object.keys(policy.shape);
