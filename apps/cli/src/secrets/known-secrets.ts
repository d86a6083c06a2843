import type { Agent, Hooks } from "@loopwright/core";

/** Shorter values are parts of ordinary words. */
const lengthMin = 6;

/** Hides the values of these secrets wherever a tool or the model writes one, before it is shown, kept or sent. */
export function knownSecrets(values: Readonly<Record<string, string>>): Hooks | undefined {
  // The longest first: one may be the beginning of another.
  const known = Object.entries(values)
    .filter(([, value]) => value.length >= lengthMin)
    .sort(([, one], [, other]) => other.length - one.length);
  const [longest] = known;
  if (!longest) return undefined;
  return {
    name: "known secrets",
    isInherited: true,
    filter: {
      holdBack: (text) => tailOf(text, known),
      apply: (text) => known.reduce((hidden, [name, value]) => hidden.replaceAll(value, `[secret ${name}]`), text),
    },
  };
}

/** Characters at the end of the text that a value could begin with. */
function tailOf(text: string, known: readonly (readonly [string, string])[]): number {
  let tail = 0;
  for (const [, value] of known) {
    for (let length = Math.min(value.length - 1, text.length); length > tail; length--) {
      if (text.endsWith(value.slice(0, length))) tail = length;
    }
  }
  return tail;
}

/** The agent with that hook behind its own. */
export function hidingSecrets(agent: Agent, values: Readonly<Record<string, string>>): Agent {
  const hooks = knownSecrets(values);
  return hooks ? Object.freeze({ ...agent, hooks: [...agent.hooks, hooks] }) : agent;
}
