/** What test files of one worker share, at one moment. */
export interface Inventory {
  readonly environmentObject: object;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Functions that tests replace, by name; a getter counts as itself. */
  readonly builtins: ReadonlyMap<string, unknown>;
  readonly prototypeKeys: readonly string[];
}

const places: Readonly<Record<string, object>> = { globalThis, console, Math, crypto, process, performance };
const prototypes: Readonly<Record<string, object>> = {
  Object: Object.prototype,
  Array: Array.prototype,
  Function: Function.prototype,
  Promise: Promise.prototype,
  Date: Date.prototype,
};

/** Vitest sets its own for each test file; Playwright loads a library that keeps the working folder. */
const isOwnBusiness = (name: string): boolean => /^(__vite|VITE|NODE_V8|cwd$|chdir$)/.test(name);

export function takeInventory(): Inventory {
  const builtins = new Map<string, unknown>();
  for (const [place, object] of Object.entries(places))
    for (const [name, { value, get }] of Object.entries(Object.getOwnPropertyDescriptors(object)))
      if (typeof (value ?? get) === "function" && !isOwnBusiness(name)) builtins.set(`${place}.${name}`, value ?? get);
  const prototypeKeys = Object.entries(prototypes).flatMap(([name, object]) =>
    Reflect.ownKeys(object).map((key) => `${name}.prototype.${String(key)}`),
  );
  return { environmentObject: process.env, environment: { ...process.env }, builtins, prototypeKeys };
}

/** One sentence for each thing that is not as it was. A getter that made its value on first use is not a change. */
export function leftovers(before: Inventory, after: Inventory): readonly string[] {
  const found: string[] = [];
  if (before.environmentObject !== after.environmentObject) found.push("process.env is another object");
  for (const name of new Set([...Object.keys(before.environment), ...Object.keys(after.environment)]))
    if (before.environment[name] !== after.environment[name] && !isOwnBusiness(name)) found.push(`process.env.${name} has changed`);
  for (const [name, value] of before.builtins) {
    const now = after.builtins.get(name);
    if (now !== value && !isLazy(value)) found.push(`${name} is ${now === undefined ? "gone" : "replaced"}`);
  }
  for (const key of after.prototypeKeys) if (!before.prototypeKeys.includes(key)) found.push(`${key} is new`);
  return found;
}

/** The getter of a global that Node.js loads when it is first used. */
const isLazy = (value: unknown): boolean => typeof value === "function" && /^(get|lazy)/.test(value.name);
