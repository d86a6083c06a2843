/*
 * Owns: what an order of events is: read from a drawn tree, followed event by event. Does not own: which order is right (event-tree).
 * A rule is a regular expression that knows "side by side": following it is taking its derivative, so that a stream may be judged at any
 * length, and from any place in its middle.
 */

/** What the grammar sees of an event. */
export interface EventToken {
  readonly name: string;
  /** Of a message. */
  readonly role?: string;
  /** Distinguishes parts that run side by side: a block's index, a call's key. */
  readonly key: string;
}

export type Rule =
  | { readonly type: "event"; readonly names: readonly string[]; readonly roles: readonly string[] }
  /** One after the other; `anytime` may come between, however deep in an item. */
  | { readonly type: "sequence"; readonly items: readonly Rule[]; readonly anytime: readonly Rule[] }
  | { readonly type: "many"; readonly of: Rule }
  | { readonly type: "maybe"; readonly of: Rule }
  /** Any number of each, told apart by key. `isCut`: some may have begun before. */
  | {
      readonly type: "beside";
      readonly of: readonly Rule[];
      readonly begun: ReadonlyMap<string, readonly Rule[]>;
      readonly isCut: boolean;
    }
  /** May be left at any moment. */
  | { readonly type: "part"; readonly of: Rule };

/** Without empty layers: repeated parts would pile them up. */
function sequence(items: readonly Rule[], anytime: readonly Rule[] = []): Rule {
  const flat = items.flatMap((item) => (item.type === "sequence" && item.anytime.length === 0 ? item.items : [item]));
  const [only] = flat;
  return only && flat.length === 1 && anytime.length === 0 ? only : { type: "sequence", items: flat, anytime };
}

const isSpent = (rule: Rule): boolean => rule.type === "sequence" && rule.items.length === 0 && rule.anytime.length === 0;

/**
 * Every way in which the rule may continue after the event; none: the event may not come here. What may come at any time is the innermost part's
 * first, so that parts which both allow it do not double the ways.
 */
export function follow(rule: Rule, token: EventToken): readonly Rule[] {
  switch (rule.type) {
    case "event":
      return rule.names.includes(token.name) && isRole(rule.roles, token) ? [sequence([])] : [];
    case "sequence": {
      const inside = followItems(rule.items, rule.anytime, token);
      return inside.length > 0 ? inside : followAnytime(rule.items, rule.anytime, token);
    }
    case "many":
      return follow(rule.of, token).map((rest) => (isSpent(rest) ? rule : sequence([rest, rule])));
    case "maybe":
      return follow(rule.of, token);
    case "beside":
      return followBeside(rule, token);
    case "part":
      return follow(rule.of, token).map((rest) => ({ type: "part", of: rest }));
    default:
      return rule satisfies never;
  }
}

const isRole = (roles: readonly string[], { role }: EventToken): boolean =>
  roles.length === 0 || (role !== undefined && roles.includes(role));

function followItems([first, ...rest]: readonly Rule[], anytime: readonly Rule[], token: EventToken): readonly Rule[] {
  if (!first) return [];
  const inside = follow(first, token).map((left) => sequence(isSpent(left) ? rest : [left, ...rest], anytime));
  return mayEnd(first) ? [...inside, ...followItems(rest, anytime, token)] : inside;
}

function followAnytime(items: readonly Rule[], anytime: readonly Rule[], token: EventToken): readonly Rule[] {
  return anytime.flatMap((rule, i) =>
    follow(rule, token).map((left) => sequence(items, isSpent(left) ? anytime.filter((_, other) => other !== i) : anytime.with(i, left))),
  );
}

function followBeside(rule: Extract<Rule, { type: "beside" }>, token: EventToken): readonly Rule[] {
  for (const [i, one] of rule.of.entries()) {
    const key = `${i}/${token.key}`;
    const from = rule.begun.get(key) ?? (rule.isCut ? endsOf(one) : [one]);
    const next = from.flatMap((state) => follow(state, token));
    if (next.length > 0) return [{ ...rule, begun: new Map(rule.begun).set(key, next) }];
  }
  return [];
}

/** A key that is equal for equal rules. */
export function createRuleNames(): (rule: Rule) => string {
  const known = new WeakMap<Rule, string>();
  /** Short names of what rules are made of. */
  const names = new Map<string, string>();
  const textOf = (rule: Rule): string => {
    switch (rule.type) {
      case "event":
        return `e ${rule.names.join(" ")} / ${rule.roles.join(" ")}`;
      case "sequence":
        return `s ${all(rule.items)} / ${all(rule.anytime)}`;
      case "beside":
        return `b ${rule.isCut} ${all(rule.of)} / ${[...rule.begun]
          .map(([key, states]) => `${key}: ${all(states)}`)
          .sort()
          .join(", ")}`;
      default:
        return `${rule.type} ${nameOf(rule.of)}`;
    }
  };
  const all = (rules: readonly Rule[]): string => rules.map(nameOf).join(" ");
  const nameOf = (rule: Rule): string => {
    const found = known.get(rule);
    if (found !== undefined) return found;
    const text = textOf(rule);
    const name = names.get(text) ?? String(names.size);
    names.set(text, name);
    known.set(rule, name);
    return name;
  };
  return nameOf;
}

/** True when nothing is missing. */
export function mayEnd(rule: Rule): boolean {
  switch (rule.type) {
    case "event":
      return false;
    case "sequence":
      return rule.items.every(mayEnd);
    case "many":
    case "maybe":
    case "part":
      return true;
    case "beside":
      return [...rule.begun.values()].every((states) => states.some(mayEnd));
    default:
      return rule satisfies never;
  }
}

/** What may be left of the rule for a reader that joins in its middle, the whole and the nothing included. */
export function endsOf(rule: Rule): readonly Rule[] {
  switch (rule.type) {
    case "event":
      return [rule, sequence([])];
    case "sequence":
      return [
        ...rule.items.flatMap((item, i) => endsOf(item).map((end) => sequence([end, ...rule.items.slice(i + 1)], rule.anytime))),
        sequence([], rule.anytime),
      ];
    case "many":
      return [rule, ...endsOf(rule.of).map((end) => sequence([end, rule]))];
    case "maybe":
      return [rule, ...endsOf(rule.of)];
    case "beside":
      return [{ ...rule, isCut: true }];
    case "part":
      return endsOf(rule.of).map((end) => ({ type: "part", of: end }));
    default:
      return rule satisfies never;
  }
}

/** Names of the events that may come next. */
export function namesNext(rule: Rule): readonly string[] {
  switch (rule.type) {
    case "event":
      return rule.names;
    case "sequence": {
      const until = rule.items.findIndex((item) => !mayEnd(item));
      return [...(until < 0 ? rule.items : rule.items.slice(0, until + 1)), ...rule.anytime].flatMap(namesNext);
    }
    case "beside":
      return [...rule.of, ...[...rule.begun.values()].flat()].flatMap(namesNext);
    default:
      return namesNext(rule.of);
  }
}
