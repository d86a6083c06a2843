/*
 * Owns: which user of Loopwright a person of a chat is: by the list of the configuration, or by a code that the user took on the page or in the terminal.
 * Invariants
 *  L1 a person without a link may do nothing; L2 a code links one person, once, within its life; L3 codes are kept as digests.
 */
import { createHash } from "node:crypto";
import { systemClock } from "@loopwright/core/memory";
import { type Clock, isId } from "@loopwright/core/protocol";
import { codeLifeMs, wrongCodesMax } from "./chat-limits.ts";
import type { ChatMemory } from "./chat-memory.ts";
import { secureRandom } from "./secure-random.ts";

/** A user of Loopwright. */
export interface ChatPrincipal {
  readonly user: string;
  readonly scope: string;
}

/** True for one user of one scope. */
export const isSamePrincipal = (one: ChatPrincipal | undefined, other: ChatPrincipal): boolean =>
  one?.user === other.user && one.scope === other.scope;

/** A code that links the person that sends it. */
export interface LinkCode {
  readonly code: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface CodeParts {
  readonly clock?: Pick<Clock, "now">;
  /** Numbers in [0, 1) that cannot be guessed. Default: of `crypto`. */
  readonly random?: () => number;
}

const alphabet = "abcdefghjkmnpqrstuvwxyz23456789";
const codeChars = 10;
const codesMax = 1_000;
const codePrefix = "code:";
const digestOf = (code: string): string => createHash("sha256").update(code).digest("hex");

/** A new code for a user: the person that sends `/link <code>` to the bot is this user from then on. */
export function createLinkCode(
  memory: ChatMemory,
  principal: ChatPrincipal,
  { clock = systemClock, random = secureRandom }: CodeParts = {},
): LinkCode {
  for (const [key, value] of memory.list(codePrefix, codesMax)) if (expiryOf(value) <= clock.now()) memory.take(key);
  const code = Array.from({ length: codeChars }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
  const expiresAt = clock.now() + codeLifeMs;
  memory.write(`${codePrefix}${digestOf(code)}`, { user: principal.user, scope: principal.scope, expiresAt });
  return { code, expiresAt };
}

/** How an attempt to link ended. */
export type LinkOutcome = { readonly linked: ChatPrincipal } | { readonly refused: "wrong" | "too many" };

/** The people of one chat vendor. */
export interface LinkedPeople {
  principalOf(person: string): ChatPrincipal | undefined;
  redeem(person: string, code: string): LinkOutcome;
  /** False for a person that was not linked by a code. */
  unlink(person: string): boolean;
}

interface PeopleParts {
  readonly surface: string;
  readonly memory: ChatMemory;
  readonly clock: Pick<Clock, "now">;
  readonly allow: { readonly [person: string]: ChatPrincipal };
}

/** The people of one chat vendor, by the list of the configuration and by the links in the memory. */
export function linkedPeople({ surface, memory, clock, allow }: PeopleParts): LinkedPeople {
  const linkKey = (person: string): string => `link:${surface}:${person}`;
  const wrongKey = (person: string): string => `wrong:${surface}:${person}`;
  return {
    principalOf: (person) => (Object.hasOwn(allow, person) ? allow[person] : principalFrom(memory.read(linkKey(person)))),
    redeem(person, code) {
      const earlier = wrongTries(memory.read(wrongKey(person))).filter((at) => at > clock.now() - codeLifeMs);
      if (earlier.length >= wrongCodesMax) return { refused: "too many" };
      const found = memory.take(`${codePrefix}${digestOf(code.trim().toLowerCase())}`);
      const linked = found !== undefined && expiryOf(found) > clock.now() ? principalFrom(found) : undefined;
      if (!linked) {
        memory.write(wrongKey(person), [...earlier, clock.now()]);
        return { refused: "wrong" };
      }
      memory.take(wrongKey(person));
      memory.write(linkKey(person), { user: linked.user, scope: linked.scope });
      return { linked };
    },
    unlink: (person) => memory.take(linkKey(person)) !== undefined,
  };
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as { readonly [field: string]: unknown })[name] : undefined;

function principalFrom(value: unknown): ChatPrincipal | undefined {
  const user = fieldOf(value, "user");
  const scope = fieldOf(value, "scope");
  return typeof user === "string" && user !== "" && typeof scope === "string" && isId(scope) ? { user, scope } : undefined;
}

const expiryOf = (value: unknown): number => Number(fieldOf(value, "expiresAt") ?? 0);

const wrongTries = (value: unknown): readonly number[] => (Array.isArray(value) ? value.map(Number) : []);
