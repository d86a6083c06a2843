import { isAgentError } from "@loopwright/core";
import { describe, expect, it } from "vitest";
import { evaluate } from "./expression.ts";

function refusal(expression: string): string {
  try {
    return `no error but ${evaluate(expression)}`;
  } catch (error) {
    if (isAgentError(error, "TOOL_ARGUMENTS")) return error.message;
    throw error;
  }
}

describe("an expression", () => {
  it.each([
    ["1 + 2 * 3", "7"],
    ["(1 + 2) * 3", "9"],
    ["10 - 4 - 3", "3"],
    ["100 / 10 / 2", "5"],
    ["2 ^ 3 ^ 2", "512"],
    ["2 ** 10", "1024"],
    ["-2 ^ 2", "-4"],
    ["2 ^ -1", "0.5"],
    ["--3", "3"],
    ["+5", "5"],
    ["7 % 3", "1"],
    ["-7 % 3", "-1"],
    ["5!", "120"],
    ["3!!", "720"],
    ["2 * 3!", "12"],
    ["0!", "1"],
    ["0.1 + 0.2", "0.3"],
    ["1_000_000 * 3", "3000000"],
    ["1.5e3", "1500"],
    [".5 + 5.", "5.5"],
    ["6 × 7 ÷ 2 − 1", "20"],
    ["round(2.345, 2)", "2.35"],
    ["round(-2.5)", "-3"],
    ["floor(-1.5) + ceil(1.2) + trunc(-1.9)", "-1"],
    ["min(3, 1, 2) + max(3, 1, 2)", "4"],
    ["sum(1, 2, 3) / mean(1, 2, 3)", "3"],
    ["log10(1000) + log2(8) + log(81, 3)", "10"],
    ["ln(exp(1)) + abs(-1) + cbrt(27)", "5"],
    ["SQRT(16)", "4"],
    ["2^100", "1267650600228229401496703205376"],
  ])("%s is %s", (expression, value) => {
    expect(evaluate(expression).toSignificantDigits(100).toString()).toBe(value);
  });

  it.each([
    ["sqrt(2)", "1.4142135623730950488"],
    ["sqrt(2) ^ 2", "2"],
    ["1 / 3 * 3", "1"],
    ["π", "3.1415926535897932385"],
    ["e", "2.7182818284590452354"],
    ["sin(pi / 6) + cos(tau)", "1.5"],
    ["4 * atan(1) - pi", "0"],
  ])("%s is %s to twenty digits", (expression, value) => {
    expect(evaluate(expression).toDecimalPlaces(100).toSignificantDigits(20).toString()).toBe(value);
  });

  it.each([
    ["", "The expression is empty."],
    ["1 +", "The expression ends too early."],
    ["(1 + 2", "The expression ends too early: `)` was expected."],
    ["1 2", "Unexpected `2` at character 3."],
    ["2(3)", "Unexpected `(` at character 2."],
    ["1 + )", "Unexpected `)` at character 5."],
    ["1 / 0", "Division by zero."],
    ["1 % (2 - 2)", "Division by zero."],
    ["sqrt(-1)", "sqrt(-1) is not a real number."],
    ["ln(0)", "ln(0) is too large: beyond 10^9999."],
    ["(-8) ^ (1/3)", "-8 ^ 0.3333333333 is not a real number."],
    ["x + 1", "There is no constant `x` (character 1)."],
    ["sqrt", "There is no constant `sqrt` (character 1)."],
    ["system(1)", "There is no function `system` (character 1)."],
    ["constructor(1)", "There is no function `constructor` (character 1)."],
    ["sqrt(1, 2)", "`sqrt` takes 1 value, not 2."],
    ["min()", "`min` takes 1 to 1000 values, not 0."],
    ["1.5!", "1.5! does not exist: only whole numbers from 0 have a factorial."],
    ["round(1, 0.5)", "The second value of `round` is not 0 to 100 decimal places."],
    ["1; 2", "The character `;` (place 2) means nothing in an expression."],
    ["'a'", "The character `'` (place 1) means nothing in an expression."],
    ["1 = 1", "The character `=` (place 3) means nothing in an expression."],
  ])("%j is refused: %s", (expression, message) => {
    expect(refusal(expression)).toBe(message);
  });

  it.each([
    ["9^9^9^9", "is too large: beyond 10^9999"],
    ["99999!", "up to 3000! can be calculated"],
    ["3000! * 3000!", "the product is too large"],
    ["sin(1e100)", "The angle is too large."],
    ["exp(1e9)", "is too large"],
    ["1e99999", "1e99999 is too large"],
    ["10 ^ 1e308", "is too large"],
    [`${"(".repeat(101)}1${")".repeat(101)}`, "nested deeper than 100 levels"],
    [`${"-".repeat(500)}1`, "nested deeper than 100 levels"],
    [Array(200).fill("2").join("^"), "nested deeper than 100 levels"],
  ])("%s stays within its limits: %s", (expression, message) => {
    expect(refusal(expression)).toContain(message);
  });
});
