import { Decimal as BaseDecimal, type Decimal } from "decimal.js";
import { badArguments } from "./bad-arguments.ts";

/** Computes with 120 digits, so that rounding errors stay behind the 100 digits of an answer; a value beyond 10^±9999 is an error. */
const Number120: typeof BaseDecimal = BaseDecimal.clone({
  precision: 120,
  maxE: 9_999,
  minE: -9_999,
  toExpPos: 100,
  toExpNeg: -20,
  defaults: true,
});

const factorialMax = 3_000;
/** The largest angle: a larger one would need more digits of pi than the computation has. */
const angleMax = new Number120("1e50");

const degreesOfFreedom = { any: [1, 1_000], one: [1, 1], two: [2, 2], oneOrTwo: [1, 2] } as const;

type Calculation = (values: readonly [Decimal, ...Decimal[]]) => Decimal;
interface Callable {
  readonly arity: readonly [number, number];
  readonly run: Calculation;
}

const one = (run: (value: Decimal) => Decimal): Callable => ({ arity: degreesOfFreedom.one, run: ([value]) => run(value) });
const many = (run: Calculation): Callable => ({ arity: degreesOfFreedom.any, run });
const angle = (run: (value: Decimal) => Decimal): Callable =>
  one((value) => {
    if (value.abs().gt(angleMax)) throw badArguments("The angle is too large.");
    return run(value);
  });

const sum: Calculation = (values) => values.reduce((total, value) => total.plus(value));

const table: ReadonlyMap<string, Callable> = new Map<string, Callable>([
  ["sqrt", one((x) => x.sqrt())],
  ["cbrt", one((x) => x.cbrt())],
  ["abs", one((x) => x.abs())],
  ["floor", one((x) => x.floor())],
  ["ceil", one((x) => x.ceil())],
  ["trunc", one((x) => x.trunc())],
  ["round", { arity: degreesOfFreedom.oneOrTwo, run: ([x, places]) => x.toDecimalPlaces(placesOf(places), BaseDecimal.ROUND_HALF_UP) }],
  ["min", many((values) => Number120.min(...values))],
  ["max", many((values) => Number120.max(...values))],
  ["sum", many(sum)],
  ["mean", many((values) => sum(values).div(values.length))],
  ["ln", one((x) => x.ln())],
  ["log10", one((x) => x.log(10))],
  ["log2", one((x) => x.log(2))],
  ["log", { arity: degreesOfFreedom.two, run: ([x, base]) => x.log(base ?? 10) }],
  ["exp", one((x) => x.exp())],
  ["sin", angle((x) => x.sin())],
  ["cos", angle((x) => x.cos())],
  ["tan", angle((x) => x.tan())],
  ["asin", one((x) => x.asin())],
  ["acos", one((x) => x.acos())],
  ["atan", one((x) => x.atan())],
]);

export const constants: ReadonlyMap<string, Decimal> = new Map([
  ["pi", Number120.acos(-1)],
  ["e", Number120.exp(1)],
  ["tau", Number120.acos(-1).times(2)],
]);

export const operators: {
  number(text: string): Decimal;
  apply(operator: string, values: readonly [Decimal, ...Decimal[]]): Decimal;
} = {
  number: (text) => checked(new Number120(text), text),
  apply(operator, [left, right = left]) {
    switch (operator) {
      case "+":
        return checked(left.plus(right), "the sum");
      case "-":
        return checked(left.minus(right), "the difference");
      case "*":
        return checked(left.times(right), "the product");
      case "/":
      case "%":
        if (right.isZero()) throw badArguments("Division by zero.");
        return checked(operator === "/" ? left.div(right) : left.mod(right), "the quotient");
      case "^":
        return checked(left.pow(right), `${shown(left)} ^ ${shown(right)}`);
      default:
        return factorial(left);
    }
  },
};

export const functions: {
  readonly names: ReadonlySet<string>;
  apply(name: string, values: readonly Decimal[]): Decimal;
} = {
  names: new Set(table.keys()),
  apply(name, values) {
    const [first, ...rest] = values;
    const callable = table.get(name);
    const [least, most] = callable?.arity ?? [0, 0];
    if (!callable || !first || values.length < least || values.length > most) {
      const wanted = least === most ? `${least}` : `${least} to ${most}`;
      throw badArguments(`\`${name}\` takes ${wanted} value${most === 1 ? "" : "s"}, not ${values.length}.`);
    }
    return checked(callable.run([first, ...rest]), `${name}(${values.length === 1 ? shown(first) : "..."})`);
  },
};

function factorial(value: Decimal): Decimal {
  if (!value.isInteger() || value.isNegative())
    throw badArguments(`${shown(value)}! does not exist: only whole numbers from 0 have a factorial.`);
  if (value.gt(factorialMax)) throw badArguments(`${shown(value)}! is too large: up to ${factorialMax}! can be calculated.`);
  let product = new Number120(1);
  for (let factor = 2; value.gte(factor); factor++) product = product.times(factor);
  return product;
}

function placesOf(places: Decimal | undefined): number {
  const count = places?.toNumber() ?? 0;
  if (!Number.isInteger(count) || count < 0 || count > 100)
    throw badArguments("The second value of `round` is not 0 to 100 decimal places.");
  return count;
}

function checked(value: Decimal, what: string): Decimal {
  if (value.isNaN()) throw badArguments(`${what} is not a real number.`);
  if (!value.isFinite()) throw badArguments(`${what} is too large: beyond 10^9999.`);
  return value;
}

function shown(value: Decimal): string {
  return value.toSignificantDigits(10).toString();
}
