import { canaryScanner } from "@loopwright/testing";

/** Words of a user: they name the tenant and the user, wherever they come up. */
export interface Canary {
  readonly scope: string;
  readonly user: string;
}

/** Bytes that the day left somewhere, and whose words may stand in them. */
export interface Artefact {
  readonly kind: "answer" | "stream" | "log line" | "metrics" | "key of Redis" | "file" | "call of the vendor";
  readonly name: string;
  readonly bytes: Buffer;
  readonly mayHave: (found: Canary) => boolean;
}

const canary = /cnry-([a-z]+)-([a-z]+)-\d+/g;

export const canariesIn = (text: string): readonly Canary[] =>
  [...text.matchAll(canary)].map(([, scope = "", user = ""]) => ({ scope, user }));

/** So much of a secret is already too much. */
const shownMax = 12;

/** One sentence for each artefact that has words of another one of these users, or a secret, in any form. */
export async function leaksIn(
  artefacts: readonly Artefact[],
  { users, secrets }: { readonly users: readonly Canary[]; readonly secrets: readonly string[] },
): Promise<readonly string[]> {
  const wordsOf = new Map(users.map((one) => [`cnry-${one.scope}-${one.user}-`, one]));
  const scanner = canaryScanner([
    ...[...wordsOf.keys()].map((text) => ({ name: text, text })),
    ...secrets.map((text) => ({ name: text, text, partMin: shownMax })),
  ]);
  const leaks: string[] = [];
  for (const { kind, name, bytes, mayHave } of artefacts) {
    const finds = await scanner.find(bytes);
    const wrong = finds.flatMap(({ canary: text }) => wordsOf.get(text) ?? []).find((found) => !mayHave(found));
    const shown = finds.find(({ canary: text }) => !wordsOf.has(text));
    if (wrong) leaks.push(`The ${kind} ${name} has words of ${wrong.user} in ${wrong.scope}.`);
    if (shown) leaks.push(`The ${kind} ${name} has the secret ${shown.canary} as ${shown.form}.`);
  }
  return leaks;
}
