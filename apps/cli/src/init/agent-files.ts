/*
 * Owns: the files of a new agent, as texts.
 * Does not own: what is chosen (ask-choices), that they are valid and written (init).
 */
import type { Vendor } from "../config/vendors.ts";

/** What a new agent is to have. */
export interface AgentChoices {
  /** Absent: the provider is found by the keys that are set. */
  readonly vendor: Vendor | undefined;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  /** Whether there is a `.env` beside its sample. */
  readonly dotenv: boolean;
}

/** A file of the agent, its path relative to the folder. */
export interface AgentFile {
  readonly path: string;
  readonly text: string;
}

/** The name of the file of settings. */
export const settingsFile = "loopwright.yaml";

/** Every file of a new agent. None has a secret. */
export function agentFiles(choices: AgentChoices): readonly AgentFile[] {
  const variables = variablesOf(choices.vendor);
  return [
    { path: settingsFile, text: settingsOf(choices) },
    { path: "skills/word-count/SKILL.md", text: skill },
    { path: "skills/word-count/scripts/count_words.mjs", text: script },
    {
      path: ".env.example",
      text: `# Copied to .env, this file is read at each start. Variables of the process come before it.\n${variables}`,
    },
    ...(choices.dotenv ? [{ path: ".env", text: `# Variables of the process come before those of this file.\n${variables}` }] : []),
    { path: ".gitignore", text: ".env\n.loopwright/\n" },
  ];
}

/** A text is valid YAML as JSON writes it. */
const quoted = (text: string): string => JSON.stringify(text);

function settingsOf({ vendor, model, baseUrl }: AgentChoices): string {
  const chosen = [
    "model:",
    `  provider: ${vendor?.name}`,
    model === undefined ? "  # name: the default model of the provider, which `loopwright doctor` prints" : `  name: ${quoted(model)}`,
    ...(baseUrl === undefined ? [] : [`  base_url: ${quoted(baseUrl)}`]),
  ];
  const found = ["# The provider is found by the keys that are set. To name one:", "# model:", "#   provider: openai"];
  return [
    "# Flags and variables come before these settings. `loopwright config print --sources` shows each value and where it came from.",
    ...(vendor === undefined ? found : chosen),
    "# Each folder of skills/ is a skill of the agent.",
    "skills: skills",
    "",
  ].join("\n");
}

function variablesOf(vendor: Vendor | undefined): string {
  const key = vendor === undefined ? "OPENAI_API_KEY" : vendor.keys[0];
  return [
    ...(key === undefined ? [] : [`# A key is better kept encrypted: loopwright secrets set ${key}`, `# ${key}=`]),
    "# Callers from other machines have to send this token.",
    "# LOOPWRIGHT_TOKEN=",
    "",
  ].join("\n");
}

const skill = `---
name: word-count
description: Counts words and lines of a text. Use it when the user asks how long a text is.
---

# Count words

Call \`count_words\` with the whole text. Give both numbers in one sentence.

## Tool: count_words

Counts the words and lines of a text.

| name | type | required | description |
|---|---|---|---|
| text | string | yes | the whole text |
`;

const script = `// The one argument is the call's arguments as JSON.
const { text } = JSON.parse(process.argv[2]);
const parts = [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)];
const words = parts.filter((part) => part.isWordLike).length;
console.log(JSON.stringify({ words, lines: text.split("\\n").length }));
`;
