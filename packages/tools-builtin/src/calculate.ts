import { defineTool, type Tool } from "@loopwright/core";
import { z } from "zod";
import { evaluate } from "./expression.ts";

export interface CalculateArguments {
  readonly expression: string;
  readonly digits?: number | undefined;
}

const calculateLimits: { readonly expressionMax: number; readonly digitsMax: number } = {
  /** Characters of an expression. */
  expressionMax: 1_000,
  /** Significant digits of an answer. */
  digitsMax: 100,
};

const parameters: z.ZodType<CalculateArguments> = z.object({
  expression: z.string().max(calculateLimits.expressionMax).describe("For example (1 + 2) * 3 ^ 2, sqrt(2), 10!, 7 % 3, round(2.345, 2)."),
  digits: z.number().int().min(1).max(calculateLimits.digitsMax).optional().describe("Significant digits of a fraction. Default 20."),
});

/** The tool `calculate`: decimal arithmetic, so that 0.1 + 0.2 is 0.3; whole numbers are exact up to 100 digits. */
export function calculate(): Tool<CalculateArguments> {
  return defineTool({
    name: "calculate",
    label: "Calculate",
    description:
      "Calculates an arithmetic expression exactly. Operators + - * / % (remainder) ^ (power) ! (factorial), parentheses, pi, e, and the functions " +
      "sqrt cbrt abs round floor ceil trunc min max sum mean ln log10 log2 log(x, base) exp sin cos tan asin acos atan (radians).",
    parameters,
    replay: "pure",
    execute({ expression, digits = 20 }) {
      const value = evaluate(expression);
      const isExact = value.isInteger() && value.e < calculateLimits.digitsMax;
      return (isExact ? value : value.toSignificantDigits(digits)).toString();
    },
  });
}
